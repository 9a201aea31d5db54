"""Pictures as figures of matplotlib, drawn from the numbers of a fit: for whoever wants to change them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._errors import CalibrationError

if TYPE_CHECKING:
    from ._fit import Fit

#: Abilities at which curves are drawn, in SDs around the mean.
STEPS = [-4 + 8 * at / 120 for at in range(121)]


def figure(fit: Fit, type: str, names: list[str]) -> Any:
    """The figure; matplotlib must be installed."""
    draw = {
        "trace": _of_items,
        "item_information": _of_items,
        "information": _of_test,
        "score": _of_test,
        "wright": _wright,
        "sites": _sites,
    }.get(type)
    if draw is None:
        raise CalibrationError(f"{type} is there as SVG alone; trace, information, score, wright and sites are figures too")
    from matplotlib.figure import Figure

    made = Figure(layout="constrained")
    draw(fit, made, type, names)
    return made


def _abilities(fit: Fit) -> list[float]:
    latent = fit.to_dict()["latent"]
    return [latent["mean"] + latent["sd"] * step for step in STEPS]


def _curves(fit: Fit, theta: list[float]) -> dict[str, list[tuple[int, dict[str, list[float]]]]]:
    """For each item its categories, with the columns of each."""
    cells = {name: column for name, _, column in fit._native.curves(theta)}
    size = len(theta)
    found: dict[str, list[tuple[int, dict[str, list[float]]]]] = {}
    for first in range(0, len(cells["item"]), size):
        columns = {name: column[first : first + size] for name, column in cells.items()}
        found.setdefault(cells["item"][first], []).append((cells["category"][first], columns))
    return found


def _of_items(fit: Fit, made: Any, type: str, names: list[str]) -> None:
    theta = _abilities(fit)
    curves = _curves(fit, theta)
    chosen = names or list(curves)
    wide = min(3, len(chosen))
    axes = made.subplots(-(-len(chosen) // wide), wide, squeeze=False, sharex=True)
    made.set_size_inches(4 * wide, 3 * len(axes))
    for ax in axes.flat[len(chosen) :]:
        ax.remove()
    for name, ax in zip(chosen, axes.flat):
        categories = curves[name]
        ax.set(title=name, xlabel="ability")
        if type == "item_information":
            ax.plot(theta, categories[0][1]["information"])
            ax.set_ylabel("information")
            continue
        # Of two categories the higher one says it all.
        for code, columns in categories[1:] if len(categories) == 2 else categories:
            ax.plot(theta, columns["probability"], label=str(code))
        ax.set(ylabel="probability", ylim=(0, 1))
        if len(categories) > 2:
            ax.legend(frameon=False)


def _of_test(fit: Fit, made: Any, type: str, names: list[str]) -> None:
    theta = _abilities(fit)
    ax = made.subplots()
    column, label = ("information", "information") if type == "information" else ("expected_score", "expected score")
    of_items = [categories[0][1][column] for categories in _curves(fit, theta).values()]
    sums = [sum(row) for row in zip(*of_items)]
    ax.plot(theta, sums)
    ax.set(xlabel="ability", ylabel=label, ylim=(0, None))
    if type == "information":
        # Far out the error grows without bound.
        errors = [1 / total**0.5 if total > 0 else float("inf") for total in sums]
        smallest = min(errors)
        beside = ax.twinx()
        beside.plot(theta, [error if error < 6 * smallest else float("nan") for error in errors], color="C1", linestyle="--")
        beside.set(ylabel="standard error of ability (dashed)", ylim=(0, None))


def _wright(fit: Fit, made: Any, type: str, names: list[str]) -> None:
    content = fit.to_dict()
    left, right = made.subplots(1, 2, sharey=True, width_ratios=(1, 3))
    histogram = content.get("ability_histogram")
    if histogram:
        edges = histogram["edges"]
        middles = [(low + high) / 2 for low, high in zip(edges, edges[1:])]
        left.barh(middles, histogram["counts"], height=[high - low for low, high in zip(edges, edges[1:])])
        left.invert_xaxis()
    left.set(xlabel="students", ylabel="ability and difficulty")
    items = content["items"]
    for at, item in enumerate(items):
        steps = [b for b in item["b"] if b is not None]
        right.plot([at] * len(steps), steps, "o", color="C1")
    right.set_xticks(range(len(items)), [item["name"] for item in items], rotation=90)


def _sites(fit: Fit, made: Any, type: str, names: list[str]) -> None:
    known = [site for site in fit.to_dict()["sites"] if site.get("effect") is not None]
    if not known:
        raise CalibrationError("this fit has no effects of sites")
    known.sort(key=lambda site: float(site["effect"]))
    ax = made.subplots()
    made.set_size_inches(6, 1 + 0.3 * len(known))
    half = [1.959964 * (site.get("se") or 0) for site in known]
    ax.errorbar([site["effect"] for site in known], range(len(known)), xerr=half, fmt="o")
    ax.axvline(0, color="0.7", linestyle=":")
    ax.set_yticks(range(len(known)), [site["name"] for site in known])
    ax.set_xlabel("effect")

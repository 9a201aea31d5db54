"""The result of a calibration."""

from __future__ import annotations

import html
import json
import os
import pathlib
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from . import _native
from ._errors import CalibrationError, Note
from ._figure import figure
from ._frames import frame
from ._picture import Picture
from ._tables import Tables, sources
from ._options import about_items, text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import Reading, Scoring


class Fit:
    """A fit: estimates with their errors, sites, the check of the model. Made by :func:`fedirt.fit` or :func:`fedirt.load`.

    >>> import fedirt
    >>> answers, _ = fedirt.simulate(sites=2, students=150, items=5, seed=2)
    >>> fit = fedirt.fit(answers, site="site", id="id", model="rasch")
    >>> fit.model, fit.effects, len(fit.sites)
    ('rasch', 'fixed', 2)
    """

    def __init__(self, native: _native.Fit, calibration: _native.Calibration | None = None, kind: str | None = None):
        self._native = native
        self._calibration = calibration
        self._kind = kind
        self._json: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        """The content of ``fit.json``."""
        if self._json is None:
            self._json = json.loads(self._native.json())
        return self._json

    def to_json(self) -> str:
        """The text of ``fit.json``."""
        return self._native.json()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes ``fit.json``, which :func:`fedirt.load` and ``fedirt score`` read."""
        pathlib.Path(path).write_text(self.to_json(), encoding="utf-8")

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self.to_json(), self._kind)

    # Numbers of the whole fit.

    @property
    def model(self) -> str:
        """The model of all items, or ``mixed``."""
        return str(self.to_dict()["model"])

    @property
    def effects(self) -> str:
        """Site effects: ``none``, ``fixed`` or ``random``."""
        return str(self.to_dict()["effects"])

    @property
    def mode(self) -> str:
        """``plain``, ``secure`` or ``private``."""
        return str(self.to_dict()["mode"])

    @property
    def n(self) -> int:
        """Students with at least one answer."""
        return int(self.to_dict()["n"])

    @property
    def loglik(self) -> float | None:
        """The maximised log-likelihood."""
        return self._number("loglik")

    @property
    def npar(self) -> int:
        """Free parameters."""
        return int(self.to_dict()["npar"])

    @property
    def aic(self) -> float | None:
        """Akaike's criterion."""
        return self._number("aic")

    @property
    def bic(self) -> float | None:
        """The Bayesian information criterion."""
        return self._number("bic")

    @property
    def converged(self) -> bool | None:
        """Whether the maximum was found."""
        found: bool | None = self.to_dict()["converged"]
        return found

    @property
    def rounds(self) -> int:
        """Rounds between sites and coordinator."""
        return int(self.to_dict()["rounds"])

    @property
    def warnings(self) -> list[str]:
        """What a reader should know before using the numbers."""
        return [str(warning["message"]) for warning in self.to_dict()["warnings"]]

    @property
    def notes(self) -> list[str]:
        """Notes for the holder of the data, which are no part of the result."""
        return self._calibration.notes() if self._calibration else []

    @property
    def privacy(self) -> dict[str, Any] | None:
        """What a private fit promises: ε, δ, the mechanism, and against whom they hold."""
        found: dict[str, Any] | None = self.to_dict()["privacy"]
        return found

    @property
    def diagnostics(self) -> dict[str, Any] | None:
        """The check of the model, as in ``fit.json``: ``global``, ``reliability``, ``findings``, ``not_available`` and more."""
        found: dict[str, Any] | None = self.to_dict()["diagnostics"]
        return found

    def _number(self, name: str) -> float | None:
        found: float | None = self.to_dict()[name]
        return found

    # Tables.

    def _table(self, name: str) -> Any:
        lists = self._native.table(name)
        if lists is None:
            raise CalibrationError(self._why_not(name))
        return frame(lists, self._kind)

    def _why_not(self, name: str) -> str:
        diagnostics = self.diagnostics or {}
        names = {"pairs": "q3", "dimensions": "dimensionality"}
        for entry in diagnostics.get("not_available", []):
            if entry["name"] == names.get(name, name):
                return str(entry["reason"])
        return f"this fit has no {name}: diagnostics were not asked for, or its mode does not release them"

    @property
    def items(self) -> Any:
        """Estimates and standard errors, a row per item."""
        return self._table("items")

    @property
    def sites(self) -> Any:
        """Sites with their effects."""
        return self._table("sites")

    @property
    def trace(self) -> Any:
        """What happened round by round."""
        return self._table("rounds")

    @property
    def item_fit(self) -> Any:
        """How well each item fits: infit, outfit, S-X²."""
        return self._table("item_fit")

    @property
    def pairs(self) -> Any:
        """Q3, a row per pair of items."""
        return self._table("pairs")

    @property
    def score_table(self) -> Any:
        """The ability that belongs to each sum score."""
        return self._table("score_table")

    @property
    def dif(self) -> Any:
        """Items compared between groups of students, where ``group`` was given."""
        return self._table("dif")

    @property
    def site_heterogeneity(self) -> Any:
        """Whether one set of parameters holds for all sites, item by item, with ``compare_sites``."""
        return self._table("site_heterogeneity")

    @property
    def dimensions(self) -> Any:
        """Eigenvalues of the residual correlations, and those of random answers."""
        return self._table("dimensions")

    @property
    def latent(self) -> Any:
        """The distribution of ability as observed and as the model has it."""
        return self._table("latent")

    @property
    def influence(self) -> Any:
        """How far each site moves the estimates; asked for by ``diagnostics=["influence"]``."""
        return self._table("influence")

    def coef(self, irt: bool = False, se: bool = False) -> Any:
        """Estimates: slope and intercepts, or with ``irt`` slope and difficulties; with ``se`` their standard errors too.

        >>> import fedirt
        >>> answers, _ = fedirt.simulate(sites=1, students=150, items=3, seed=2)
        >>> list(fedirt.fit(answers, site="site", id="id").coef(irt=True, se=True).columns)
        ['item', 'a', 'se_a', 'b1', 'se_b1']
        """
        letter = "b" if irt else "d"
        lists = self._native.table("items") or []
        names = [name for name, _, _ in lists]
        # Parameters of models that have more than a slope and intercepts stand behind `fixed`.
        more = [] if irt else [name for name in names[names.index("fixed") + 1 :] if not name.startswith("se_")]
        steps = [name for name in names if name[0] == letter and name[1:].isdigit()]
        wanted = ["item"]
        for name in ["a", *steps, *more]:
            wanted += [name, f"se_{name}"] if se else [name]
        return frame([column for name in wanted for column in lists if column[0] == name], self._kind)

    @property
    def covariance(self) -> Any:
        """Covariances of all estimates: the column ``parameter``, and a column for each estimate."""
        if self._calibration is None:
            raise CalibrationError("a fit.json has no covariances: they are known right after the calibration")
        names, matrix = self._calibration.covariance()
        size = len(names)
        columns = [(name, "number", matrix[at * size : (at + 1) * size]) for at, name in enumerate(names)]
        return frame([("parameter", "text", names), *columns], self._kind)

    # Students.

    def scores(
        self,
        answers: Tables | None = None,
        *,
        method: str = "eap",
        draws: int | None = None,
        seed: int | None = None,
        prior: str | None = None,
        scale: dict[str, float] | None = None,
        site_effect: float | None = None,
        **reading: Unpack[Reading],
    ) -> Any:
        """Scores of the students of the calibration, or of other answers.

        ``method`` is ``eap``, ``map``, ``ml``, ``wle`` or ``pv`` (``draws`` plausible values by ``seed``). ``prior="common"``
        gives the same score for the same answers at every site. ``scale={"mean": 500, "sd": 100}`` adds scores on that scale.
        Answers are read with the options of :func:`fedirt.fit`: ``site``, ``id``, ``missing`` and so on.

        >>> import fedirt
        >>> answers, _ = fedirt.simulate(sites=2, students=100, items=5, seed=2)
        >>> fit = fedirt.fit(answers, site="site", id="id")
        >>> list(fit.scores(method="wle").columns)
        ['id', 'site', 'answered', 'raw', 'F1', 'SE_F1', 'Zh', 'infit', 'outfit', 'prior']
        """
        given = {"draws": draws, "seed": seed, "prior": prior, "scale": scale, "site_effect": site_effect}
        options = {"method": method, **{name: value for name, value in given.items() if value is not None}}
        if answers is None:
            if self._calibration is None:
                raise CalibrationError("a fit.json has no students: give the answers that are to be scored")
            if reading or site_effect is not None:
                raise TypeError(f"without answers there is nothing to read: {', '.join(reading) or 'site_effect'}")
            lists, notes = self._calibration.scores(text(options))
            kind = self._kind
        else:
            tables, kind = sources(answers)
            columns: dict[str, Any] = {name: value for name, value in reading.items() if value is not None}
            lists, notes = self._native.scores(tables, about_items(columns), text({**options, **columns}))
        for note in notes:
            warnings.warn(note, Note, stacklevel=2)
        return frame(lists, kind or self._kind)

    def person_fit(self, answers: Tables | None = None, **options: Unpack[Scoring]) -> Any:
        """How well each student's answers fit: Zh, infit and outfit, beside the scores."""
        return self.scores(answers, **options)

    def simulate(self, seed: int = 1) -> Any:
        """Answers of as many students at every site, drawn anew from the estimates: for checks by simulation.

        >>> import fedirt
        >>> answers, _ = fedirt.simulate(sites=2, students=100, items=5, seed=2)
        >>> len(fedirt.fit(answers, site="site", id="id").simulate(seed=3))
        200
        """
        return frame(self._native.redraw(seed), self._kind)

    # Curves and pictures.

    def curves(self, theta: Iterable[float]) -> Any:
        """Probabilities, information and expected scores at abilities: a row per item, category and ability."""
        return frame(self._native.curves([float(ability) for ability in theta]), self._kind)

    def probabilities(self, theta: Iterable[float]) -> Any:
        """The probability of each category of each item at abilities."""
        lists = self._native.curves([float(ability) for ability in theta])
        return frame([column for column in lists if column[0] in ("item", "category", "theta", "probability")], self._kind)

    def information(self, theta: Iterable[float]) -> Any:
        """Information about ability at abilities: a row per ability, a column per item, and their sum ``test``.

        >>> import fedirt
        >>> answers, _ = fedirt.simulate(sites=1, students=150, items=3, seed=2)
        >>> table = fedirt.fit(answers, site="site", id="id").information([-1, 0, 1])
        >>> list(table.columns)
        ['theta', 'i01', 'i02', 'i03', 'test']
        """
        abilities = [float(ability) for ability in theta]
        cells = {name: column for name, _, column in self._native.curves(abilities)}
        by_item: dict[str, list[float]] = {}
        for item, information in zip(cells["item"], cells["information"]):
            # Every category of an item has the same.
            column = by_item.setdefault(str(item), [])
            if len(column) < len(abilities):
                column.append(information)
        sums = [sum(row) for row in zip(*by_item.values())]
        columns = [("theta", abilities), *by_item.items(), ("test", sums)]
        return frame([(name, "number", column) for name, column in columns], self._kind)

    def plot(self, type: str = "trace", items: Iterable[str] | str = ()) -> Picture:
        """A picture; ``fedirt.PICTURES`` lists them. Those of items show the named ``items``, or all.

        >>> import fedirt
        >>> sorted(name for name, _ in fedirt.PICTURES)[:2]
        ['ability', 'convergence']
        """
        names = [items] if isinstance(items, str) else list(items)
        return Picture(self._native.picture(type, names), lambda: figure(self, type, names))

    def report(self, path: str | os.PathLike[str] | None = None) -> str:
        """The report, one self-contained page of HTML; written to ``path`` if one is given."""
        page = self._native.report()
        if path is not None:
            pathlib.Path(path).write_text(page, encoding="utf-8")
        return page

    # What people see.

    def summary(self) -> str:
        """The fit in lines of text, the warnings first."""
        return self._native.summary()

    def __repr__(self) -> str:
        return self.summary().rstrip("\n")

    def _repr_html_(self) -> str:
        warned = "".join(f"<p><strong>Warning:</strong> {html.escape(message)}</p>" for message in self.warnings)
        lists = self._native.table("items") or []
        head = "".join(f"<th>{html.escape(name)}</th>" for name, _, _ in lists)
        rows = zip(*(cells for _, _, cells in lists))
        body = "".join(f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in rows)
        about = [line for line in self.summary().splitlines() if not line.startswith("Warning: ")]
        lines = html.escape("\n".join(about))
        return f"{warned}<pre>{lines}</pre><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(cell: Any) -> str:
    if cell is None:
        return ""
    return f"{cell:.3f}" if isinstance(cell, float) else html.escape(str(cell))


def _restored(text: str, kind: str | None) -> Fit:
    return Fit(_native.Fit(text), None, kind)

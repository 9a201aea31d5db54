"""The functions of the package."""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from ._check import Check
from ._compare import Comparison
from ._errors import NotConverged, Note
from ._fit import Fit
from ._frames import frame
from ._options import about_items, text
from ._sensitivity import Sensitivity
from ._tables import Table, Tables, sources

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import FitOptions, Reading, Simulating

#: Called after each round with its number, the log-likelihood, the largest gradient per student, and the largest change.
Progress = Callable[[int, "float | None", "float | None", "float | None"], Any]


def fit(
    answers: Tables,
    *,
    site: str | None = None,
    id: str | None = None,
    weight: str | None = None,
    items: str | Iterable[str] | None = None,
    ignore: str | Iterable[str] | None = None,
    missing: int | str | Iterable[int | str] | None = None,
    missing_answers: str | None = None,
    long: Mapping[str, str] | None = None,
    codebook: Table | None = None,
    key: Table | Mapping[str, str] | None = None,
    map: Table | Mapping[str, str] | None = None,
    model: str | None = None,
    item_models: Mapping[str, str] | None = None,
    fixed_items: Table | None = None,
    effects: str | None = None,
    population: str | None = None,
    mode: str | None = None,
    epsilon: float | None = None,
    delta: float | None = None,
    colluders: int | None = None,
    mixture: bool | None = None,
    booklets: Table | None = None,
    site_sd: float | None = None,
    publish_effects: bool | None = None,
    algorithm: str | None = None,
    nodes: int | None = None,
    range: float | None = None,
    quadrature: str | None = None,
    tolerance: float | None = None,
    max_rounds: int | None = None,
    local_epochs: int | None = None,
    client_fraction: float | None = None,
    learning_rate: float | None = None,
    seed: int | None = None,
    diagnostics: bool | Iterable[str] | None = None,
    group: str | None = None,
    reference_group: str | None = None,
    free: Mapping[str, str | Iterable[str]] | None = None,
    dif_tests: bool | None = None,
    purify: bool | None = None,
    compare_sites: bool | None = None,
    bundles: Iterable[str | Iterable[str]] | None = None,
    site_weights: str | None = None,
    collapse: int | None = None,
    latent_sd: float | None = None,
    level: str | None = None,
    mechanism: str | None = None,
    difficulty_sd: float | None = None,
    starts: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Fit:
    """Calibrates the answers of all sites together.

    Columns: ``site`` names the site of a row (without it each table is one), ``id`` the student, ``weight`` the weight; ``items``
    selects columns (``"i1-i50"``, ``"Q*"``, names), ``ignore`` leaves some out. Answers: ``missing`` are codes that mean no answer,
    ``key`` scores options (``{"i1": "B"}`` or a table), ``codebook`` says what answers are, ``long={"id": …, "item": …, "response": …}``
    reads a table with a row per answer. Model: ``model`` (``2pl``, ``rasch``, ``1pl``, ``gpcm``, ``pcm``, ``grm``, ``nrm``),
    ``item_models`` for single items, ``effects`` (``none``, ``fixed``, ``random``), ``population`` (``mixture:2``, ``davidian:2``),
    ``fixed_items`` as anchors, ``bundles`` of items that are merged into one (``["i1+i2"]``), ``latent_sd=1`` for rasch and pcm.
    Mode: ``plain``, ``secure``, or ``private`` with ``epsilon`` (or a ``level``: ``strict``, ``standard``, ``light``) and ``delta``.
    Groups: ``group`` is the column of students' groups, whose items are compared with those of ``reference_group`` (``fit.dif``);
    ``free={"i3": "girls"}`` gives an item parameters of its own there; ``compare_sites`` compares sites item by item.
    ``site_weights`` says how much each site counts (``n``, ``equal``, ``capped:500``, ``effective:0.2``).
    What may be no answer is an error that asks.

    >>> import fedirt
    >>> north = {"i1": [1, 0, 1, 1, 0, 0], "i2": [1, 1, 0, 1, 0, 1], "i3": [0, 0, 0, 1, 0, 1]}
    >>> south = {"i1": [1, 0, 1, 0, 0, 1], "i2": [1, 1, 0, 0, 1, 1], "i3": [1, 1, 0, 1, 0, 0]}
    >>> fit = fedirt.fit({"north": north, "south": south}, model="rasch")
    >>> [round(effect, 3) for effect in fit.sites["effect"]]
    [-0.119, 0.119]

    Ctrl-C ends it between rounds.
    """
    options = {name: _value(value) for name, value in locals().items() if value is not None}
    options.pop("answers", None)
    options.pop("progress", None)
    tables, kind = sources(answers)
    calibration = _native.calibrate(tables, about_items(options), text(options), progress)
    fitted = Fit(calibration.fit(), calibration, kind)
    if fitted.converged is False:
        warnings.warn(f"stopped after {fitted.rounds} rounds, before the maximum was found", NotConverged, stacklevel=2)
    for note in fitted.notes:
        warnings.warn(note, Note, stacklevel=2)
    return fitted


def _value(value: Any) -> Any:
    """Names and codes as a list."""
    plain = isinstance(value, (str, int, float, dict)) or hasattr(value, "columns") or hasattr(value, "__fspath__")
    return list(value) if not plain and isinstance(value, Iterable) and not hasattr(value, "__arrow_c_stream__") else value


def sensitivity(
    answers: Tables, *, vary: str | Iterable[str] | None = None, **options: Unpack[FitOptions]
) -> Sensitivity:
    """How much results depend on items that go together, or on single sites: fits with and without, side by side.

    ``vary`` is ``dependence`` or ``sites``, or both, which is what nothing means; the other options are those of :func:`fit`.

    >>> import fedirt
    >>> answers, _ = fedirt.simulate(sites=3, students=60, items=4, seed=1)
    >>> found = fedirt.sensitivity(answers, vary="sites", site="site", id="id", model="rasch")
    >>> found.fits["fit"][0], found.fits["fit"][1]
    ('as it is', 'sites count equally')
    """
    given = {name: _value(value) for name, value in {**options, "vary": vary}.items() if value is not None}
    tables, kind = sources(answers)
    found, notes = _native.sensitivity(tables, about_items(given), text(given))
    fits, items = (frame(lists, kind) for _, lists in found)
    return Sensitivity(fits, items, notes)


def load(path: str | os.PathLike[str]) -> Fit:
    """A fit from a ``fit.json``, whoever wrote it."""
    return Fit(_native.Fit(pathlib.Path(path).read_text(encoding="utf-8")))


def check(answers: Tables, **reading: Unpack[Reading]) -> Check:
    """What is in tables, and what is wrong with them; nothing is calibrated. Takes the options of :func:`fit` about columns.

    >>> import fedirt
    >>> answers, _ = fedirt.simulate(sites=2, students=50, items=4, seed=1)
    >>> found = fedirt.check(answers, site="site", id="id")
    >>> list(found.sites["rows"])
    [50, 50]
    """
    tables, kind = sources(answers)
    given = {name: _value(value) for name, value in reading.items() if value is not None}
    items, sites, words = _native.check(tables, about_items(given), text(given))
    return Check(frame(items, kind), frame(sites, kind), words)


def compare(*fits: Fit, names: Iterable[str] | None = None, link: str | None = None) -> Comparison:
    """Fits side by side: information criteria, likelihood ratios of neighbours, items beside those of the first.

    ``link`` (``stocking-lord``, ``haebara``, ``mean-sigma``) puts the others on the scale of the first and flags items that drift.

    >>> import fedirt
    >>> answers, _ = fedirt.simulate(sites=1, students=300, items=5, seed=3)
    >>> rasch, free = (fedirt.fit(answers, site="site", id="id", model=model) for model in ("rasch", "2pl"))
    >>> compared = fedirt.compare(rasch, free, names=["rasch", "2pl"])
    >>> int(compared.tests["df"][0])
    4
    """
    called = list(names) if names is not None else [f"fit{number}" for number in _count(len(fits))]
    if len(called) != len(fits) or len(fits) < 2:
        raise TypeError("two fits or more are needed, with as many names")
    options = text({} if link is None else {"link": link})
    tables = dict(_native.compare(called, [fit._native for fit in fits], options))
    return Comparison(called, fits, options, {name: frame(lists, fits[0]._kind) for name, lists in tables.items()})


def _count(number: int) -> Iterable[int]:
    import builtins

    return builtins.range(1, number + 1)


def simulate(*, kind: str | None = None, **options: Unpack[Simulating]) -> tuple[Any, dict[str, Any]]:
    """Answers drawn from known parameters, and the truth: the numbers that ``fedirt simulate`` draws with the same seed.

    Options: ``sites``, ``students`` (each site's), ``students_by_site``, ``items``, ``model``, ``categories``, ``site_effects`` or
    ``site_sd``, ``missing_rate`` or ``booklets``, ``latent_sd``, ``seed``. ``kind`` is the kind of data frame.

    >>> import fedirt
    >>> answers, truth = fedirt.simulate(sites=2, students=10, items=3, seed=1)
    >>> len(answers), [item["name"] for item in truth["items"]] == list(answers.columns[2:])
    (20, True)
    """
    import json

    lists, truth = _native.simulate(text({name: value for name, value in options.items() if value is not None}))
    return frame(lists, kind), json.loads(truth)

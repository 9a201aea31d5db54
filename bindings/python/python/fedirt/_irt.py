"""An estimator with the habits of scikit-learn, without depending on it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _native
from ._errors import OptionError
from ._fit import Fit
from ._frames import frame
from ._options import text
from ._tables import _push_array, kind, source

#: Columns that are added beside the items.
SITE, WEIGHT = "fedirt:site", "fedirt:weight"


class IRT:
    """An item response model: ``fit(X)``, ``transform(X)`` gives abilities, ``score(X)`` the mean log-likelihood of a student.

    ``X`` has a row per student and a column per item; NaN or nothing is a missing answer. The parameters are options of
    :func:`fedirt.fit`.

    >>> import fedirt
    >>> answers, _ = fedirt.simulate(sites=1, students=200, items=5, seed=4)
    >>> X = answers.drop(columns=["id", "site"])
    >>> est = fedirt.IRT(model="2pl").fit(X)
    >>> est.n_features_in_, est.converged_, est.transform(X).shape
    (5, True, (200, 1))
    >>> bool(abs(est.score(X) - est.loglik_ / 200) < 1e-9)
    True
    """

    def __init__(
        self,
        model: str | None = None,
        item_models: dict[str, str] | None = None,
        effects: str | None = None,
        population: str | None = None,
        missing: Iterable[int | str] | None = None,
        method: str = "eap",
        tolerance: float | None = None,
        max_rounds: int | None = None,
        nodes: int | None = None,
        diagnostics: bool = False,
    ) -> None:
        self.model = model
        self.item_models = item_models
        self.effects = effects
        self.population = population
        self.missing = missing
        self.method = method
        self.tolerance = tolerance
        self.max_rounds = max_rounds
        self.nodes = nodes
        self.diagnostics = diagnostics

    # Parameters.

    _names = (
        "model",
        "item_models",
        "effects",
        "population",
        "missing",
        "method",
        "tolerance",
        "max_rounds",
        "nodes",
        "diagnostics",
    )

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters."""
        return {name: getattr(self, name) for name in self._names}

    def set_params(self, **params: Any) -> IRT:
        """Changes parameters."""
        for name, value in params.items():
            if name not in self._names:
                raise OptionError(f"IRT has no parameter {name}; it has {', '.join(self._names)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        default = IRT()
        changed = (f"{name}={value!r}" for name, value in self.get_params().items() if value != getattr(default, name))
        return f"IRT({', '.join(changed)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(allow_nan=True),
        )

    # Estimation.

    def fit(self, X: Any, y: Any = None, *, sites: Any = None, sample_weight: Any = None) -> IRT:
        """Calibrates. ``sites`` names the site of each row, ``sample_weight`` is its weight; ``y`` is not used."""
        options = {name: value for name, value in self.get_params().items() if value is not None and name != "method"}
        table = self._table(X)
        for option, name, cells in (("site", SITE, sites), ("weight", WEIGHT, sample_weight)):
            if cells is not None:
                _push_array(table, name, cells if hasattr(cells, "dtype") else list(cells))
                options[option] = name
        calibration = _native.calibrate([table], {}, text(options), None)
        self.fit_ = Fit(calibration.fit(), calibration, kind(X))
        self.items_ = self.fit_.items
        self.loglik_ = self.fit_.loglik
        self.n_iter_ = self.fit_.rounds
        self.converged_ = self.fit_.converged
        names = [str(item["name"]) for item in self.fit_.to_dict()["items"]]
        self.n_features_in_ = len(names)
        if kind(X):
            self.feature_names_in_ = _array(names)
        return self

    def transform(self, X: Any) -> Any:
        """Abilities of students, a column ``theta``; NaN where there is no score."""
        lists = self._scored(X)
        theta = next(cells for name, _, cells in lists if name == "F1")
        column = [[float("nan") if ability is None else ability] for ability in theta]
        return _array(column)

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Any:
        """``fit(X)`` and then ``transform(X)``."""
        return self.fit(X, y, **fit_params).transform(X)

    def score(self, X: Any, y: Any = None) -> float:
        """The mean log-likelihood of a student with an answer: higher is better, for cross-validation."""
        self._check()
        loglik, students = self.fit_._native.likelihood([self._table(X)], {}, text(self._reading()))
        return loglik / students if students else float("nan")

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The name of what :meth:`transform` gives."""
        return _array(["theta"])

    def scores(self, X: Any) -> Any:
        """Abilities with standard errors and person fit, as a data frame."""
        return frame(self._scored(X), kind(X))

    def _scored(self, X: Any) -> list[tuple[str, str, list[Any]]]:
        self._check()
        options = {"method": self.method, **self._reading()}
        return self.fit_._native.scores([self._table(X)], {}, text(options))[0]

    def _reading(self) -> dict[str, Any]:
        return {} if self.missing is None else {"missing": list(self.missing)}

    def _table(self, X: Any) -> _native.Table:
        if isinstance(X, (list, tuple)):
            X = {f"item{at + 1}": column for at, column in enumerate(zip(*X))}
        made = source(X, "X")
        if isinstance(made, str):
            raise TypeError("X is a table, not a path")
        return made

    def _check(self) -> None:
        if not hasattr(self, "fit_"):
            try:
                from sklearn.exceptions import NotFittedError
            except ImportError:
                raise OptionError("this estimator is not fitted yet: call fit first") from None
            raise NotFittedError("this estimator is not fitted yet: call fit first")


def _array(values: list[Any]) -> Any:
    """An array of numpy, or a list where there is none."""
    try:
        import numpy
    except ImportError:
        return values
    return numpy.array(values, dtype=object if values and isinstance(values[0], str) else float)

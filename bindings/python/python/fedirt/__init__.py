"""Calibrates tests together without pooling a single answer.

>>> import fedirt
>>> answers, truth = fedirt.simulate(sites=3, students=200, items=6, seed=1)
>>> fit = fedirt.fit(answers, site="site", id="id")
>>> fit.converged, fit.n
(True, 600)
>>> list(fit.items.columns[:6])
['item', 'model', 'categories', 'n', 'a', 'se_a']

A table is a data frame (pandas, polars, pyarrow or anything with the Arrow C stream interface), a numpy matrix of students by items,
a dict of columns, or the path of a file. Tables come out in the kind in which they went in.
"""

from . import privacy
from ._calls import check, compare, fit, load, sensitivity, simulate
from ._check import Check
from ._compare import Comparison
from ._errors import CalibrationError, DataError, FedirtError, InternalError, NotConverged, Note, OptionError, Problem
from ._fit import Fit
from ._irt import IRT
from ._native import PICTURES, TABLES, __version__
from ._picture import Picture
from ._sensitivity import Sensitivity

__all__ = [
    "CalibrationError",
    "Check",
    "Comparison",
    "DataError",
    "FedirtError",
    "Fit",
    "IRT",
    "InternalError",
    "NotConverged",
    "Note",
    "OptionError",
    "PICTURES",
    "Picture",
    "Problem",
    "Sensitivity",
    "TABLES",
    "__version__",
    "check",
    "compare",
    "fit",
    "load",
    "privacy",
    "sensitivity",
    "simulate",
]

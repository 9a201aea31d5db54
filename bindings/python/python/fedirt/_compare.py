"""Fits side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _native
from ._picture import Picture

if TYPE_CHECKING:
    from ._fit import Fit


class Comparison:
    """What :func:`fedirt.compare` found."""

    def __init__(self, names: list[str], fits: tuple[Fit, ...], options: str, tables: dict[str, Any]) -> None:
        self._names, self._fits, self._options = names, fits, options
        #: The fits with their log-likelihoods and criteria.
        self.fits = tables["fits"]
        #: Likelihood ratios of neighbours, or why there is none.
        self.tests = tables["tests"]
        #: Items of the first fit beside those of each other one, on its own scale.
        self.items = tables["items"]
        #: Lines that turn other scales into that of the first fit.
        self.links = tables["links"]

    def plot(self, other: int = 1) -> Picture:
        """Difficulties of the first fit against those of another one."""
        pair = (0, other)
        names, fits = [self._names[at] for at in pair], [self._fits[at]._native for at in pair]
        return Picture(_native.compare_picture(names, fits, self._options))

    def __repr__(self) -> str:
        return f"{_whole(self.fits)}\n\n{_whole(self.tests)}"


def _whole(table: Any) -> str:
    """A table with all its columns."""
    return str(table.to_string(index=False)) if hasattr(table, "to_string") and hasattr(table, "iloc") else str(table)

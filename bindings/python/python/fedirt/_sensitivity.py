"""How much results depend on single items or sites."""

from __future__ import annotations

from typing import Any

from ._compare import _whole


class Sensitivity:
    """What :func:`fedirt.sensitivity` found."""

    def __init__(self, fits: Any, items: Any, notes: list[str]) -> None:
        #: A row per fit: how far its items are from those of the fit as it is, in standard errors.
        self.fits = fits
        #: Items in each fit beside those of the fit as it is.
        self.items = items
        #: What was not done, and why.
        self.notes = notes

    def __repr__(self) -> str:
        return "\n".join([_whole(self.fits), *self.notes])

"""Pictures as SVG."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable
from typing import Any

from ._errors import CalibrationError


class Picture:
    """A picture: shown by notebooks, saved with :meth:`save`.

    >>> import fedirt
    >>> answers, _ = fedirt.simulate(sites=1, students=100, items=4, seed=1)
    >>> fedirt.fit(answers, site="site", id="id").plot("information").svg[:4]
    '<svg'
    """

    def __init__(self, svg: str, draw: Callable[[], Any] | None = None) -> None:
        #: The drawing.
        self.svg = svg
        self._draw = draw

    def figure(self) -> Any:
        """The same as a figure of matplotlib, to be changed: curves, information, scores, the Wright map and effects of sites."""
        if self._draw is None:
            raise CalibrationError("this picture is there as SVG alone")
        return self._draw()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the drawing to a file."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<Picture of {len(self.svg)} characters of SVG; .save(path) writes it>"

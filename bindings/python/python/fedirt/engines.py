"""Machines of sites and coordinators, for federation engines that carry bytes.

A machine keeps everything in the folder of ``fedirt site`` or ``fedirt coordinator``, whose commands work beside it; it can be stopped
at any moment and made again. Whatever carries its bytes need not be trusted: every part is signed by its sender. What requests and
answers look like is told in ``docs/flower.md``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native
from ._options import about_items, text

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._types import Reading


@dataclass(frozen=True)
class Roster:
    """The sites of a study, as the coordinator shows them."""

    #: What the officers read to each other.
    fingerprint: str
    #: Each site with the fingerprint of its key and the number of its students.
    sites: list[tuple[str, str, int]]
    #: How many of the other officers have to be called.
    calls: int


class Site:
    """A site of a study: its home, the study, and files of its answers, which never leave the machine.

    ``population`` says in the officer's words who the students are, the first time. The options are those of columns.
    """

    def __init__(
        self,
        home: str | os.PathLike[str],
        study: str,
        files: Iterable[str | os.PathLike[str]],
        *,
        population: str | None = None,
        scores: bool = True,
        **reading: Unpack[Reading],
    ) -> None:
        given: dict[str, Any] = {name: value for name, value in reading.items() if value is not None}
        tables = about_items(given)
        paths = [os.fspath(path) for path in files]
        self._native = _native.Site(os.fspath(home), study, paths, population, scores, tables, text(given))

    def exchange(self, request: bytes) -> bytes:
        """Takes what a courier brings, and gives what it is to take along."""
        return bytes(self._native.exchange(request))

    @property
    def roster(self) -> Roster | None:
        """The roster that waits for the officer's approval."""
        shown = self._native.roster()
        return None if shown is None else Roster(*shown)

    def approve(self, fingerprint: str, called: Iterable[str] = ()) -> None:
        """Approves the roster of that fingerprint, which the officers of the ``called`` sites have read out."""
        self._native.approve(fingerprint, list(called))

    def news(self) -> list[str]:
        """What the officer should know, since this was asked last."""
        return self._native.news()


class Coordinator:
    """A study of a coordinator's folder. One process at a time holds the folder, until :meth:`close`."""

    def __init__(self, folder: str | os.PathLike[str], study: str) -> None:
        self._native = _native.Coordinator(os.fspath(folder), study)

    def answer(self, request: bytes) -> bytes:
        """Answers a courier; what is said to be taken is on the disk."""
        return bytes(self._native.answer(request))

    def close(self) -> None:
        """Writes everything and gives the folder back."""
        self._native.close()

    def __enter__(self) -> Coordinator:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

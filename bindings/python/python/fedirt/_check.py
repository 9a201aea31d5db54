"""What is in tables."""

from __future__ import annotations

from typing import Any


class Check:
    """What :func:`fedirt.check` found: tables of ``items`` and ``sites``, and everything in words."""

    def __init__(self, items: Any, sites: Any, words: str) -> None:
        self.items = items
        self.sites = sites
        self.words = words

    def __repr__(self) -> str:
        return self.words.rstrip("\n")

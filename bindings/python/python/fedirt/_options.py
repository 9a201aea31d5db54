"""Options on their way in, as JSON."""

from __future__ import annotations

import json
from typing import Any

from ._tables import Source, source

#: Options that are tables.
TABLES = ("codebook", "key", "map", "booklets", "fixed_items")


def about_items(options: dict[str, Any]) -> dict[str, Source]:
    """Takes the options that are tables out of the others."""
    given = {name: options.pop(name) for name in TABLES if name in options}
    return {name: source(_table(name, table), name) for name, table in given.items() if table is not None}


def _table(name: str, table: Any) -> Any:
    """A key or map may be a dict from items to answers or names."""
    if isinstance(table, dict) and all(isinstance(value, str) for value in table.values()):
        if name == "key":
            return {"item": list(table), "key": list(table.values())}
        if name == "map":
            return {"name": list(table), "item": list(table.values())}
    return table


def text(options: dict[str, Any]) -> str:
    """The options as a text of JSON; numbers of numpy are numbers."""
    return json.dumps(options, default=_plain, allow_nan=False)


def _plain(value: Any) -> Any:
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, (set, frozenset, range)):
        return list(value)
    raise TypeError(f"{value!r} is no option's value")

"""Tables on their way out, in the kind in which the caller's went in."""

from __future__ import annotations

from typing import Any

from ._tables import default_kind


def frame(lists: list[tuple[str, str, list[Any]]], kind: str | None) -> Any:
    """A data frame of named columns; a dict of lists where no library for data frames is there."""
    kind = kind or default_kind()
    if kind == "pandas":
        import pandas

        dtypes = {"count": "Int64", "number": "float64", "flag": "bool"}
        # Counts without a gap are ordinary integers.
        plain = {name: "int64" for name, what, cells in lists if what == "count" and None not in cells}
        columns = {
            name: pandas.Series(cells, dtype=plain.get(name, dtypes.get(what, "object" if not cells else None)))
            for name, what, cells in lists
        }
        return pandas.DataFrame(columns)
    if kind == "polars":
        import polars

        types = {"text": polars.String, "count": polars.Int64, "number": polars.Float64, "flag": polars.Boolean}
        return polars.DataFrame([polars.Series(name, cells, dtype=types[what]) for name, what, cells in lists])
    if kind == "pyarrow":
        import pyarrow

        arrow = {
            "text": pyarrow.string(),
            "count": pyarrow.int64(),
            "number": pyarrow.float64(),
            "flag": pyarrow.bool_(),
        }
        arrays = [pyarrow.array(cells, type=arrow[what]) for _, what, cells in lists]
        return pyarrow.table(arrays, names=[name for name, _, _ in lists])
    return {name: cells for name, _, cells in lists}

"""Tables on their way in. Nothing is cast: every cell goes to the reader as it is, whose complaints name row and column."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Union

from . import _native
from ._errors import DataError

#: Whatever holds answers.
Table = Any
#: One table, or several: each of a list or dict is a site of its own.
Tables = Any
Source = Union[str, _native.Table]

#: Whole numbers up to this are the same as 64-bit floating-point numbers.
EXACT = 2**53


def kind(table: Table) -> str | None:
    """The library that a table belongs to, if it makes data frames."""
    module = type(table).__module__.split(".")[0]
    return module if module in ("pandas", "polars", "pyarrow") else None


def is_path(table: Table) -> bool:
    return isinstance(table, (str, os.PathLike))


def columns_of(table: Table) -> bool:
    """Whether a dict is a table of columns, not one of tables."""
    return isinstance(table, Mapping) and not any(_is_table(value) for value in table.values())


def _is_table(value: Any) -> bool:
    if is_path(value) or isinstance(value, Mapping) or hasattr(value, "__arrow_c_stream__") and not _is_series(value):
        return True
    return getattr(value, "ndim", 1) == 2


def _is_series(value: Any) -> bool:
    return type(value).__name__ in ("Series", "ChunkedArray", "Array")


def sources(tables: Tables) -> tuple[list[Source], str | None]:
    """The tables as the library takes them, and the kind of data frame in which results should come."""
    if isinstance(tables, Mapping) and not columns_of(tables):
        named: Iterable[tuple[str | None, Table]] = [(str(name), table) for name, table in tables.items()]
    elif isinstance(tables, (list, tuple)) and not (tables and not _is_table(tables[0])):
        named = [(None, table) for table in tables]
    else:
        named = [(None, tables)]
    named = list(named)
    several = len(named) > 1
    out = []
    for number, (name, table) in enumerate(named, 1):
        out.append(source(table, name or (f"table{number}" if several else "table")))
    kinds = [kind(table) for _, table in named]
    return out, next((found for found in kinds if found), None)


def source(table: Table, name: str) -> Source:
    """One table."""
    if is_path(table):
        return os.fspath(table)
    out = _native.Table(name)
    if kind(table) == "pandas":
        for place, label in enumerate(table.columns):
            _push_pandas(out, str(label), table.iloc[:, place])
    elif hasattr(table, "__arrow_c_stream__"):
        out.push_stream(table.__arrow_c_stream__())
    elif isinstance(table, Mapping):
        for label, cells in table.items():
            _push_array(out, str(label), cells)
    elif getattr(table, "ndim", None) == 2:
        students, items = table.shape
        if items > students:
            raise DataError(
                f"the matrix has {students} rows and {items} columns: rows are students and columns are items, "
                "so it seems to lie on its side; transpose it (.T), or give a data frame"
            )
        for place in range(items):
            _push_array(out, f"item{place + 1}", table[:, place])
    else:
        raise TypeError(
            f"a table is needed: a data frame, a matrix, a dict of columns or a path, not {type(table).__name__}"
        )
    return out


def _push_pandas(out: _native.Table, name: str, column: Any) -> None:
    dtype = column.dtype
    extension = not hasattr(dtype, "byteorder")
    if extension and getattr(dtype, "kind", "O") in "iufb":
        # Nullable numbers. Whole ones that a floating-point number does not hold exactly go one by one.
        present = column.dropna()
        exact = dtype.kind in "fb" or present.empty or max(abs(int(present.max())), abs(int(present.min()))) <= EXACT
        if exact:
            _push_array(out, name, column.to_numpy(dtype="float64", na_value=float("nan")))
            return
    _push_array(out, name, column.to_numpy() if not extension else column.astype(object).to_numpy())


def _push_array(out: _native.Table, name: str, cells: Any) -> None:
    code = getattr(getattr(cells, "dtype", None), "kind", None)
    if code is not None and getattr(cells, "ndim", 1) == 1 and hasattr(cells, "astype"):
        if code == "b" or code == "i" or (code == "u" and cells.dtype.itemsize < 8):
            out.push_integers(name, cells.astype("int64").tobytes())
            return
        if code == "f" and cells.dtype.itemsize <= 8:
            out.push_floats(name, cells.astype("float64").tobytes())
            return
    if isinstance(cells, (str, bytes)) or not isinstance(cells, Iterable):
        raise DataError(f"column {name} is no list of cells but {type(cells).__name__}")
    out.push_objects(name, list(cells.tolist() if hasattr(cells, "tolist") else cells))


def default_kind() -> str:
    """The kind of data frames where no table has one: what is imported already, or can be."""
    for name in ("pandas", "polars", "pyarrow"):
        if name in sys.modules:
            return name
    for name in ("pandas", "polars", "pyarrow"):
        try:
            __import__(name)
        except ImportError:
            continue
        return name
    return "dict"

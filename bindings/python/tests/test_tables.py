"""Tables of every kind give the same numbers, in the kind in which they came."""

import csv

import numpy
import pandas
import polars
import pyarrow
import pytest

import fedirt

OPTIONS = {"site": "school", "id": "pupil"}


@pytest.fixture
def expected(columns):
    return _numbers(fedirt.fit(columns, **OPTIONS))


def _numbers(fit):
    found = fit.to_dict()
    found["provenance"] = None
    return found


def _pandas_kinds(frame):
    yield frame
    yield frame.convert_dtypes()
    yield frame.astype({f"i{item}": "float32" for item in range(1, 6)})
    yield frame.astype({"i1": "Int8", "i2": "Float64", "i3": bool, "i4": "boolean", "school": "category"})
    yield frame.astype({f"i{item}": object for item in range(1, 6)})
    yield frame.astype({"i1": str, "i3": "category", "school": pandas.CategoricalDtype(["north", "south", "west", "none"])})
    yield frame.set_index(pandas.Index(range(1000, 1000 + len(frame)), name="row"))


def test_pandas_of_every_dtype(frame, expected):
    for table in _pandas_kinds(frame):
        fit = fedirt.fit(table, **OPTIONS)
        assert _numbers(fit) == expected
        assert isinstance(fit.items, pandas.DataFrame)


def test_polars(columns, expected):
    table = polars.DataFrame(columns)
    item = polars.col("i1", "i3")
    for kind in (table, table.cast({"i1": polars.Int8, "i2": polars.Float32, "school": polars.Categorical}), table.with_columns(item.cast(polars.String))):
        fit = fedirt.fit(kind, **OPTIONS)
        assert _numbers(fit) == expected
        assert isinstance(fit.items, polars.DataFrame)
        assert isinstance(fit.scores(), polars.DataFrame)


def test_pyarrow(columns, expected):
    table = pyarrow.table(columns)
    school = table.column("school").dictionary_encode()
    coded = table.set_column(1, "school", school)
    chunks = pyarrow.concat_tables([coded.slice(0, 100), coded.slice(100)])
    wide = table.set_column(1, "school", table.column("school").cast(pyarrow.large_string()))
    for kind in (table, coded, chunks, wide):
        fit = fedirt.fit(kind, **OPTIONS)
        assert _numbers(fit) == expected
        assert isinstance(fit.sites, pyarrow.Table)


def test_a_file_is_the_same_table(columns, expected, tmp_path):
    path = tmp_path / "table.csv"
    with path.open("w", newline="") as out:
        writer = csv.writer(out)
        writer.writerow(columns)
        writer.writerows(["" if cell is None else cell for cell in row] for row in zip(*columns.values()))
    assert _numbers(fedirt.fit(path, **OPTIONS)) == expected
    assert _numbers(fedirt.fit(str(path), **OPTIONS)) == expected


def test_numpy(columns, expected):
    matrix = numpy.array([columns[f"i{item}"] for item in range(1, 6)], dtype=float).T
    fit = fedirt.fit(matrix)
    assert fit.to_dict()["items"][0]["name"] == "item1"
    assert fit.n == 300
    for dtype in ("float32", object):
        assert _numbers(fedirt.fit(matrix.astype(dtype))) == _numbers(fit)
    with pytest.raises(fedirt.DataError, match="lie on its side"):
        fedirt.fit(matrix.T)


def test_without_pyarrow_and_polars(frame, expected, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "polars", None)
    assert _numbers(fedirt.fit(frame, **OPTIONS)) == expected


def test_a_table_for_each_site(frame):
    parts = {name: part.drop(columns="school") for name, part in frame.groupby("school")}
    fit = fedirt.fit(parts, id="pupil")
    assert list(fit.sites["site"]) == ["north", "south", "west"]
    by_column = fedirt.fit(frame.sort_values("school", kind="stable"), **OPTIONS)
    assert fit.to_dict()["items"] == by_column.to_dict()["items"]
    assert [site["name"] for site in fedirt.fit(list(parts.values()), id="pupil").to_dict()["sites"]] == ["table1", "table2", "table3"]


def test_names_of_sites_are_kept_whole(frame):
    parts = {f"St. {name}": part.drop(columns="school") for name, part in frame.groupby("school")}
    assert list(fedirt.fit(parts, id="pupil").sites["site"]) == ["St. north", "St. south", "St. west"]


def test_large_whole_numbers_are_not_rounded(frame):
    ids = pandas.array([2**60 + row for row in range(len(frame))], dtype="Int64")
    scores = fedirt.fit(frame.assign(pupil=ids), **OPTIONS).scores()
    assert list(scores["id"][:2]) == [str(2**60), str(2**60 + 1)]

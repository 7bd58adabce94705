"""Parquet files read whole: types, kinds, columns, errors."""

from __future__ import annotations

import datetime as dt
import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ceiba.data.io.errors import ReadError
from ceiba.data.io.read import read, scan
from ceiba.data.table import Table
from tests.data.checks import assert_same, cells

DAYS = [dt.date(2020, 1, 1), None, dt.date(2021, 1, 1)]
TYPES = {
    "float16": (pa.array([1.5, None, 2.0], pa.float32()).cast(pa.float16()), "float32"),
    "float32": (pa.array([1.5, None, 2.0], pa.float32()), "float32"),
    "float64": (pa.array([1.5, None, 2.0]), "float64"),
    "decimal": (pa.array([Decimal("1.5"), None, Decimal(2)]), "float64"),
    "null": (pa.nulls(3), "float64"),
    "int8": (pa.array([1, None, 2], pa.int8()), "int64"),
    "uint32": (pa.array([1, None, 2], pa.uint32()), "int64"),
    "int64": (pa.array([1, None, 2**53 + 1]), "int64"),
    "uint64": (pa.array([1, None, 2**64 - 1], pa.uint64()), "uint64"),
    "timestamp": (pa.array(DAYS).cast(pa.timestamp("us")), "datetime64[ns]"),
    "zoned": (
        pa.array(DAYS).cast(pa.timestamp("us")).cast(pa.timestamp("us", "UTC")),
        "datetime64[ns]",
    ),
    "date": (pa.array(DAYS), "datetime64[ns]"),
    "duration": (pa.array([dt.timedelta(1), None, dt.timedelta(2)]), "timedelta64[ns]"),
    "bool": (pa.array([True, None, True]), (False, True)),
    "string": (pa.array(["b", None, "a"]), ("a", "b")),
    "large": (pa.array(["b", None, "a"], pa.large_string()), ("a", "b")),
    "dictionary": (pa.array(["b", None, "a"]).dictionary_encode(), ("b", "a")),
}


@pytest.fixture
def write(tmp_path):
    def write_file(columns, **options):
        path = tmp_path / "t.parquet"
        table = columns if isinstance(columns, pa.Table) else pa.table(columns)
        pq.write_table(table, path, **options)
        return path

    return write_file


@pytest.mark.parametrize("name", TYPES)
def test_types(write, name):
    array, expected = TYPES[name]
    path = write({name: array, "other": ["x", "y", "z"]})
    table = read(path)
    column = table.schema[0]
    assert (column.categories or column.dtype) == expected
    assert table.missing_mask(0).tolist() == array.is_null().to_pylist()
    assert_same(table, Table.of(pq.read_table(path)))
    # A scan reads the same, alone and beside others.
    for source, whole in [
        (scan(path), table),
        (scan(path, columns=[name]), read(path, columns=[name])),
    ]:
        assert source.schema == whole.schema
        assert_same(source.partitions[0].load().table, whole)


def test_float_columns_are_one_matrix(write):
    X = np.random.default_rng(0).standard_normal((20, 3))
    table = read(write({name: X[:, j] for j, name in enumerate("abc")}, row_group_size=6))
    np.testing.assert_array_equal(table.matrix, X)
    assert table.matrix.flags.c_contiguous
    assert table.schema.names == ["a", "b", "c"]


def test_columns_and_kinds(write):
    path = write({"a": [1.5, 2.5], "b": ["x", "y"], "c": [3, 1], "d": [[1], [2]]})
    table = read(path, columns=["c", "a"], kinds={"c": "nominal"})
    assert cells(table) == {"c": [3, 1], "a": [1.5, 2.5]}
    assert table.schema[0].categories == (1, 3)
    assert read(path, columns=["b"], kinds={"b": ["y", "x"]}).column(0).tolist() == [1, 0]


def test_index_of_pandas_is_left_out(tmp_path):
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1, 2]}, index=["x", "y"]).to_parquet(path)
    assert read(path).schema.names == ["a"]
    assert scan(path).schema.names == ["a"]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        ({"a": [[1]]}, {}, "column 'a': type list"),
        ({"a": [{"b": 1}]}, {}, "column 'a': type struct"),
        ({"a": [b"x"]}, {}, "column 'a': type binary"),
        ({"a": [dt.time(1)]}, {}, "column 'a': type time"),
        ({"a": [dt.datetime(3000, 1, 1)]}, {}, "years 1677 to 2262"),
        ({"a": [1]}, {"columns": ["b"]}, "no column 'b'"),
        ({"a": ["x"]}, {"kinds": {"a": "numeric"}}, r"'x' .* is not a number"),
        ({"a": ["x"]}, {"kinds": {"a": ["y"]}}, "not a category|not among the categories"),
        ({"a": [1]}, {"delimiter": ","}, "'delimiter' has no effect with Parquet"),
        ({"a": [1]}, {"encoding": "latin-1"}, "'encoding' has no effect with Parquet"),
    ],
)
def test_errors(write, columns, options, message):
    path = write(columns)
    with pytest.raises(ReadError, match=message) as caught:
        read(path, **options)
    assert str(caught.value).startswith(str(path))


def test_duplicate_names(write):
    path = write(pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]))
    with pytest.raises(ReadError, match="two columns have the name 'a'"):
        read(path)


def test_invalid_file(tmp_path):
    path = tmp_path / "t.parquet"
    path.write_bytes(b"PAR1" + b"x" * 100)
    with pytest.raises(ReadError, match="not a readable Parquet file"):
        read(path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "gone.parquet")


def test_truncated_file(write):
    path = write({"a": [1.5, 2.5], "b": ["x", "y"]})
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        path.write_bytes(whole[:length])
        with pytest.raises(ReadError, match="not a readable Parquet file"):
            read(path)


def test_requires_pyarrow(write, monkeypatch):
    path = write({"a": [1]})
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"requires pyarrow: pip install \"ceiba\[files\]\""):
        read(path)

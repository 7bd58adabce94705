"""Order of nominal categories: as declared, else sorted, numbers by value."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ceiba
from ceiba.data import Table

ORDER = ("small", "large", "medium")
VALUES = ["medium", "small", "large", "small"]
DECLARED = {
    "pandas": lambda: pd.DataFrame({"c": pd.Categorical(VALUES, ORDER)}),
    "polars": lambda: pl.DataFrame({"c": pl.Series(VALUES, dtype=pl.Enum(ORDER))}),
    "pyarrow": lambda: pa.table(
        {"c": pa.DictionaryArray.from_arrays([2, 0, 1, 0], pa.array(ORDER))}
    ),
}


@pytest.mark.parametrize("container", DECLARED)
def test_a_declared_order_is_kept(container, tmp_path):
    data = DECLARED[container]()
    table = Table.of(data)
    assert table.schema[0].categories == ORDER
    assert table.schema[0].kind == "nominal"
    assert table.column(0).tolist() == [2, 0, 1, 0]
    path = tmp_path / "t.parquet"
    rows = data if container == "pyarrow" else pa.Table.from_pandas(DECLARED["pandas"]())
    pq.write_table(rows, path, row_group_size=2)
    assert ceiba.read(path).schema[0].categories == ORDER
    assert ceiba.scan(path).schema[0].categories == ORDER


def test_an_arff_list_is_kept(tmp_path):
    path = tmp_path / "t.arff"
    path.write_text("@relation r\n@attribute c {10, 9, 2}\n@attribute d {b, a}\n@data\n9,a\n")
    assert [column.categories for column in ceiba.read(path).schema] == [(10, 9, 2), ("b", "a")]


def test_dictionaries_that_differ_have_no_order(tmp_path):
    parts = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c", "a"]).dictionary_encode()]
    rows = pa.table({"c": pa.chunked_array(parts)})
    table = Table.of(rows)
    assert table.schema[0].categories == ("a", "b", "c")
    assert table.column(0).tolist() == [1, 0, 2, 0]
    paths = [tmp_path / f"{k}.parquet" for k in range(2)]
    for part, path in zip(parts, paths, strict=True):
        pq.write_table(pa.table({"c": part}), path)
    assert ceiba.scan(paths).schema[0].categories == ("a", "b", "c")


NUMBERS = ["10", "9", "2.5", "-1", "9"]
SORTED = ("-1", "2.5", "9", "10")


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.array(NUMBERS)[:, None],
        lambda: [[text] for text in NUMBERS],
        lambda: pd.DataFrame({"x0": NUMBERS}),
        lambda: pl.DataFrame({"x0": NUMBERS}),
        lambda: pl.DataFrame({"x0": pl.Series(NUMBERS, dtype=pl.Categorical)}),
        lambda: pa.table({"x0": NUMBERS}),
    ],
)
def test_text_of_numbers_is_sorted_by_value(make):
    table = Table.of(make())
    assert table.schema[0].categories == SORTED
    assert table.column(0).tolist() == [3, 2, 1, 0, 2]


def test_other_text_is_sorted_as_text():
    assert Table.of([["10"], ["9"], ["x"]]).schema[0].categories == ("10", "9", "x")
    assert Table.of([["True"], ["0"]]).schema[0].categories == ("0", "True")


def test_scans_sort_numbers_by_value(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"c": NUMBERS}), path)
    assert ceiba.scan(path).schema[0].categories == SORTED

"""Category codes of tables: intervals in the type of each column, categories, missing values."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ceiba.bayes import CategoryEncoding
from ceiba.data import Column, Kind, Schema, Table

TINY, HUGE = 5e-324, 1.7e308
NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, TINY, -TINY, HUGE, -HUGE, np.inf, -np.inf, 2.0**53, 1e-200]),
    st.floats(allow_nan=False),
)


def numeric(dtype="float64", name="x"):
    return Schema((Column(name, Kind.NUMERIC, dtype=dtype),))


def column_codes(values, thresholds, dtype, mask=None):
    schema = numeric(dtype)
    table = Table.from_columns([np.array(values, dtype)], schema, {} if mask is None else {0: mask})
    return CategoryEncoding.of(schema, {0: thresholds}, [0]).encode(table)[:, 0].tolist()


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.lists(NUMBERS, max_size=6, unique=True))
def test_floats_are_compared_exactly(values, thresholds):
    thresholds = sorted(t for t in {t + 0.0 for t in thresholds} if t > -np.inf)
    expected = [sum(x >= t for t in thresholds) for x in values]
    assert column_codes(values, thresholds, "float64") == expected


@given(
    arrays(np.float32, 20, elements=st.floats(width=32, allow_nan=False)),
    st.lists(st.floats(-1e300, 1e300), max_size=6, unique=True),
)
def test_single_precision_is_compared_with_double_thresholds(values, thresholds):
    thresholds = sorted({t + 0.0 for t in thresholds})
    expected = [sum(float(x) >= t for t in thresholds) for x in values]
    assert column_codes(values, thresholds, "float32") == expected


@pytest.mark.parametrize(("dtype", "low"), [("int64", -(2**63)), ("uint64", 0)])
@given(data=st.data())
def test_integers_of_any_size_are_compared_exactly(dtype, low, data):
    high = np.iinfo(dtype).max
    integers = st.one_of(st.integers(low, high), st.sampled_from([low, low + 1, high - 1, high]))
    values = data.draw(st.lists(integers, min_size=1, max_size=20))
    near = st.sampled_from(values).map(
        lambda x: min(max(x + data.draw(st.integers(-1, 1)), low), high)
    )
    thresholds = sorted(set(data.draw(st.lists(st.one_of(integers, near), max_size=5))))
    expected = [sum(x >= t for t in thresholds) for x in values]
    assert column_codes(values, thresholds, dtype) == expected


def test_integers_have_fractional_thresholds():
    assert column_codes([2, 3, 4], [2.5, 3.0], "int64") == [0, 2, 2]
    assert column_codes([0, 1], [-0.5, 0.5], "uint64") == [1, 2]


def test_floats_of_an_integer_column_are_compared_with_its_thresholds():
    schema = numeric("int64")
    encoding = CategoryEncoding.of(schema, {0: [2.5, 3.0]})
    table = Table.of(np.array([[2.4], [2.5], [2.9], [3.0], [np.nan]]), schema)
    assert encoding.encode(table)[:, 0].tolist() == [0, 1, 1, 2, 3]
    large = CategoryEncoding.of(schema, {0: [2**60 + 1]})
    floats = Table.of(np.array([[2.0**60], [np.nextafter(2.0**60, np.inf)], [0.5]]), schema)
    assert large.encode(floats)[:, 0].tolist() == [0, 1, 0]


def test_times_have_thresholds():
    frame = pd.DataFrame({"t": pd.to_datetime(["2020-01-01T00:00", "2021-06-01T12:00", None])})
    table = Table.of(frame)
    noon = int(table.column(0)[1])
    encoding = CategoryEncoding.of(table.schema, {0: [noon]})
    assert encoding.encode(table)[:, 0].tolist() == [0, 1, 2]
    assert encoding.category_labels(0) == ["< 2021-06-01T12:00:00", ">= 2021-06-01T12:00:00"]
    assert encoding.thresholds(0).dtype == "datetime64[ns]"


def test_missing_and_unseen_values_have_the_code_behind_the_last_category():
    table = Table.of(
        pd.DataFrame({
            "size": [1.0, None, 3.0],
            "count": pd.array([1, None, 3], "Int64"),
            "color": ["red", None, "blue"],
        })
    )  # fmt: skip
    encoding = CategoryEncoding.of(table.schema, {0: [2.0], 1: [2, 3]})
    expected = [[0, 0, 1], [2, 3, 2], [1, 2, 0]]
    codes = encoding.encode(table)
    assert codes.tolist() == expected
    assert codes.dtype == np.uint8
    assert codes.flags.c_contiguous
    other = pd.DataFrame({"size": [9.0], "count": [9], "color": ["green"]})
    assert encoding.encode(Table.of(other, table.schema, warn=False)).tolist() == [[1, 2, 2]]


def test_columns_with_one_category_are_left_out():
    columns = [np.zeros(2), np.zeros(2, np.int32), np.array([0, 1], np.int32)]
    schema = Schema((
        Column("flat", Kind.NUMERIC),
        Column("one", Kind.NOMINAL, ("a",), "codes"),
        Column("two", Kind.ORDINAL, ("lo", "hi"), "codes"),
    ))  # fmt: skip
    encoding = CategoryEncoding.of(schema, {})
    assert encoding.constant_columns == ["flat", "one"]
    assert encoding.names == ["two"]
    assert encoding.columns.tolist() == [2]
    assert encoding.encode(Table.from_columns(columns, schema)).tolist() == [[0], [1]]
    everything = CategoryEncoding.of(schema, {}, range(3))
    assert everything.n_categories.tolist() == [1, 1, 2]
    assert everything.constant_columns == []
    assert everything.category_labels(0) == ["(-inf, inf)"]


@pytest.mark.parametrize(("n", "dtype"), [(254, np.uint8), (255, np.uint16), (65_534, np.uint16)])
def test_codes_are_as_wide_as_the_largest_column(n, dtype):
    schema = Schema((Column("c", Kind.NOMINAL, tuple(range(n)), "codes"),))
    codes = CategoryEncoding.of(schema, {}).encode(
        Table.from_columns([np.array([0, n - 1, -1])], schema)
    )
    assert codes.dtype == dtype
    assert codes[:, 0].tolist() == [0, n - 1, n]


def test_more_categories_than_codes_are_refused():
    schema = Schema((Column("id", Kind.NOMINAL, tuple(range(65_535)), "codes"),))
    with pytest.raises(ValueError, match=r"at most 65,534 categories, got 65,535 in column 'id'"):
        CategoryEncoding.of(schema, {})


@pytest.mark.parametrize("n_rows", [0, 1, 8192, 20_000])
@pytest.mark.parametrize("threads", [1, 2])
def test_blocks_of_rows(n_rows, threads):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    encoding = CategoryEncoding.of(Schema.numeric(3), {0: [0.0], 1: [-1.0, 1.0], 2: [0.5]})
    found = encoding.encode(Table(encoding.schema, n_rows, X), threads)
    limits = [[0.0], [-1.0, 1.0], [0.5]]
    for j, own in enumerate(limits):
        expected = np.searchsorted(own, X[:, j], side="right")
        np.testing.assert_array_equal(
            found[:, j], np.where(np.isnan(X[:, j]), len(own) + 1, expected)
        )


def test_labels_tell_close_thresholds_apart():
    encoding = CategoryEncoding.of(numeric(), {0: [1.0000001, 1.0000002]})
    assert encoding.category_labels(0) == [
        "< 1.0000001", "[1.0000001, 1.0000002)", ">= 1.0000002"
    ]  # fmt: skip


@pytest.mark.parametrize("step", [1, 1000, 86_400 * 10**9])
@pytest.mark.parametrize("dtype", ["timedelta64[ns]", "datetime64[ns]"])
def test_labels_of_times_differ(dtype, step):
    start = 1000 * 86_400 * 10**9
    encoding = CategoryEncoding.of(numeric(dtype), {0: [start, start + step, start + 2 * step]})
    labels = encoding.category_labels(0)
    texts = [labels[0][2:], *(label[1:-1].split(", ")[1] for label in labels[1:-1])]
    assert len(set(texts)) == 3
    if dtype.startswith("timedelta"):
        assert labels[0] == "< 1000 days"


def test_another_schema_is_refused():
    encoding = CategoryEncoding.of(numeric(), {0: [1.0]})
    with pytest.raises(ValueError, match="X has 2 features, but this model is expecting 1"):
        encoding.encode(Table.of(np.eye(2)))
    with pytest.raises(ValueError, match="Column 'x' has another schema"):
        encoding.encode(Table.of([{"x": "a"}, {"x": "b"}]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"columns": np.array([1])}, "columns must be ascending indices below 1"),
        ({"offsets": np.array([0, 3])}, "offsets must end with the number of thresholds, 2"),
        ({"offsets": np.array([0])}, "offsets must be ascending from 0"),
        ({"words": np.array([2.0, 1.0]).view(np.uint64)}, "must be ascending numbers of its type"),
        ({"words": np.array([1.0, np.nan]).view(np.uint64)}, "must be ascending numbers"),
        ({"words": np.array([-np.inf, 1.0]).view(np.uint64)}, "must be ascending numbers"),
        ({"integer": np.array([True])}, "must be ascending numbers of its type"),
    ],
)
def test_damaged_records_are_refused(changes, message):
    encoding = CategoryEncoding.of(numeric(), {0: [1.0, 2.0]})
    with pytest.raises(ValueError, match=message):
        CategoryEncoding.from_json(replace(encoding, **changes).to_json())

"""Encodings: distances in the matrix, missing values, dtypes and memory."""

from __future__ import annotations

import pickle
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from ceiba.data import Column, Kind, Schema, Table
from ceiba.data.encoding import Encoding

CATEGORIES = ("a", "b", "c", "d")


def encode(table):
    return Encoding.of(table.schema).apply(table)


def coded(kind, codes, categories=CATEGORIES):
    schema = Schema((Column("c", kind, categories, "codes"),))
    return Table.from_columns([np.array(codes)], schema)


@settings(deadline=None)
@given(
    codes=st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=2, max_size=8),
)
def test_a_squared_distance_counts_the_nominal_columns_that_differ(codes):
    columns = tuple(Column(name, Kind.NOMINAL, CATEGORIES, "codes") for name in "xyz")
    table = Table.from_columns(list(np.array(codes).T), Schema(columns))
    matrix = encode(table)
    squared = ((matrix[:, None] - matrix[None]) ** 2).sum(axis=2)
    differ = (np.array(codes)[:, None] != np.array(codes)[None]).sum(axis=2)
    assert_allclose(squared, differ, rtol=1e-15)


def test_indicators_and_their_names():
    table = coded(Kind.NOMINAL, [2, -1, 0])
    encoding = Encoding.of(table.schema)
    assert encoding.width == 4
    assert encoding.offsets == (0, 4)
    assert encoding.names == ["c=a", "c=b", "c=c", "c=d"]
    half = np.sqrt(0.5)
    expected = [[0, 0, half, 0], [np.nan] * 4, [half, 0, 0, 0]]
    assert_array_equal(encoding.apply(table), expected)


@pytest.mark.parametrize(
    ("categories", "codes", "ranks"),
    [(CATEGORIES, [0, 1, 3, -1], [0, 1 / 3, 1, np.nan]), (("only",), [0, -1], [0, np.nan])],
)
def test_ordinal_categories_become_ranks_from_0_to_1(categories, codes, ranks):
    table = coded(Kind.ORDINAL, codes, categories)
    assert Encoding.of(table.schema).names == ["c"]
    assert_array_equal(encode(table)[:, 0], ranks)


def test_columns_without_categories_are_missing():
    assert encode(coded(Kind.NOMINAL, [-1, -1], ())).shape == (2, 0)
    assert np.isnan(encode(coded(Kind.ORDINAL, [-1, -1], ()))).all()


def test_mixed_columns_are_concatenated():
    table = Table.of(
        [
            {"n": 2**53, "c": "red", "t": date(1970, 1, 3), "d": timedelta(hours=6), "f": 1.5},
            {"n": None, "c": "blue", "t": None, "d": None, "f": None},
        ]
    )
    encoding = Encoding.of(table.schema)
    assert encoding.names == ["n", "c=blue", "c=red", "t", "d", "f"]
    assert encoding.offsets == (0, 1, 3, 4, 5, 6)
    half, nan = np.sqrt(0.5), np.nan
    expected = [[2.0**53, 0, half, 2.0, 0.25, 1.5], [nan, half, 0, nan, nan, nan]]
    assert_array_equal(encoding.apply(table), expected)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_contiguous_float_array_is_not_copied(dtype):
    X = np.arange(12, dtype=dtype).reshape(4, 3)
    X.flags.writeable = False
    encoding = Encoding.of(Table.of(X).schema)
    assert encoding.dtype == dtype
    assert np.shares_memory(encoding.apply(Table.of(X)), X)
    for other in (np.asfortranarray(X), X[::2], X[:, ::2]):
        matrix = encode(Table.of(other))
        assert matrix.flags.c_contiguous
        assert matrix.dtype == dtype
        assert_array_equal(matrix, other)


@pytest.mark.parametrize("given_dtype", ["float64", "float32", "int64", "uint64"])
@pytest.mark.parametrize("expected", ["float64", "float32", "int64", "uint64"])
def test_dtype_is_that_of_the_schema(given_dtype, expected):
    schema = Schema.numeric(2, expected)
    encoding = Encoding.of(schema)
    X = np.array([[1, 2], [3, 4]], dtype=given_dtype)
    matrix = encoding.apply(Table.of(X, schema))
    assert matrix.dtype == ("float32" if expected == "float32" else "float64")
    assert_array_equal(matrix, X)


def test_columns_and_blocks_agree_over_many_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_001, 3))
    X[rng.random(X.shape) < 0.1] = np.nan
    table = Table.from_columns(list(X.T), Schema.numeric(3))
    assert table.matrix is None
    matrix = encode(table)
    assert matrix.flags.c_contiguous
    assert_array_equal(matrix, X)
    assert encode(table.take([])).shape == (0, 3)


def test_tables_of_another_schema_raise():
    encoding = Encoding.of(coded(Kind.NOMINAL, [0]).schema)
    with pytest.raises(ValueError, match="'c' has another schema"):
        encoding.apply(coded(Kind.NOMINAL, [0], ("a", "b")))
    with pytest.raises(ValueError, match="'c' has another schema"):
        encoding.apply(coded(Kind.ORDINAL, [0]))
    with pytest.raises(ValueError, match="X has 2 features"):
        encoding.apply(Table.of(np.eye(2)))
    with pytest.raises(ValueError, match="another schema"):
        encoding.apply(Table.of(np.ones((2, 1))))


def test_encodings_depend_only_on_the_schema():
    table = coded(Kind.NOMINAL, [1, 2])
    encoding = Encoding.of(Schema.from_json(table.schema.to_json()))
    assert encoding == Encoding.of(table.schema)
    again = pickle.loads(pickle.dumps(encoding))
    assert again == encoding
    assert_array_equal(again.apply(table), encoding.apply(table))

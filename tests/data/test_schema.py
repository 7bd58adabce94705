"""Schemas: properties, JSON, pickling and error messages."""

from __future__ import annotations

import json
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba.data import Column, Kind, Schema

NUMBERS = ["float64", "float32", "int64", "uint64", "datetime64[ns]", "timedelta64[ns]"]


@st.composite
def columns(draw, name):
    kind = draw(st.sampled_from(list(Kind)))
    if kind is Kind.NUMERIC:
        return Column(name, kind, dtype=draw(st.sampled_from(NUMBERS)))
    number = st.one_of(st.integers(), st.floats(allow_nan=False))
    categories = st.one_of(
        st.lists(st.text(), unique=True), st.lists(number, unique=True), st.just([False, True])
    )
    return Column(name, kind, tuple(draw(categories)), "codes")


@st.composite
def schemas(draw):
    names = draw(st.lists(st.text(), min_size=1, max_size=4, unique=True))
    return Schema(tuple(draw(columns(name)) for name in names), named=draw(st.booleans()))


@settings(deadline=None)
@given(schema=schemas())
def test_json_and_pickle_round_trip(schema):
    again = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert again == schema
    kinds = [[type(label) for label in column.categories] for column in again]
    assert kinds == [[type(label) for label in column.categories] for column in schema]
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert hash(again) == hash(schema)


GOOD = {"name": "a", "kind": "nominal", "categories": ["x", "y"], "dtype": "codes"}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "strange"},
        {"dtype": "float64"},
        {"kind": "numeric"},
        {"kind": "numeric", "dtype": "float64"},
        {"kind": "numeric", "categories": [], "dtype": "float16"},
        {"categories": ["x", "x"]},
        {"categories": ["x", 1]},
        {"categories": [["x"]]},
        {"categories": [None]},
        {"categories": 3},
        {"name": 3},
    ],
)
def test_damaged_records_raise(change):
    assert len(Schema.from_json({"named": True, "columns": [GOOD]})) == 1
    with pytest.raises(ValueError):
        Schema.from_json({"named": True, "columns": [{**GOOD, **change}]})


@pytest.mark.parametrize(
    "record", [{}, {"columns": [GOOD]}, {"named": True, "columns": [GOOD, GOOD]}, {"columns": 3}]
)
def test_records_that_are_not_schemas_raise(record):
    with pytest.raises(ValueError, match="not a valid schema"):
        Schema.from_json(record)


def test_numeric_schemas():
    schema = Schema.numeric(2, "float32")
    assert schema.names == ["x0", "x1"]
    assert not schema.named
    assert schema.all_numeric
    named = Schema.numeric(2, names=["a", "b"])
    assert named.named
    assert [column.name for column in named] == ["a", "b"]
    assert named[1] == Column("b", Kind.NUMERIC, dtype="float64")
    with pytest.raises(ValueError, match="names must have 3 entries, got 2"):
        Schema.numeric(3, names=["a", "b"])
    mixed = Schema((*schema.columns, Column("c", Kind.ORDINAL, ("l", "h"), "codes")))
    assert not mixed.all_numeric


def test_temporal_columns():
    assert Column("t", Kind.NUMERIC, dtype="timedelta64[ns]").temporal
    assert not Column("t", Kind.NUMERIC, dtype="int64").temporal


def test_long_lists_of_names_are_shortened():
    schema = Schema.numeric(9, names=[f"c{j}" for j in range(9)])
    with pytest.raises(ValueError, match=r"- c5\n- \.\.\.\n$"):
        schema.check_names(["c0"])
    schema.check_names(schema.names)

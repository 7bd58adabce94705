"""Schemas: what they hold, through JSON and back, and the refusals they word."""

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
    levels = st.one_of(
        st.lists(st.text(), unique=True), st.lists(number, unique=True), st.just([False, True])
    )
    return Column(name, kind, tuple(draw(levels)), "codes")


@st.composite
def schemas(draw):
    names = draw(st.lists(st.text(), min_size=1, max_size=4, unique=True))
    return Schema(tuple(draw(columns(name)) for name in names), named=draw(st.booleans()))


@settings(deadline=None)
@given(schema=schemas())
def test_json_and_pickle_keep_everything(schema):
    again = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert again == schema
    kinds = [[type(level) for level in column.levels] for column in again]
    assert kinds == [[type(level) for level in column.levels] for column in schema]
    assert pickle.loads(pickle.dumps(schema)) == schema
    assert hash(again) == hash(schema)


GOOD = {"name": "a", "kind": "nominal", "levels": ["x", "y"], "dtype": "codes"}


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "strange"},
        {"dtype": "float64"},
        {"kind": "numeric"},
        {"kind": "numeric", "dtype": "float64"},
        {"kind": "numeric", "levels": [], "dtype": "float16"},
        {"levels": ["x", "x"]},
        {"levels": ["x", 1]},
        {"levels": [["x"]]},
        {"levels": [None]},
        {"levels": 3},
        {"name": 3},
    ],
)
def test_a_damaged_record_is_refused(change):
    assert len(Schema.from_json({"named": True, "columns": [GOOD]})) == 1
    with pytest.raises(ValueError):
        Schema.from_json({"named": True, "columns": [{**GOOD, **change}]})


@pytest.mark.parametrize(
    "record", [{}, {"columns": [GOOD]}, {"named": True, "columns": [GOOD, GOOD]}, {"columns": 3}]
)
def test_a_record_that_is_no_schema_is_refused(record):
    with pytest.raises(ValueError, match="no schema"):
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
    mixed = Schema((*schema.columns, Column("c", Kind.ORDINAL, ("l", "h"), "codes")))
    assert not mixed.all_numeric


def test_columns_of_times_say_so():
    assert Column("t", Kind.NUMERIC, dtype="timedelta64[ns]").temporal
    assert not Column("t", Kind.NUMERIC, dtype="int64").temporal


def test_long_lists_of_names_are_cut():
    schema = Schema.numeric(9, names=[f"c{j}" for j in range(9)])
    with pytest.raises(ValueError, match=r"- c5\n- \.\.\.\n$"):
        schema.check_names(["c0"])
    schema.check_names(schema.names)

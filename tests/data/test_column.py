"""Columns of requested kinds, and columns converted to a schema."""

from __future__ import annotations

import warnings
from datetime import date, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ceiba.data import Column, Kind, Schema, Table
from ceiba.data.identifiers import IdentifierWarning


def kinds_of(table):
    return [str(column.kind) for column in table.schema]


def dtypes_of(table):
    return [column.dtype for column in table.schema]


def labels(table, j):
    """Return the labels of a column, None for a missing value."""
    categories = table.schema[j].categories
    return [categories[code] if code >= 0 else None for code in table.column(j)]


# --- any values ---------------------------------------------------------------------------------


def decoded(table):
    """Return the values of the first column, None for a missing value."""
    column, mask = table.schema[0], table.missing_mask(0)
    if column.kind is not Kind.NUMERIC:
        return labels(table, 0)
    missing = np.zeros(len(table), bool) if mask is None else mask
    values = table.column(0).tolist()
    return [None if absent else v for v, absent in zip(values, missing, strict=True)]


SCALARS = st.one_of(
    st.none(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans(), st.text(max_size=2)
)


@settings(deadline=None)
@given(values=st.lists(SCALARS, min_size=1, max_size=4))
def test_any_values_are_kept_or_raise(values):
    present = [v for v in values if v is not None and v == v]
    types = set(map(type, present))
    if str in types and len(types) > 1:
        with pytest.raises(ValueError, match="mixes"):
            Table.of([[v] for v in values])
        return
    expected = [v if v is not None and v == v else None for v in values]
    if float in types:
        expected = [v if v is None else float(v) for v in expected]
    assert decoded(Table.of([[v] for v in values])) == expected


# --- times --------------------------------------------------------------------------------


def test_dates_and_durations_are_numbers_of_nanoseconds():
    noon = datetime(2020, 1, 1, 13, tzinfo=timezone(timedelta(hours=2)))
    table = Table.of(
        [
            {"t": date(1970, 1, 2), "z": noon, "d": timedelta(seconds=1)},
            {"t": None, "z": None, "d": np.timedelta64("NaT")},
            {"t": np.datetime64("1970-01-01T00:00:00.000000001"), "z": noon, "d": timedelta(1)},
        ]
    )
    day = 86_400 * 10**9
    assert dtypes_of(table) == ["datetime64[ns]", "datetime64[ns]", "timedelta64[ns]"]
    assert table.column(0).tolist() == [day, 0, 1]
    assert table.column(1).tolist()[0] == int(noon.timestamp()) * 10**9
    assert table.column(2).tolist() == [10**9, 0, day]
    for j in range(3):
        assert table.column(j).dtype == np.int64
        assert_array_equal(table.missing_mask(j), [False, True, False])


def test_a_date_array():
    X = np.array([["2020-01-01", "NaT"], ["2020-01-02", "2020-01-03"]], dtype="datetime64[D]")
    table = Table.of(X)
    assert_array_equal(table.column(0).view("datetime64[ns]"), X[:, 0])
    assert_array_equal(table.missing_mask(1), [True, False])


@pytest.mark.parametrize("year", ["1500", "2300", "0001"])
def test_dates_beyond_nanoseconds_raise(year):
    with pytest.raises(
        ValueError, match=rf"'x0' must be within the years 1677 to 2262.* got {year}"
    ):
        Table.of(np.array([["2000-01-01"], [f"{year}-01-01"]], dtype="datetime64[D]"))
    with pytest.raises(ValueError, match="1677 to 2262"):
        Table.of([[np.datetime64("2000-01-01", "ns")], [date(int(year), 1, 1)]])


# --- kinds ---------------------------------------------------------------------------------------


def test_requested_kinds_override_inferred_ones():
    rows = [
        {"zip": 8001, "size": "M", "text": "1.5", "rank": 2.0, "flag": True},
        {"zip": 4051, "size": "S", "text": "-2", "rank": 1.0, "flag": False},
        {"zip": None, "size": None, "text": None, "rank": None, "flag": None},
    ]
    table = Table.of(
        rows,
        kinds={
            "zip": "nominal",
            "size": ["S", "M", "L"],
            "text": "numeric",
            "rank": "ordinal",
            "flag": "numeric",
        },
    )
    assert kinds_of(table) == ["nominal", "ordinal", "numeric", "ordinal", "numeric"]
    assert labels(table, 0) == [8001, 4051, None]
    assert table.schema[1].categories == ("S", "M", "L")
    assert table.column(1).tolist() == [1, 0, -1]
    assert_array_equal(table.column(2), [1.5, -2.0, np.nan])
    assert table.schema[3].categories == (1, 2)
    assert table.column(4).tolist() == [1, 0, 0]
    assert_array_equal(table.missing_mask(4), [False, False, True])


def test_kinds_apply_to_arrays_and_tables_too():
    X = np.array([[1.0, 2.0], [3.0, 2.5], [np.nan, 2.0]])
    table = Table.of(X, kinds={"x0": "nominal"})
    assert table.schema[0] == Column("x0", Kind.NOMINAL, (1, 3), "codes")
    assert table.matrix is None
    again = Table.of(table, kinds={"x0": "numeric", "x1": [2.5, 2]})
    assert again.column(0).tolist() == [1, 3, 0]
    assert labels(again, 1) == [2, 2.5, 2]
    assert again.column(1).tolist() == [1, 0, 1]


def test_ordinal_text_requires_an_order():
    table = Table.of([["low"], ["high"]])
    with pytest.raises(ValueError, match="order is unknown"):
        Table.of(table, kinds={"x0": "ordinal"})
    listed = Table.of(table, kinds={"x0": ["low", "high"]})
    assert Table.of(listed, kinds={"x0": "ordinal"}).schema[0].categories == ("low", "high")


def test_dates_as_categories_are_iso_text():
    X = np.array([["2020-02-01"], ["2020-01-01T12:00"]], dtype="datetime64[m]")
    assert Table.of(X, kinds={"x0": "nominal"}).schema[0].categories == (
        "2020-01-01T12:00",
        "2020-02-01",
    )


@pytest.mark.parametrize(
    ("kinds", "message"),
    [
        ({"b": "nominal"}, r"kinds must have names of columns, got 'b'"),
        ({"a": "category"}, r"kinds\['a'\] must be .* got 'category'"),
        ({"a": "numeric"}, "'a' is numeric, but 'y' in row 1 is not a number"),
        ({"a": "ordinal"}, "'a' is text, whose order is unknown. Give its categories in order"),
        ({"a": ["1", "z"]}, "'a' contains 'y', which is not a category"),
        ({"a": ["y", "y", "1"]}, "lists the category 'y' twice"),
        ({"a": ["y", 1]}, "mixes numbers and text"),
        ({"a": [1, 2]}, "has numeric categories .1, 2., got the text 'y'"),
    ],
)
def test_invalid_kinds_raise(kinds, message):
    with pytest.raises(ValueError, match=message):
        Table.of([{"a": "1"}, {"a": "y"}], kinds=kinds)


@pytest.mark.parametrize("text", ["nan", "", "1_000", "?", "NA"])
def test_text_that_is_not_a_number_raises(text):
    with pytest.raises(ValueError, match="is not a number"):
        Table.of([["1"], [text]], kinds={"x0": "numeric"})


def test_kinds_and_schema_are_exclusive():
    schema = Schema.numeric(2)
    with pytest.raises(ValueError, match="kinds and schema must not be given together"):
        Table.of(np.eye(2), schema, kinds={"x0": "nominal"})


# --- following a schema --------------------------------------------------------------------------

COLORS = Table.of([{"c": "red", "n": 1.5}, {"c": "blue", "n": 2.5}]).schema


def test_unseen_categories_are_missing():
    table = Table.of([{"c": "green", "n": 1.0}, {"c": "blue", "n": 2.0}], COLORS)
    assert labels(table, 0) == [None, "blue"]
    assert_array_equal(table.missing_mask(0), [True, False])
    assert table.schema == COLORS


@settings(deadline=None)
@given(
    known=st.lists(st.text(max_size=3), min_size=1, max_size=6),
    asked=st.lists(st.one_of(st.none(), st.text(max_size=3)), min_size=1, max_size=8),
)
def test_categories_are_matched_by_label(known, asked):
    schema = Table.of([[label] for label in known]).schema
    assert schema[0].categories == tuple(sorted(set(known)))
    table = Table.of([[label] for label in asked], schema)
    assert labels(table, 0) == [label if label in known else None for label in asked]


@pytest.mark.parametrize(
    "rows",
    [
        [[1], [2]],
        [[1.0], [2.0]],
        [[np.int8(1)], [np.float32(2)]],
        [["1"], ["2.0"]],
        np.array([[1.0], [2.0]], np.float32),
        [[True], [2]],
    ],
)
def test_numeric_categories_are_matched_by_value(rows):
    schema = Table.of([[1], [2], [3]], kinds={"x0": "nominal"}).schema
    assert labels(Table.of(rows, schema), 0) == [1, 2]


def test_float32_categories_have_the_shortest_spelling():
    X = np.array([[0.1], [0.7]], np.float32)
    schema = Table.of(X, kinds={"x0": "nominal"}).schema
    assert schema[0].categories == (0.1, 0.7)
    assert Table.of(X.astype(str).astype(float), schema).column(0).tolist() == [0, 1]


@pytest.mark.parametrize("rows", [[[1], [77]], [[1.0], [77.0]], [["01"], ["77"]]])
def test_numbers_match_text_categories_that_are_numbers(rows):
    schema = Table.of([["01"], ["02"]]).schema
    assert labels(Table.of(rows, schema), 0) == ["01", None]


def test_bool_categories_match_ones_zeros_and_their_names():
    schema = Table.of([[True], [False]]).schema
    for rows in ([[True], [False]], [[1], [0]], [["True"], ["False"]], np.array([[1.0], [0.0]])):
        assert labels(Table.of(rows, schema), 0) == [True, False]


def test_numbers_for_text_categories_raise():
    with pytest.raises(ValueError, match=r"'c' has text categories \('blue', 'red'\), got numbers"):
        Table.of([{"c": 0, "n": 1.0}], COLORS)


def test_text_for_a_numeric_column_is_parsed_or_raises():
    rows = [{"c": "red", "n": "1.25"}, {"c": "red", "n": None}]
    assert_array_equal(Table.of(rows, COLORS).column(1), [1.25, np.nan])
    rows.append({"c": "red", "n": "much"})
    with pytest.raises(ValueError, match="'n' is numeric, but 'much' in row 2 is not a number"):
        Table.of(rows, COLORS)


def test_an_empty_column_converts_to_every_kind():
    table = Table.of([{"c": None, "n": None}], COLORS)
    assert table.missing_mask(0).all()
    assert table.missing_mask(1).all()
    dates = Table.of([[date(2020, 1, 1)], [None]]).schema
    assert Table.of([[None]], dates).schema == dates
    assert Table.of([[None]], dates).missing_mask(0).all()


def test_numbers_for_dates_raise():
    dates = Table.of([{"d": date(2020, 1, 1)}]).schema
    with pytest.raises(ValueError, match=r"'d' must have dtype datetime64\[ns\], got int64"):
        Table.of([{"d": 5}], dates)


@pytest.mark.parametrize("container", [list, np.array])
def test_wrong_width_raises(container):
    with pytest.raises(
        ValueError, match="X has 3 features, but KMeans is expecting 2 features as input"
    ):
        Table.of(container([[1.0, 2.0, 3.0]]), Schema.numeric(2), expected_by="KMeans")


@pytest.mark.parametrize(
    ("expected", "given_dtype", "values", "kept"),
    [
        ("float64", "int64", [1, 2], "float64"),
        ("float64", "float32", [0.1, 2], "float64"),
        ("float32", "float64", [0.1, 2], "float64"),
        ("float32", "float32", [0.1, 2], "float32"),
        ("int64", "float64", [1.0, np.nan], "int64"),
        ("int64", "float64", [1.5, np.nan], "float64"),
        ("int64", "float64", [2.0**63, 0], "float64"),
        ("int64", "float64", [-(2.0**63), 2.0**62], "int64"),
        ("int64", "float64", [np.inf, 0], "float64"),
        ("uint64", "float64", [2.0**64, 0], "float64"),
        ("int64", "uint64", [2**62, 0], "int64"),
        ("int64", "uint64", [2**63, 0], "uint64"),
        ("uint64", "int64", [5, 0], "uint64"),
        ("uint64", "int64", [-5, 0], "int64"),
        ("uint64", "float64", [-5.0, 0], "float64"),
        ("int64", "bool", [True, False], "int64"),
    ],
)
@pytest.mark.parametrize("mixed", [False, True])
def test_numbers_are_converted_where_that_is_exact(expected, given_dtype, values, kept, mixed):
    schema = Schema.numeric(2, expected)
    if mixed:
        schema = Schema((schema[0], Column("x1", Kind.NUMERIC, dtype="float64")), named=False)
    X = np.array(values, dtype=given_dtype)
    table = Table.of(np.column_stack([X, X]), schema)
    assert table.schema[0].dtype == kept
    assert table.column(0).dtype == np.dtype(kept)
    whole = [None if v != v else v for v in X.tolist()]
    mask = table.missing_mask(0)
    seen = [None if mask is not None and mask[i] else v for i, v in enumerate(table.column(0))]
    assert seen == whole


def test_a_table_converts_as_its_container_does():
    rows = [{"c": "red", "n": 3}, {"c": "green", "n": None}]
    direct, through = Table.of(rows, COLORS), Table.of(Table.of(rows), COLORS)
    assert through.schema == direct.schema
    for j in range(2):
        assert_array_equal(through.column(j), direct.column(j))
    X = Table.of(np.eye(2))
    assert Table.of(X, Schema.numeric(2, "float32")).matrix is X.matrix
    named = Table.of(X, Schema.numeric(2, names=["a", "b"]))
    assert named.matrix is X.matrix
    with pytest.raises(ValueError, match="same order"):
        Table.of(named, Schema.numeric(2, names=["b", "a"]))
    assert Table.of(direct) is direct
    assert Table.of(direct, COLORS) is direct


# --- identifiers ---------------------------------------------------------------------------------


def test_identifier_columns_warn():
    rows = [{"who": f"id{i}", "x": i % 3} for i in range(21)]
    with pytest.warns(
        IdentifierWarning, match="'who' has a different category in every row"
    ) as found:
        Table.of(rows)
    assert len(found) == 1


@pytest.mark.parametrize(
    ("rows", "kinds"),
    [
        ([{"a": f"id{i}"} for i in range(20)], None),
        ([{"a": f"id{i}"} for i in range(30)], {"a": "nominal"}),
        ([{"a": f"id{i % 25}"} for i in range(125)], None),
        ([{"a": f"id{i % 10}"} for i in range(21)], None),
        ([{"a": i} for i in range(30)], None),
    ],
)
def test_other_columns_do_not_warn(rows, kinds):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        schema = Table.of(rows, kinds=kinds).schema
        Table.of(rows, schema)

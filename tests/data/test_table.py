"""Tables of arrays, lists and columns of codes; errors for other input."""

from __future__ import annotations

import pickle
import sys
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ceiba.data import Column, Kind, Schema, Table

BIG = 2**53 + 1


def kinds_of(table):
    return [str(column.kind) for column in table.schema]


def dtypes_of(table):
    return [column.dtype for column in table.schema]


def labels(table, j):
    """Return the labels of a column, None for a missing value."""
    categories = table.schema[j].categories
    return [categories[code] if code >= 0 else None for code in table.column(j)]


# --- float arrays -------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("layout", ["C", "F", "strided", "reversed", "read-only", "memmap"])
def test_float_arrays_are_not_copied(dtype, layout, tmp_path):
    base = np.arange(24, dtype=dtype).reshape(6, 4)
    X = {
        "C": lambda: base,
        "F": lambda: np.asfortranarray(base),
        "strided": lambda: base[::2, ::2],
        "reversed": lambda: base[::-1],
        "read-only": lambda: base,
        "memmap": lambda: np.memmap(tmp_path / "x", dtype, "w+", shape=(6, 4)),
    }[layout]()
    if layout == "read-only":
        X.flags.writeable = False
    table = Table.of(X)
    assert np.shares_memory(table.matrix, X)
    assert table.matrix.strides == X.strides
    assert dtypes_of(table) == [dtype] * X.shape[1]
    for j in range(X.shape[1]):
        assert np.shares_memory(table.column(j), X)
        assert_array_equal(table.column(j), X[:, j])
    assert not table.schema.named
    again = Table.of(X, table.schema)
    assert np.shares_memory(again.matrix, X)
    assert again.schema is table.schema


def test_arrays_of_one_width_share_a_schema():
    assert Table.of(np.zeros((2, 3))).schema is Table.of(np.ones((5, 3))).schema
    assert Table.of(np.zeros((2, 3))).schema != Table.of(np.zeros((2, 3), np.float32)).schema


def test_nan_is_missing_and_infinity_raises():
    X = np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]])
    table = Table.of(X)
    assert_array_equal(table.missing_mask(0), [False, True, False])
    assert table.missing_mask(1) is None
    table.check_finite()
    X[2, 1] = -np.inf
    with pytest.raises(ValueError, match="infinity: row 2, column 'x1'"):
        table.check_finite()


def test_check_finite_allows_an_overflowing_sum():
    Table.of(np.full((4, 2), 1e308)).check_finite()
    Table.of([{"a": 1e308}, {"a": 1e308}, {"a": 1e308}]).check_finite()
    with pytest.raises(ValueError, match="row 1, column 'a'"):
        Table.of([{"a": 1.0, "b": "x"}, {"a": np.inf, "b": "y"}]).check_finite()


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [
        ("float16", "float32"),
        (">f8", "float64"),
        (">f4", "float32"),
        ("longdouble", "float64"),
        ("bool", "float64"),
        ("int8", "int64"),
        ("uint32", "int64"),
        (">i8", "int64"),
        ("uint64", "uint64"),
        (">u8", "uint64"),
        ("object", "int64"),
    ],
)
def test_other_dtypes_are_converted(dtype, kept):
    X = np.array([[0, 1], [1, 0], [1, 1]]).astype(dtype)
    table = Table.of(X)
    assert dtypes_of(table) == [kept, kept]
    assert kinds_of(table) == ["numeric", "numeric"]
    assert table.column(1).dtype == np.dtype(kept)
    assert_array_equal(table.column(1), [1, 0, 1])
    assert (table.matrix is not None) == (kept.startswith("float") and dtype != "object")


@pytest.mark.parametrize("dtype", ["int64", "uint64", "object"])
def test_integers_beyond_2_to_53_stay_exact(dtype):
    X = np.array([[BIG], [BIG + 1], [BIG + 2]], dtype=dtype)
    assert len(set(Table.of(X).column(0).tolist())) == 3
    assert len(set(Table.of(X, Table.of(X).schema).column(0).tolist())) == 3


def test_integers_with_missing_values_stay_exact():
    table = Table.of([[BIG], [None], [-BIG], [np.nan]])
    assert dtypes_of(table) == ["int64"]
    assert table.column(0).tolist() == [BIG, 0, -BIG, 0]
    assert_array_equal(table.missing_mask(0), [False, True, False, True])


def test_the_largest_unsigned_integers_stay_exact():
    table = Table.of([[2**64 - 1], [None], [0]])
    assert dtypes_of(table) == ["uint64"]
    assert table.column(0).tolist() == [2**64 - 1, 0, 0]


def test_integers_beyond_64_bits_become_floats():
    table = Table.of([[2**70], [1]])
    assert dtypes_of(table) == ["float64"]
    assert table.column(0).tolist() == [2.0**70, 1.0]


# --- masked arrays, text arrays, objects --------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float64", "int64", "object", "U1"])
def test_masked_values_are_missing(dtype):
    X = np.ma.array(np.array([[1, 2], [3, 4]]).astype(dtype), mask=[[False, True], [False, False]])
    table = Table.of(X)
    assert table.missing_mask(0) is None
    assert_array_equal(table.missing_mask(1), [True, False])
    known = labels(table, 1) if dtype == "U1" else table.column(1).tolist()
    assert known[1] == ("4" if dtype == "U1" else 4)


def test_text_arrays_are_nominal_even_if_they_are_numbers():
    table = Table.of(np.array([["b", "1.5"], ["a", "2"]]))
    assert kinds_of(table) == ["nominal", "nominal"]
    assert table.schema[0].categories == ("a", "b")
    assert table.column(0).tolist() == [1, 0]
    assert table.column(0).dtype == np.int32
    assert table.schema[1].categories == ("1.5", "2")


def test_object_columns_follow_their_values():
    rows = [
        ["x", 1, 1.5, True, Decimal("0.25"), None, 1, True],
        [None, None, 2, None, Fraction(1, 2), None, 2.5, 3],
        ["y", 2, np.float32(0.5), False, None, np.nan, None, 0],
    ]
    for X in (rows, np.array(rows, dtype=object)):
        table = Table.of(X)
        assert kinds_of(table) == ["nominal", "numeric", "numeric", "nominal"] + ["numeric"] * 4
        assert dtypes_of(table)[1:3] == ["int64", "float64"]
        assert dtypes_of(table)[4:] == ["float64", "float64", "float64", "int64"]
        assert labels(table, 0) == ["x", None, "y"]
        assert labels(table, 3) == [True, None, False]
        assert_array_equal(table.column(4), [0.25, 0.5, np.nan])
        assert table.missing_mask(5).all()
        assert table.column(7).tolist() == [1, 3, 0]


# --- lists ---------------------------------------------------------------------------------------


def test_absent_keys_of_dictionaries_are_missing():
    table = Table.of([{"a": 1.5, "b": "x"}, {"b": "y", "c": 3}])
    assert table.schema.named
    assert table.schema.names == ["a", "b", "c"]
    assert_array_equal(table.missing_mask(0), [False, True])
    assert_array_equal(table.missing_mask(2), [True, False])


def test_dictionaries_follow_a_schema_in_any_order():
    schema = Table.of([{"a": 1.5, "b": "x"}, {"a": 2.5, "b": "y"}]).schema
    table = Table.of([{"b": "y", "a": 4.0}, {"a": 5.0}], schema)
    assert table.column(0).tolist() == [4.0, 5.0]
    assert labels(table, 1) == ["y", None]
    with pytest.raises(ValueError, match="unseen at fit time:\n- other\n"):
        Table.of([{"b": "y", "a": 4.0, "other": 1}], schema)


def test_a_list_of_arrays_is_an_array():
    table = Table.of([np.array([1.0, 2.0]), np.array([3.0, 4.0])])
    assert_array_equal(table.matrix, [[1.0, 2.0], [3.0, 4.0]])


def test_objects_with_array_protocol_are_accepted():
    class Thing:
        def __array__(self, dtype=None, copy=None):
            return np.eye(2)

    assert_array_equal(Table.of(Thing()).matrix, np.eye(2))


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (np.zeros((0, 3)), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is"),
        (np.zeros((3, 0)), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\) while a minimum of 1"),
        (np.zeros((0, 3), object), ValueError, r"0 sample\(s\) \(shape=\(0, 3\)\)"),
        ([], ValueError, r"0 sample\(s\)"),
        ([[], []], ValueError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
        ([{}, {}], ValueError, r"0 feature\(s\)"),
        (np.zeros(3), ValueError, "Expected 2D array, got 1D array instead.*Reshape your data"),
        ([1, 2, 3], ValueError, "Expected 2D array, got 1D array instead.*Reshape your data"),
        (["a", "b"], ValueError, "Expected 2D array, got 1D array instead"),
        (np.array(3.0), ValueError, "Expected 2D array, got scalar array instead"),
        (np.zeros((2, 2, 2)), ValueError, "Found array with dim 3"),
        ([[[1, 2]], [[3, 4]]], ValueError, "Found array with dim 3"),
        (np.eye(2) * 1j, ValueError, "Complex data not supported"),
        ([[1j], [2]], ValueError, "Complex data not supported: column 'x0', row 0"),
        (np.zeros(2, dtype=[("a", float)])[:, None], TypeError, "strings or numbers"),
        (np.array([[b"a"]]), TypeError, "strings or numbers"),
        ([[1, 2], [3]], ValueError, "Row 1 has 1 values, but row 0 has 2"),
        ([[{"foo": "bar"}], [1]], TypeError, "argument must be a string or a number, not 'dict'"),
        ([{"a": 1}, {"a": [2]}], TypeError, "'a', row 1: the argument must be .* not 'list'"),
        ([[1], ["a"]], ValueError, r"'x0' mixes int \(1\) and text \('a'\)"),
        ([[1], [date(2020, 1, 1)]], ValueError, "'x0' mixes int .* and instant"),
        ([{"a": 1, 2: 3}], TypeError, "all input features have string names.*'int', 'str'"),
        ({"a": [1, 2]}, TypeError, "X must be a 2-D array.* got 'dict'"),
        ("text", TypeError, "X must be a 2-D array.* got 'str'"),
        (None, TypeError, "X must be a 2-D array.* got 'NoneType'"),
    ],
)
def test_invalid_containers_raise(X, error, message):
    with pytest.raises(error, match=message):
        Table.of(X)


def test_dask_collections_raise():
    array = pytest.importorskip("dask.array")
    with pytest.raises(TypeError, match=r"compute\(\)"):
        Table.of(array.ones((4, 2)))


# --- ready columns, rows, text -------------------------------------------------------------------

MIXED = Schema(
    (
        Column("f", Kind.NUMERIC, dtype="float32"),
        Column("i", Kind.NUMERIC, dtype="int64"),
        Column("c", Kind.NOMINAL, ("a", "b"), "codes"),
        Column("t", Kind.NUMERIC, dtype="datetime64[ns]"),
    )
)


def mixed_columns():
    return [
        np.array([1.5, np.nan], np.float32),
        np.array([BIG, 7]),
        np.array([1, -1], np.int8),
        np.array(["2020-01-01", "NaT"], "datetime64[s]"),
    ]


def test_from_columns():
    columns = mixed_columns()
    table = Table.from_columns(columns, MIXED, {1: np.array([False, True])})
    assert table.schema == MIXED
    assert np.shares_memory(table.column(0), columns[0])
    assert table.column(1).tolist() == [BIG, 0]
    assert table.column(2).dtype == np.int32
    assert labels(table, 2) == ["b", None]
    for j in range(4):
        assert_array_equal(table.missing_mask(j), [False, True])
    masked = Table.from_columns(columns, MIXED, {3: np.array([True, False])})
    assert masked.missing_mask(3).all()
    ticks = [*columns[:3], table.column(3)]
    again = Table.from_columns(ticks, MIXED, {3: table.missing_mask(3)})
    assert_array_equal(again.missing_mask(3), [False, True])


@pytest.mark.parametrize(
    ("j", "array", "message"),
    [
        (0, np.zeros(3, np.float32), "must have one length, got 2 to 3"),
        (0, np.zeros(2, np.float64), "'f' must have dtype float32, got float64"),
        (0, np.zeros((2, 1), np.float32), "'f' must have one dimension, got 2"),
        (1, np.zeros(2), "'i' must have dtype int64, got float64"),
        (2, np.array([0, 2]), r"'c' must have codes in \[-1, 1\], got 0 to 2"),
        (2, np.array([-2, 0]), r"'c' must have codes in \[-1, 1\], got -2 to 0"),
        (2, np.array([0.0, 1.0]), "'c' must have integer codes"),
        (
            3,
            np.zeros(2, "timedelta64[ns]"),
            r"'t' must have dtype datetime64\[ns\], got timedelta64",
        ),
        (
            3,
            np.array(["1500", "2000"], "datetime64[s]"),
            "'t' must be within the years 1677 to 2262.* got 1500",
        ),
        (3, np.zeros(2), r"'t' must have dtype datetime64\[ns\], got float64"),
    ],
)
def test_from_columns_validates_arrays(j, array, message):
    columns = mixed_columns()
    columns[j] = array
    with pytest.raises(ValueError, match=message):
        Table.from_columns(columns, MIXED)


def test_from_columns_validates_sizes():
    with pytest.raises(ValueError, match=r"as many arrays as the schema has columns \(4\), got 3"):
        Table.from_columns(mixed_columns()[:3], MIXED)
    with pytest.raises(ValueError, match="'i' must have 2 rows, got 1"):
        Table.from_columns(mixed_columns(), MIXED, {1: np.array([True])})
    with pytest.raises(ValueError, match="missing must have column indices from 0 to 3, got 4"):
        Table.from_columns(mixed_columns(), MIXED, {4: np.array([True, False])})


@pytest.mark.parametrize(
    "rows", [[0], [1], [1, 0, 1], slice(1, None), np.array([False, True]), [], np.array([-1])]
)
def test_take_equals_numpy_indexing(rows):
    table = Table.from_columns(mixed_columns(), MIXED, {1: np.array([False, True])})
    part = table.take(rows)
    assert part.schema is table.schema
    index = np.asarray(rows, dtype=int) if isinstance(rows, list) else rows
    assert len(part) == len(np.arange(2)[index])
    for j in range(4):
        assert_array_equal(part.column(j), table.column(j)[index])
        known = table.missing_mask(j)[index]
        assert_array_equal(part.missing_mask(j), known if known.any() else None)
    X = np.arange(6.0).reshape(2, 3)
    assert_array_equal(Table.of(X).take(rows).matrix, X[index])


def test_repr():
    table = Table.from_columns(mixed_columns(), MIXED)
    assert repr(table).splitlines() == [
        "Table of 2 rows × 4 columns",
        "  f  numeric  float32         1.5, ?",
        f"  i  numeric  int64           {BIG}, 7",
        "  c  nominal  ('a', 'b')      b, ?",
        "  t  numeric  datetime64[ns]  2020-01-01, ?",
    ]
    wide = repr(Table.of(np.zeros((9, 30))))
    assert wide.splitlines()[1].endswith("0.0, ...")
    assert wide.splitlines()[-1] == "  ... 18 more"
    assert len(Table.of(np.zeros((9, 30))).head()) == 5


def test_tables_pickle():
    for table in (
        Table.of(np.eye(3)),
        Table.from_columns(mixed_columns(), MIXED, {1: np.array([False, True])}),
    ):
        again = pickle.loads(pickle.dumps(table))
        assert again.schema == table.schema
        for j in range(len(table.schema)):
            assert_array_equal(again.column(j), table.column(j))
            assert_array_equal(again.missing_mask(j), table.missing_mask(j))


def test_rows_are_indexed_as_in_an_array():
    table = Table.of([{"a": i, "b": "xy"[i % 2]} for i in range(6)])
    assert table.shape == (6, 2)
    assert table[1:3].column(0).tolist() == [1, 2]
    assert table[np.array([5, 0])].column(0).tolist() == [5, 0]
    assert table[np.arange(6) > 3, ...].column(0).tolist() == [4, 5]
    assert table[2].column(0).tolist() == [2]
    with pytest.raises(TypeError, match="indexed by rows or by names"):
        table[:, 1]


def test_a_mixed_table_goes_through_cross_validation():
    from sklearn.model_selection import cross_val_score

    from ceiba import KMeans, datasets

    X, _ = datasets.load("crx")
    assert np.isfinite(cross_val_score(KMeans(3), X, cv=3)).all()


def test_to_pandas():
    table = Table.from_columns(mixed_columns(), MIXED, {1: np.array([False, True])})
    frame = table.to_pandas()
    assert frame.columns.tolist() == MIXED.names
    assert [str(dtype) for dtype in frame.dtypes] == [
        "float32",
        "Int64",
        "category",
        "datetime64[ns]",
    ]
    assert frame.isna().to_numpy().tolist() == [[False] * 4, [True] * 4]
    again = Table.of(frame)
    assert again.schema == table.schema
    for j in range(4):
        assert_array_equal(again.column(j), table.column(j))


def test_to_pandas_requires_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"requires pandas: pip install \"ceiba\[files\]\""):
        Table.of(np.eye(2)).to_pandas()

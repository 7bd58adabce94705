"""One table in every container; frames' own types; frames that follow a schema."""

from __future__ import annotations

import subprocess
import sys
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from ceiba.data import Table
from tests.budget import examples

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

BIG = 2**53 + 1

TYPES = {
    "real": ("float64", pl.Float64, pa.float64()),
    "whole": ("Int64", pl.Int64, pa.int64()),
    "text": ("string", pl.String, pa.string()),
    "truth": ("boolean", pl.Boolean, pa.bool_()),
    "instant": ("datetime64[us]", pl.Datetime("us"), pa.timestamp("us")),
    "span": ("timedelta64[us]", pl.Duration("us"), pa.duration("us")),
}
COLUMNS = {
    "real": [1.5, None, -2.0, 0.0],
    "whole": [BIG, None, -BIG, 3],
    "text": ["red", None, "blue", "red"],
    "truth": [True, None, False, True],
    "instant": [datetime(2020, 1, 1, 5), None, datetime(1960, 1, 1), datetime(2020, 1, 1, 4)],
    "span": [timedelta(days=1), None, timedelta(microseconds=-1), timedelta(0)],
}


def to_pandas(columns):
    return pd.DataFrame({n: pd.array(v, dtype=TYPES[n][0]) for n, v in columns.items()})


def to_arrow_pandas(columns):
    types = {name: pd.ArrowDtype(TYPES[name][2]) for name in columns}
    return pd.DataFrame({n: pd.array(v, dtype=types[n]) for n, v in columns.items()})


def to_object_pandas(columns):
    return pd.DataFrame({n: pd.Series(v, dtype=object) for n, v in columns.items()})


def to_polars(columns):
    return pl.DataFrame({n: pl.Series(v, dtype=TYPES[n][1]) for n, v in columns.items()})


def to_pyarrow(columns):
    # Two chunks: categories must be merged from both.
    arrays = [pa.array(v, type=TYPES[n][2]) for n, v in columns.items()]
    halves = [pa.chunked_array([a[: len(a) // 2], a[len(a) // 2 :]]) for a in arrays]
    return pa.table(dict(zip(columns, halves, strict=True)))


def to_rows(columns):
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


CONTAINERS = [to_pandas, to_arrow_pandas, to_object_pandas, to_polars, to_pyarrow, to_rows]


def assert_same(table, other):
    assert table.schema == other.schema
    for j in range(len(table.schema)):
        assert table.column(j).dtype == other.column(j).dtype
        assert_array_equal(table.column(j), other.column(j))
        assert (table.missing_mask(j) is None) == (other.missing_mask(j) is None)
        if table.missing_mask(j) is not None:
            assert_array_equal(table.missing_mask(j), other.missing_mask(j))


def labels(table, name):
    j = table.schema.names.index(name)
    categories = table.schema[j].categories
    return [categories[code] if code >= 0 else None for code in table.column(j)]


# --- the same table in every container -----------------------------------------------------------


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_table(container):
    table = Table.of(container(COLUMNS))
    assert table.schema.named
    dtypes = ["float64", "int64", "codes", "codes", "datetime64[ns]", "timedelta64[ns]"]
    assert [column.dtype for column in table.schema] == dtypes
    assert_array_equal(table.column(0), [1.5, np.nan, -2.0, 0.0])
    assert table.column(1).tolist() == [BIG, 0, -BIG, 3]
    assert labels(table, "text") == COLUMNS["text"]
    assert labels(table, "truth") == COLUMNS["truth"]
    ticks = [t if t is None else np.datetime64(t, "ns") for t in COLUMNS["instant"]]
    assert_array_equal(
        table.column(4).view("datetime64[ns]")[[0, 2, 3]], [ticks[i] for i in (0, 2, 3)]
    )
    assert table.column(5).tolist() == [86_400 * 10**9, 0, -1000, 0]
    for j in range(6):
        assert_array_equal(table.missing_mask(j), [False, True, False, False])


VALUES = {
    "real": st.floats(allow_nan=False),
    "whole": st.integers(-(2**63), 2**63 - 1),
    "text": st.text(max_size=4),
    "truth": st.booleans(),
}


@st.composite
def tables(draw):
    """Columns of each kind with missing values, but with at least one value each."""
    n = draw(st.integers(1, 6))
    names = draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, unique=True))
    columns = {}
    for name in names:
        rest = st.lists(st.one_of(st.none(), VALUES[name]), min_size=n - 1, max_size=n - 1)
        columns[name] = draw(st.permutations([draw(VALUES[name]), *draw(rest)]))
    return columns


@examples(40)
@given(columns=tables())
def test_any_table_is_the_same_in_every_container(columns):
    first, *others = [Table.of(container(columns)) for container in CONTAINERS]
    for other in others:
        assert_same(first, other)
    for container in CONTAINERS:
        assert_same(first, Table.of(container(columns), first.schema))


# --- categories ----------------------------------------------------------------------------------


def pandas_categories(values, categories, ordered=False):
    return pd.DataFrame({"c": pd.Categorical(values, categories, ordered=ordered)})


def arrow_categories(values, categories, ordered=False):
    codes = pa.array([categories.index(v) if v in categories else None for v in values], pa.int8())
    array = pa.DictionaryArray.from_arrays(codes, pa.array(categories), ordered=ordered)
    return pa.table({"c": array})


def polars_enum(values, categories):
    return pl.DataFrame({"c": pl.Series(values, dtype=pl.Enum(categories))})


@pytest.mark.parametrize("make", [pandas_categories, arrow_categories, polars_enum])
def test_declared_categories_are_kept_used_or_not(make):
    table = Table.of(make(["b", None, "a", "b"], ["b", "z", "a"]))
    assert str(table.schema[0].kind) == "nominal"
    assert table.schema[0].categories == ("b", "z", "a")
    assert table.column(0).tolist() == [0, -1, 2, 0]


@pytest.mark.parametrize("make", [pandas_categories, arrow_categories])
def test_ordered_categories_are_ordinal_in_their_order(make):
    table = Table.of(make(["mid", None, "low"], ["low", "mid", "high"], ordered=True))
    assert str(table.schema[0].kind) == "ordinal"
    assert table.schema[0].categories == ("low", "mid", "high")
    assert table.column(0).tolist() == [1, -1, 0]


@pytest.mark.parametrize("make", [pandas_categories, arrow_categories, polars_enum])
def test_a_declared_order_can_be_requested(make):
    table = Table.of(make(["mid", "low"], ["low", "mid", "high"]), kinds={"c": "ordinal"})
    assert table.schema[0].categories == ("low", "mid", "high")


@pytest.mark.parametrize("train", [pandas_categories, arrow_categories, polars_enum])
@pytest.mark.parametrize("predict", [pandas_categories, arrow_categories, polars_enum])
def test_categories_are_matched_by_label_never_by_code(train, predict):
    schema = Table.of(train(["a", "b"], ["a", "b"])).schema
    table = Table.of(predict(["b", "a", "c", None], ["b", "a", "c"]), schema)
    assert labels(table, "c") == ["b", "a", None, None]


def test_polars_categoricals_have_their_own_categories():
    first = pl.DataFrame({"c": pl.Series(["x", "y"], dtype=pl.Categorical)})
    second = pl.DataFrame({"c": pl.Series(["b", None, "a"], dtype=pl.Categorical)})
    assert Table.of(first).schema[0].categories == ("x", "y")
    assert Table.of(second).schema[0].categories == ("a", "b")
    assert labels(Table.of(second), "c") == ["b", None, "a"]


def test_numbers_and_intervals_as_categories():
    frame = pd.DataFrame({"c": pd.Categorical([3, 1, None]), "f": pd.Categorical([1.5, 2.0, 2.0])})
    table = Table.of(frame)
    assert table.schema[0].categories == (1, 3)
    assert table.schema[1].categories == (1.5, 2)
    intervals = pd.interval_range(0, 10, periods=2)
    binned = Table.of(
        pd.DataFrame({"c": pd.Categorical([intervals[0], intervals[1]], ordered=True)})
    )
    assert str(binned.schema[0].kind) == "ordinal"
    assert binned.schema[0].categories == ("(0, 5]", "(5, 10]")
    with pytest.raises(ValueError, match="'c' mixes numbers and text"):
        Table.of(pd.DataFrame({"c": pd.Categorical([1, "a"])}))


def test_arrow_dictionaries_that_differ_by_chunk_or_list_null():
    chunks = pa.chunked_array([pa.array(v).dictionary_encode() for v in (["b", "a"], ["c", "b"])])
    assert labels(Table.of(pa.table({"c": chunks})), "c") == ["b", "a", "c", "b"]
    odd = pa.DictionaryArray.from_arrays(
        pa.array([2, 1, 0, None]), pa.array(["x", None, "y", None])
    )
    assert labels(Table.of(pa.table({"c": odd})), "c") == ["y", None, "x", None]
    inside = pd.DataFrame({"c": pd.array(["u", None, "t"], dtype=pd.ArrowDtype(odd.type))})
    assert labels(Table.of(inside), "c") == ["u", None, "t"]


@pytest.mark.parametrize("dtype", ["object", "str", "string[python]", "string[pyarrow]"])
def test_all_kinds_of_pandas_text(dtype):
    table = Table.of(pd.DataFrame({"c": pd.Series(["b", None, "a"], dtype=dtype)}))
    assert labels(table, "c") == ["b", None, "a"]


@pytest.mark.parametrize("type_", [pa.large_string(), pa.string_view()])
def test_all_kinds_of_arrow_text(type_):
    assert labels(Table.of(pa.table({"c": pa.array(["b", None, "a"], type_)})), "c") == [
        "b",
        None,
        "a",
    ]


# --- numbers and times ---------------------------------------------------------------------------


def test_pandas_floats_are_not_copied():
    X = np.arange(6.0).reshape(3, 2)
    frame = pd.DataFrame(X, columns=["a", "b"], copy=False)
    assert np.shares_memory(Table.of(frame).column(0), frame["a"].to_numpy())


@pytest.mark.parametrize(
    ("series", "dtype", "values"),
    [
        (pl.Series([1, None], dtype=pl.UInt8), "int64", [1, None]),
        (pl.Series([2**64 - 1, None], dtype=pl.UInt64), "uint64", [2**64 - 1, None]),
        (pl.Series([BIG, None], dtype=pl.Int128), "int64", [BIG, None]),
        (pl.Series([Decimal("1.25"), None]), "float64", [1.25, None]),
        (pl.Series([0.5, None], dtype=pl.Float32), "float32", [0.5, None]),
        (pl.Series([None, None]), "float64", [None, None]),
        (pl.Series([None, None], dtype=pl.Date), "datetime64[ns]", [None, None]),
        (pl.Series([date(1970, 1, 2), None]), "datetime64[ns]", [86_400 * 10**9, None]),
        (
            pl.Series([datetime(1970, 1, 1, 1), None]).dt.replace_time_zone("Europe/Zurich"),
            "datetime64[ns]",
            [0, None],
        ),
    ],
)
def test_polars_numbers(series, dtype, values):
    table = Table.of(pl.DataFrame({"a": series}))
    assert table.schema[0].dtype == dtype
    missing = table.missing_mask(0)
    found = zip(table.column(0).tolist(), missing, strict=True)
    assert [None if absent else v for v, absent in found] == values


@pytest.mark.parametrize(
    "array",
    [
        pd.array([date(1970, 1, 2), None], dtype=pd.ArrowDtype(pa.date32())),
        pd.Series([pd.Timestamp("1970-01-02", tz="UTC"), pd.NaT]),
        pd.Series([pd.Timestamp("1970-01-02"), pd.NaT], dtype=object),
        pd.Series([date(1970, 1, 2), None], dtype=object),
    ],
)
def test_pandas_times(array):
    table = Table.of(pd.DataFrame({"a": array}))
    assert table.schema[0].dtype == "datetime64[ns]"
    assert table.column(0).tolist() == [86_400 * 10**9, 0]
    assert_array_equal(table.missing_mask(0), [False, True])


def test_sparse_and_decimal_pandas_columns():
    frame = pd.DataFrame(
        {
            "s": pd.arrays.SparseArray([0.0, 1.5]),
            "d": pd.array([Decimal("0.5"), None], dtype=pd.ArrowDtype(pa.decimal128(5, 2))),
        }
    )
    table = Table.of(frame)
    assert table.column(0).tolist() == [0.0, 1.5]
    assert_array_equal(table.column(1), [0.5, np.nan])


def test_times_beyond_nanoseconds_raise():
    with pytest.raises(ValueError, match=r"'when' must be within the years .* got 1500"):
        Table.of(pl.DataFrame({"when": [datetime(1500, 1, 1)]}))


@pytest.mark.parametrize(
    "values", [[[1], [2]], [{"a": 1}, {"a": 2}], [b"a", b"b"], [time(1), time(2)]]
)
def test_columns_of_other_objects_raise(values):
    for frame in (pl.DataFrame({"odd": values}), pa.table({"odd": values})):
        with pytest.raises(TypeError, match="'odd', row 0: the argument must be a string or a num"):
            Table.of(frame)
    with pytest.raises(
        TypeError, match=r"not 'Period'\. Make each value one number or text, or le"
    ):
        Table.of(pd.DataFrame({"p": pd.period_range("2020", periods=2)}))


# --- names ---------------------------------------------------------------------------------------


def test_columns_numbered_by_pandas_have_no_names():
    table = Table.of(pd.DataFrame([[1.5, "a"], [2.5, "b"]]))
    assert not table.schema.named
    assert table.schema.names == ["x0", "x1"]
    with pytest.raises(TypeError, match="all input features have string names"):
        Table.of(pd.DataFrame([[1.5, "a"]], columns=[0, "b"]))
    with pytest.raises(ValueError, match=r"(?s)Rename or drop columns.*'b'"):
        Table.of(pd.DataFrame([[1.5, 2.5]], columns=["b", "b"]))


FITTED = Table.of(pd.DataFrame({"a": [1.0], "b": [2.0], "c": ["x"]})).schema


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "b", "d"], "unseen at fit time:\n- d\n.*yet now missing:\n- c\n"),
        (["b", "a", "c"], "same order as they were in fit.\nColumn 0 was 'a' and is 'b' now"),
        (["a", "b"], "yet now missing:\n- c\n"),
        (["a", "b", "c", "d"], "unseen at fit time:\n- d\n"),
    ],
)
def test_renamed_absent_or_reordered_columns_raise(make, names, message):
    with pytest.raises(ValueError, match=f"(?s)names should match.*{message}"):
        Table.of(make({name: [1.0] for name in names}), FITTED)


def test_columns_match_by_position_without_names():
    assert labels(Table.of([[1, 2, "x"]], FITTED), "c") == ["x"]
    unnamed = Table.of([[1.5, "x"]]).schema
    assert not Table.of(pd.DataFrame({"p": [1.0], "q": ["x"]}), unnamed).schema.named


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        (
            pd.Series([1.0]),
            ValueError,
            "Expected 2D array, got 1D array instead.*Reshape your data",
        ),
        (pl.Series([1.0]), ValueError, "Expected 2D array, got 1D array instead"),
        (pl.LazyFrame({"a": [1]}), TypeError, r"collect\(\)"),
        (pd.DataFrame({"a": []}), ValueError, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
        (pd.DataFrame(index=[0, 1, 2]), ValueError, r"0 feature\(s\) \(shape=\(3, 0\)\)"),
        (pl.DataFrame(), ValueError, r"0 sample\(s\)"),
    ],
)
def test_invalid_frames_raise(X, error, message):
    with pytest.raises(error, match=message):
        Table.of(X)


def test_the_import_is_cheap():
    code = (
        "import sys, ceiba.data, ceiba.data.table, ceiba.data.target, ceiba.data.encoding\n"
        "ceiba.data.Table.of([[1.0, 'a']])\n"
        "print({'pandas', 'polars', 'pyarrow', 'narwhals', 'sklearn', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"

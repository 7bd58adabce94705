"""Targets: class indices, numbers, and errors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.exceptions import DataConversionWarning

from ceiba.data.target import Target, class_indices, merge_classes
from tests.budget import examples

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

TEXT = ["b", "a", "b", "c"]


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 1, 3], np.int8),
        np.array([3.0, -1.0, 3.0]),
        np.array([True, False, True]),
        np.array(["b", "a", "b"]),
        np.array(["b", "a", "b"], dtype=object),
        np.array([3, 1, 3], dtype=object),
        np.array([2**60 + 1, 2**60, 2**60 + 1]),
        np.array([2**64 - 1, 2**64 - 2, 2**64 - 1], np.uint64),
    ],
)
def test_classes_equal_numpy_unique(y):
    target = Target.of(y, 3)
    classes, codes = np.unique(y, return_inverse=True)
    assert_array_equal(target.classes, classes)
    assert_array_equal(target.values, codes)
    assert target.values.dtype == np.int32
    if y.dtype != object or isinstance(y[0], str):
        assert target.classes.dtype == classes.dtype


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        pl.Series,
        lambda y: pa.chunked_array([y]),
        lambda y: pd.Series(pd.Categorical(y, ["z", "c", "b", "a"], ordered=True)),
        lambda y: pl.Series(y, dtype=pl.Enum(["z", "c", "b", "a"])),
        lambda y: pl.Series(y, dtype=pl.Categorical),
    ],
)
def test_text_classes_in_every_container(make):
    target = Target.of(make(TEXT), 4)
    assert target.values.tolist() == [1, 0, 1, 2]
    assert target.classes.tolist() == ["a", "b", "c"]


@settings(deadline=None)
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1))
def test_codes_point_to_the_classes(y):
    target = Target.of(y, len(y))
    assert target.classes[target.values].tolist() == y
    assert target.classes.tolist() == sorted(set(y))


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series])
def test_numbers(make):
    target = Target.of(make([1.0, 2.5, -3.0]), 3, task="regression")
    assert target.values.tolist() == [1.0, 2.5, -3.0]
    assert target.values.dtype == np.float64
    assert target.classes is None
    assert Target.of(make([True, False]), 2, task="regression").values.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    "y",
    [np.array([[1], [0]]), pd.DataFrame({"y": [1, 0]}), pl.DataFrame({"y": [1, 0]}), [[1], [0]]],
)
def test_one_column_warns(y):
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed when a 1d array"):
        target = Target.of(y, 2)
    assert target.values.tolist() == [1, 0]


class Sparse:
    def tocsr(self):
        return self


@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize(
    ("y", "error", "message"),
    [
        (None, ValueError, "requires y to be passed, but the target y is None"),
        (np.zeros((2, 2)), ValueError, r"y should be a 1d array, got.*\(2, 2\).*Multiple targets"),
        ([[1, 2], [3, 4]], ValueError, "Multiple targets"),
        (np.ones((2, 1, 1)), ValueError, r"1d array, got .*\(2, 1, 1\) instead. A target has one"),
        (pd.DataFrame({"a": [1, 2], "b": [1, 2]}), ValueError, "Multiple targets"),
        ([1, 0, 1], ValueError, "inconsistent numbers of samples: 2 rows in X, 3 in y"),
        ([1.0, np.nan], ValueError, "y contains NaN or None: row 1"),
        ([None, "a"], ValueError, "y contains NaN or None: row 0"),
        (pd.array([1, None], dtype="Int64").to_numpy(), ValueError, "row 1"),
        (pl.Series([1, None]), ValueError, "y contains NaN or None: row 1"),
        (np.array([1.0, np.inf]), ValueError, "y contains infinity: row 1"),
        (np.array([1j, 2]), ValueError, "Complex data not supported"),
        (["a", 1], ValueError, "'y' mixes text"),
        ([{}, {}], TypeError, "must be a string or a number, not 'dict'"),
        (Sparse(), TypeError, "sparse target"),
    ],
)
def test_invalid_targets_raise(y, error, message, task):
    with pytest.raises(error, match=message):
        Target.of(y, 2, task=task)


def test_targets_of_another_task_raise():
    with pytest.raises(
        ValueError, match=r"Unknown label type: continuous. Classes must be .* got 0.5 in row 1"
    ):
        Target.of([1.0, 0.5], 2)
    with pytest.raises(ValueError, match="'y' is numeric, but 'b' in row 0 is not a number"):
        Target.of(TEXT, 4, task="regression")
    with pytest.raises(ValueError, match="times"):
        Target.of(np.array(["2020"], "datetime64[D]"), 1, task="regression")
    with pytest.raises(ValueError, match=r"task must be .* got 'ranking'"):
        Target.of(TEXT, 4, task="ranking")


# Many integers are encoded by a lookup table


@examples(40)
@given(st.data())
def test_many_integers_are_encoded_as_few_are(data):
    dtype = data.draw(
        st.sampled_from(["int8", "uint8", "int64", "uint64", "bool", ">i4", "f4", "f8"])
    )
    low, high = (0, 1) if dtype == "bool" else (0, 255) if dtype == "uint8" else (-128, 127)
    shift = {"int64": -(2**63) + 128, "uint64": 2**64 - 128, "f8": 2**52}.get(dtype, 0)
    few = data.draw(st.lists(st.integers(low, high), min_size=1, max_size=9))
    y = np.resize(np.array([value + shift for value in few], dtype), 2000)
    target = Target.of(y, 2000)
    classes, codes = np.unique(y, return_inverse=True)
    assert_array_equal(target.classes, classes.astype(y.dtype.newbyteorder("=")), strict=True)
    assert_array_equal(target.values, codes.astype(np.int32), strict=True)


@pytest.mark.parametrize("n", [3, 3000])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 0.5, 1e300])
def test_floats_must_be_whole_and_finite(n, bad):
    y = np.zeros(n)
    y[n - 1] = bad
    if bad == 1e300:
        assert Target.of(y, n).classes.tolist() == [0.0, 1e300]
        return
    message = "continuous" if bad == 0.5 else "infinity" if np.isinf(bad) else "NaN"
    with pytest.raises(ValueError, match=f"{message}.*row {n - 1}"):
        Target.of(y, n)


def test_a_target_without_rows_has_no_classes():
    for dtype in ("int64", "f8", "U3", "bool"):
        assert len(Target.of(np.empty(0, dtype), 0).classes) == 0


def test_text_has_one_dtype_in_every_container():
    made = [TEXT, pd.Series(TEXT), pl.Series(TEXT), np.array(TEXT, "U9"), pa.chunked_array([TEXT])]
    assert {Target.of(y, 4).classes.dtype for y in made} == {np.dtype("U1")}


# Some rows, and classes of several parts


def test_take_keeps_all_classes():
    whole = Target.of(TEXT, 4)
    target = whole.take(np.array([3, 1]))
    assert (target.values.tolist(), target.classes.tolist()) == ([2, 0], ["a", "b", "c"])
    used = target.without_unused_classes()
    assert (used.values.tolist(), used.classes.tolist()) == ([1, 0], ["a", "c"])
    assert used.values.dtype == np.int32
    assert whole.without_unused_classes() is whole
    assert Target.of([1.5, 2.5], 2, task="regression").take(np.array([1])).values.tolist() == [2.5]


@settings(deadline=None)
@given(st.sets(st.integers(-9, 9)), st.sets(st.integers(-9, 9)))
def test_classes_are_merged_and_found(one, other):
    mine, theirs = (np.array(sorted(part), np.int64) for part in (one, other))
    classes = merge_classes(mine, theirs)
    assert classes.tolist() == sorted(one | other)
    assert classes[class_indices(mine, classes)].tolist() == sorted(one)
    if one - other:
        with pytest.raises(ValueError, match=f"unknown class {min(one - other)};"):
            class_indices(mine, theirs)


def test_the_name_of_a_column_is_no_target():
    with pytest.raises(ValueError, match=r"got a single value instead\. Pass a value for each row"):
        Target.of("buys", 3)

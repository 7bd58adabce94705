"""Labeled rows: targets read, weights checked, rows of weight zero gone, codes in all classes."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.data.target import Target
from ceiba.stats import LabeledRows, ToLabeledRows
from tests.budget import examples

CLASSIFY, MEASURE = ToLabeledRows("classification"), ToLabeledRows("regression")


def chunk(y, weight=None, n=None):
    n = len(y) if n is None else n
    return Chunk(Table.of(np.arange(2.0 * n).reshape(n, 2)), y, weight)


def test_without_weights_nothing_is_copied():
    y = np.array([0.5, 2.0, -1.0])
    given = chunk(y)
    rows = MEASURE(given)
    assert rows.table is given.table
    assert rows.target.values is y
    assert (rows.weight, rows.kept, len(rows)) == (None, None, 3)


def test_positive_weights_keep_every_row():
    weight = np.array([1.0, 2.5, 0.1])
    rows = CLASSIFY(chunk(np.array([4, 4, 2]), weight))
    assert rows.weight is weight
    assert rows.kept is None
    assert rows.target.values.tolist() == [1, 1, 0]


def test_a_number_as_weight_stands_for_every_row():
    assert CLASSIFY(chunk([1, 2], 2)).weight.tolist() == [2.0, 2.0]


@examples(60)
@given(data=st.data())
def test_rows_of_weight_zero_might_as_well_not_be_there(data):
    n = data.draw(st.integers(1, 20))
    y = np.array(data.draw(st.lists(st.integers(-2, 2), min_size=n, max_size=n)))
    weight = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=n, max_size=n)))
    kept = np.flatnonzero(weight)
    for task in (CLASSIFY, MEASURE):
        rows = task(chunk(y, weight))
        np.testing.assert_array_equal(rows.weight, weight[kept])
        np.testing.assert_array_equal(rows.table.block[:, 0], 2.0 * kept)
        assert [rows.row_number(row) for row in range(len(rows))] == kept.tolist()
        expected = Target.of(y[kept], len(kept), task=task.task)
        used = rows.target.without_unused_classes()
        np.testing.assert_array_equal(used.values, expected.values, strict=True)
        if expected.classes is not None:
            np.testing.assert_array_equal(rows.target.classes, np.unique(y), strict=True)


def test_rows_are_called_by_the_users_number():
    assert CLASSIFY(chunk([1, 2, 3])).row_number(2) == 2
    assert CLASSIFY(chunk([1, 2, 3], [1, 0, 1])).row_number(1) == 2


@pytest.mark.parametrize(
    ("y", "weight", "error", "words"),
    [
        ([1, 2, 3], [1.0, 2.0], ValueError, r"sample_weight.shape == \(2,\), expected \(3,\)"),
        ([1, 2, 3], [1.0, -1.0, 1.0], ValueError, "got -1.0 in row 1"),
        ([1, 2], None, ValueError, "3 rows in X, 2 in y"),
        (None, None, ValueError, "requires y to be passed, but the target y is None"),
        ([1.0, np.nan, 2.0], [1.0, 0.0, 1.0], ValueError, "y contains NaN or None: row 1"),
        (np.array([1.0, np.inf, 2.0]), None, ValueError, "y contains infinity: row 1"),
        (np.zeros((3, 2)), None, ValueError, "Multiple targets"),
    ],
)
@pytest.mark.parametrize("prepare", [CLASSIFY, MEASURE], ids=["classes", "numbers"])
def test_bad_targets_and_weights_are_refused(y, weight, error, words, prepare):
    with pytest.raises(error, match=words):
        prepare(chunk(y, weight, n=3))


def test_classes_must_not_be_continuous():
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        CLASSIFY(chunk(np.array([0.5, 1.0])))


def test_one_class_is_a_target():
    assert CLASSIFY(chunk(["a", "a"])).target.classes.tolist() == ["a"]


def test_a_column_is_taken_with_a_warning():
    with pytest.warns(DataConversionWarning):
        rows = MEASURE(chunk(np.array([[1.0], [2.0]])))
    assert rows.target.values.tolist() == [1.0, 2.0]


# Codes in the classes of all parts


def test_the_codes_of_a_parts_own_classes_are_not_copied():
    rows = CLASSIFY(chunk(np.array([5, 3, 5])))
    assert rows.labels(rows.target.classes) is rows.target.values
    travelled = pickle.loads(pickle.dumps(rows.target.classes))
    assert rows.labels(travelled) is rows.target.values


@examples(60)
@given(st.data())
def test_labels_are_class_indices_in_any_set_of_classes(data):
    types = {
        "int64": st.integers(2**60, 2**60 + 9),
        "uint64": st.integers(2**64 - 9, 2**64 - 1),
        "float32": st.integers(-4, 4),
        "U": st.text("ab", max_size=3),
        "O": st.text("ab", max_size=3),
    }
    dtype = data.draw(st.sampled_from(list(types)))
    y = np.array(data.draw(st.lists(types[dtype], min_size=1, max_size=12)), dtype)
    more = np.array(data.draw(st.lists(types[dtype], max_size=12)), dtype)
    classes = np.unique(np.concatenate([y, more]))
    labels = CLASSIFY(chunk(y)).labels(classes)
    assert labels.dtype == np.int32
    np.testing.assert_array_equal(classes[labels], y)


def test_an_unknown_class_is_refused():
    with pytest.raises(ValueError, match=r"unknown class 'c'; the classes are 'a', 'b'\."):
        CLASSIFY(chunk(["a", "c"])).labels(np.array(["a", "b"]))
    with pytest.raises(ValueError, match="unknown class 9;"):
        CLASSIFY(chunk([1, 9])).labels(np.array([1, 5]))
    with pytest.raises(ValueError, match="all text or all numbers"):
        CLASSIFY(chunk(["1"])).labels(np.array([1]))


def test_numbers_have_no_labels():
    with pytest.raises(ValueError, match="must be class labels"):
        MEASURE(chunk([1.0, 2.0])).labels(np.array([1.0]))


def test_a_part_without_rows_has_no_labels():
    rows = CLASSIFY(chunk(pd.Series(["x", "y"]), [0, 0]))
    assert isinstance(rows, LabeledRows)
    assert rows.labels(np.array(["x", "y", "z"])).tolist() == []

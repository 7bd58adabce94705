"""The summary of targets and weights beside its definition, and the types that classes keep.

That the parts tell exactly what the whole tells is among the contracts.
"""

from __future__ import annotations

from collections import Counter
from functools import reduce
from math import inf, isnan

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine import Batch
from ceiba.stats import TargetSummary, ToLabeledRows
from tests.budget import examples


def summary(y, weight=None, task="classification"):
    chunk = Chunk(Table.of(np.zeros((len(y), 1))), y, weight)
    return TargetSummary.of(Batch(ToLabeledRows(task)(chunk)))


def merged(*parts):
    return reduce(lambda one, other: one.merge(other), map(summary, parts))


@examples(60)
@given(data=st.data())
def test_summary_of_classes(data):
    word = st.text("abc", max_size=2)
    y = data.draw(st.lists(word, min_size=1, max_size=30))
    some = st.one_of(st.integers(1, 3).map(float), st.floats(0.1, 5.0), st.just(0.0))
    weight = np.array(data.draw(st.lists(some, min_size=len(y), max_size=len(y))))
    found = summary(y, weight)
    kept = [label for label, w in zip(y, weight, strict=True) if w]
    counts = Counter(kept)
    assert found.classes.tolist() == sorted(set(y))
    assert found.class_counts.tolist() == [counts[label] for label in sorted(set(y))]
    assert found.class_counts.dtype == np.int64
    assert found.rows == (len(kept),)
    positive = [w for w in weight.tolist() if w]
    assert found.weight_min == min(positive, default=inf)
    assert found.weight_max == max(positive, default=-inf)
    assert found.integer_weights == all(w.is_integer() for w in positive)
    assert isnan(found.target_min)
    assert isnan(found.target_max)


def test_summary_of_numbers():
    found = summary(np.array([2.5, -1e300, 7.0]), np.array([0.25, 3.0, 0.0]), "regression")
    assert (found.target_min, found.target_max) == (-1e300, 2.5)
    assert (found.weight_min, found.weight_max, found.integer_weights) == (0.25, 3.0, False)
    assert (found.classes, found.class_counts, found.n_rows) == (None, None, 2)


def test_without_weights_every_row_weighs_one():
    found = summary([1, 1, 2])
    assert (found.weight_min, found.weight_max, found.integer_weights) == (1.0, 1.0, True)


def test_zeros_have_no_sign():
    for y in ([-0.0, 0.0], [0.0, -0.0]):
        found = summary(np.array(y), task="regression")
        assert not np.signbit([found.target_min, found.target_max]).any()
        assert not np.signbit(summary(np.array(y)).classes).any()


def test_parts_are_counted_in_order():
    whole = merged([1, 2], [3], [1, 1, 1])
    assert whole.rows == (2, 1, 3)
    assert whole.n_rows == 6
    assert whole.classes.tolist() == [1, 2, 3]
    assert whole.class_counts.tolist() == [4, 1, 1]


# Types of classes


@pytest.mark.parametrize(
    ("parts", "classes"),
    [
        ([np.array(["b"]), np.array(["abc"])], np.array(["abc", "b"])),
        ([["b"], pd.Series(["abc"])], np.array(["abc", "b"])),
        ([np.array(["b"], object), np.array(["abc"])], np.array(["abc", "b"], object)),
        ([np.array([3], np.int8), np.array([1], np.int8)], np.array([1, 3], np.int8)),
        ([np.array([3], np.int8), np.array([300])], np.array([3, 300])),
        ([[2**60 + 1], [2**60]], np.array([2**60, 2**60 + 1])),
        ([[2], np.array([1.0, 2.0])], np.array([1.0, 2.0])),
        ([[True], [False]], np.array([False, True])),
        ([[True], [0]], np.array([0, 1])),
        ([pd.Series(["x"], dtype="category"), ["y"]], np.array(["x", "y"])),
    ],
    ids=str,
)
def test_classes_keep_a_type_that_holds_all(parts, classes):
    np.testing.assert_array_equal(merged(*parts).classes, classes, strict=True)
    np.testing.assert_array_equal(merged(*parts[::-1]).classes, classes, strict=True)


@pytest.mark.parametrize("text", [["1"], np.array(["1"], object)])
@pytest.mark.parametrize("other", [[1], np.array([True])], ids=str)
def test_text_beside_numbers_is_refused(text, other):
    with pytest.raises(ValueError, match=r"y must have one type, .* in one part and .* in another"):
        merged(text, other)
    with pytest.raises(ValueError, match="all text or all numbers"):
        merged(other, text)


@pytest.mark.parametrize(
    "parts", [([2**53 + 1], [1.0]), ([-1], np.array([2**64 - 1], np.uint64))], ids=str
)
def test_numbers_that_would_be_rounded_are_refused(parts):
    with pytest.raises(ValueError, match="without rounding"):
        merged(*parts)


def test_a_part_of_zero_weight_adds_its_classes_alone():
    nothing, whole = summary([7], [0.0]), summary([1, 2], [0.5, 3.0])
    for both in (nothing.merge(whole), whole.merge(nothing)):
        np.testing.assert_array_equal(both.classes, np.array([1, 2, 7]), strict=True)
        assert both.class_counts.tolist() == [1, 1, 0]
        assert (both.weight_min, both.weight_max, both.n_rows) == (0.5, 3.0, 2)
    assert nothing.merge(nothing).n_rows == 0

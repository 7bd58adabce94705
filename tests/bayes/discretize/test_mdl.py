"""Thresholds by classes: a naive version, weights, ties and hazards."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba.bayes.discretize.mdl import mdl_splits
from tests.bayes.discretize.helpers import learn, thresholds
from tests.oracles.mdl_naive import naive_thresholds

# Values near each other with few classes, so that splits are accepted and entropies tie.
ROWS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 2)), min_size=1, max_size=40)
SORTED = st.lists(st.integers(0, 2), min_size=1, max_size=40).map(
    lambda labels: [(i // 2, c) for i, c in enumerate(sorted(labels))]
)


def columns(rows):
    values, labels = zip(*rows, strict=True)
    return np.array(values)[:, None], np.array(labels)


@given(st.one_of(ROWS, SORTED))
def test_naive_thresholds(rows):
    X, y = columns(rows)
    expected = [float(t) for t in naive_thresholds(X[:, 0].tolist(), y.tolist())]
    assert thresholds(X, y) == expected
    assert thresholds(X.astype(np.float64), y) == expected


@pytest.mark.slow
@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 4)), min_size=40, max_size=120))
def test_naive_thresholds_of_more_rows(rows):
    # Three clear steps and noise: several thresholds are accepted.
    noisy = [(x, (x // 15 + (c == 4)) % 4) for x, c in rows]
    X, y = columns(noisy)
    expected = [float(t) for t in naive_thresholds(X[:, 0].tolist(), y.tolist())]
    assert thresholds(X, y) == expected


@given(SORTED, st.data())
def test_a_weight_counts_as_so_many_rows(rows, data):
    X, y = columns(rows)
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(y), max_size=len(y))))
    weight[0] = 1
    repeated = np.repeat(np.arange(len(y)), weight)
    assert thresholds(X, y, weight=weight) == thresholds(X[repeated], y[repeated])


def test_fractional_weights_equal_scaled_ones():
    counts = np.array([[9, 1], [8, 0], [1, 9], [0, 7]])
    assert mdl_splits(counts) == mdl_splits(counts * 1024, 1 / 1024) == [2]
    # A total weight of at most one row has nothing to describe.
    assert mdl_splits(counts, 1e-9) == []


def test_class_weights_multiply_the_rows_of_a_class():
    X, y = np.arange(12.0)[:, None], np.array([0] * 9 + [1] * 3)
    doubled = np.where(y == 1, 4.0, 1.0)
    found = learn(X, y, class_weights=np.array([1.0, 4.0]))
    assert found.thresholds(0).tolist() == thresholds(X, y, weight=doubled) == [8.5]


def test_the_first_of_equal_entropies_is_chosen():
    # Reversed and with the classes exchanged, the counts are the same: splits before the third and
    # the fourth group are equally good, but only one of them is accepted.
    counts = np.array([[5, 5], [0, 40], [5, 5], [40, 0], [5, 5]])
    assert np.array_equal(counts, counts[::-1, ::-1])
    assert mdl_splits(counts) == [1, 2]


@pytest.mark.parametrize("scale", [1e-320, 1e-200, 1.0, 1e200, 1.7e308])
def test_any_scale_of_floats(scale):
    x = np.concatenate([np.linspace(0.1, 0.4, 30), np.linspace(0.6, 1.0, 30)]) * scale
    y = np.repeat([0, 1], 30)
    (found,) = thresholds(x[:, None], y)
    assert x[29] < found <= x[30]
    assert learn(x[:, None], y).encode(_table(x))[:, 0].tolist() == y.tolist()


def test_neighboring_floats_are_separated():
    x = np.repeat([1.0, np.nextafter(1.0, 2.0)], 20)
    encoding = learn(x[:, None], np.repeat(["a", "b"], 20))
    assert encoding.encode(_table(x))[:, 0].tolist() == [0] * 20 + [1] * 20


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_are_separated(dtype):
    x = np.repeat(np.array([2**62, 2**62 + 1, 2**62 + 2], dtype), 20)
    encoding = learn(x[:, None], np.repeat([0, 1, 0], 20))
    assert encoding.thresholds(0).tolist() == [2**62 + 1, 2**62 + 2]
    assert encoding.thresholds(0).dtype == dtype
    assert encoding.encode(_table(x))[:, 0].tolist() == np.repeat([0, 1, 2], 20).tolist()


def test_infinite_values_have_thresholds():
    x = np.repeat([-np.inf, 0.0, np.inf], 20)
    encoding = learn(x[:, None], np.repeat([0, 1, 2], 20))
    assert encoding.encode(_table(x))[:, 0].tolist() == np.repeat([0, 1, 2], 20).tolist()
    alone = np.repeat([-np.inf, np.inf], 20)
    assert learn(alone[:, None], np.repeat([0, 1], 20)).n_categories.tolist() == [2]


def test_zeros_of_both_signs_are_one_value():
    x = np.array([-0.0, 0.0] * 20 + [1.0] * 40)
    assert thresholds(x[:, None], np.repeat([0, 1], 40)) == [0.5]


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([1.0], [0]),
        ([1.0, 2.0], [0, 0]),
        ([3.0] * 9, [0, 1, 2] * 3),
        ([np.nan] * 4, [0, 1, 0, 1]),
        ([np.nan, 1.0, np.nan, np.nan], [0, 1, 0, 1]),
    ],
    ids=["one row", "one class", "one value", "no value", "one known value"],
)
def test_nothing_to_split(x, y):
    encoding = learn(np.array(x)[:, None], np.array(y))
    assert encoding.constant_columns == ["x0"]
    assert encoding.encode(_table(np.array(x))).shape == (len(x), 0)


def test_missing_values_do_not_count():
    x = np.concatenate([np.arange(40.0), np.full(500, np.nan)])
    y = np.concatenate([np.repeat([0, 1], 20), np.arange(500) % 2])
    assert thresholds(x[:, None], y) == [19.5]


def test_many_classes():
    # 3^k overflows.
    y = np.repeat(np.arange(700), 2)
    found = thresholds(np.arange(1400.0)[:, None], y)
    assert all(t % 2 == 1.5 for t in found)


def _table(x):
    from ceiba.data import Table

    return Table.of(x[:, None])

"""Threshold grids on integers that float64 rounds: the same trees as on small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from ceiba.data.table import Table
from ceiba.tree.grow.thresholds import snap_to_values

METHODS = ["random", "quantile", "equal_width", "mean", "median"]
OFFSETS = [("int64", 2**60), ("int64", -(2**62)), ("uint64", 2**63 + 5), ("int64", 2**53)]


def small_table(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return small integers and a class that depends on both columns."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 40, (n, 2))
    return X, ((X[:, 0] > 17) ^ (X[:, 1] > 23)).astype(int)


def shifted(X: np.ndarray, dtype: str, offset: int) -> np.ndarray:
    """Add an offset in exact arithmetic."""
    return np.array([[int(x) + offset for x in row] for row in X], dtype=dtype)


def tree(method: str, **options: Any) -> DecisionTreeClassifier:
    n = {} if method in ("mean", "median") else {"n_thresholds": 5}
    return DecisionTreeClassifier(thresholds=method, random_state=3, **n, **options)


@pytest.mark.parametrize("scope", ["node", "root"])
@pytest.mark.parametrize("method", METHODS)
def test_an_offset_changes_nothing(method: str, scope: str) -> None:
    X, y = small_table()
    # Leaves of at least seven rows: a wrong threshold cannot hide behind a perfect fit.
    plain = tree(method, threshold_scope=scope, min_samples_leaf=7).fit(X, y)
    for dtype, offset in OFFSETS:
        large = shifted(X, dtype, offset)
        model = tree(method, threshold_scope=scope, min_samples_leaf=7).fit(large, y)
        np.testing.assert_array_equal(model.predict(large), plain.predict(X))
        np.testing.assert_array_equal(model.tree_.n_rows, plain.tree_.n_rows)
        for node in np.flatnonzero(~plain.tree_.is_leaf):
            found = model.tree_.split(node).threshold
            assert int(found) - offset == np.floor(plain.tree_.split(node).threshold)


@pytest.mark.parametrize("scope", ["node", "root"])
@pytest.mark.parametrize("method", METHODS)
def test_bins_of_large_integers_are_split_alike(method: str, scope: str) -> None:
    X, y = small_table()
    options = {"threshold_scope": scope, "min_samples_leaf": 7, "max_bins": 64}
    small = tree(method, **options).fit(X, y).score(X, y)
    found = []
    for dtype, offset in OFFSETS:
        large = shifted(X, dtype, offset)
        found.append(tree(method, **options).fit(large, y).score(large, y))
    # The middle of a bin of small integers need not be an integer.
    assert min(found) == max(found) > small - 0.1


@pytest.mark.parametrize("method", METHODS)
def test_a_small_value_far_below_hides_nothing(method: str) -> None:
    X, y = small_table()
    large = shifted(X, "int64", 2**60)
    large[:5] = 0
    y[:5] = 0
    model = tree(method).fit(large, y)
    assert model.score(large, y) > 0.95


@pytest.mark.parametrize("method", ["quantile", "median"])
def test_root_thresholds_are_exact_with_a_small_value_far_below(method: str) -> None:
    X = np.array([0] + [2**60 + i for i in range(100)], dtype=np.int64)[:, None]
    y = np.array([0] + [int(i > 49) for i in range(100)])
    model = tree(method, threshold_scope="root", max_depth=3).fit(X, y)
    assert 2**60 <= model.tree_.split(0).threshold < 2**60 + 99
    assert model.score(X, y) > 0.95


def test_forests_of_random_thresholds_learn_large_integers() -> None:
    X, y = small_table()
    options = {"n_estimators": 10, "random_state": 0, "thresholds": "random", "n_thresholds": 2}
    small = RandomForestClassifier(**options).fit(X, y)
    for dtype, offset in OFFSETS[:3]:
        large = shifted(X, dtype, offset)
        model = RandomForestClassifier(**options).fit(large, y)
        np.testing.assert_array_equal(model.predict_proba(large), small.predict_proba(X))


def test_regression_on_large_integers() -> None:
    X, _ = small_table()
    y = X[:, 0] * 1.0 + X[:, 1]
    for method in METHODS:
        n = {} if method in ("mean", "median") else {"n_thresholds": 5}
        options = {"thresholds": method, "random_state": 1, "min_samples_leaf": 7} | n
        small = DecisionTreeRegressor(**options).fit(X, y)
        large = shifted(X, "int64", 2**61)
        model = DecisionTreeRegressor(**options).fit(large, y)
        np.testing.assert_array_equal(model.predict(large), small.predict(X))


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
def test_thresholds_below_all_values_stay(dtype: Any) -> None:
    X = np.arange(10, dtype=dtype)[:, None]
    tree = DecisionTreeClassifier().fit(X, np.repeat([0, 1, 0], [2, 4, 4])).tree_
    other = Table.of(X + dtype(4), tree.schema)
    expected = np.where(tree.threshold == 1.5, 1.5, np.floor(tree.threshold))
    np.testing.assert_array_equal(snap_to_values(tree, other).threshold, expected)

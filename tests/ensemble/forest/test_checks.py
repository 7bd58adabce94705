"""scikit-learn's own checks for random forests, and weights as repetitions where rows are drawn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from ceiba import RandomForestClassifier, RandomForestRegressor

# Draws are keyed by row, so that a repeated row is drawn otherwise than a heavy one: the plan's one
# exception. The statistical test below is in its place.
DRAWN = {"check_sample_weight_equivalence_on_dense_data": "rows are drawn by number"}
WAYS: list[dict[str, Any]] = [
    {},
    {"max_bins": 16, "missing": "branch", "max_leaf_nodes": 20},
    {"thresholds": "random", "n_thresholds": 2},
    {"features_per": "tree", "max_features": 0.7, "max_samples": 0.8},
    {"bootstrap": False},
    {"bootstrap": False, "thresholds": "random", "max_bins": 32, "missing": "majority"},
    {"warm_start": True},
]
FORESTS = [
    *(RandomForestClassifier(5, n_jobs=1, **way) for way in WAYS),
    *(RandomForestRegressor(5, n_jobs=1, **way) for way in WAYS),
    RandomForestClassifier(5, n_jobs=1, class_weight="balanced_subsample"),
    RandomForestClassifier(5, criterion="entropy", leaf_probability="laplace", bootstrap=False),
    RandomForestRegressor(5, n_jobs=1, criterion="absolute_error", bootstrap=False),
    RandomForestRegressor(5, n_jobs=1, quantiles=True, max_features=0.5),
]


def excused(estimator: Any) -> dict[str, str]:
    return DRAWN if estimator.bootstrap else {}


@parametrize_with_checks(FORESTS, expected_failed_checks=excused)
def test_scikit_learn_checks(estimator: Any, check: Any) -> None:
    reason = excused(estimator).get(getattr(check, "func", check).__name__)
    if reason is not None:
        pytest.skip(reason)
    check(estimator)


def test_out_of_bag_numbers_do_not_break_the_checks() -> None:
    """With three rows in a check hardly any is out of the bag: only a larger one can ask."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    for kind, y in ((RandomForestClassifier, X[:, 0] > 0), (RandomForestRegressor, X[:, 0])):
        model = kind(30, oob_score=True, importance=True).fit(X, y)
        assert 0.8 < model.oob_score_ <= 1


# Weights as repetitions, where rows are drawn


KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
# Limits of rows count rows, of which a heavy one is one and a repeated one many: none is set.
DRAWS = pytest.mark.parametrize("options", [{}, {"max_bins": 8}, {"max_samples": 0.5}], ids=str)


def weighted_rows(kind: Any) -> tuple[Any, Any, Any]:
    """Rows of two columns that tell little, and weights of which some are zero."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    score = X[:, 0] + X[:, 1] + 2 * rng.normal(size=40)
    y = (score > 0).astype(int) if kind is RandomForestClassifier else score
    return X, y, rng.integers(0, 4, size=40)


@KINDS
@DRAWS
def test_a_row_repeated_in_its_place_is_a_row_of_that_weight(
    kind: Any, options: dict[str, Any]
) -> None:
    X, y, weight = weighted_rows(kind)
    rows = np.repeat(np.arange(40), weight)
    heavy = kind(8, **options).fit(X, y, weight)
    often = kind(8, **options).fit(X[rows], y[rows])
    np.testing.assert_array_equal(heavy.forest_.nodes, often.forest_.nodes)
    np.testing.assert_array_equal(heavy.forest_.importances, often.forest_.importances)


def said_over_seeds(kind: Any, X: Any, y: Any, weight: Any, options: dict[str, Any]) -> Any:
    """Mean over forests of many seeds of what they say of rows, and its standard error."""
    asked = np.random.default_rng(7).normal(size=(25, 2))
    said = []
    for seed in range(60):
        model = kind(10, max_depth=3, random_state=seed, n_jobs=1, **options).fit(X, y, weight)
        said.append(model.predict_proba(asked)[:, 0] if y.dtype == int else model.predict(asked))
    return np.mean(said, axis=0), np.std(said, axis=0, ddof=1) / np.sqrt(len(said)) + 1e-9


@KINDS
@DRAWS
def test_weights_are_repetitions_on_average(kind: Any, options: dict[str, Any]) -> None:
    """In any order: other rows are drawn, and forests agree as far as their seeds let them."""
    X, y, weight = weighted_rows(kind)
    rows = np.random.default_rng(8).permutation(np.repeat(np.arange(40), weight))
    mean, error = said_over_seeds(kind, X, y, weight, options)
    often, other = said_over_seeds(kind, X[rows], y[rows], None, options)
    apart = (mean - often) / np.hypot(error, other)
    assert 0 < np.abs(apart).max() < 4.5
    assert np.sqrt(np.mean(apart**2)) < 1.7
    # Power: without the weights they differ by far more than that.
    kept = weight > 0
    plain, _ = said_over_seeds(kind, X[kept], y[kept], None, options)
    assert np.sqrt(np.mean(((plain - often) / other) ** 2)) > 4


@KINDS
def test_rows_of_weight_zero_are_absent(kind: Any) -> None:
    rng = np.random.default_rng(6)
    X, weight = rng.normal(size=(80, 3)), rng.integers(0, 3, size=80) / 4
    y = X[:, 0] > 0 if kind is RandomForestClassifier else X[:, 0]
    kept = weight > 0
    with_them = kind(5).fit(X, y, weight)
    without = kind(5).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(with_them.forest_.nodes, without.forest_.nodes)


MODULES = [
    "bootstrap", "forest", "forest_classifier", "forest_regressor", "importance", "oob_curve",
]  # fmt: skip

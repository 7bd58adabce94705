"""Weights equal repeated rows, and scores on more rows than the estimator checks use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import RandomForestClassifier, RandomForestRegressor


def test_oob_scores_on_more_rows_than_the_estimator_checks_have() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    for kind, y in ((RandomForestClassifier, X[:, 0] > 0), (RandomForestRegressor, X[:, 0])):
        model = kind(30, oob_score=True, importance=True).fit(X, y)
        assert 0.8 < model.oob_score_ <= 1


# Weights as repetitions


KINDS = pytest.mark.parametrize("kind", [RandomForestClassifier, RandomForestRegressor])
# Limits of rows count a heavy row once and a repeated one many times, so none is set.
DRAWS = pytest.mark.parametrize(
    "options",
    [{"max_samples": 1.0}, {"max_bins": 8, "max_samples": 1.0}, {"max_samples": 0.5}],
    ids=str,
)


def weighted_rows(kind: Any) -> tuple[Any, Any, Any]:
    """Return rows with a weak signal, and weights of which some are zero."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(40, 2))
    score = X[:, 0] + X[:, 1] + 2 * rng.normal(size=40)
    y = (score > 0).astype(int) if kind is RandomForestClassifier else score
    return X, y, rng.integers(0, 4, size=40)


@KINDS
@pytest.mark.parametrize("max_samples", [None, 15])
@pytest.mark.parametrize("scale", [1000, 0.25])
def test_scale_of_weights_has_no_effect(kind: Any, max_samples: int | None, scale: float) -> None:
    X, y, weight = weighted_rows(kind)
    options = {"max_samples": max_samples, "oob_score": True}
    one = kind(30, **options).fit(X, y, weight)
    other = kind(30, **options).fit(X, y, weight * scale)
    np.testing.assert_array_equal(one.forest_.nodes, other.forest_.nodes)
    assert one.oob_score_ == other.oob_score_


@KINDS
def test_constant_weight_is_no_weight(kind: Any) -> None:
    X, y, _ = weighted_rows(kind)
    one = kind(30, oob_score=True).fit(X, y)
    other = kind(30, oob_score=True).fit(X, y, np.full(40, 1000))
    np.testing.assert_array_equal(one.forest_.nodes, other.forest_.nodes)
    assert np.isfinite(other.oob_score_)


@KINDS
@DRAWS
def test_integer_weight_equals_repeated_rows(kind: Any, options: dict[str, Any]) -> None:
    X, y, weight = weighted_rows(kind)
    rows = np.repeat(np.arange(40), weight)
    heavy = kind(8, **options).fit(X, y, weight)
    often = kind(8, **options).fit(X[rows], y[rows])
    np.testing.assert_array_equal(heavy.forest_.nodes, often.forest_.nodes)
    np.testing.assert_array_equal(heavy.forest_.importances, often.forest_.importances)


def mean_over_seeds(kind: Any, X: Any, y: Any, weight: Any, options: dict[str, Any]) -> Any:
    """Return the mean prediction over forests of many seeds, and its standard error."""
    new = np.random.default_rng(7).normal(size=(25, 2))
    predictions = []
    for seed in range(60):
        model = kind(10, max_depth=3, random_state=seed, n_jobs=1, **options).fit(X, y, weight)
        predictions.append(model.predict_proba(new)[:, 0] if y.dtype == int else model.predict(new))
    return np.mean(predictions, axis=0), np.std(predictions, axis=0, ddof=1) / np.sqrt(
        len(predictions)
    ) + 1e-9


@KINDS
@DRAWS
def test_weights_equal_shuffled_repetitions_on_average(kind: Any, options: dict[str, Any]) -> None:
    X, y, weight = weighted_rows(kind)
    rows = np.random.default_rng(8).permutation(np.repeat(np.arange(40), weight))
    mean, error = mean_over_seeds(kind, X, y, weight, options)
    often, other = mean_over_seeds(kind, X[rows], y[rows], None, options)
    difference = (mean - often) / np.hypot(error, other)
    assert 0 < np.abs(difference).max() < 4.5
    assert np.sqrt(np.mean(difference**2)) < 1.7
    # Power: without the weights the difference is far larger.
    kept = weight > 0
    plain, _ = mean_over_seeds(kind, X[kept], y[kept], None, options)
    assert np.sqrt(np.mean(((plain - often) / other) ** 2)) > 4


@KINDS
def test_rows_of_weight_zero_are_ignored(kind: Any) -> None:
    rng = np.random.default_rng(6)
    X, weight = rng.normal(size=(80, 3)), rng.integers(0, 3, size=80) / 4
    y = X[:, 0] > 0 if kind is RandomForestClassifier else X[:, 0]
    kept = weight > 0
    with_them = kind(5).fit(X, y, weight)
    without = kind(5).fit(X[kept], y[kept], weight[kept])
    np.testing.assert_array_equal(with_them.forest_.nodes, without.forest_.nodes)

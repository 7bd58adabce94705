"""Weights of rows and classes: zero, repeated rows, and their scale."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from tests.ensemble.gradient_boosting.parts import (
    CLASSES,
    KINDS,
    NUMBERS,
    X,
    bits,
    raw_scores,
    target_of,
)

WEIGHT = np.arange(len(X)) % 3
# Weights equal repeated rows where rows are not counted: with as many bins as values, without a
# minimum of rows, and without the correction of columns of many categories. Splits of few rows,
# which several columns divide alike, would be decided by rounding.
ROWS = X.drop(columns="many")
EXACT: dict[str, Any] = {
    "max_bins": 1000,
    "gradient_bits": 41,
    "min_samples_leaf": 1,
    "max_leaf_nodes": 6,
}
LOSSES = ["squared_error", "absolute_error", "quantile", "huber", "poisson", "gamma", "tweedie"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("method", ["newton", "gradient"])
def test_weights_are_repeated_rows_in_regression(loss: str, method: str) -> None:
    y = NUMBERS if loss in LOSSES[:4] else np.exp(NUMBERS / 3)
    check_repeated(GradientBoostingRegressor, y, loss=loss, method=method)


@pytest.mark.parametrize("options", [{}, {"method": "gradient"}, {"loss": "exponential"}], ids=str)
def test_weights_are_repeated_rows_in_classification(options: dict[str, Any]) -> None:
    y = CLASSES > 0 if "loss" in options else CLASSES
    check_repeated(GradientBoostingClassifier, y, **options)


def check_repeated(kind: Any, y: Any, **options: Any) -> None:
    repeated = np.repeat(np.arange(len(X)), WEIGHT)
    one = kind(4, **EXACT, **options).fit(ROWS, y, sample_weight=WEIGHT)
    other = kind(4, **EXACT, **options).fit(ROWS.iloc[repeated], y[repeated])
    seen = ROWS[WEIGHT > 0]
    np.testing.assert_allclose(raw_scores(one, seen), raw_scores(other, seen), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("options", [{}, {"early_stopping": True}, {"max_bins": 9}], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_weight_zero_count_as_absent(kind: Any, options: dict[str, Any]) -> None:
    y, kept = target_of(kind), WEIGHT > 0
    one = kind(4, **options).fit(X, y, sample_weight=WEIGHT)
    other = kind(4, **options).fit(X[kept], y[kept], sample_weight=WEIGHT[kept])
    assert bits(one) == bits(other)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_weights_are_no_weights(kind: Any) -> None:
    y = target_of(kind)
    one = kind(4).fit(X, y, sample_weight=np.ones(len(X)))
    assert bits(one) == bits(kind(4).fit(X, y))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("factor", [1e9, 1e-9, 1e49, 1e-49])
def test_the_scale_of_weights_does_not_matter_without_regularization(
    kind: Any, factor: float
) -> None:
    y, weight = target_of(kind), 1.0 + WEIGHT % 2
    options = {"reg_lambda": 0.0, "min_child_weight": 0.0, "category_smoothing": 0.0}
    for more in (options, {"method": "gradient", "category_smoothing": 0.0}):
        one, other = (
            kind(4, gradient_bits=41, **more).fit(X, y, sample_weight=w)
            for w in (weight, factor * weight)
        )
        np.testing.assert_allclose(raw_scores(one), raw_scores(other), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_scale_of_weights_does_not_matter_for_any_loss(loss: str) -> None:
    y, weight = np.exp(NUMBERS / 3), 1.0 + WEIGHT % 2
    options: dict[str, Any] = {"loss": loss, "method": "gradient", "category_smoothing": 0.0}
    one, other = (
        GradientBoostingRegressor(4, gradient_bits=41, **options).fit(X, y, sample_weight=w)
        for w in (weight, 1e9 * weight)
    )
    np.testing.assert_allclose(raw_scores(one), raw_scores(other), rtol=1e-6, atol=1e-9)


def test_class_weights_are_sample_weights() -> None:
    counts = np.bincount(CLASSES)
    balanced = len(X) / (3 * counts)
    for class_weight, factors in (
        ({0: 2.0, 2: 0.5}, np.array([2.0, 1.0, 0.5])),
        ("balanced", balanced),
    ):
        one = GradientBoostingClassifier(4, class_weight=class_weight).fit(X, CLASSES)
        other = GradientBoostingClassifier(4).fit(X, CLASSES, sample_weight=factors[CLASSES])
        assert bits(one) == bits(other)
        both = GradientBoostingClassifier(4, class_weight={1: 3.0}).fit(
            X, CLASSES, sample_weight=1.0 + WEIGHT
        )
        product = np.where(CLASSES == 1, 3.0, 1.0) * (1.0 + WEIGHT)
        expected = GradientBoostingClassifier(4).fit(X, CLASSES, sample_weight=product)
        assert bits(both) == bits(expected)


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 1e51, 1e-51])
@pytest.mark.parametrize("kind", KINDS)
def test_wrong_weights_raise(kind: Any, value: float) -> None:
    weight = np.ones(len(X))
    weight[7] = value
    with pytest.raises(ValueError, match=r"sample_weight must be zero or in .* in row 7"):
        kind(2).fit(X, target_of(kind), sample_weight=weight)


def test_weights_of_zero_only_raise() -> None:
    with pytest.raises(ValueError, match="at least one positive entry"):
        GradientBoostingRegressor(2).fit(X, NUMBERS, sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match="class_weight must be positive"):
        GradientBoostingClassifier(2, class_weight={0: 0.0}).fit(X, CLASSES)

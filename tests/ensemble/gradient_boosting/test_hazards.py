"""Extreme tables: the right result, or an error that names the remedy; never a silent NaN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba._typing import Array
from ceiba.base import ParameterError
from tests.ensemble.gradient_boosting.parts import KINDS, bits, raw_scores

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(300, 3))
SIGNAL = ROWS[:, 0] + 0.1 * RNG.normal(size=300)
LOSSES = ["squared_error", "absolute_error", "huber", "quantile"]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e99, 1e101, 1e200, 1e299])
def test_the_scale_of_targets_does_not_matter(loss: str, scale: float) -> None:
    """Powers of two would give equal bits; other factors give equal splits, up to ties."""
    y = SIGNAL / np.abs(SIGNAL).max()
    one, other = (
        GradientBoostingRegressor(20, loss=loss, reg_lambda=0.0).fit(ROWS, factor * y)
        for factor in (1.0, scale)
    )
    scores = [
        np.corrcoef(model.predict(ROWS) / f, y)[0, 1] for model, f in ((one, 1), (other, scale))
    ]
    assert scores[0] > 0.7
    assert scores[1] == pytest.approx(scores[0], abs=1e-3)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("exponent", [-900, 100, 600])
def test_powers_of_two_give_equal_bits(loss: str, exponent: int) -> None:
    one, other = (
        GradientBoostingRegressor(10, loss=loss, method="gradient").fit(ROWS, factor * SIGNAL)
        for factor in (1.0, 2.0**exponent)
    )
    np.testing.assert_array_equal(other.predict(ROWS) / 2.0**exponent, one.predict(ROWS))


@pytest.mark.parametrize("loss", LOSSES)
def test_a_large_offset_is_kept(loss: str) -> None:
    one, other = (
        GradientBoostingRegressor(20, loss=loss).fit(ROWS, SIGNAL + offset) for offset in (0.0, 1e9)
    )
    np.testing.assert_allclose(one.predict(ROWS), other.predict(ROWS) - 1e9, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_integers_above_two_to_the_53(dtype: Any) -> None:
    """Neighboring integers, which floats cannot tell apart, are separated."""
    x = (np.arange(200) + 2**53).astype(dtype)[:, None]
    y = np.arange(200) >= 101
    model = GradientBoostingClassifier(
        1, max_leaf_nodes=2, min_samples_leaf=1, learning_rate=1.0
    ).fit(x, y)  # fmt: skip
    np.testing.assert_array_equal(model.predict(x), y)


@pytest.mark.parametrize(
    "x", [1e-320 * np.arange(100), 1e306 * np.arange(-50, 50), 1 + 2.0**-52 * np.arange(100)]
)
def test_extreme_columns(x: Array) -> None:
    y = np.arange(100) >= 37
    model = GradientBoostingClassifier(1, max_leaf_nodes=2, min_samples_leaf=1, learning_rate=1.0)
    np.testing.assert_array_equal(model.fit(x[:, None], y).predict(x[:, None]), y)


# Small tables


@pytest.mark.parametrize("loss", [*LOSSES, "poisson", "gamma", "tweedie"])
def test_one_and_two_rows(loss: str) -> None:
    model = GradientBoostingRegressor(3, loss=loss).fit([[1.0]], [2.5])
    np.testing.assert_allclose(model.predict([[1.0], [9.0]]), 2.5, rtol=1e-12)
    model = GradientBoostingRegressor(300, loss=loss, min_samples_leaf=1, reg_lambda=0.0)
    model.fit([[1.0], [2.0]], [2.5, 4.0])
    np.testing.assert_allclose(model.predict([[1.0], [2.0]]), [2.5, 4.0], atol=1e-2)


def test_constant_targets_and_single_classes() -> None:
    for loss in [*LOSSES, "poisson", "gamma", "tweedie"]:
        model = GradientBoostingRegressor(3, loss=loss).fit(ROWS, np.full(300, 3.25))
        np.testing.assert_allclose(model.predict(ROWS), 3.25, rtol=1e-14)
    model = GradientBoostingClassifier(3).fit(ROWS, np.full(300, "only"))
    assert model.classes_.tolist() == ["only"]
    assert set(model.predict(ROWS).tolist()) == {"only"}
    np.testing.assert_array_equal(model.predict_proba(ROWS), np.ones((300, 1)))


@pytest.mark.parametrize("method", ["newton", "gradient"])
@pytest.mark.parametrize(
    ("loss", "n_classes"), [("log_loss", 2), ("exponential", 2), ("log_loss", 3)]
)
def test_thousands_of_rounds_on_separable_rows(loss: str, n_classes: int, method: str) -> None:
    """Probabilities reach 0 and 1, Hessians zero."""
    rows, y = np.arange(12.0)[:, None], np.arange(12) * n_classes // 12
    options: dict[str, Any] = {"min_samples_leaf": 1, "learning_rate": 1.0, "method": method}
    if method == "newton":
        options |= {"reg_lambda": 0.0, "min_child_weight": 0.0}
    model = GradientBoostingClassifier(2000, loss=loss, **options).fit(rows, y)
    np.testing.assert_array_equal(model.predict(rows), y)
    assert np.isfinite(model.decision_function(rows)).all()
    assert model.predict_proba(rows).max(axis=1).min() > 0.999


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
@pytest.mark.parametrize("method", ["newton", "gradient"])
def test_thousands_of_rounds_of_log_links(loss: str, method: str) -> None:
    rows = np.arange(12.0)[:, None]
    y = np.repeat([0.0 if loss != "gamma" else 1e-3, 1.0, 1000.0], 4)
    options: dict[str, Any] = {"min_samples_leaf": 1, "learning_rate": 1.0, "method": method}
    if method == "newton":
        options |= {"reg_lambda": 0.0, "min_child_weight": 0.0}
    model = GradientBoostingRegressor(2000, loss=loss, **options).fit(rows, y)
    np.testing.assert_allclose(model.predict(rows), y, rtol=1e-3, atol=1e-6)


def test_overflowing_learning_rates_raise() -> None:
    with pytest.raises(ValueError, match="decrease learning_rate"):
        GradientBoostingRegressor(1000, learning_rate=100.0).fit(ROWS, SIGNAL)


# Sizes


def test_a_thousand_columns() -> None:
    rows = np.random.default_rng(0).normal(size=(200, 1000))
    model = GradientBoostingRegressor(5).fit(rows, rows[:, 700])
    assert model.feature_importances_.argmax() == 700
    rows = (rows > 0).astype(float)  # columns of two values
    model = GradientBoostingClassifier(5).fit(rows, rows[:, 3] + 2 * rows[:, 5])
    assert set(np.argsort(-model.feature_importances_)[:2].tolist()) == {3, 5}


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_many_classes(strategy: str) -> None:
    rows = np.random.default_rng(0).normal(size=(2000, 2))
    y = np.argsort(np.argsort(rows[:, 0])) // 20
    model = GradientBoostingClassifier(3, multi_strategy=strategy, min_samples_leaf=2).fit(rows, y)
    assert model.predict_proba(rows).shape == (2000, 100)
    assert model.score(rows, y) > 0.4


@pytest.mark.parametrize("kind", KINDS)
def test_extreme_numbers_of_bins(kind: Any) -> None:
    y = SIGNAL if kind is GradientBoostingRegressor else SIGNAL > 0
    coarse, fine, exact = (kind(10, max_bins=bins).fit(ROWS, y) for bins in (2, 65_535, 300))
    assert bits(fine) == bits(exact)
    assert 0.4 < coarse.score(ROWS, y) < fine.score(ROWS, y)
    thresholds = [model.boosted_trees_.tree(0) for model in (coarse,)]
    assert len(set(zip(thresholds[0].column, thresholds[0].threshold, strict=True))) <= 4


@pytest.mark.parametrize("gradient_bits", [2, 3, 5, 8, 12, 20, 41])
def test_few_bits_of_gradients(gradient_bits: int) -> None:
    rows = np.random.default_rng(0).normal(size=(3000, 4))
    y = rows[:, 0] - rows[:, 1] * rows[:, 2]
    model = GradientBoostingRegressor(50, gradient_bits=gradient_bits).fit(rows, y)
    assert model.score(rows, y) > (0.8 if gradient_bits == 2 else 0.9)
    # Leaf values have gradients of 50 bits: their mean is that of the residuals.
    assert model.predict(rows).mean() == pytest.approx(y.mean(), abs=2e-3)


def test_outliers_that_have_nearly_all_of_the_gradient() -> None:
    """With 12 bits all other gradients would be rounded to zero."""
    y = SIGNAL.copy()
    y[0] = 1e12
    model = GradientBoostingRegressor(60, min_samples_leaf=1, learning_rate=1.0).fit(ROWS, y)
    assert np.corrcoef(model.predict(ROWS)[1:], y[1:])[0, 1] > 0.99
    weight = np.where(np.arange(300) == 0, 1e12, 1.0)
    model = GradientBoostingClassifier(60, min_child_weight=0.0, learning_rate=0.3).fit(
        ROWS, SIGNAL > 0, sample_weight=weight
    )
    odds = model.boosted_trees_.first_scores[0]
    assert odds == pytest.approx(np.log((1e12 + (SIGNAL > 0).sum() - 1) / (SIGNAL <= 0).sum()))
    assert model.score(ROWS[1:], SIGNAL[1:] > 0) > 0.7  # all are of one class in the first round


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
@pytest.mark.parametrize("spread", [1.0, 3.0, 5.0])
def test_targets_of_many_orders_of_magnitude(loss: str, spread: float) -> None:
    """Newton steps times the learning rate do not go beyond the minimum of a leaf."""
    rows = np.random.default_rng(0).normal(size=(1000, 3))
    y = np.exp(spread * rows[:, 0])
    model = GradientBoostingRegressor(100, loss=loss, trace=True).fit(rows, y)
    losses = model.losses_["training"]
    assert (np.diff(losses) < 0).all()
    assert losses[-1] < 0.3 * losses[0]


# Wrong data


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_targets_that_are_not_finite_raise(value: float) -> None:
    y = SIGNAL.copy()
    y[5] = value
    for loss in [*LOSSES, "poisson"]:
        with pytest.raises(ValueError, match="row 5"):
            GradientBoostingRegressor(2, loss=loss).fit(ROWS, y)


def test_every_round_has_a_row() -> None:
    with pytest.warns(UserWarning, match="single leaf"):
        model = GradientBoostingRegressor(2, subsample=1e-9).fit(ROWS, SIGNAL)
    assert model.boosted_trees_.node_rows.tolist() == [1.0, 1.0]


def test_early_stopping_does_not_depend_on_the_unit_of_y() -> None:
    rounds = []
    for unit in (1.0, 2.0**-20):
        model = GradientBoostingRegressor(40, early_stopping=True, tol=1e-4).fit(
            ROWS, SIGNAL * unit
        )
        rounds.append(model.n_estimators_)
    assert rounds[0] == rounds[1] > 5


def test_ragged_monotonic_constraints_raise() -> None:
    with pytest.raises(ParameterError, match=r"monotonic_cst must be None, an array-like of shape"):
        GradientBoostingRegressor(2, monotonic_cst=[[1], [0, 1]]).fit(ROWS, SIGNAL)


def test_an_error_leaves_the_model_as_it_was() -> None:
    model = GradientBoostingRegressor(3).fit(ROWS, SIGNAL)
    before, scores = bits(model), raw_scores(model, ROWS)
    with pytest.raises(ValueError, match="gamma"):
        model.set_params(loss="gamma").fit(ROWS, SIGNAL)
    assert bits(model) == before
    np.testing.assert_array_equal(raw_scores(model, ROWS), scores)

"""Losses: derivatives, first scores and leaf values against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from sklearn import metrics

from ceiba import GradientBoostingClassifier, GradientBoostingRegressor
from ceiba._typing import Array
from ceiba.ensemble.gradient_boosting.losses.base import Loss, weighted_mean, weighted_quantile
from ceiba.ensemble.gradient_boosting.losses.classification import (
    BinomialLogLoss,
    Exponential,
    MultinomialLogLoss,
)
from ceiba.ensemble.gradient_boosting.losses.custom import CustomLoss
from ceiba.ensemble.gradient_boosting.losses.log_link import Gamma, Poisson, Tweedie
from ceiba.ensemble.gradient_boosting.losses.regression import (
    AbsoluteError,
    Huber,
    Quantile,
    SquaredError,
)
from tests.ensemble.gradient_boosting.parts import X, leaf_groups, raw_scores
from tests.ensemble.gradient_boosting.test_use import LogCosh

N = 60
RNG = np.random.default_rng(0)
SCORE = RNG.normal(size=N)
WEIGHT = RNG.uniform(0.3, 3.0, N)
LABELS = (RNG.random(N) < 0.4).astype(float)
THREE = RNG.integers(0, 3, N).astype(float)
REAL = SCORE + RNG.normal(size=N)
COUNTS = RNG.poisson(1.5, N).astype(float)
POSITIVE = RNG.gamma(2.0, size=N)

# Name: class, target, options, whether the Hessian is the second derivative.
LOSSES: dict[str, tuple[Any, Array, dict[str, Any], bool]] = {
    "log_loss": (BinomialLogLoss, LABELS, {}, True),
    "multinomial": (MultinomialLogLoss, THREE, {"n_classes": 3}, False),
    "exponential": (Exponential, LABELS, {}, True),
    "squared_error": (SquaredError, REAL, {}, True),
    "absolute_error": (AbsoluteError, REAL, {}, False),
    "quantile": (Quantile, REAL, {"alpha": 0.8}, False),
    "huber": (Huber, REAL, {"alpha": 0.7}, False),
    "poisson": (Poisson, COUNTS, {}, True),
    "gamma": (Gamma, POSITIVE, {}, True),
    "tweedie 1.1": (Tweedie, COUNTS, {"power": 1.1}, True),
    "tweedie 1.5": (Tweedie, COUNTS, {"power": 1.5}, True),
    "tweedie 1.9": (Tweedie, COUNTS, {"power": 1.9}, True),
    "custom": (CustomLoss, REAL, {"loss": LogCosh()}, True),
}


def make_loss(name: str, weight: Array | None = WEIGHT) -> Loss:
    cls, y, options, _ = LOSSES[name]
    return cls(y, weight, **options)  # type: ignore[no-any-return]


def gradients_at(loss: Loss, raw: Array) -> tuple[Array, Array]:
    gradient, hessian = np.empty_like(raw), np.empty_like(raw)
    if loss.constant_hessian:
        loss.gradients(raw, gradient, None)
        return gradient, np.tile(WEIGHT, (len(raw), 1))
    loss.gradients(raw, gradient, hessian)
    return gradient, hessian


def scores_of(loss: Loss) -> Array:
    return RNG.normal(size=(loss.n_outputs, N))


def test_the_domain_of_log_links_is_named() -> None:
    y = np.array([1e-200, 1.0])
    for cls, options, text in (
        (Gamma, {}, "is in \\[1e-140, 1e\\+140\\]"), (Poisson, {}, "is zero or in \\["),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            cls(y, None, **options).check_target(int)


class TinyHessians:
    """A loss whose first rows have next to no curvature."""

    def gradient(self, y: Array, raw: Array) -> Array:
        return np.where(y > 0, 1.0, 0.0)

    def hessian(self, y: Array, raw: Array) -> Array:
        return np.where(y > 0, 1e-9, 1.0)


@pytest.mark.parametrize("bits", ["auto", 5])
def test_steps_of_leaves_with_less_than_min_child_weight(bits: Any) -> None:
    rows = np.repeat([0.0, 1.0], 20)[:, None]
    model = GradientBoostingRegressor(
        1, loss=TinyHessians(), reg_lambda=0, gradient_bits=bits, min_samples_leaf=1, init="zero",
        learning_rate=1.0,
    ).fit(rows, 1 - rows[:, 0])  # fmt: skip
    # In units of 5 bits 20 such Hessians are more than min_child_weight; the sum is 20.
    assert np.abs(model.predict(rows)).max() <= 20 / 1e-3 * (1 + 1e-9)


@pytest.mark.parametrize("name", LOSSES)
def test_derivatives_are_those_of_the_losses_of_rows(name: str) -> None:
    loss, is_second = make_loss(name), LOSSES[name][3]
    raw, step = scores_of(loss), 1e-5
    gradient, hessian = gradients_at(loss, raw)
    for k in range(loss.n_outputs):
        up, down = raw.copy(), raw.copy()
        up[k] += step
        down[k] -= step
        slope = (loss.row_losses(loss.y, up) - loss.row_losses(loss.y, down)) / (2 * step)
        # The curvature of huber jumps at delta, which is the residual of a row.
        atol = step if name == "huber" else 1e-8
        np.testing.assert_allclose(gradient[k], WEIGHT * slope, rtol=1e-6, atol=atol)
        if not is_second:
            continue
        curvature = (gradients_at(loss, up)[0][k] - gradients_at(loss, down)[0][k]) / (2 * step)
        np.testing.assert_allclose(hessian[k], curvature, rtol=1e-6, atol=1e-8)


def test_multinomial_hessian_is_that_of_friedman() -> None:
    loss = make_loss("multinomial")
    raw = scores_of(loss)
    p = np.exp(raw) / np.exp(raw).sum(axis=0)
    _, hessian = gradients_at(loss, raw)
    np.testing.assert_allclose(hessian, WEIGHT * 1.5 * p * (1 - p), rtol=1e-12)


@pytest.mark.parametrize("name", ["absolute_error", "quantile", "huber"])
def test_hessians_of_piecewise_losses_are_the_weights(name: str) -> None:
    assert make_loss(name).constant_hessian


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", [name for name in LOSSES if name not in ("huber", "custom")])
def test_first_scores_minimize_the_loss(name: str, weighted: bool) -> None:
    loss = make_loss(name, WEIGHT if weighted else None)
    first = loss.first_scores()
    assert first.shape == (loss.n_outputs,)

    def loss_of(scores: Array) -> float:
        return loss.mean(loss.y, np.repeat(scores[:, None], N, axis=1), loss.weight)

    best = loss_of(first)
    for k in range(loss.n_outputs):
        for step in (-1e-3, 1e-3, -0.3, 0.3):
            other = first.copy()
            other[k] += step
            assert loss_of(other) >= best


def test_first_scores_of_huber_and_custom_losses() -> None:
    assert make_loss("huber", None).first_scores() == [np.median(REAL)]
    assert make_loss("custom").first_scores() == [LogCosh().init(REAL, WEIGHT)]


def test_a_single_class_has_finite_scores() -> None:
    for label in (0.0, 1.0):
        for cls in (BinomialLogLoss, Exponential):
            score = cls(np.full(7, label), None).first_scores()[0]
            assert np.isfinite(score)
            assert (score > 0) == bool(label)
    three = MultinomialLogLoss(np.zeros(7), None, n_classes=3).first_scores()
    assert np.isfinite(three).all()
    assert three[0] > three[1] == three[2]


# Losses of rows, and the metrics of scikit-learn


def test_losses_of_rows_are_those_of_metrics() -> None:
    raw = SCORE[None]
    expected = {
        "squared_error": metrics.mean_squared_error(REAL, SCORE, sample_weight=WEIGHT) / 2,
        "absolute_error": metrics.mean_absolute_error(REAL, SCORE, sample_weight=WEIGHT),
        "quantile": metrics.mean_pinball_loss(REAL, SCORE, sample_weight=WEIGHT, alpha=0.8),
        "poisson": metrics.mean_poisson_deviance(COUNTS, np.exp(SCORE), sample_weight=WEIGHT) / 2,
        "gamma": metrics.mean_gamma_deviance(POSITIVE, np.exp(SCORE), sample_weight=WEIGHT) / 2,
        "log_loss": metrics.log_loss(LABELS, 1 / (1 + np.exp(-SCORE)), sample_weight=WEIGHT),
    }
    for power in (1.1, 1.5, 1.9):
        expected[f"tweedie {power}"] = (
            metrics.mean_tweedie_deviance(COUNTS, np.exp(SCORE), sample_weight=WEIGHT, power=power)
            / 2
        )
    for name, value in expected.items():
        assert make_loss(name).mean(LOSSES[name][1], raw, WEIGHT) == pytest.approx(value, rel=1e-12)
    loss = make_loss("multinomial")
    scores = scores_of(loss)
    value = metrics.log_loss(THREE, np.exp(scores).T / np.exp(scores).sum(axis=0)[:, None])
    assert loss.mean(THREE, scores, None) == pytest.approx(value, rel=1e-12)


def test_exponential_and_huber_losses_of_rows() -> None:
    loss = make_loss("exponential")
    np.testing.assert_allclose(
        loss.row_losses(LABELS, SCORE[None]), np.exp(-(2 * LABELS - 1) * SCORE), rtol=1e-12
    )
    huber = make_loss("huber", None)
    raw = SCORE[None]
    np.testing.assert_allclose(huber.row_losses(REAL, raw), (REAL - SCORE) ** 2 / 2)
    gradients_at(huber, raw)
    size = np.abs(REAL - SCORE)
    delta = np.quantile(size, 0.7, method="averaged_inverted_cdf")
    expected = np.where(size <= delta, size**2 / 2, delta * (size - delta / 2))
    np.testing.assert_allclose(huber.row_losses(REAL, raw), expected, rtol=1e-12)
    # Losses of later rounds, whose delta is smaller, are comparable with earlier ones.
    gradients_at(huber, REAL[None] + 0.01)
    np.testing.assert_allclose(huber.row_losses(REAL, raw), expected, rtol=1e-12)


@pytest.mark.parametrize("probability", [0.1, 0.25, 0.5, 0.8, 0.9])
def test_weighted_quantiles(probability: float) -> None:
    for n in range(1, 12):
        values = np.random.default_rng(n).integers(0, 6, n).astype(float)
        weight = np.random.default_rng(n + 50).integers(1, 4, n)
        repeated = np.repeat(values, weight)
        expected = np.quantile(repeated, probability, method="averaged_inverted_cdf")
        assert weighted_quantile(values, weight.astype(float), probability) == expected
        assert weighted_quantile(repeated, None, probability) == expected


def test_weighted_means_do_not_overflow() -> None:
    values, weight = np.array([1e300, 3e300]), np.array([1e50, 1e50])
    assert weighted_mean(values, weight) == pytest.approx(2e300)


# Leaf values

TARGETS = {
    "squared_error": X["d"].to_numpy() + np.arange(len(X)) % 3,
    "absolute_error": X["d"].to_numpy() + np.arange(len(X)) % 3,
    "quantile": X["d"].to_numpy() + np.arange(len(X)) % 3,
    "huber": X["d"].to_numpy() + np.arange(len(X)) % 3,
    "poisson": np.round(np.exp(X["d"].to_numpy())) + 0.1,
    "gamma": np.exp(X["d"].to_numpy()) + 0.1,
    "tweedie": np.round(np.exp(X["d"].to_numpy())) + 0.1,
}
ROW_WEIGHT = 0.5 + np.arange(len(X)) % 4


def leaf_steps(model: Any) -> tuple[list[Array], Array, Array]:
    """Return the rows of each leaf of the second tree, scores before it, and its values."""
    stages = [model.boosted_trees_.raw_scores(model_table(model), 1, k)[:, 0] for k in (1, 2)]
    return leaf_groups(model, number=1), stages[0], stages[1] - stages[0]


def model_table(model: Any) -> Any:
    return model._table(X)[1]


@pytest.mark.parametrize("method", ["newton", "gradient"])
@pytest.mark.parametrize(("loss", "alpha"), [("absolute_error", 0.5), ("quantile", 0.3)])
def test_leaf_values_are_weighted_quantiles(loss: str, alpha: float, method: str) -> None:
    y = TARGETS[loss]
    options = {"alpha": alpha} if loss == "quantile" else {}
    model = GradientBoostingRegressor(2, loss=loss, method=method, learning_rate=1.0, **options)
    model.fit(X, y, sample_weight=ROW_WEIGHT)
    groups, before, steps = leaf_steps(model)
    assert len(groups) > 3
    for rows in groups:
        expected = weighted_quantile((y - before)[rows], ROW_WEIGHT[rows], alpha)
        np.testing.assert_allclose(steps[rows], expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared_error", "poisson", "gamma", "tweedie"])
def test_line_searches_minimize_the_loss_of_a_leaf(loss: str) -> None:
    y = TARGETS[loss]
    model = GradientBoostingRegressor(2, loss=loss, method="gradient", learning_rate=1.0)
    model.fit(X, y, sample_weight=ROW_WEIGHT)
    groups, before, steps = leaf_steps(model)
    formula = _formula(loss, y)
    assert len(groups) > 3
    for rows in groups:
        found = minimize_scalar(
            lambda value, rows=rows: formula.mean(
                y[rows], before[None, rows] + value, ROW_WEIGHT[rows]
            )
        )
        np.testing.assert_allclose(steps[rows], found.x, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("loss", ["poisson", "tweedie"])
def test_leaves_of_zeros_get_newton_steps(loss: str) -> None:
    """Their best value is minus infinity."""
    y = np.where(X["d"] < 0, 0.0, 3.0)
    model = GradientBoostingRegressor(
        30, loss=loss, method="gradient", learning_rate=1.0, max_bins=1000
    )  # fmt: skip
    predicted = model.fit(X, y).predict(X)
    assert (predicted[y == 0] > 0).all()
    assert predicted[y == 0].max() < 1e-6
    np.testing.assert_allclose(predicted[y > 0], 3.0)


def _formula(loss: str, y: Array) -> Loss:
    kinds: dict[str, Any] = {
        "squared_error": SquaredError, "poisson": Poisson, "gamma": Gamma,
    }  # fmt: skip
    if loss == "tweedie":
        return Tweedie(y, None, power=1.5)
    return kinds[loss](y, None)  # type: ignore[no-any-return]


def test_newton_steps_of_leaves() -> None:
    label = (TARGETS["squared_error"] > 1).astype(int)
    model = GradientBoostingClassifier(2, learning_rate=0.3, reg_lambda=2.0, reg_alpha=0.5)
    model.fit(X, label, sample_weight=ROW_WEIGHT)
    groups, before, steps = leaf_steps(model)
    p = 1 / (1 + np.exp(-before))
    g, h = ROW_WEIGHT * (p - label), ROW_WEIGHT * p * (1 - p)
    for rows in groups:
        total = g[rows].sum()
        shrunk = np.sign(total) * max(abs(total) - 0.5, 0)
        np.testing.assert_allclose(steps[rows], -0.3 * shrunk / (h[rows].sum() + 2), rtol=1e-9)


def test_links_of_raw_scores() -> None:
    for loss in ("poisson", "gamma", "tweedie"):
        model = GradientBoostingRegressor(3, loss=loss).fit(X, TARGETS["gamma"])
        np.testing.assert_allclose(model.predict(X), np.exp(raw_scores(model)[:, 0]), rtol=1e-14)
    label = TARGETS["squared_error"] > 1
    for name, factor in (("log_loss", 1), ("exponential", 2)):
        model = GradientBoostingClassifier(3, loss=name).fit(X, label)
        odds = np.log(model.predict_proba(X)[:, 1] / model.predict_proba(X)[:, 0])
        np.testing.assert_allclose(odds, factor * raw_scores(model)[:, 0], rtol=1e-9)


@pytest.mark.parametrize("name", [name for name in LOSSES if "custom" not in name])
def test_links_are_the_inverse_of_inverse_links(name: str) -> None:
    loss = make_loss(name)
    raw = scores_of(loss).T
    if loss.n_outputs > 1:  # scores of classes are known up to a constant
        raw -= raw.mean(axis=1, keepdims=True)
    np.testing.assert_allclose(loss.link(loss.inverse_link(raw)), raw, rtol=1e-9, atol=1e-12)


# Targets outside of the domain

OUTSIDE = [
    ("poisson", -1.0, "not negative"),
    ("tweedie", -0.5, "not negative"),
    ("gamma", 0.0, "positive"),
    ("gamma", 1e200, "scale y"),
    ("squared_error", 1e305, "scale y"),
    ("absolute_error", -1e305, "scale y"),
]


@pytest.mark.parametrize(("loss", "value", "rule"), OUTSIDE)
def test_targets_outside_of_the_domain_raise(loss: str, value: float, rule: str) -> None:
    y = TARGETS["gamma"].copy()
    y[17] = value
    with pytest.raises(ValueError, match=rule):
        GradientBoostingRegressor(2, loss=loss).fit(X, y)
    # A validation row, whose loss would be NaN.
    with pytest.raises(ValueError, match=rule) as raised:
        GradientBoostingRegressor(2, loss=loss).fit(X, TARGETS["gamma"], X_val=X, y_val=y)
    assert "y_val" in str(raised.value)


def test_held_out_targets_outside_of_the_domain_raise() -> None:
    for row in range(40):
        y = TARGETS["poisson"].copy()
        y[row] = -3
        with pytest.raises(ValueError, match=f"row {row}\\."):
            GradientBoostingRegressor(2, loss="poisson", early_stopping=True).fit(X, y)


@pytest.mark.parametrize("loss", ["squared_error", "huber"])
@pytest.mark.parametrize("scale", [1.0, 1e-200])
def test_validation_targets_whose_squared_errors_overflow_raise(loss: str, scale: float) -> None:
    """The loss would be infinite in every round, and early stopping would never stop."""
    y = TARGETS["huber"] * scale
    y_val = y.copy()
    y_val[5] = 1e200 * scale
    model = GradientBoostingRegressor(2, loss=loss, early_stopping=True)
    with pytest.raises(ValueError, match=r"y_val must be in \[.*, got 1[-+e0-9]* in row 5: squ"):
        model.fit(X, y, X_val=X, y_val=y_val)


class Overflowing(LogCosh):
    """A loss whose sum over the rows overflows."""

    def loss(self, y: Array, raw: Array) -> Array:
        return np.full_like(y, 1e308)


@pytest.mark.filterwarnings("ignore:overflow")
def test_an_infinite_validation_loss_before_the_first_round_raises() -> None:
    y = TARGETS["huber"]
    model = GradientBoostingRegressor(2, loss=Overflowing(), early_stopping=True)
    message = "validation loss before the first round must be finite, got inf: scale"
    with pytest.raises(ValueError, match=message):
        model.fit(X, y, X_val=X, y_val=y)


def test_zeros_only_have_no_finite_score() -> None:
    with pytest.raises(ValueError, match="some y is positive"):
        GradientBoostingRegressor(2, loss="poisson").fit(X, np.zeros(len(X)))

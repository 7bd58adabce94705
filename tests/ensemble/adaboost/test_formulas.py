"""Rounds of AdaBoost computed by hand: a textbook example, fractions and limits."""

from __future__ import annotations

from fractions import Fraction
from math import log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import AdaBoostClassifier, DecisionTreeClassifier
from ceiba.ensemble.adaboost.formulas import (
    RowWeights,
    adaboost_r2,
    relative_losses,
    samme,
    samme_r,
)
from tests.budget import examples
from tests.oracles.boost_naive import next_weights, r2_weights, samme_r_weights

# Ten points on a line and their classes, as in many textbooks: three stumps classify all of them
# correctly.
X = np.arange(10.0).reshape(-1, 1)
Y = np.array([1, 1, 1, -1, -1, -1, 1, 1, 1, -1])
THRESHOLDS = (2.5, 8.5, 5.5)
ERRORS = (Fraction(3, 10), Fraction(3, 14), Fraction(2, 11))
# Weights before each round: round one misclassifies points 6 to 8, round two points 3 to 5, round
# three points 0 to 2 and 9. After each round the misclassified points have half of the weight.
WEIGHTS = (
    [Fraction(1, 10)] * 10,
    [Fraction(1, 14)] * 6 + [Fraction(1, 6)] * 3 + [Fraction(1, 14)],
    [Fraction(1, 22)] * 3 + [Fraction(1, 6)] * 3 + [Fraction(7, 66)] * 3 + [Fraction(1, 22)],
    [Fraction(1, 8)] * 3 + [Fraction(11, 108)] * 3 + [Fraction(7, 108)] * 3 + [Fraction(1, 8)],
)


@pytest.mark.parametrize("algorithm", ["m1", "samme"])
def test_ten_points_match_hand_computation(algorithm):
    stump = DecisionTreeClassifier(max_depth=1, criterion="error")
    model = AdaBoostClassifier(stump, n_estimators=3, algorithm=algorithm, trace=True).fit(X, Y)
    for frame, member, threshold, error, weights in zip(
        model.trace_, model.estimators_, THRESHOLDS, ERRORS, WEIGHTS[:3], strict=True
    ):
        assert member.tree_.threshold[0] == threshold
        expected = [len(weights) * float(w) for w in weights]
        np.testing.assert_allclose(frame["weights"], expected, rtol=1e-12)
        assert frame["error"] == pytest.approx(float(error), rel=1e-12)
        assert frame["alpha"] == pytest.approx(log((1 - error) / error), rel=1e-12)
        np.testing.assert_array_equal(frame["wrong"], member.predict(X) != Y)
    np.testing.assert_array_equal(model.predict(X), Y)
    # f(x) = 0.85 G1 + 1.30 G2 + 1.50 G3, divided by the sum of the three.
    alphas = [log((1 - e) / e) for e in ERRORS]
    first = (alphas[0] + alphas[1] - alphas[2]) / sum(alphas)
    assert model.margins(X, Y)[0] == pytest.approx(first, rel=1e-12)
    assert model.decision_function(X)[0] == pytest.approx(2 * first, rel=1e-12)


def test_next_weights_match_hand_computation():
    for before, after, wrong in zip(
        WEIGHTS, WEIGHTS[1:], ([6, 7, 8], [3, 4, 5], [0, 1, 2, 9]), strict=False
    ):
        bad = np.isin(np.arange(10), wrong)
        assert next_weights(bad, before, 2) == after
        found = samme(bad, np.array([float(w) for w in before]), 1.0, 2)
        weights = RowWeights(None, np.array([float(w) for w in before]), 44, 1.0).multiplied(
            found.weight_factors
        )
        np.testing.assert_allclose(weights.values, [float(w) for w in after], rtol=1e-12)


def test_samme_requires_better_than_chance_among_all_classes():
    wrong, weights = np.array([True, True, True, False, False]), np.full(5, 0.2)
    assert samme(wrong, weights, 1.0, 2).stop_reason == "chance"
    found = samme(wrong, weights, 0.5, 3)
    assert found.stop_reason is None
    assert found.estimator_weight == pytest.approx(0.5 * (log(2 / 3) + log(2)))
    factor = float(found.weight_factors[0] / found.weight_factors[-1])
    assert factor == pytest.approx(np.exp(found.estimator_weight))


def test_half_of_the_weight_is_chance_despite_rounding():
    # 0.1 + 0.2 is not 0.3 in floating point.
    rng = np.random.default_rng(0)
    for _ in range(50):
        half = rng.exponential(size=20)
        weights = np.concatenate([half, rng.permutation(half)])
        wrong = np.arange(40) < 20
        assert samme(wrong, weights / weights.sum(), 1.0, 2).stop_reason == "chance"
    better = np.full(1000, 1.0)
    better[0] += 1e-6
    assert samme(np.arange(1000) >= 500, better, 1.0, 2).stop_reason is None


@pytest.mark.parametrize("rule", [lambda *a: samme(*a, 2), lambda *a: samme(*a, 3)])
def test_perfect_estimator_has_weight_one(rule):
    found = rule(np.zeros(4, bool), np.full(4, 0.25), 0.3)
    assert (found.error, found.estimator_weight, found.stop_reason, found.weight_factors) == (
        0.0,
        1.0,
        "perfect",
        None,
    )


@examples(60)
@given(st.data())
def test_samme_r_matches_paper(data):
    n, k = data.draw(st.integers(2, 12)), data.draw(st.integers(2, 4))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    probabilities = rng.dirichlet(np.full(k, 0.3), size=n)
    probabilities[rng.random((n, k)) < 0.1] = 0.0
    labels, weights = rng.integers(k, size=n), rng.dirichlet(np.ones(n))
    rate = data.draw(st.sampled_from([0.1, 1.0, 2.0]))
    found, wrong = samme_r(probabilities, labels, weights, rate)
    np.testing.assert_array_equal(wrong, probabilities.argmax(axis=1) != labels)
    assert found.error == pytest.approx(weights[wrong].sum())
    if found.stop_reason is None:
        grown = weights * found.weight_factors
        expected = samme_r_weights(probabilities.tolist(), labels.tolist(), weights.tolist(), rate)
        np.testing.assert_allclose(grown / grown.sum(), expected, rtol=1e-9)
        assert found.estimator_weight == 1.0
    elif found.stop_reason == "perfect":
        assert not wrong.any()
    else:
        assert found.error >= (1 - 1 / k) * (1 - 1e-9)


@examples(60)
@given(st.integers(0, 2**32), st.sampled_from(["linear", "square", "exponential"]))
def test_r2_matches_paper(seed, kind):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 12))
    predicted, target, weights = rng.normal(size=n), rng.normal(size=n), rng.dirichlet(np.ones(n))
    rate = float(rng.choice([0.3, 1.0]))
    loss = relative_losses(np.abs(predicted - target), kind)
    average, alpha, expected = r2_weights(predicted, target, weights, rate, kind)
    found = adaboost_r2(loss, weights, rate)
    assert found.error == pytest.approx(average)
    if average >= 0.5:
        assert found.stop_reason == "chance"
        return
    assert found.estimator_weight == pytest.approx(alpha)
    grown = weights * found.weight_factors
    np.testing.assert_allclose(grown / grown.sum(), expected, rtol=1e-9)


def test_r2_without_errors_is_perfect():
    loss = relative_losses(np.zeros(3), "linear")
    assert adaboost_r2(loss, np.full(3, 1 / 3), 1.0).stop_reason == "perfect"


# Weights


def test_weights_sum_to_number_of_rows_and_stay_positive():
    rng = np.random.default_rng(1)
    weights = RowWeights.first(None, 1000)
    for _ in range(200):
        weights = weights.multiplied(np.where(rng.random(1000) < 0.01, 1.0, 1e-30))
        assert weights.values.sum() == pytest.approx(1000, rel=1e-7)
        assert weights.values.min() >= 2.0**-41 * weights.values.max()
        assert np.isfinite(weights.values).all()


def test_underflowing_factor_leaves_positive_weight():
    weights = RowWeights.first(None, 3).multiplied(np.array([1.0, 0.0, 1.0]))
    assert 0 < weights.values[1] < 1e-10
    np.testing.assert_allclose(weights.values[[0, 2]], 1.5, rtol=1e-10)


@examples(50)
@given(st.lists(st.integers(1, 6), min_size=2, max_size=20), st.integers(0, 2**32))
def test_integer_weight_equals_repeated_rows_exactly(counts, seed):
    rng = np.random.default_rng(seed)
    given_weights = np.array(counts, float)
    one = RowWeights.first(given_weights, len(counts))
    other = RowWeights.first(None, sum(counts))
    for _ in range(10):
        factors = np.minimum(rng.exponential(size=len(counts)), 1.0)
        one, other = one.multiplied(factors), other.multiplied(np.repeat(factors, counts))
        np.testing.assert_array_equal(np.repeat(one.factors, counts), other.factors)
        wrong = rng.random(len(counts)) < 0.5
        assert (one.values * wrong).sum() == (other.values * np.repeat(wrong, counts)).sum()


def test_weights_of_any_scale_are_accepted():
    weights = RowWeights.first(np.array([1e-50, 1e50, 1e50]), 3)
    assert weights.values[0] == 1e-50
    np.testing.assert_allclose(weights.values[1:], 1.5)

"""Boosting rounds compared with a naive version: exhaustive stumps, weights as fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier as SklearnTree

from ceiba import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier
from ceiba.ensemble.adaboost.formulas import weighted_median
from tests.budget import examples
from tests.oracles.boost_naive import (
    all_stumps,
    error_of,
    estimator_weight,
    next_weights,
    r2_weights,
    samme_r_weights,
)

# Fractions grow long in later rounds.
ROUNDS = 6


@st.composite
def tables(draw):
    n, p = draw(st.integers(2, 14)), draw(st.integers(1, 3))
    k = draw(st.integers(2, 3))
    cell = st.integers(0, draw(st.sampled_from([1, 3, 20])))
    X = draw(st.lists(st.lists(cell, min_size=p, max_size=p), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(0, k - 1), min_size=n, max_size=n))
    weights = draw(st.lists(st.integers(1, 4), min_size=n, max_size=n))
    return X, labels, weights


def boosted(model, X, labels, weights):
    """Return the fitted model; None if its first member is no better than chance."""
    try:
        return model.fit(np.array(X, float), np.array(labels), sample_weight=weights)
    except ValueError as error:
        if "is worse than random" not in str(error):
            raise
        return None


def check_choice(tree, X, labels, weights, n_classes):
    """Check that the stump is the best of all, or within rounding of it."""
    found = list(all_stumps(X, labels, weights, n_classes))
    if not found:
        assert tree.n_nodes == 1
        return
    best = max(terms for terms, _, _ in found)
    near = [(stump, sides) for terms, stump, sides in found if best - terms <= Fraction(1, 10**9)]
    if tree.n_nodes == 1:  # one class: no split
        assert best == max(sum(w for w in weights), Fraction(0))
        return
    chosen = (int(tree.column[0]), float(tree.threshold[0]))
    (sides,) = [s for stump, s in near if (stump.column, stump.threshold) == chosen]
    exact = [(stump.column, stump.threshold) for terms, stump, _ in found if terms == best]
    if len(near) == 1:
        assert chosen == exact[0]
    for leaf, side in zip(tree.node_values[1:], sides, strict=True):
        expected = [float(w) * tree.weight[0] for w in side]
        np.testing.assert_allclose(leaf, expected, atol=1e-8)


@examples(120)
@given(tables(), st.sampled_from(["samme", "m1"]))
def test_rounds_of_stumps_match_naive(table, algorithm):
    X, labels, given_weights = table
    classes = sorted(set(labels))
    assume(len(classes) > 1)
    labels, n_classes = [classes.index(k) for k in labels], len(classes)
    n_guessed = 2 if algorithm == "m1" else n_classes
    model = AdaBoostClassifier(n_estimators=ROUNDS, algorithm=algorithm, trace=True)
    weights = [Fraction(w, sum(given_weights)) for w in given_weights]
    if boosted(model, X, labels, given_weights) is None:
        best = max(all_stumps(X, labels, weights, n_classes), default=None, key=lambda s: s[0])
        assume(best is not None)
        wrong = [best[1].predict(row) != k for row, k in zip(X, labels, strict=True)]
        assert error_of(wrong, weights) >= Fraction(n_guessed - 1, n_guessed) - Fraction(1, 10**9)
        return
    for index, frame in enumerate(model.trace_):
        np.testing.assert_allclose(
            frame["weights"] / frame["weights"].sum(), [float(w) for w in weights], atol=1e-9
        )
        if index == len(model.estimators_):
            assert model.stop_reason_ == "chance"
            assert frame["error"] >= (1 - 1 / n_guessed) * (1 - 1e-9)
            break
        tree = model.estimators_[index].tree_
        check_choice(tree, X, labels, weights, n_classes)
        predicted = model.estimators_[index].predict(np.array(X, float)).tolist()
        wrong = [a != b for a, b in zip(predicted, labels, strict=True)]
        error = error_of(wrong, weights)
        assert frame["error"] == pytest.approx(float(error), abs=1e-9)
        assert frame["wrong"].tolist() == wrong
        if error == 0:
            assert (model.stop_reason_, model.estimator_weights_[index]) == ("perfect", 1.0)
            break
        assert model.estimator_weights_[index] == pytest.approx(
            estimator_weight(error, n_guessed), abs=1e-6
        )
        weights = next_weights(wrong, weights, n_guessed)


@examples(60)
@given(tables(), st.sampled_from([0.5, 1.0]))
def test_rounds_of_samme_r_match_paper(table, rate):
    X, labels, given_weights = table
    assume(len(set(labels)) > 1)
    model = AdaBoostClassifier(
        n_estimators=ROUNDS, algorithm="samme.r", learning_rate=rate, max_depth=2, trace=True
    )
    if boosted(model, X, labels, given_weights) is None:
        return
    rows = np.array(X, float)
    label_indices = np.searchsorted(model.classes_, labels).tolist()
    assert (model.estimator_weights_ == 1).all()
    for (before, after), member in zip(pairwise(model.trace_), model.estimators_, strict=False):
        probabilities = member.predict_proba(rows).tolist()
        expected = samme_r_weights(probabilities, label_indices, before["weights"].tolist(), rate)
        np.testing.assert_allclose(after["weights"] / after["weights"].sum(), expected, atol=1e-9)
    # The decision is the mean of the members' scores: equation 12 of Zhu et al.
    k = len(model.classes_)
    scores = np.zeros((len(X), k))
    for member in model.estimators_:
        logs = np.log(np.clip(member.predict_proba(rows), 2.0**-52, None))
        scores += (k - 1) * (logs - logs.mean(axis=1, keepdims=True))
    scores /= len(model.estimators_)
    own = model.decision_function(rows)
    np.testing.assert_allclose(own, scores[:, 1] - scores[:, 0] if k == 2 else scores, atol=1e-9)


@pytest.mark.parametrize(("n_classes", "rate"), [(2, 1.0), (3, 0.5)])
def test_samme_r_with_impure_leaves_matches_published_algorithm(n_classes, rate):
    # The rounds are computed without Ceiba: scikit-learn's stumps and the paper's weights.
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(200, 3))
    labels = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=200), [-0.5, 0.7][: n_classes - 1])
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=1, min_samples_leaf=40),
        n_estimators=8, algorithm="samme.r", learning_rate=rate, trace=True,
    ).fit(X, labels)  # fmt: skip
    weights, scores = [1 / 200] * 200, np.zeros((200, n_classes))
    for frame in model.trace_:
        np.testing.assert_allclose(frame["weights"] / frame["weights"].sum(), weights, rtol=1e-8)
        stump = SklearnTree(max_depth=1, min_samples_leaf=40).fit(X, labels, weights)
        probabilities = stump.predict_proba(X)
        assert probabilities.min() > 0  # no leaf is pure
        wrong = probabilities.argmax(axis=1) != labels
        assert frame["error"] == pytest.approx(np.array(weights)[wrong].sum(), rel=1e-8)
        logs = np.log(probabilities)
        scores += (n_classes - 1) * (logs - logs.mean(axis=1, keepdims=True)) / 8
        weights = samme_r_weights(probabilities.tolist(), labels.tolist(), weights, rate)
    assert len(model.trace_) == len(model.estimators_) == 8
    expected = scores[:, 1] - scores[:, 0] if n_classes == 2 else scores
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-7, atol=1e-9)


class Sure(ClassifierMixin, BaseEstimator):
    """Predicts the first class with certainty where the column is 0, else with 60 %."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), int)

    def predict_proba(self, X):
        return np.where(X == 0, [1.0, 0.0], [0.6, 0.4])


def test_weights_of_pure_leaves_stay_positive():
    X, labels = np.array([[0.0]] * 6 + [[1.0]] * 10), [0] * 14 + [1] * 2
    model = AdaBoostClassifier(Sure(), n_estimators=4, algorithm="samme.r", trace=True).fit(
        X, labels
    )
    ratios = [frame["weights"][0] / frame["weights"][-1] for frame in model.trace_]
    # By the published algorithm, with 0 as 2^-52: 2^-26 of a row of equal probabilities, per round.
    plain = 2.0**-26 * np.sqrt(0.4 / 0.6)
    assert ratios[:2] == pytest.approx([1.0, plain], rel=1e-4)
    for rounds, ratio in enumerate(ratios[2:], 2):
        assert plain**rounds < 2.0**-50
        assert 2.0**-48 < ratio < 2.0**-36


@examples(60)
@given(st.integers(0, 2**32), st.sampled_from(["linear", "square", "exponential"]))
def test_rounds_of_r2_match_paper(seed, loss):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    X, y = rng.integers(0, 8, size=(n, 2)).astype(float), rng.normal(size=n)
    rate = float(rng.choice([0.5, 1.0]))
    given_weights = rng.integers(1, 4, size=n).astype(float)
    model = AdaBoostRegressor(
        n_estimators=ROUNDS, loss=loss, learning_rate=rate, max_depth=2, trace=True
    ).fit(X, y, sample_weight=given_weights)
    weights = given_weights / given_weights.sum()
    for index, frame in enumerate(model.trace_):
        np.testing.assert_allclose(frame["weights"] / frame["weights"].sum(), weights, atol=1e-8)
        if index == len(model.estimators_):
            assert model.stop_reason_ == "chance"
            assert frame["error"] >= 0.5 * (1 - 1e-9)
            break
        predicted = model.estimators_[index].predict(X)
        if (predicted == y).all():
            assert model.stop_reason_ == "perfect"
            break
        average, alpha, weights = r2_weights(predicted, y, weights, rate, loss)
        assert frame["error"] == pytest.approx(average, abs=1e-7)
        if abs(average - 0.5) < 1e-9:  # rounding decides
            break
        if average > 0.5:  # the first member, which is kept
            assert (len(model.estimators_), model.stop_reason_) == (1, "chance")
            assert model.estimator_weights_.tolist() == [1.0]
            break
        assert model.estimator_weights_[index] == pytest.approx(alpha, abs=1e-5)


@examples(100)
@given(st.integers(0, 2**32))
def test_weighted_median_matches_sorting(seed):
    rng = np.random.default_rng(seed)
    predicted = rng.integers(0, 5, size=(4, int(rng.integers(1, 8)))).astype(float)
    weights = rng.integers(1, 5, size=predicted.shape[1]).astype(float)
    for row, found in zip(predicted, weighted_median(predicted, weights), strict=True):
        # Repeat each value by its weight; of an even number take the lower of the middle two.
        every = sorted(v for v, w in zip(row, weights, strict=True) for _ in range(int(w)))
        assert found == every[(len(every) - 1) // 2]

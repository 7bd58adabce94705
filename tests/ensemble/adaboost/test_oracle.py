"""Rounds of boosting beside a version that tries all stumps and keeps weights as fractions."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.tree import DecisionTreeClassifier as SklearnTree

from ceiba import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier
from ceiba.ensemble.adaboost.regressor import weighted_median
from tests.oracles.boost_naive import (
    all_stumps,
    error_of,
    next_weights,
    r2_weights,
    real_weights,
    say,
)

# Rounds after which fractions grow long.
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
    """The fitted model; None where its first member is no better than a guess."""
    try:
        return model.fit(np.array(X, float), np.array(labels), sample_weight=weights)
    except ValueError as error:
        if "nothing to boost" not in str(error):
            raise
        return None


def check_choice(tree, X, labels, weights, n_classes):
    """The stump is the best of all; of those that are better than rounding can tell the first."""
    found = list(all_stumps(X, labels, weights, n_classes))
    if not found:
        assert tree.n_nodes == 1
        return
    best = max(terms for terms, _, _ in found)
    near = [(stump, sides) for terms, stump, sides in found if best - terms <= Fraction(1, 10**9)]
    if tree.n_nodes == 1:  # of one class: nothing to split
        assert best == max(sum(w for w in weights), Fraction(0))
        return
    chosen = (int(tree.column[0]), float(tree.threshold[0]))
    (sides,) = [s for stump, s in near if (stump.column, stump.threshold) == chosen]
    exact = [(stump.column, stump.threshold) for terms, stump, _ in found if terms == best]
    if len(near) == 1:
        assert chosen == exact[0]
    for leaf, side in zip(tree.value[1:], sides, strict=True):
        np.testing.assert_allclose(leaf, [float(w) for w in side], atol=1e-9)


@settings(max_examples=120, deadline=None)
@given(tables(), st.sampled_from(["samme", "m1"]))
def test_rounds_of_stumps(table, algorithm):
    X, labels, given_weights = table
    classes = sorted(set(labels))
    assume(len(classes) > 1)
    labels, n_classes = [classes.index(k) for k in labels], len(classes)
    guesses = 2 if algorithm == "m1" else n_classes
    model = AdaBoostClassifier(n_estimators=ROUNDS, algorithm=algorithm, trace=True)
    weights = [Fraction(w, sum(given_weights)) for w in given_weights]
    if boosted(model, X, labels, given_weights) is None:
        best = max(all_stumps(X, labels, weights, n_classes), default=None, key=lambda s: s[0])
        assume(best is not None)
        wrong = [best[1].predict(row) != k for row, k in zip(X, labels, strict=True)]
        assert error_of(wrong, weights) >= Fraction(guesses - 1, guesses) - Fraction(1, 10**9)
        return
    for place, frame in enumerate(model.trace_):
        np.testing.assert_allclose(frame["weights"], [float(w) for w in weights], atol=1e-9)
        if place == len(model.estimators_):
            assert model.stopped_ == "chance"
            assert frame["error"] >= (1 - 1 / guesses) * (1 - 1e-9)
            break
        tree = model.estimators_[place].tree_
        check_choice(tree, X, labels, weights, n_classes)
        told = model.estimators_[place].predict(np.array(X, float)).tolist()
        wrong = [a != b for a, b in zip(told, labels, strict=True)]
        error = error_of(wrong, weights)
        assert frame["error"] == pytest.approx(float(error), abs=1e-9)
        assert frame["wrong"].tolist() == wrong
        if error == 0:
            assert (model.stopped_, model.estimator_weights_[place]) == ("perfect", 1.0)
            break
        assert model.estimator_weights_[place] == pytest.approx(say(error, guesses), abs=1e-6)
        weights = next_weights(wrong, weights, guesses)


@settings(max_examples=60, deadline=None)
@given(tables(), st.sampled_from([0.5, 1.0]))
def test_rounds_by_probabilities(table, rate):
    X, labels, given_weights = table
    assume(len(set(labels)) > 1)
    model = AdaBoostClassifier(
        n_estimators=ROUNDS, algorithm="real", learning_rate=rate, max_depth=2, trace=True
    )
    if boosted(model, X, labels, given_weights) is None:
        return
    rows = np.array(X, float)
    places = np.searchsorted(model.classes_, labels).tolist()
    assert (model.estimator_weights_ == 1).all()
    for (before, after), member in zip(pairwise(model.trace_), model.estimators_, strict=False):
        shares = member.predict_proba(rows).tolist()
        expected = real_weights(shares, places, before["weights"].tolist(), rate)
        np.testing.assert_allclose(after["weights"], expected, atol=1e-9)
    # The committee's word is the sum of its members': 12 of Zhu et al.
    k = len(model.classes_)
    word = np.zeros((len(X), k))
    for member in model.estimators_:
        logs = np.log(np.clip(member.predict_proba(rows), 2.0**-52, None))
        word += (k - 1) * (logs - logs.mean(axis=1, keepdims=True))
    word /= len(model.estimators_)
    own = model.decision_function(rows)
    np.testing.assert_allclose(own, word[:, 1] - word[:, 0] if k == 2 else word, atol=1e-9)


@pytest.mark.parametrize(("n_classes", "rate"), [(2, 1.0), (3, 0.5)])
def test_probabilities_of_impure_leaves_are_the_plain_rule(n_classes, rate):
    # Nothing of Ceiba is asked for the rounds: scikit-learn's stumps and the paper's weights.
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(200, 3))
    labels = np.digitize(X[:, 0] + X[:, 1] + rng.normal(size=200), [-0.5, 0.7][: n_classes - 1])
    model = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=1, min_samples_leaf=40),
        n_estimators=8, algorithm="real", learning_rate=rate, trace=True,
    ).fit(X, labels)  # fmt: skip
    weights, word = [1 / 200] * 200, np.zeros((200, n_classes))
    for frame in model.trace_:
        np.testing.assert_allclose(frame["weights"], weights, rtol=1e-8)
        stump = SklearnTree(max_depth=1, min_samples_leaf=40).fit(X, labels, weights)
        shares = stump.predict_proba(X)
        assert shares.min() > 0  # no leaf is pure
        wrong = shares.argmax(axis=1) != labels
        assert frame["error"] == pytest.approx(np.array(weights)[wrong].sum(), rel=1e-8)
        logs = np.log(shares)
        word += (n_classes - 1) * (logs - logs.mean(axis=1, keepdims=True)) / 8
        weights = real_weights(shares.tolist(), labels.tolist(), weights, rate)
    assert len(model.trace_) == len(model.estimators_) == 8
    expected = word[:, 1] - word[:, 0] if n_classes == 2 else word
    np.testing.assert_allclose(model.decision_function(X), expected, rtol=1e-7, atol=1e-9)


class Sure(ClassifierMixin, BaseEstimator):
    """Sure of the first class where the column is 0; elsewhere it has 60 %."""

    def fit(self, X, y, sample_weight):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.zeros(len(X), int)

    def predict_proba(self, X):
        return np.where(X == 0, [1.0, 0.0], [0.6, 0.4])


def test_weights_of_pure_leaves_do_not_vanish():
    X, labels = np.array([[0.0]] * 6 + [[1.0]] * 10), [0] * 14 + [1] * 2
    model = AdaBoostClassifier(Sure(), n_estimators=4, algorithm="real", trace=True).fit(X, labels)
    ratios = [frame["weights"][0] / frame["weights"][-1] for frame in model.trace_]
    # By the plain rule, with 0 as 2^-52: 2^-26 of a row whose shares are equal, and again.
    plain = 2.0**-26 * np.sqrt(0.4 / 0.6)
    assert ratios[:2] == pytest.approx([1.0, plain], rel=1e-4)
    for rounds, ratio in enumerate(ratios[2:], 2):
        assert plain**rounds < 2.0**-50
        assert 2.0**-48 < ratio < 2.0**-36


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["linear", "square", "exponential"]))
def test_rounds_of_numbers(seed, loss):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 30))
    X, y = rng.integers(0, 8, size=(n, 2)).astype(float), rng.normal(size=n)
    rate = float(rng.choice([0.5, 1.0]))
    given_weights = rng.integers(1, 4, size=n).astype(float)
    model = AdaBoostRegressor(
        n_estimators=ROUNDS, loss=loss, learning_rate=rate, max_depth=2, trace=True
    ).fit(X, y, sample_weight=given_weights)
    weights = given_weights / given_weights.sum()
    for place, frame in enumerate(model.trace_):
        np.testing.assert_allclose(frame["weights"], weights, atol=1e-8)
        if place == len(model.estimators_):
            assert model.stopped_ == "chance"
            assert frame["error"] >= 0.5 * (1 - 1e-9)
            break
        said = model.estimators_[place].predict(X)
        if (said == y).all():
            assert model.stopped_ == "perfect"
            break
        average, alpha, weights = r2_weights(said, y, weights, rate, loss)
        assert frame["error"] == pytest.approx(average, abs=1e-7)
        if abs(average - 0.5) < 1e-9:  # roundings decide
            break
        if average > 0.5:  # the first, which stays
            assert (len(model.estimators_), model.stopped_) == (1, "chance")
            assert model.estimator_weights_.tolist() == [1.0]
            break
        assert model.estimator_weights_[place] == pytest.approx(alpha, abs=1e-5)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32))
def test_the_weighted_median_by_sorting(seed):
    rng = np.random.default_rng(seed)
    said = rng.integers(0, 5, size=(4, int(rng.integers(1, 8)))).astype(float)
    weights = rng.integers(1, 5, size=said.shape[1]).astype(float)
    for row, found in zip(said, weighted_median(said, weights), strict=True):
        # A value as often as it weighs, and of an even number the lower of the middle two.
        every = sorted(v for v, w in zip(row, weights, strict=True) for _ in range(int(w)))
        assert found == every[(len(every) - 1) // 2]

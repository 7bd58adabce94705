"""AdaBoost compared with scikit-learn's, both with Ceiba's trees."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.ensemble import AdaBoostClassifier as TheirClassifier
from sklearn.ensemble import AdaBoostRegressor as TheirRegressor
from sklearn.naive_bayes import GaussianNB

from ceiba import AdaBoostClassifier, AdaBoostRegressor, DecisionTreeClassifier


def rows(n_classes, seed):
    return make_classification(
        n_samples=300, n_features=6, n_informative=4, n_classes=n_classes, flip_y=0.1,
        random_state=seed,
    )  # fmt: skip


def assert_same_rounds(ours, theirs, X):
    n_members = len(theirs.estimators_)
    assert len(ours.estimators_) == n_members
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_[:n_members], 1e-7)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_[:n_members], 1e-7)
    for one, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(one, other)
    for method in ("staged_decision_function", "staged_predict_proba"):
        for one, other in zip(getattr(ours, method)(X), getattr(theirs, method)(X), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-9)
    np.testing.assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), atol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("seed", "rate"), [(0, 1.0), (1, 0.3)])
def test_samme_with_stumps_matches_round_by_round(n_classes, seed, rate):
    X, y = rows(n_classes, seed)
    theirs = TheirClassifier(
        DecisionTreeClassifier(max_depth=1), n_estimators=20, learning_rate=rate
    ).fit(X, y)
    ours = AdaBoostClassifier(n_estimators=20, learning_rate=rate).fit(X, y)
    assert_same_rounds(ours, theirs, X)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, atol=1e-8)
    for one, other in zip(ours.staged_score(X, y), theirs.staged_score(X, y), strict=True):
        assert one == pytest.approx(other)


def test_samme_with_naive_bayes_and_weights_matches():
    X, y = rows(3, 2)
    weight = np.random.default_rng(0).exponential(size=len(y)) * (np.arange(len(y)) % 7 > 0)
    kept = weight > 0
    theirs = TheirClassifier(GaussianNB(), n_estimators=10)
    theirs.fit(X[kept], y[kept], sample_weight=weight[kept])
    ours = AdaBoostClassifier(GaussianNB(), n_estimators=10).fit(X, y, sample_weight=weight)
    assert_same_rounds(ours, theirs, X)


@pytest.mark.parametrize("loss", ["linear", "square", "exponential"])
def test_weighted_median_matches(loss):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] ** 2 + np.sin(X[:, 1]) + 0.1 * rng.normal(size=200)
    ours = AdaBoostRegressor(n_estimators=12, loss=loss).fit(X, y)
    theirs = TheirRegressor(n_estimators=12)
    theirs.estimators_, theirs.n_features_in_ = ours.estimators_, 3
    theirs.estimator_weights_ = ours.estimator_weights_
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for one, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(ours.staged_score(X, y), theirs.staged_score(X, y), strict=True):
        assert one == pytest.approx(other)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_)


def test_resampled_ensembles_have_the_same_mean_score():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 3))
    y = X[:, 0] ** 2 + np.sin(X[:, 1]) + 0.3 * rng.normal(size=300)
    new = rng.normal(size=(1000, 3))
    truth = new[:, 0] ** 2 + np.sin(new[:, 1])
    ours, theirs = (
        [
            make(n_estimators=20, random_state=seed, **options).fit(X, y).score(new, truth)
            for seed in range(12)
        ]
        for make, options in (
            (AdaBoostRegressor, {"reweighting": "resampling"}),
            (TheirRegressor, {}),
        )
    )
    spread = np.hypot(np.std(ours), np.std(theirs)) / np.sqrt(12)
    assert abs(np.mean(ours) - np.mean(theirs)) < 4 * spread

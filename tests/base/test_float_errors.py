"""Learners compute as usual where the user made NumPy raise for floating-point errors."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from ceiba import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    GaussianMixture,
    GaussianMixtureClassifier,
    KMeans,
    KNeighborsClassifier,
    KNeighborsRegressor,
    LatentClassMixture,
    NaiveBayesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StructuralTMClassifier,
    TANClassifier,
)

LEARNERS = [
    AdaBoostClassifier(n_estimators=5, algorithm="samme.r"),
    AdaBoostRegressor(n_estimators=5),
    BaggingClassifier(n_estimators=3),
    DecisionTreeClassifier(algorithm="c45"),
    DecisionTreeRegressor(),
    GaussianMixture(2),
    GaussianMixtureClassifier(),
    KMeans(2),
    KNeighborsClassifier(metric="gower", weights="distance"),
    KNeighborsRegressor("loo"),
    LatentClassMixture(2),
    NaiveBayesClassifier(),
    *(
        NaiveBayesClassifier(distributions=name, missing="category")
        for name in ("gaussian", "kernel", "mixture")
    ),
    NaiveBayesClassifier(training="tm"),
    NaiveBayesClassifier(training="tm", distributions="gaussian"),
    RandomForestClassifier(5, oob_score=True),
    RandomForestRegressor(5),
    StructuralTMClassifier(),
    TANClassifier(discretization="equal_width"),
    TANClassifier(structure="aode", discretization="equal_width"),
    TANClassifier(training="tm", missing="category", discretization="equal_width"),
]
RANDOM = np.random.default_rng(0)
X = np.where(RANDOM.random((60, 3)) < 0.1, np.nan, RANDOM.normal(size=(60, 3)))
X[:30] += 60  # far apart: densities underflow
Y = np.arange(60) // 30


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_raising_numpy_changes_nothing(learner):
    methods = ["predict", "predict_proba", "predict_log_proba", "decision_function", "transform"]
    methods = [name for name in [*methods, "score_samples"] if hasattr(learner, name)]
    expected = [getattr(learner.fit(X, Y), name)(X) for name in methods]
    with np.errstate(all="raise"):
        found = [getattr(learner.fit(X, Y), name)(X) for name in methods]
        learner.score(X, Y)
        assert np.geterr()["under"] == "raise"
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_signatures_are_kept():
    assert list(inspect.signature(KMeans.fit).parameters) == ["self", "X", "y", "sample_weight"]
    assert KMeans.fit.__doc__


@pytest.mark.parametrize("value", [2**63, 2**64, -(2**63) - 1, 10**400])
@pytest.mark.parametrize(
    ("learner", "name"),
    [
        (DecisionTreeClassifier, "max_depth"),
        (DecisionTreeClassifier, "min_samples_leaf"),
        (RandomForestClassifier, "n_estimators"),
        (RandomForestClassifier, "max_leaf_nodes"),
        (KMeans, "n_clusters"),
        (KMeans, "max_iter"),
        (GaussianMixture, "n_components"),
        (AdaBoostClassifier, "n_estimators"),
    ],
)
def test_ints_beyond_64_bits_are_refused(learner, name, value):
    with pytest.raises(ValueError, match=f"{name}' parameter of .* must be .* 64 bits, got"):
        learner(**{name: value}).fit(X, Y)


def test_seeds_may_be_of_any_size():
    assert KMeans(2, random_state=2**70).fit(X).n_iter_

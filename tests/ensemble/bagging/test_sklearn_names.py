"""Names that scikit-learn's bagging and boosting have too."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import ensemble
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

import ceiba

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(150, 3))
Y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.0, 1.0])


@pytest.mark.parametrize("name", ["BaggingClassifier", "AdaBoostClassifier", "AdaBoostRegressor"])
def test_ensembles_are_sequences_of_their_members(name: str) -> None:
    model = getattr(ceiba, name)(n_estimators=4)
    assert model
    for attribute in ("estimator_", "estimators_samples_"):
        if hasattr(type(model), attribute):
            with pytest.raises(NotFittedError):
                getattr(model, attribute)
    model.fit(X, Y)
    assert len(model) == len(model.estimators_) == 4
    assert model[0] is model.estimators_[0]
    assert list(model) == list(model.estimators_)
    assert model[1:] == model.estimators_[1:]
    assert type(model.estimator_) is type(model[0])
    assert not hasattr(model.estimator_, "tree_")


@pytest.mark.parametrize("y", [Y, Y > 0])
def test_decision_function_is_the_mean_of_the_members(y: Any) -> None:
    model = ceiba.BaggingClassifier(LogisticRegression(), n_estimators=5).fit(X, y)
    members = [member.decision_function(X) for member in model]
    np.testing.assert_allclose(model.decision_function(X), np.mean(members, axis=0))
    other = ensemble.BaggingClassifier(LogisticRegression(), n_estimators=5).fit(X, y)
    assert model.decision_function(X).shape == other.decision_function(X).shape


def test_decision_function_needs_that_of_the_members() -> None:
    assert not hasattr(ceiba.BaggingClassifier(GaussianNB()), "decision_function")
    assert not hasattr(ceiba.BaggingClassifier().fit(X, Y), "decision_function")

"""Units: what their keys depend on, and what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ceiba
from ceiba.experiments.running.units import Dataset, Learner, Unit

IRIS = ceiba.datasets.load("iris")
X, Y = np.asarray(IRIS.table.block), np.asarray(IRIS.y)
DATA = Dataset("iris", X, Y, "classification")
TREE = Learner("tree", ceiba.DecisionTreeClassifier())


def unit(learner: Learner = TREE, data: Dataset = DATA, **options: Any) -> Unit:
    rows = np.random.default_rng(0).permutation(len(data))
    given = {"repeat": 0, "fold": 0, "train": rows[:100], "test": rows[100:], "seed": 0}
    return Unit(data, learner, **(given | options))


def test_equal_values_have_equal_keys() -> None:
    again = Dataset("other name", X.copy(), Y.tolist(), "classification")
    assert again.key == DATA.key
    frame = pd.DataFrame(X, columns=IRIS.table.schema.names)
    assert (
        Dataset("frame", frame, Y, "classification").key
        == Dataset("table", IRIS.table, Y, "classification").key
    )
    assert Learner("other name", ceiba.DecisionTreeClassifier()).key == TREE.key
    fitted = ceiba.DecisionTreeClassifier().fit(X, Y)
    assert Learner("fitted", fitted).key == TREE.key
    assert unit(Learner("other name", clone(TREE.estimator)), again).key == unit().key


def test_whatever_matters_changes_the_key() -> None:
    changed = X.copy()
    changed[7, 2] += 1e-9
    labels = Y.copy()
    labels[0] = labels[-1]
    units = [
        unit(),
        unit(data=Dataset("iris", changed, Y, "classification")),
        unit(data=Dataset("iris", X, labels, "classification")),
        unit(Learner("tree", ceiba.DecisionTreeClassifier(max_depth=3))),
        unit(Learner("tree", make_pipeline(StandardScaler(), LogisticRegression(C=2.0)))),
        unit(Learner("tree", make_pipeline(StandardScaler(), LogisticRegression(C=3.0)))),
        unit(test=np.arange(50)),
        unit(fold=1),
        unit(seed=1),
    ]
    assert len({each.key for each in units}) == len(units)


@pytest.mark.parametrize(
    "container",
    [
        lambda X: X,
        lambda X: X.tolist(),
        lambda X: pd.DataFrame(X),
        lambda X: ceiba.data.Table.of(X),
    ],
)
def test_a_unit_fits_the_training_rows_alone(container: Any) -> None:
    own = unit(data=Dataset("iris", container(X), Y, "classification"))
    found = own.run()
    assert found.error is None
    model = ceiba.DecisionTreeClassifier().fit(container(X[own.train]), Y[own.train])
    assert found.predictions is not None
    predicted = np.unique(Y)[found.predictions]
    np.testing.assert_array_equal(predicted, model.predict(container(X[own.test])))
    np.testing.assert_array_equal(found.probabilities, model.predict_proba(X[own.test]))
    np.testing.assert_array_equal(found.test, own.test)


def test_classes_that_training_rows_lack_have_probability_zero() -> None:
    rows = np.flatnonzero(np.unique(Y)[1] != Y)
    found = unit(train=rows, test=np.arange(150)).run()
    assert found.probabilities is not None
    assert found.probabilities.shape == (150, 3)
    assert not found.probabilities[:, 1].any()
    np.testing.assert_allclose(found.probabilities.sum(axis=1), 1.0)


def test_random_learners_repeat_their_results() -> None:
    forest = Learner("forest", RandomForestClassifier(5))
    one, two = unit(forest).run(), unit(forest).run()
    np.testing.assert_array_equal(one.probabilities, two.probabilities)
    other = unit(forest, fold=3).run()
    assert not np.array_equal(one.probabilities, other.probabilities)
    fixed = Learner("forest", RandomForestClassifier(5, random_state=3))
    model = RandomForestClassifier(5, random_state=3).fit(X[unit().train], Y[unit().train])
    np.testing.assert_array_equal(
        unit(fixed).run().probabilities, model.predict_proba(X[unit().test])
    )


class Failing(ClassifierMixin, BaseEstimator):
    def fit(self, X: Any, y: Any) -> Failing:
        raise RuntimeError("no fit today")


def test_an_error_is_part_of_the_result() -> None:
    found = unit(Learner("failing", Failing())).run()
    assert found.error == "RuntimeError: no fit today"
    assert found.predictions is None


def test_numbers_are_kept_as_they_are() -> None:
    data = Dataset("numbers", X[:, :3], X[:, 3], "regression")
    found = unit(Learner("tree", ceiba.DecisionTreeRegressor(max_depth=3)), data).run()
    assert found.predictions is not None
    assert found.predictions.dtype == np.float64
    assert found.probabilities is None
    assert np.corrcoef(found.predictions, X[found.test, 3])[0, 1] > 0.9


def test_learners_that_cannot_be_hashed_raise() -> None:
    learner = Learner("k", ceiba.KNeighborsClassifier(weights=lambda d: np.exp(-d)))
    with pytest.raises(ValueError, match=r"'k' cannot be kept in a journal.*lambda"):
        _ = learner.key

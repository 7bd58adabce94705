"""Errors of bagging: failing members are named, invalid inputs are rejected."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ceiba import BaggingClassifier, BaggingRegressor, DecisionTreeRegressor, KMeans, scan
from ceiba.base import ParameterError
from ceiba.ensemble.common.base import MemberError
from tests.ensemble.bagging import by_hand as hand

X, Y = hand.groups()
XR, YR = hand.slope()


class Failing(ClassifierMixin, BaseEstimator):
    """Fails in fit, or predicts a given array."""

    def __init__(self, error=None, predictions=None, random_state=None):
        self.error = error
        self.predictions = predictions
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.error is not None and self.random_state == hand.random_state(SECOND, 0):
            raise self.error
        return self

    def predict(self, X):
        if self.predictions is not None:
            return self.predictions
        return np.full(len(X), self.classes_[0])

    def predict_proba(self, X):
        return self.predictions


SECOND = hand.member_seed(0, 2)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("bad luck"), ValueError),
        (TypeError("bad luck"), TypeError),
        (KeyError("bad luck"), MemberError),
        (MemoryError("bad luck"), MemoryError),
    ],
    ids=["value", "type", "other", "memory"],
)
def test_error_in_fit_names_the_member(error, kind, threads):
    model = BaggingClassifier(n_estimators=2).fit(X, Y)
    before = dict(vars(model))
    model.set_params(estimator=Failing(error), n_estimators=6, n_jobs=threads)
    with pytest.raises(kind, match=r"member 2 of the ensemble could not be fitted: .*bad luck"):
        model.fit(X, Y)
    assert {name for name in vars(model) if name.endswith("_")} == {
        name for name in before if name.endswith("_")
    }
    assert model.estimators_ is before["estimators_"]


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        (np.full((90, 3), np.nan), "NaN or infinity"),
        (np.full((90, 2), 0.5), r"shape \(90, 3\), got \(90, 2\)"),
    ],
)
def test_invalid_probabilities_are_an_error(predictions, message):
    model = BaggingClassifier(Failing(predictions=predictions), 2).fit(X, Y)
    with pytest.raises(
        ValueError, match=f"member [01] of the ensemble could not predict: .*{message}"
    ):
        model.predict(X)


@pytest.mark.parametrize(
    ("predictions", "message"),
    [(np.full(90, "eel"), "'eel'"), (np.zeros((90, 2)), r"shape \(90,\), got \(90, 2\)")],
)
def test_invalid_predictions_are_an_error(predictions, message):
    model = BaggingClassifier(Failing(predictions=predictions), 2, voting="majority").fit(X, Y)
    with pytest.raises(
        ValueError, match=f"member [01] of the ensemble could not predict: .*{message}"
    ):
        model.predict(X)


class Column(RegressorMixin, BaseEstimator):
    """Predicts a column vector of a value."""

    def __init__(self, value=1.0):
        self.value = value

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full((len(X), 1), self.value)


def test_column_vectors_are_accepted_and_infinity_is_an_error():
    assert BaggingRegressor(Column(), 2).fit(XR, YR).predict(XR).tolist() == [1.0] * 90
    with pytest.raises(
        ValueError, match=r"member [01] of the ensemble could not predict: .*infinity"
    ):
        BaggingRegressor(Column(np.inf), 2).fit(XR, YR).predict(XR)


def test_estimator_of_wrong_type_is_rejected():
    with pytest.raises(ValueError, match="must be a classifier, got LinearRegression, a regressor"):
        BaggingClassifier(LinearRegression()).fit(X, Y)
    with pytest.raises(ValueError, match="must be a regressor, got Pipeline, a classifier"):
        BaggingRegressor(make_pipeline(GaussianNB())).fit(XR, YR)
    with pytest.raises(ValueError, match="got KMeans, a clusterer"):
        BaggingClassifier(KMeans()).fit(X, Y)
    with pytest.raises(
        ParameterError, match=r"'estimator' parameter .* must be an object with fit"
    ):
        BaggingClassifier(SelectKBest()).fit(X, Y)
    with pytest.raises(TypeError, match="instance"):
        BaggingClassifier(GaussianNB).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "'n_estimators' parameter .* must be an int >= 1"),
        ({"max_samples": 0}, "'max_samples' parameter .* must be"),
        ({"max_samples": -0.5}, "'max_samples' parameter .* must be"),
        ({"max_samples": 91, "bootstrap": False}, "bootstrap=True"),
        ({"max_features": 5}, "max_features must be at most the number of columns, 4"),
        ({"max_features": 0.0}, "'max_features' parameter .* must be"),
        ({"voting": "hard"}, "'voting' parameter .* must be"),
        ({"bootstrap": 1}, "'bootstrap' parameter .* must be"),
        ({"random_state": "x"}, "'random_state' parameter .* must be"),
    ],
    ids=str,
)
def test_invalid_parameters_are_rejected(options, message):
    with pytest.raises(ValueError, match=message):
        BaggingClassifier(**options).fit(X, Y)


def test_rows_must_be_in_memory(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(X, columns=[*"abcd"]).assign(y=Y).to_csv(path, index=False)
    scanned = scan(path, target="y")
    da = pytest.importorskip("dask.array")
    remote, labels = da.from_array(X, chunks=30), da.from_array(np.arange(90) % 3, chunks=30)
    for member in (None, KNeighborsClassifier()):
        model = BaggingClassifier(member, 2)
        with pytest.raises(ValueError, match="requires rows in memory, got a scan"):
            model.fit(scanned)
        for rows, y in ((remote, labels), (remote, Y), (X, labels)):
            with pytest.raises(ValueError, match="got a Dask collection: compute it"):
                model.fit(rows, y)
        model.fit(X, Y)
        for rows in (scanned, remote):
            with pytest.raises(ValueError, match="requires rows in memory"):
                model.predict(rows)


@pytest.mark.parametrize("member", [None, KNeighborsClassifier()], ids=["ours", "theirs"])
def test_invalid_rows_are_rejected(member):
    model = BaggingClassifier(member, 2)
    with pytest.raises(ValueError, match="requires y"):
        model.fit(X)
    with pytest.raises(ValueError, match=r"2D array|2-dimensional"):
        model.fit(pd.Series(X[:, 0]), Y)
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(pd.DataFrame(X).iloc[:0], Y[:0])
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, Y[:-1])


def test_bag_of_single_leaves_warns():
    bag = BaggingRegressor(DecisionTreeRegressor(min_samples_leaf=80), 3)
    with pytest.warns(UserWarning, match=r"Each of the 3 trees is a single leaf.*max_samples"):
        bag.fit(X, np.arange(90.0))


def test_sums_that_overflow_are_an_error():
    large = DummyRegressor(strategy="constant", constant=1e308)
    model = BaggingRegressor(large, 3).fit(X, np.arange(90.0))
    with pytest.raises(ValueError, match="sum of the predictions of 3 members overflows"):
        model.predict(X)


def test_number_of_draws_is_limited():
    with pytest.raises(ValueError, match="at most 10,000,000 draws per member"):
        BaggingClassifier(max_samples=2**31).fit(X[:40], Y[:40])
    for number in (2**63, 10**400):
        with pytest.raises(ValueError, match="fits into 64 bits") as error:
            BaggingClassifier(max_samples=number).fit(X[:40], Y[:40])
        assert len(str(error.value)) < 250

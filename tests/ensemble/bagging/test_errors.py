"""Errors of bagging: members that fail are named, and what cannot be done is told."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from ceiba import BaggingClassifier, BaggingRegressor, KMeans, scan
from ceiba.base import ParameterError
from ceiba.ensemble.common.members import MemberError
from tests.ensemble.bagging import by_hand as hand

X, Y = hand.groups()
XR, YR = hand.slope()


class Moody(ClassifierMixin, BaseEstimator):
    """Fails, one way or another, in its fit or when it is asked."""

    def __init__(self, error=None, told=None, random_state=None):
        self.error = error
        self.told = told
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        if self.error is not None and self.random_state == hand.random_state(SECOND, 0):
            raise self.error
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0]) if self.told is None else self.told

    def predict_proba(self, X):
        return self.told


SECOND = hand.member_seed(0, 2)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("bad mood"), ValueError),
        (TypeError("bad mood"), TypeError),
        (KeyError("bad mood"), MemberError),
        (MemoryError("bad mood"), MemoryError),
    ],
    ids=["value", "type", "other", "memory"],
)
def test_a_failing_member_is_named(error, kind, threads):
    model = BaggingClassifier(n_estimators=2).fit(X, Y)
    before = dict(vars(model))
    model.set_params(estimator=Moody(error), n_estimators=6, n_jobs=threads)
    with pytest.raises(kind, match=r"member 2 of the bag could not be fitted: .*bad mood"):
        model.fit(X, Y)
    assert {name for name in vars(model) if name.endswith("_")} == {
        name for name in before if name.endswith("_")
    }
    assert model.estimators_ is before["estimators_"]


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (np.full((90, 3), np.nan), "NaN or infinity"),
        (np.full((90, 2), 0.5), r"shape \(90, 2\) for 90 rows and 3 classes"),
    ],
)
def test_nonsense_of_a_member_is_refused(told, words):
    model = BaggingClassifier(Moody(told=told), 2).fit(X, Y)
    with pytest.raises(ValueError, match=f"member [01] of the bag could not predict: .*{words}"):
        model.predict(X)


@pytest.mark.parametrize(
    ("told", "words"),
    [(np.full(90, "eel"), "'eel'"), (np.zeros((90, 2)), r"shape \(90, 2\) for 90 rows")],
)
def test_nonsense_votes_are_refused(told, words):
    model = BaggingClassifier(Moody(told=told), 2, voting="majority").fit(X, Y)
    with pytest.raises(ValueError, match=f"member [01] of the bag could not predict: .*{words}"):
        model.predict(X)


class Column(RegressorMixin, BaseEstimator):
    """Predicts a column vector, of infinities on demand."""

    def __init__(self, value=1.0):
        self.value = value

    def fit(self, X, y):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full((len(X), 1), self.value)


def test_numbers_of_members():
    assert BaggingRegressor(Column(), 2).fit(XR, YR).predict(XR).tolist() == [1.0] * 90
    with pytest.raises(ValueError, match=r"member [01] of the bag could not predict: .*infinity"):
        BaggingRegressor(Column(np.inf), 2).fit(XR, YR).predict(XR)


def test_wrong_kinds_of_members_are_refused():
    with pytest.raises(ValueError, match=r"for classification, .* LinearRegression is a regressor"):
        BaggingClassifier(LinearRegression()).fit(X, Y)
    with pytest.raises(ValueError, match=r"for regression, .* Pipeline is a classifier"):
        BaggingRegressor(make_pipeline(GaussianNB())).fit(XR, YR)
    with pytest.raises(ValueError, match="KMeans is a clusterer"):
        BaggingClassifier(KMeans()).fit(X, Y)
    with pytest.raises(ParameterError, match="estimator must be a Learner or None"):
        BaggingClassifier(SelectKBest()).fit(X, Y)
    with pytest.raises(TypeError, match="instance"):
        BaggingClassifier(GaussianNB).fit(X, Y)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer of at least 1"),
        ({"max_samples": 0}, "max_samples must be"),
        ({"max_samples": 1.5}, "max_samples must be"),
        ({"max_samples": 91, "bootstrap": False}, "bootstrap=True"),
        ({"max_features": 5}, "max_features=5 columns cannot be drawn from 4"),
        ({"max_features": 0.0}, "max_features must be"),
        ({"voting": "hard"}, "voting must be 'probability' or 'majority'"),
        ({"bootstrap": 1}, "bootstrap must be True or False"),
        ({"random_state": "x"}, "random_state must be"),
    ],
    ids=str,
)
def test_bad_parameters_are_refused(options, words):
    with pytest.raises(ValueError, match=words):
        BaggingClassifier(**options).fit(X, Y)


def test_rows_that_are_not_in_memory_are_refused(tmp_path):
    path = tmp_path / "rows.csv"
    pd.DataFrame(X, columns=[*"abcd"]).assign(y=Y).to_csv(path, index=False)
    scanned = scan(path, target="y")
    da = pytest.importorskip("dask.array")
    remote, labels = da.from_array(X, chunks=30), da.from_array(np.arange(90) % 3, chunks=30)
    for member in (None, KNeighborsClassifier()):
        model = BaggingClassifier(member, 2)
        with pytest.raises(ValueError, match="needs its rows in memory and was given a scan"):
            model.fit(scanned)
        for rows, y in ((remote, labels), (remote, Y), (X, labels)):
            with pytest.raises(ValueError, match="was given a Dask collection: compute it"):
                model.fit(rows, y)
        model.fit(X, Y)
        for rows in (scanned, remote):
            with pytest.raises(ValueError, match="needs its rows in memory"):
                model.predict(rows)


@pytest.mark.parametrize("member", [None, KNeighborsClassifier()], ids=["ours", "theirs"])
def test_bad_rows_are_refused(member):
    model = BaggingClassifier(member, 2)
    with pytest.raises(ValueError, match="requires y"):
        model.fit(X)
    with pytest.raises(ValueError, match=r"2D array|2-dimensional"):
        model.fit(pd.Series(X[:, 0]), Y)
    with pytest.raises(ValueError, match="0 sample"):
        model.fit(pd.DataFrame(X).iloc[:0], Y[:0])
    with pytest.raises(ValueError, match="inconsistent"):
        model.fit(X, Y[:-1])
    with pytest.raises(TypeError, match="Sparse data"):
        model.fit(csr_matrix(X), Y)

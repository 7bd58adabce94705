"""Tables for members of other libraries: arrays and frames that they can read."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from ceiba import BaggingClassifier, BaggingRegressor, datasets
from ceiba.data import Table
from tests.ensemble.bagging import by_hand as hand

X, Y = hand.groups()


class Witness(ClassifierMixin, BaseEstimator):
    """Keeps what it is given."""

    def fit(self, X, y):
        self.classes_, self.X_ = np.unique(y), X
        return self

    def predict(self, X):
        self.asked_ = X
        return np.full(X.shape[0], self.classes_[0])


def mixed():
    """A frame of what a table hands over: numbers with gaps, whole numbers, levels with gaps."""
    frame = pd.DataFrame(X, columns=[*"abcd"])
    frame.loc[::7, "a"] = np.nan
    frame["count"] = np.arange(90)
    frame["word"] = pd.Categorical(np.where(np.arange(90) % 5 == 0, None, Y.astype(object)))
    sizes = np.array(["S", "M", "L"])[np.arange(90) % 3]
    frame["size"] = pd.Categorical(sizes, ["S", "M", "L"], ordered=True)
    return frame


def test_a_table_of_an_array_is_the_array():
    model = BaggingClassifier(Witness(), 2).fit(Table.of(X), Y)
    model.predict(Table.of(X))
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        np.testing.assert_array_equal(member.X_, X[rows])
        np.testing.assert_array_equal(member.asked_, X)
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 3 features, but BaggingClassifier is expecting 4"):
        model.predict(Table.of(X[:, :3]))


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_a_table_with_names_is_a_frame(twice):
    frame = mixed()
    options = {"max_features": 0.7, "bootstrap_features": twice, "random_state": 4}
    model = BaggingClassifier(Witness(), 3, **options).fit(Table.of(frame), Y)
    same = BaggingClassifier(Witness(), 3, **options).fit(frame, Y)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert not hasattr(model, "schema_")
    model.predict(Table.of(frame))
    same.predict(frame)
    for member, other in zip(model.estimators_, same.estimators_, strict=True):
        pd.testing.assert_frame_equal(
            member.X_.reset_index(drop=True), other.X_.reset_index(drop=True)
        )
        pd.testing.assert_frame_equal(member.asked_, other.asked_)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(Table.of(frame.rename(columns={"a": "z"})))


def test_others_learn_from_tables():
    frame = mixed()
    coded = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["word", "size"]))
    for member in (
        make_pipeline(coded, LogisticRegression()),
        HistGradientBoostingClassifier(max_iter=5),
    ):
        model = BaggingClassifier(member, 3).fit(Table.of(frame), Y)
        same = BaggingClassifier(member, 3).fit(frame, Y)
        np.testing.assert_array_equal(
            model.predict_proba(Table.of(frame)), same.predict_proba(frame)
        )
    iris = datasets.load("iris")
    model = BaggingClassifier(GaussianNB(), 25, oob_score=True).fit(iris.table, iris.y)
    assert model.oob_score_ > 0.9
    numbers = BaggingRegressor(LinearRegression(), 2).fit(Table.of(X), X[:, 0])
    np.testing.assert_allclose(numbers.predict(Table.of(X)), X[:, 0], atol=1e-9)


@pytest.mark.parametrize(
    ("column", "what"),
    [
        (pd.array([None if row % 11 == 5 else row for row in range(90)], "Int64"), "gaps among"),
        (pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(90), unit="D"), "times"),
    ],
    ids=["count", "when"],
)
def test_a_table_that_others_cannot_read_is_refused(column, what):
    table = Table.of(mixed().assign(strange=column))
    sentence = (
        rf"'strange' of the Table holds {what}.* to Witness .*: give the array or frame .*"
        "or a member of Ceiba's own"
    )
    with pytest.raises(ValueError, match=sentence):
        BaggingClassifier(Witness(), 2).fit(table, Y)
    assert len(BaggingClassifier(n_estimators=2).fit(table, Y).estimators_) == 2


def test_without_pandas_it_is_said_what_to_do(monkeypatch):
    named = Table.of(mixed())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "ceiba\[files\]"; or give the array'):
        BaggingClassifier(Witness(), 2).fit(named, Y)

"""Tables for estimators of other libraries: converted to arrays and frames."""

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


class Recorder(ClassifierMixin, BaseEstimator):
    """Records its input."""

    def fit(self, X, y):
        self.classes_, self.X_ = np.unique(y), X
        return self

    def predict(self, X):
        self.predicted_X_ = X
        return np.full(X.shape[0], self.classes_[0])


def mixed():
    """Return a frame with integers, and floats and categories with missing values."""
    frame = pd.DataFrame(X, columns=[*"abcd"])
    frame.loc[::7, "a"] = np.nan
    frame["count"] = np.arange(90)
    frame["word"] = pd.Categorical(np.where(np.arange(90) % 5 == 0, None, Y.astype(object)))
    sizes = np.array(["S", "M", "L"])[np.arange(90) % 3]
    frame["size"] = pd.Categorical(sizes, ["S", "M", "L"], ordered=True)
    return frame


def test_table_of_an_array_is_passed_as_the_array():
    model = BaggingClassifier(Recorder(), 2).fit(Table.of(X), Y)
    model.predict(Table.of(X))
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        np.testing.assert_array_equal(member.X_, X[rows])
        np.testing.assert_array_equal(member.predicted_X_, X)
    assert model.n_features_in_ == 4
    assert not hasattr(model, "feature_names_in_")
    with pytest.raises(ValueError, match="X has 3 features, but BaggingClassifier is expecting 4"):
        model.predict(Table.of(X[:, :3]))


@pytest.mark.parametrize("twice", [False, True], ids=["once", "twice"])
def test_table_with_names_is_passed_as_a_frame(twice):
    frame = mixed()
    options = {"max_features": 0.7, "bootstrap_features": twice, "random_state": 4}
    model = BaggingClassifier(Recorder(), 3, **options).fit(Table.of(frame), Y)
    same = BaggingClassifier(Recorder(), 3, **options).fit(frame, Y)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert not hasattr(model, "schema_")
    model.predict(Table.of(frame))
    same.predict(frame)
    for member, other in zip(model.estimators_, same.estimators_, strict=True):
        pd.testing.assert_frame_equal(
            member.X_.reset_index(drop=True), other.X_.reset_index(drop=True)
        )
        pd.testing.assert_frame_equal(member.predicted_X_, other.predicted_X_)
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(Table.of(frame.rename(columns={"a": "z"})))


def test_other_estimators_are_fitted_to_tables():
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
    ("column", "values"),
    [
        (
            pd.array([None if row % 11 == 5 else row for row in range(90)], "Int64"),
            "missing values among integers",
        ),
        (pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(90), unit="D"), "datetimes"),
    ],
    ids=["count", "when"],
)
def test_table_that_cannot_be_converted_is_rejected(column, values):
    table = Table.of(mixed().assign(strange=column))
    message = rf"'strange' of the Table has {values}.* to Recorder: pass the array or frame"
    with pytest.raises(ValueError, match=message):
        BaggingClassifier(Recorder(), 2).fit(table, Y)
    assert len(BaggingClassifier(n_estimators=2).fit(table, Y).estimators_) == 2


def test_missing_pandas_error_names_the_extra(monkeypatch):
    named = Table.of(mixed())
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "ceiba\[files\]", or pass the array'):
        BaggingClassifier(Recorder(), 2).fit(named, Y)

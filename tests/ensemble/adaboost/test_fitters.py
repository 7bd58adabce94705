"""Members of AdaBoost: weights or resampling, other libraries, and errors that name the round."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor as TheirTree

from ceiba import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    datasets,
)
from ceiba.data import Table
from ceiba.ensemble.adaboost.fitters import weighted_sampler
from ceiba.ensemble.common.base import MemberError, member_seed


@pytest.fixture(scope="module")
def moons():
    loaded = datasets.load("two_moons")
    return loaded.table.matrix, np.asarray(loaded.y)


def test_other_estimators_get_the_rows_as_passed(moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = AdaBoostClassifier(GaussianNB(), n_estimators=4).fit(frame, y)
    assert list(model.estimators_[0].feature_names_in_) == ["a", "b"]
    assert not hasattr(model, "schema_")
    assert model.score(frame, y) > 0.8
    with pytest.raises(AttributeError, match=r"feature_importances_ requires .* got GaussianNB"):
        model.feature_importances_  # noqa: B018


def test_estimator_without_sample_weight_requires_resampling(moons):
    X, y = moons
    with pytest.raises(
        ValueError, match=r"KNeighborsClassifier doesn't support sample_weight.*'resampling'"
    ):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, y)
    model = AdaBoostClassifier(
        KNeighborsClassifier(1), n_estimators=3, reweighting="resampling", trace=True
    )
    model.fit(X, y)
    rows = weighted_sampler(model.trace_[0]["weights"]).draw(member_seed(0, 0))
    own = KNeighborsClassifier(1).fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.estimators_[0].predict(X), own.predict(X))


def test_resampled_members_may_lack_a_class():
    X = np.arange(40.0).reshape(-1, 1)
    y = np.array(["a"] * 20 + ["b"] * 18 + ["c"] * 2)
    for algorithm in ("samme", "samme.r"):
        model = AdaBoostClassifier(
            n_estimators=12,
            reweighting="resampling",
            algorithm=algorithm,
            learning_rate=0.1,
            max_depth=2,
        ).fit(X, y)
        assert any(len(member.classes_) < 3 for member in model.estimators_)
        assert model.predict_proba(X).shape == (40, 3)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_members_have_different_seeds(moons):
    X, y = moons
    tree = DecisionTreeClassifier(max_depth=2, max_features=1)
    model = AdaBoostClassifier(tree, n_estimators=4).fit(X, y)
    assert len({member.random_state for member in model.estimators_}) == 4
    again = AdaBoostClassifier(tree, n_estimators=4, random_state=1).fit(X, y)
    assert {m.random_state for m in model.estimators_}.isdisjoint(
        m.random_state for m in again.estimators_
    )
    assert tree.random_state == 0


# Tables for other estimators


def test_other_estimators_accept_tables(moons):
    X, y = moons
    model = AdaBoostClassifier(GaussianNB(), n_estimators=4)
    array = model.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(model.fit(Table.of(X), y).decision_function(Table.of(X)), array)
    assert not hasattr(model, "feature_names_in_")
    frame = pd.DataFrame(X, columns=["a", "b"])
    model.fit(Table.of(frame), y)
    assert list(model.estimators_[0].feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(model.decision_function(frame), array)
    numbers = AdaBoostRegressor(TheirTree(max_depth=3), n_estimators=4)
    expected = numbers.fit(frame, X[:, 0]).predict(frame)
    again = numbers.fit(Table.of(frame), X[:, 0]).predict(Table.of(frame))
    np.testing.assert_array_equal(expected, again)


def test_table_with_datetimes_is_rejected_for_other_estimators(moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["when"] = pd.Timestamp("2024-01-01")
    model = AdaBoostClassifier(GaussianNB(), n_estimators=2)
    message = r"'when' of the Table has datetimes.* to GaussianNB: pass the array or frame"
    with pytest.raises(ValueError, match=message):
        model.fit(Table.of(frame), y)
    assert not hasattr(model, "estimators_")
    model.fit(frame[["a", "b"]], y)
    with pytest.raises(ValueError, match=message):
        model.predict(Table.of(frame))


# Members that fail


class Failing(ClassifierMixin, BaseEstimator):
    """Fails in the first round whose weights differ, or predicts a given array."""

    def __init__(self, error=None, predictions=None):
        self.error = error
        self.predictions = predictions

    def fit(self, X, y, sample_weight):
        self.classes_, self.first_ = np.unique(y), y[0]
        if self.error is not None and np.ptp(sample_weight) > 0:
            raise self.error
        return self

    def predict(self, X):
        label = X[:, 0].astype(int)
        if self.predictions is not None:
            return self.predictions
        return np.where(np.arange(len(X)) == 0, 1 - label, label)


ROWS, LABELS = np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 0, 1, 1]


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
def test_error_in_fit_names_the_round(error, kind):
    model = AdaBoostClassifier().fit(ROWS, LABELS)
    before = dict(vars(model))
    model.set_params(estimator=Failing(error))
    message = r"the member of round 2 could not be fitted: .*bad luck"
    with pytest.raises(kind, match=message) as raised:
        model.fit(ROWS, LABELS)
    assert type(raised.value.__cause__) is type(error)
    assert model.estimators_ is before["estimators_"]
    assert model.set_params(estimator=Failing()).fit(ROWS, LABELS).estimators_[0].first_ == 0


def test_error_in_predict_names_the_round():
    with pytest.raises(ValueError, match=r"the member of round 1 could not predict: .*'eel'"):
        AdaBoostClassifier(Failing(predictions=np.full(4, "eel"))).fit(ROWS, LABELS)
    model = AdaBoostClassifier(Failing(), n_estimators=3).fit(ROWS, LABELS)
    last = len(model.estimators_)
    model.estimators_[-1].predictions = np.zeros((4, 2))
    for predict in (model.predict, model.predict_proba, lambda X: list(model.staged_predict(X))):
        with pytest.raises(ValueError, match=rf"round {last} could not predict: .*got \(4, 2\)"):
            predict(ROWS)


class Infinite(RegressorMixin, BaseEstimator):
    """Predicts infinity."""

    def fit(self, X, y, sample_weight=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), np.inf)


def test_errors_of_regressors_and_trees_name_the_round():
    with pytest.raises(ValueError, match=r"the member of round 1 could not predict: .*infinity"):
        AdaBoostRegressor(Infinite()).fit(ROWS, LABELS)
    tree = DecisionTreeRegressor(criterion="poisson")
    with pytest.raises(ValueError, match=r"the member of round 1 could not be fitted: .*y >= 0"):
        AdaBoostRegressor(tree).fit(ROWS, [-1.0, 0.0, 1.0, 2.0])


# Metadata


def test_metadata_is_routed_to_members(moons):
    class Recording(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None, marker=None):
            self.inner_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight)
            self.classes_, self.marker_ = self.inner_.classes_, marker
            return self

        def predict(self, X):
            return self.inner_.predict(X)

    X, y = moons
    marker, weight = np.arange(len(y)), np.arange(len(y)) % 2
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        AdaBoostClassifier(Recording()).fit(X, y, marker=marker)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = Recording().set_fit_request(marker=True, sample_weight=True)
        model = AdaBoostClassifier(learner, n_estimators=2)
        model.fit(X, y, sample_weight=weight, marker=marker)
        np.testing.assert_array_equal(model.estimators_[0].marker_, marker[weight > 0])
        requesting = AdaBoostClassifier(n_estimators=2).set_fit_request(sample_weight=True)
        requesting.set_score_request(sample_weight=True)
        search = GridSearchCV(requesting, {"learning_rate": [0.5, 1.0]}, cv=2)
        search.fit(X, y, sample_weight=weight)
        own = AdaBoostClassifier(n_estimators=2, **search.best_params_)
        own.fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(
            own.decision_function(X), search.best_estimator_.decision_function(X)
        )


def test_pipeline_uses_resampling_or_requests_weights(moons):
    X, y = moons
    with pytest.raises(ValueError, match="Pipeline doesn't support sample_weight"):
        AdaBoostClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    drawn = AdaBoostClassifier(pipeline, n_estimators=3, reweighting="resampling").fit(X, y)
    assert drawn.score(X, y) > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        requesting = LogisticRegression().set_fit_request(sample_weight=True)
        model = AdaBoostClassifier(make_pipeline(scaler, requesting), n_estimators=3).fit(X, y)
        assert model.score(X, y) > 0.8

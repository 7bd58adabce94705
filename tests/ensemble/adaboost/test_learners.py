"""Learners of boosted committees: by weights or by draws; the round of one that fails is named."""

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
from ceiba.ensemble.adaboost.learners import drawing
from ceiba.ensemble.common.members import MemberError, member_seed


@pytest.fixture(scope="module")
def moons():
    loaded = datasets.load("two_moons")
    return loaded.table.matrix, np.asarray(loaded.y)


def test_other_learners_get_the_rows_as_they_came(moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = AdaBoostClassifier(GaussianNB(), n_estimators=4).fit(frame, y)
    assert list(model.estimators_[0].feature_names_in_) == ["a", "b"]
    assert not hasattr(model, "schema_")
    assert model.score(frame, y) > 0.8
    with pytest.raises(AttributeError, match="GaussianNB has no feature_importances_"):
        model.feature_importances_  # noqa: B018


def test_a_learner_without_weights_is_told_about_draws(moons):
    X, y = moons
    with pytest.raises(
        ValueError, match=r"KNeighborsClassifier takes no sample_weight.*by='draws'"
    ):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, y)
    model = AdaBoostClassifier(KNeighborsClassifier(1), n_estimators=3, by="draws", trace=True)
    model.fit(X, y)
    rows = drawing(model.trace_[0]["weights"]).drawn(member_seed(0, 0))
    own = KNeighborsClassifier(1).fit(X[rows], y[rows])
    np.testing.assert_array_equal(model.estimators_[0].predict(X), own.predict(X))


def test_drawn_members_may_lack_a_class():
    X = np.arange(40.0).reshape(-1, 1)
    y = np.array(["a"] * 20 + ["b"] * 18 + ["c"] * 2)
    for algorithm in ("samme", "real"):
        model = AdaBoostClassifier(
            n_estimators=12, by="draws", algorithm=algorithm, learning_rate=0.1, max_depth=2
        ).fit(X, y)
        assert any(len(member.classes_) < 3 for member in model.estimators_)
        assert model.predict_proba(X).shape == (40, 3)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_members_have_seeds_of_their_own(moons):
    X, y = moons
    tree = DecisionTreeClassifier(max_depth=2, max_features=1)
    model = AdaBoostClassifier(tree, n_estimators=4).fit(X, y)
    assert len({member.random_state for member in model.estimators_}) == 4
    again = AdaBoostClassifier(tree, n_estimators=4, random_state=1).fit(X, y)
    assert {m.random_state for m in model.estimators_}.isdisjoint(
        m.random_state for m in again.estimators_
    )
    assert tree.random_state == 0


# Tables for other learners


def test_other_learners_read_tables(moons):
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
    told = numbers.fit(frame, X[:, 0]).predict(frame)
    again = numbers.fit(Table.of(frame), X[:, 0]).predict(Table.of(frame))
    np.testing.assert_array_equal(told, again)


def test_a_table_that_others_cannot_read_is_refused(moons):
    X, y = moons
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["when"] = pd.Timestamp("2024-01-01")
    model = AdaBoostClassifier(GaussianNB(), n_estimators=2)
    sentence = r"'when' of the Table holds times.* to GaussianNB .*give the array or frame"
    with pytest.raises(ValueError, match=sentence):
        model.fit(Table.of(frame), y)
    assert not hasattr(model, "estimators_")
    model.fit(frame[["a", "b"]], y)
    with pytest.raises(ValueError, match=sentence):
        model.predict(Table.of(frame))


# Members that fail


class Moody(ClassifierMixin, BaseEstimator):
    """Fails in the round whose weights are not even any more, or when it is asked."""

    def __init__(self, error=None, told=None):
        self.error = error
        self.told = told

    def fit(self, X, y, sample_weight):
        self.classes_, self.first_ = np.unique(y), y[0]
        if self.error is not None and np.ptp(sample_weight) > 0:
            raise self.error
        return self

    def predict(self, X):
        label = X[:, 0].astype(int)
        if self.told is not None:
            return self.told
        return np.where(np.arange(len(X)) == 0, 1 - label, label)


ROWS, LABELS = np.array([[0.0], [0.0], [1.0], [1.0]]), [0, 0, 1, 1]


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
def test_the_round_of_a_failing_member_is_named(error, kind):
    model = AdaBoostClassifier().fit(ROWS, LABELS)
    before = dict(vars(model))
    model.set_params(estimator=Moody(error))
    sentence = r"the member of round 2 could not be fitted: .*bad mood"
    with pytest.raises(kind, match=sentence) as told:
        model.fit(ROWS, LABELS)
    assert type(told.value.__cause__) is type(error)
    assert model.estimators_ is before["estimators_"]
    assert model.set_params(estimator=Moody()).fit(ROWS, LABELS).estimators_[0].first_ == 0


def test_the_round_of_a_member_that_cannot_predict_is_named():
    with pytest.raises(ValueError, match=r"the member of round 1 could not predict: .*'eel'"):
        AdaBoostClassifier(Moody(told=np.full(4, "eel"))).fit(ROWS, LABELS)
    model = AdaBoostClassifier(Moody(), n_estimators=3).fit(ROWS, LABELS)
    last = len(model.estimators_)
    model.estimators_[-1].told = np.zeros((4, 2))
    for ask in (model.predict, model.predict_proba, lambda X: list(model.staged_predict(X))):
        with pytest.raises(ValueError, match=rf"round {last} could not predict: .*shape \(4, 2\)"):
            ask(ROWS)


class Endless(RegressorMixin, BaseEstimator):
    """Predicts infinity."""

    def fit(self, X, y, sample_weight=None):
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.full(len(X), np.inf)


def test_the_round_is_named_for_numbers_and_for_our_own_trees():
    with pytest.raises(ValueError, match=r"the member of round 1 could not predict: .*infinity"):
        AdaBoostRegressor(Endless()).fit(ROWS, LABELS)
    tree = DecisionTreeRegressor(criterion="poisson")
    with pytest.raises(ValueError, match=r"the member of round 1 could not be fitted: .*negative"):
        AdaBoostRegressor(tree).fit(ROWS, [-1.0, 0.0, 1.0, 2.0])


# Metadata


def test_routing_hands_metadata_to_members(moons):
    class Curious(ClassifierMixin, BaseEstimator):
        def fit(self, X, y, sample_weight=None, mark=None):
            self.inner_ = DecisionTreeClassifier(max_depth=1).fit(X, y, sample_weight)
            self.classes_, self.mark_ = self.inner_.classes_, mark
            return self

        def predict(self, X):
            return self.inner_.predict(X)

    X, y = moons
    mark, weight = np.arange(len(y)), np.arange(len(y)) % 2
    with pytest.raises(ValueError, match="enable_metadata_routing"):
        AdaBoostClassifier(Curious()).fit(X, y, mark=mark)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = Curious().set_fit_request(mark=True, sample_weight=True)
        model = AdaBoostClassifier(learner, n_estimators=2)
        model.fit(X, y, sample_weight=weight, mark=mark)
        np.testing.assert_array_equal(model.estimators_[0].mark_, mark[weight > 0])
        asking = AdaBoostClassifier(n_estimators=2).set_fit_request(sample_weight=True)
        asking.set_score_request(sample_weight=True)
        search = GridSearchCV(asking, {"learning_rate": [0.5, 1.0]}, cv=2)
        search.fit(X, y, sample_weight=weight)
        own = AdaBoostClassifier(n_estimators=2, **search.best_params_)
        own.fit(X, y, sample_weight=weight)
        np.testing.assert_array_equal(
            own.decision_function(X), search.best_estimator_.decision_function(X)
        )


def test_a_pipeline_is_drawn_for_or_asks_for_its_weights(moons):
    X, y = moons
    with pytest.raises(ValueError, match="Pipeline takes no sample_weight"):
        AdaBoostClassifier(make_pipeline(StandardScaler(), LogisticRegression())).fit(X, y)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    drawn = AdaBoostClassifier(pipeline, n_estimators=3, by="draws").fit(X, y)
    assert drawn.score(X, y) > 0.8
    with sklearn.config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=True)
        asking = LogisticRegression().set_fit_request(sample_weight=True)
        model = AdaBoostClassifier(make_pipeline(scaler, asking), n_estimators=3).fit(X, y)
        assert model.score(X, y) > 0.8

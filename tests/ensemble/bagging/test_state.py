"""Bags that go on (warm start), are copied, searched over, pickled and saved."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from ceiba import BaggingClassifier, BaggingRegressor
from ceiba.ensemble.bagging.fitted import Lot
from ceiba.ensemble.common.sampling import Sampling
from ceiba.export import ModelFileError, load, registry, save
from ceiba.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensemble.bagging import by_hand as hand

X, Y = hand.groups()
NEW, _ = hand.groups(40, seed=1)
XR, YR = hand.slope()


@pytest.fixture
def files(monkeypatch):
    """Let model files name the bags and their lots."""
    room = "ceiba.ensemble."
    monkeypatch.setitem(registry.ESTIMATORS, "BaggingClassifier", f"{room}bagging_classifier")
    monkeypatch.setitem(registry.ESTIMATORS, "BaggingRegressor", f"{room}bagging_regressor")
    monkeypatch.setitem(registry.RECORDS, "Lot", f"{room}bagging_lot")


def state(model):
    """What a bag has learnt, and what its members say."""
    return (
        model.seed_,
        model.oob_score_,
        [rows.tolist() for rows in model.estimators_samples_],
        [chosen.tolist() for chosen in model.estimators_features_],
        [member.predict_proba(NEW).tolist() for member in model.estimators_],
    )


# Warm start


@pytest.mark.parametrize("oob_score", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("member", [None, GaussianNB()], ids=["ours", "theirs"])
def test_members_added_are_members_fitted_at_once(member, weighted, oob_score):
    weight = np.arange(90) % 3 * 0.7 if weighted else None
    options = {"max_features": 1.0 if member is None else 3, "random_state": 8}
    grown = BaggingClassifier(member, 2, warm_start=True, **options)
    for size in (2, 9, 20):
        grown.set_params(n_estimators=size, oob_score=oob_score and size == 20)
        grown.fit(X, Y, weight)
        assert len(grown.estimators_) == size
    once = BaggingClassifier(member, 20, oob_score=oob_score, **options).fit(X, Y, weight)
    assert len(grown.lots_) == 1
    np.testing.assert_array_equal(grown.predict_proba(NEW[:, :4]), once.predict_proba(NEW[:, :4]))
    for one, two in zip(grown.estimators_samples_, once.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one, two)
    if oob_score:
        assert grown.oob_score_ == once.oob_score_
        np.testing.assert_array_equal(grown.oob_decision_function_, once.oob_decision_function_)


def test_kept_members_are_not_fitted_again():
    model = BaggingRegressor(n_estimators=3, warm_start=True, random_state=None).fit(XR, YR)
    first, seed = model.estimators_, model.seed_
    model.set_params(n_estimators=5).fit(XR, YR)
    assert model.estimators_[:3] == first
    assert model.seed_ == seed
    fresh = model.set_params(warm_start=False).fit(XR, YR).estimators_
    assert not set(map(id, first)) & set(map(id, fresh))


def test_other_rows_in_new_members():
    model = BaggingClassifier(n_estimators=3, warm_start=True).fit(X[Y != "cow"], Y[Y != "cow"])
    assert model.classes_.tolist() == ["ant", "bee"]
    model.set_params(n_estimators=7, max_samples=20).fit(X[Y != "ant"][:40], Y[Y != "ant"][:40])
    assert model.classes_.tolist() == ["ant", "bee", "cow"]
    assert [len(rows) for rows in model.estimators_samples_] == [60] * 3 + [20] * 4
    assert [(lot.members, lot.n_rows) for lot in model.lots_] == [(3, 60), (4, 40)]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="drawn from the same rows"):
        model.set_params(n_estimators=9, oob_score=True).fit(X, Y)
    model.set_params(n_estimators=7)
    with (
        pytest.warns(UserWarning, match="adds none"),
        pytest.raises(ValueError, match="drawn from the same rows"),
    ):
        model.fit(X, Y)


def test_a_warm_start_that_cannot_be():
    model = BaggingClassifier(n_estimators=4, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="n_estimators=3 is less than the 4 members"):
        model.set_params(n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="one bag cannot hold both"):
        model.set_params(n_estimators=6, estimator=GaussianNB()).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.set_params(estimator=None).fit(X[:, :3], Y)
    assert len(model.estimators_) == 4


def test_a_warm_start_without_new_members_says_so():
    model = BaggingClassifier(n_estimators=12, warm_start=True).fit(X, Y)
    before = model.estimators_
    with pytest.warns(UserWarning, match="warm_start adds none"):
        model.set_params(oob_score=True).fit(X, Y)
    assert model.estimators_ == before
    once = BaggingClassifier(n_estimators=12, oob_score=True).fit(X, Y)
    assert model.oob_score_ == once.oob_score_


def test_a_new_fit_forgets_the_old_one():
    model = BaggingClassifier(n_estimators=15, oob_score=True, voting="majority").fit(X, Y)
    assert hasattr(model, "oob_ties_")
    model.set_params(oob_score=False, estimator=GaussianNB()).fit(X, Y)
    gone = ("oob_score_", "oob_decision_function_", "oob_ties_", "schema_")
    assert not any(hasattr(model, name) for name in gone)


class Stopper:
    """A callback that ends the fit after so many steps."""

    def __init__(self, steps):
        self.steps = steps
        self.seen = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        pass

    def on_fit_task_end(self, estimator, context, **data):
        self.seen.append(context.task_name)
        return self.seen.count("step") >= self.steps


def test_callbacks_hear_of_members_and_may_end_the_fit():
    stopper = Stopper(2)
    model = BaggingRegressor(n_estimators=30, n_jobs=1)
    model.set_callbacks(stopper).fit(XR, YR)
    assert stopper.seen.count("step") == 2
    assert len(model.estimators_) == model.lots_[0].members == 8
    full = BaggingRegressor(n_estimators=8).fit(XR, YR)
    np.testing.assert_array_equal(model.predict(XR), full.predict(XR))


# Copies and searches


def test_clones_and_pickles():
    model = BaggingClassifier(
        DecisionTreeClassifier(max_depth=3), 25, voting="majority", oob_score=True
    )
    model.fit(X, Y)
    again = clone(model)
    assert not hasattr(again, "estimators_")
    assert again.estimator is not model.estimator
    np.testing.assert_array_equal(again.fit(X, Y).predict(NEW), model.predict(NEW))
    back = pickle.loads(pickle.dumps(model))
    assert state(back) == state(model)
    np.testing.assert_array_equal(back.predict(NEW), model.predict(NEW))


@pytest.mark.parametrize("kind", [BaggingClassifier, BaggingRegressor])
def test_a_grid_over_the_members_parameters(kind):
    rows, y = (X, Y) if kind is BaggingClassifier else (XR, YR)
    tree = DecisionTreeClassifier() if kind is BaggingClassifier else DecisionTreeRegressor()
    grid = {"estimator__max_depth": [1, 5], "n_estimators": [3, 6]}
    search = GridSearchCV(kind(tree), grid, cv=3).fit(rows, y)
    scores = search.cv_results_["mean_test_score"].reshape(2, 2)
    assert (scores[1] != scores[0]).any()
    assert search.best_estimator_.estimator.max_depth == search.best_params_["estimator__max_depth"]
    assert all(
        member.max_depth == search.best_params_["estimator__max_depth"]
        for member in search.best_estimator_.estimators_
    )


# Files


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_bag_of_trees_comes_back(tmp_path, weighted, mmap):
    weight = np.arange(90) % 3 * 0.7 if weighted else None
    model = BaggingClassifier(
        n_estimators=20, max_features=3, bootstrap_features=True, oob_score=True
    )
    save(model.fit(X, Y, weight), tmp_path / "bag")
    back = load(tmp_path / "bag", mmap=mmap)
    np.testing.assert_array_equal(back.predict_proba(NEW), model.predict_proba(NEW))
    np.testing.assert_array_equal(back.oob_decision_function_, model.oob_decision_function_)
    assert back.oob_score_ == model.oob_score_
    for one, two in zip(back.estimators_samples_, model.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one, two)
    for bag in (back, model):
        bag.set_params(warm_start=True, n_estimators=22).fit(X, Y, weight)
    np.testing.assert_array_equal(back.predict_proba(NEW), model.predict_proba(NEW))
    assert len(back.lots_) == 1


@pytest.mark.usefixtures("files")
def test_nested_bags_and_regressors_come_back(tmp_path):
    inner = BaggingRegressor(DecisionTreeRegressor(max_depth=3), 2)
    model = BaggingRegressor(inner, 3, bootstrap=False, max_samples=0.5).fit(XR, YR)
    save(model, tmp_path / "bag")
    np.testing.assert_array_equal(load(tmp_path / "bag").predict(XR), model.predict(XR))


@pytest.mark.usefixtures("files")
def test_a_bag_of_others_is_not_saved(tmp_path):
    model = BaggingClassifier(KNeighborsClassifier(), 2).fit(X, Y)
    with pytest.raises(
        ModelFileError, match="KNeighborsClassifier, which is not one of Ceiba's own models"
    ):
        save(model, tmp_path / "bag")
    assert not (tmp_path / "bag").exists()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    "damage",
    [
        {"seed_": -1},
        {"seed_": 0.5},
        {"lots_": []},
        {"lots_": [3]},
        {"estimators_": []},
        {"estimators_features_": [np.array([0, 1, 2, 3])]},
        {"estimators_features_": [np.array([0, 1, 2, 4])] * 2},
        {"estimators_features_": [np.array([0, 1])] * 2},
        {"estimators_features_": [np.array([0.0, 1.0, 2.0, 3.0])] * 2},
        {"classes_": np.array(["ant", "bee"])},
        {"n_classes_": 7},
    ],
    ids=str,
)
def test_a_bag_that_contradicts_itself_is_refused(tmp_path, damage):
    model = BaggingClassifier(n_estimators=2).fit(X, Y)
    vars(model).update(damage)
    with pytest.raises(ModelFileError):
        save(model, tmp_path / "bag")


LOT = Lot(2, 5, Sampling(4, 4, True, np.arange(1, 5)), np.array([0, 1, 2, 4]))


def test_a_lot_comes_back():
    back = Lot.from_json(LOT.to_json())
    assert back.alike(LOT)
    assert len(back.followed(LOT)) == 1
    np.testing.assert_array_equal(back.sample(3), LOT.sample(3))
    assert set(LOT.out(3)) | set(LOT.sample(3)) == {0, 1, 2, 4}
    assert not set(LOT.out(3)) & set(LOT.sample(3))


@pytest.mark.parametrize(
    "damage",
    [
        {"members": 0},
        {"members": True},
        {"n_rows": 4},
        {"draws": -1},
        {"replace": 1},
        {"replace": False, "draws": 9},
        {"every": True},
        {"every": None},
        {"kept": np.array([0, 2, 1, 4])},
        {"kept": np.array([-1, 0, 1, 2])},
        {"kept": np.array([])},
        {"kept": "all"},
        {"weights": np.array([1, 2, 3, 0])},
        {"weights": np.array([1, 2, 3])},
        {"weights": np.array([1.0, 2.0, 3.0, 4.0])},
    ],
    ids=str,
)
def test_a_lot_that_contradicts_itself_is_refused(damage):
    with pytest.raises(ValueError):
        Lot.from_json({**LOT.to_json(), **damage})


@pytest.mark.parametrize(
    "other",
    [
        Lot(2, 6, LOT.sampling, LOT.kept),
        Lot(2, 5, LOT.sampling, np.array([0, 1, 3, 4])),
        Lot(2, 5, Sampling(4, 4, True, np.arange(2, 6)), LOT.kept),
        Lot(2, 5, Sampling(4, 4, True), LOT.kept),
        Lot(2, 5, Sampling(4, 3, True, np.arange(1, 5)), LOT.kept),
    ],
)
def test_lots_that_differ_stay_apart(other):
    assert [lot.members for lot in LOT.followed(other)] == [2, 2]
    assert [lot.members for lot in LOT.followed(LOT)] == [4]

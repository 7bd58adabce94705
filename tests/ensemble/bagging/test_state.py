"""Bagging: warm start, clone, grid search, pickle and model files."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from ceiba import BaggingClassifier, BaggingRegressor
from ceiba.ensemble.bagging.members import BaggedMembers, DrawnBatch
from ceiba.export import ModelFileError, load, save
from ceiba.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.ensemble.bagging import by_hand as hand

X, Y = hand.groups()
NEW, _ = hand.groups(40, seed=1)
XR, YR = hand.slope()


def state(model):
    """Return the fitted state of a model and the predictions of its members."""
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
def test_warm_start_equals_single_fit(member, weighted, oob_score):
    weight = np.arange(90) % 3 * 0.7 if weighted else None
    options = {"max_features": 1.0 if member is None else 3, "random_state": 8}
    grown = BaggingClassifier(member, 2, warm_start=True, **options)
    for size in (2, 9, 20):
        grown.set_params(n_estimators=size, oob_score=oob_score and size == 20)
        grown.fit(X, Y, weight)
        assert len(grown.estimators_) == size
    once = BaggingClassifier(member, 20, oob_score=oob_score, **options).fit(X, Y, weight)
    assert len(grown.batches_) == 1
    np.testing.assert_array_equal(grown.predict_proba(NEW[:, :4]), once.predict_proba(NEW[:, :4]))
    for one, two in zip(grown.estimators_samples_, once.estimators_samples_, strict=True):
        np.testing.assert_array_equal(one, two)
    if oob_score:
        assert grown.oob_score_ == once.oob_score_
        np.testing.assert_array_equal(grown.oob_decision_function_, once.oob_decision_function_)


def test_warm_start_keeps_members():
    model = BaggingRegressor(n_estimators=3, warm_start=True, random_state=None).fit(XR, YR)
    first, seed = model.estimators_, model.seed_
    model.set_params(n_estimators=5).fit(XR, YR)
    assert model.estimators_[:3] == first
    assert model.seed_ == seed
    fresh = model.set_params(warm_start=False).fit(XR, YR).estimators_
    assert not set(map(id, first)) & set(map(id, fresh))


def test_warm_start_on_other_rows():
    model = BaggingClassifier(n_estimators=3, warm_start=True).fit(X[Y != "cow"], Y[Y != "cow"])
    assert model.classes_.tolist() == ["ant", "bee"]
    model.set_params(n_estimators=7, max_samples=20).fit(X[Y != "ant"][:40], Y[Y != "ant"][:40])
    assert model.classes_.tolist() == ["ant", "bee", "cow"]
    assert [len(rows) for rows in model.estimators_samples_] == [60] * 3 + [20] * 4
    assert [(batch.n_members, batch.n_rows) for batch in model.batches_] == [(3, 60), (4, 40)]
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    with pytest.raises(ValueError, match="drawn from the same rows"):
        model.set_params(n_estimators=9, oob_score=True).fit(X, Y)
    model.set_params(n_estimators=7)
    with (
        pytest.warns(UserWarning, match="does not fit new members"),
        pytest.raises(ValueError, match="drawn from the same rows"),
    ):
        model.fit(X, Y)


def test_invalid_warm_starts_are_errors():
    model = BaggingClassifier(n_estimators=4, warm_start=True).fit(X, Y)
    with pytest.raises(ValueError, match="n_estimators=3 must be larger or equal to"):
        model.set_params(n_estimators=3).fit(X, Y)
    with pytest.raises(ValueError, match="warm_start=True cannot mix"):
        model.set_params(n_estimators=6, estimator=GaussianNB()).fit(X, Y)
    with pytest.raises(ValueError, match="X has 3 features"):
        model.set_params(estimator=None).fit(X[:, :3], Y)
    assert len(model.estimators_) == 4


def test_warm_start_without_new_members_warns():
    model = BaggingClassifier(n_estimators=12, warm_start=True).fit(X, Y)
    before = model.estimators_
    with pytest.warns(UserWarning, match="does not fit new members"):
        model.set_params(oob_score=True).fit(X, Y)
    assert model.estimators_ == before
    once = BaggingClassifier(n_estimators=12, oob_score=True).fit(X, Y)
    assert model.oob_score_ == once.oob_score_


def test_fit_replaces_fitted_attributes():
    model = BaggingClassifier(n_estimators=15, oob_score=True, voting="majority").fit(X, Y)
    assert hasattr(model, "oob_ties_")
    model.set_params(oob_score=False, estimator=GaussianNB()).fit(X, Y)
    gone = ("oob_score_", "oob_decision_function_", "oob_ties_", "schema_")
    assert not any(hasattr(model, name) for name in gone)


class Stopper:
    """A callback that ends the fit after a number of steps."""

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
        return self.seen.count("iteration") >= self.steps


def test_callbacks_can_stop_the_fit():
    stopper = Stopper(2)
    model = BaggingRegressor(n_estimators=30, n_jobs=1)
    model.set_callbacks(stopper).fit(XR, YR)
    assert stopper.seen.count("iteration") == 2
    assert len(model.estimators_) == model.batches_[0].n_members == 8
    full = BaggingRegressor(n_estimators=8).fit(XR, YR)
    np.testing.assert_array_equal(model.predict(XR), full.predict(XR))


# Copies and searches


def test_clone_and_pickle():
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
def test_grid_search_over_member_parameters(kind):
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


@pytest.mark.parametrize("mmap", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_model_file_round_trip(tmp_path, weighted, mmap):
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
    assert len(back.batches_) == 1


def test_model_file_of_nested_ensembles(tmp_path):
    inner = BaggingRegressor(DecisionTreeRegressor(max_depth=3), 2)
    model = BaggingRegressor(inner, 3, bootstrap=False, max_samples=0.5).fit(XR, YR)
    save(model, tmp_path / "bag")
    np.testing.assert_array_equal(load(tmp_path / "bag").predict(XR), model.predict(XR))


def test_other_estimators_cannot_be_saved(tmp_path):
    model = BaggingClassifier(KNeighborsClassifier(), 2).fit(X, Y)
    with pytest.raises(ModelFileError, match="KNeighborsClassifier"):
        save(model, tmp_path / "bag")
    assert not (tmp_path / "bag").exists()


@pytest.mark.parametrize(
    "damage",
    [
        {"seed_": -1},
        {"seed_": 0.5},
        {"batches_": []},
        {"batches_": [3]},
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
def test_inconsistent_model_is_rejected(tmp_path, damage):
    model = BaggingClassifier(n_estimators=2).fit(X, Y)
    vars(model).update(damage)
    with pytest.raises(ModelFileError):
        save(model, tmp_path / "bag")


BATCH = DrawnBatch(2, 5, 4, True, np.arange(1, 5), positive=np.array([0, 1, 2, 4]))


def test_drawn_batch_round_trip():
    back = DrawnBatch.from_json(BATCH.to_json())
    assert back.same_data(BATCH)
    assert len(back.followed_by(BATCH)) == 1
    np.testing.assert_array_equal(back.sampler.draw(3), BATCH.sampler.draw(3))
    assert BATCH.input_rows(np.arange(4)).tolist() == [0, 1, 2, 4]


def test_rows_of_positive_weight_are_in_a_sample_or_out_of_bag():
    X, weight = np.arange(5.0)[:, None], np.array([1, 2, 3, 0, 4])
    model = BaggingClassifier(n_estimators=3).fit(X, X[:, 0] > 2, sample_weight=weight)
    for number, sample in enumerate(model.estimators_samples_):
        outside = BaggedMembers.of(model).out_of_bag(number)
        assert set(outside) | set(sample) == {0, 1, 2, 4}
        assert not set(outside) & set(sample)


@pytest.mark.parametrize(
    "damage",
    [
        {"n_members": 0},
        {"n_members": True},
        {"n_rows": 4},
        {"n_draws": -1},
        {"replace": 1},
        {"replace": False, "n_draws": 9},
        {"all_rows": True},
        {"all_rows": None},
        {"positive": np.array([0, 2, 1, 4])},
        {"positive": np.array([-1, 0, 1, 2])},
        {"positive": np.array([])},
        {"positive": "all"},
        {"weights": np.array([1, 2, 3, 0])},
        {"weights": np.array([1, 2, 3])},
        {"weights": np.array([1.0, 2.0, 3.0, 4.0])},
    ],
    ids=str,
)
def test_inconsistent_drawn_batch_is_rejected(damage):
    with pytest.raises(ValueError):
        DrawnBatch.from_json({**BATCH.to_json(), **damage})


@pytest.mark.parametrize(
    "other",
    [
        replace(BATCH, n_rows=6),
        replace(BATCH, positive=np.array([0, 1, 3, 4])),
        replace(BATCH, weights=np.arange(2, 6)),
        replace(BATCH, weights=None),
        replace(BATCH, n_draws=3),
    ],
)
def test_batches_are_merged_only_if_equal(other):
    assert [batch.n_members for batch in BATCH.followed_by(other)] == [2, 2]
    assert [batch.n_members for batch in BATCH.followed_by(BATCH)] == [4]


def test_warm_start_on_equal_rows_in_another_layout():
    """Rows are compared by their values, whatever container or memory layout they are in."""
    model = BaggingClassifier(n_estimators=2, warm_start=True, oob_score=True).fit(X, Y)
    model.set_params(n_estimators=4).fit(np.asfortranarray(X), Y)
    assert len(model.batches_) == 1
    changed = X.copy()
    changed[0, 0] += 1
    with pytest.raises(ValueError, match="requires all members to be drawn from the same rows"):
        model.set_params(n_estimators=5).fit(changed, Y)

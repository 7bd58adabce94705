"""Trees grown on a shared encoding are bit-identical to the result of their own fit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine

from ceiba import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    datasets,
)
from ceiba.ensemble.adaboost import base as boosting
from ceiba.ensemble.adaboost.fitters import can_share_encoding, weighted_sampler
from ceiba.ensemble.common.base import clone_with_seed, member_seed
from tests.budget import examples
from tests.tree.parts import assert_same_tree


def mixed(seed, n=120):
    """Return floats, integers, categories and missing values, and a target of each kind."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 9, size=n) / 4
    whole = pd.array(rng.integers(2**60, 2**60 + 6, size=n), dtype="Int64")
    whole[rng.random(n) < 0.1] = pd.NA
    frame = pd.DataFrame(
        {
            "a": np.where(rng.random(n) < 0.15, np.nan, a),
            "b": rng.normal(size=n).astype(np.float32),
            "c": whole,
            "d": pd.Categorical(rng.choice([*"xyz"], size=n)),
            "e": pd.Categorical(rng.choice(["lo", "mid", "hi"], size=n), ["lo", "mid", "hi"], True),
        }
    )
    noise = rng.normal(size=n)
    labels = np.where(a + noise > 1.5, "up", np.where(frame["d"] == "x", "flat", "down"))
    return frame, labels, a + 0.3 * noise


def own_fit(model, index, X, y):
    """Fit a member by itself to the weights of its round."""
    member = model.estimators_[index]
    weights = model.trace_[index]["weights"]
    return type(member)(**member.get_params()).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "options", [{}, {"max_depth": 3, "algorithm": "m1"}, {"algorithm": "samme.r"}]
)
def test_classifier_members_equal_their_own_fit(seed, options):
    X, y, _ = mixed(seed)
    weight = np.random.default_rng(seed).integers(0, 3, size=len(y)) if seed % 2 else None
    model = AdaBoostClassifier(n_estimators=6, trace=True, **options)
    model.fit(X, y, sample_weight=weight)
    for index in range(len(model.estimators_)):
        assert_same_tree(model.estimators_[index], own_fit(model, index, X, y))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [{}, {"max_depth": 1, "loss": "square"}])
def test_regressor_members_equal_their_own_fit(seed, options):
    X, _, y = mixed(seed)
    weight = np.random.default_rng(seed).exponential(size=len(y)) if seed % 2 else None
    model = AdaBoostRegressor(n_estimators=6, trace=True, **options)
    model.fit(X, y, sample_weight=weight)
    for index in range(len(model.estimators_)):
        assert_same_tree(model.estimators_[index], own_fit(model, index, X, y))


@examples(40)
@given(st.integers(0, 2**32))
def test_members_on_arrays_equal_their_own_fit(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    X = rng.choice([0.0, 1.0, 2.5, np.nan, np.inf], size=(n, 3))
    y = rng.integers(0, 3, size=n)
    model = AdaBoostClassifier(n_estimators=4, max_depth=2, algorithm="samme.r", trace=True)
    try:
        model.fit(X, y)
    except ValueError as error:
        if "is worse than random" not in str(error):
            raise
        return
    for index in range(len(model.estimators_)):
        assert_same_tree(model.estimators_[index], own_fit(model, index, X, y))


def test_shared_bins_equal_own_bins_if_values_are_few():
    X, y, _ = mixed(0)
    X = X[["a", "d", "e"]]
    model = AdaBoostClassifier(n_estimators=5, max_depth=2, max_bins=16, trace=True).fit(X, y)
    for index in range(len(model.estimators_)):
        assert_same_tree(model.estimators_[index], own_fit(model, index, X, y))
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(500, 2))
    coarse = AdaBoostClassifier(n_estimators=20, max_bins=4).fit(numbers, numbers[:, 0] > 0.1)
    thresholds = {float(member.tree_.threshold[0]) for member in coarse.estimators_}
    assert len(thresholds) <= 6


OPTIONS = [
    {"max_depth": 2, "criterion": "entropy"},
    {"max_depth": 2, "class_weight": "balanced", "missing": "majority"},
    {"max_depth": 3, "max_features": 2, "min_samples_leaf": 5},
    {"max_leaf_nodes": 4, "splits": "multiway", "leaf_probability": "laplace"},
    {"max_depth": 2, "min_weight_fraction_leaf": 0.1},
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("reweighting", ["weights", "resampling"])
def test_given_tree_on_shared_encoding_equals_own_fit(options, reweighting, monkeypatch):
    X, y, _ = mixed(5)
    tree = DecisionTreeClassifier(**options)
    assert can_share_encoding(tree)
    fast = AdaBoostClassifier(tree, n_estimators=5, reweighting=reweighting).fit(X, y)
    monkeypatch.setattr(boosting, "can_share_encoding", lambda _: False)
    slow = AdaBoostClassifier(tree, n_estimators=5, reweighting=reweighting).fit(X, y)
    assert len(fast.estimators_) == len(slow.estimators_) > 1
    for one, other in zip(fast.estimators_, slow.estimators_, strict=True):
        assert_same_tree(one, other)
        assert one.get_params() == other.get_params()
    np.testing.assert_array_equal(fast.estimator_weights_, slow.estimator_weights_)


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_given_regression_tree_on_shared_encoding_equals_own_fit(criterion, monkeypatch):
    X, _, y = mixed(6)
    tree = DecisionTreeRegressor(max_depth=3, criterion=criterion)
    fast = AdaBoostRegressor(tree, n_estimators=5).fit(X, y)
    monkeypatch.setattr(boosting, "can_share_encoding", lambda _: False)
    slow = AdaBoostRegressor(tree, n_estimators=5).fit(X, y)
    for one, other in zip(fast.estimators_, slow.estimators_, strict=True):
        assert_same_tree(one, other)


@pytest.mark.parametrize(
    "options",
    [
        {"algorithm": "c45"},
        {"max_bins": 8},
        {"thresholds": "random"},
        {"missing": "surrogate"},
        {"pruning": "cost_complexity", "ccp_alpha": 0.01},
        {"cost_matrix": [[0, 1], [2, 0]]},
        {"trace": True},
    ],
)
def test_other_trees_are_fitted_by_their_own_fit(options):
    tree = DecisionTreeClassifier(max_depth=3, **options)
    assert not can_share_encoding(tree)
    vote = datasets.load("vote")
    model = AdaBoostClassifier(tree, n_estimators=2, trace=True).fit(vote.table, vote.y)
    again = clone_with_seed(tree, member_seed(0, 0))
    again.fit(vote.table, vote.y, sample_weight=model.trace_[0]["weights"])
    assert model.estimators_[0].get_n_leaves() > 1
    assert_same_tree(model.estimators_[0], again)


@pytest.mark.parametrize(
    "options",
    [
        {"algorithm": "c45"},
        {"pruning": "pessimistic"},
        {"missing": "fractional", "min_samples_leaf": 5},
        {"criterion": "entropy", "mdl_correction": True},
        {"min_split_fraction": 0.1},
    ],
)
def test_rules_that_count_weight_as_rows_leave_trees_in_every_round(options):
    X, y = load_wine(return_X_y=True)
    tree = DecisionTreeClassifier(max_depth=2, **options)
    model = AdaBoostClassifier(tree, n_estimators=10).fit(X, y)
    assert model.score(X, y) > 0.97
    assert all(member.get_n_leaves() > 1 for member in model.estimators_)


def test_ensemble_of_single_leaves_warns():
    X, y = load_wine(return_X_y=True)
    tree = DecisionTreeClassifier(min_samples_leaf=len(y))
    with pytest.warns(UserWarning, match="single leaf, so that all rows get the same prediction"):
        model = AdaBoostClassifier(tree, n_estimators=3).fit(X, y)
    assert [member.get_n_leaves() for member in model.estimators_] == [1] * 3


def test_resampled_rows_are_keyed_by_weights_and_round():
    X, y, _ = mixed(7)
    model = AdaBoostClassifier(
        n_estimators=4, max_depth=2, reweighting="resampling", trace=True
    ).fit(X, y)
    for index, member in enumerate(model.estimators_):
        counts = weighted_sampler(model.trace_[index]["weights"]).counts(member_seed(0, index))
        assert counts.sum() == len(y)
        kept = np.flatnonzero(counts)
        params = member.get_params()
        own = DecisionTreeClassifier(**params).fit(
            X.iloc[kept], y[kept], sample_weight=counts[kept]
        )
        assert_same_tree(member, own)


def test_resampling_frequency_is_proportional_to_weight():
    weights = np.array([1.0, 2.0, 3.0, 0.5, 3.5]) / 10
    counts = sum(weighted_sampler(weights).counts(member_seed(seed, 0)) for seed in range(2000))
    deviation = np.sqrt(10_000 * weights * (1 - weights))
    assert (np.abs(counts - 10_000 * weights) < 4 * deviation).all()


@pytest.mark.parametrize("make", [AdaBoostClassifier, AdaBoostRegressor])
def test_members_do_not_depend_on_number_of_threads(make):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(3000, 5))
    y = (X[:, 0] + X[:, 1] * X[:, 2] > 0).astype(int)
    models = [make(n_estimators=8, max_depth=2, n_jobs=jobs).fit(X, y) for jobs in (1, 2, 3)]
    for other in models[1:]:
        np.testing.assert_array_equal(models[0].estimator_weights_, other.estimator_weights_)
        for one, two in zip(models[0].estimators_, other.estimators_, strict=True):
            assert_same_tree(one, two)


@pytest.mark.parametrize("make", [AdaBoostClassifier, AdaBoostRegressor])
def test_predictions_in_blocks_equal_predictions_at_once(make, monkeypatch):
    X, _, y = mixed(9)
    model = make(n_estimators=5, max_depth=2).fit(X, (y > 1).astype(int))
    methods = [n for n in ("predict", "decision_function", "predict_proba") if hasattr(model, n)]
    whole = [getattr(model, name)(X) for name in methods]
    monkeypatch.setattr(boosting, "_BLOCK_ROWS", 7)
    for name, expected in zip(methods, whole, strict=True):
        np.testing.assert_array_equal(getattr(model, name)(X), expected)


def test_integer_weight_equals_repeated_rows_even_with_tied_splits():
    rng = np.random.default_rng(11)
    for _ in range(25):
        X, y = rng.integers(0, 4, size=(15, 6)).astype(float), rng.integers(0, 3, size=15)
        weight = rng.integers(0, 5, size=15)
        for algorithm in ("samme", "samme.r"):
            model = AdaBoostClassifier(n_estimators=10, algorithm=algorithm, max_depth=2)
            one = model.fit(X, y, sample_weight=weight).decision_function(X)
            other = model.fit(X.repeat(weight, 0), y.repeat(weight)).decision_function(X)
            np.testing.assert_array_equal(one, other)

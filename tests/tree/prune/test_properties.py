"""What holds for every pruned tree: nested, undone bit for bit, the original left alone."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.tree.prune.cross_validation import fold_of_rows
from ceiba.tree.prune.path import complexity_path
from ceiba.tree.prune.reduced_error import reduced_error_cuts
from tests.oracles.pruning_fits import kept_after, opened
from tests.oracles.pruning_nodes import inner
from tests.oracles.tree_tables import tables
from tests.tree.parts import assert_same_tree, bits

SOME = settings(max_examples=15, deadline=None)
CRITERIA = ["gini", "entropy", "gain_ratio", "error", "squared_error"]
CLASSES = ["none", "reduced_error", "pessimistic", "raising", "cost_complexity", "alpha", "level"]
NUMBERS = ["none", "reduced_error", "cost_complexity", "alpha", "level"]


def learner(criterion: str, **options: Any) -> Any:
    kind = DecisionTreeRegressor if criterion.endswith("_error") else DecisionTreeClassifier
    return kind(criterion=criterion, n_jobs=1, **options)


def pruned(model: Any, way: str, X: Any, y: Any) -> Any:
    """A model pruned in one of the ways; the rows serve for whatever needs rows."""
    if way == "level":
        return model.pruned("level", level=min(1, model.tree_.n_leaves - 1))
    if way == "alpha":
        return model.pruned("cost_complexity", alpha=0.01)
    if way == "raising":
        return model.pruned("pessimistic", X, y, raising=True)
    if way == "pessimistic":
        return model.pruned("pessimistic", raising=False)
    if way == "none":
        return model.pruned("none")
    return model.pruned(way, X, y)


def with_ways(name: str) -> tuple[Any, Any, list[str]]:
    X, y = datasets.load(name)
    return X, y, NUMBERS if y.dtype.kind == "f" else CLASSES


# Sequences


@pytest.mark.parametrize("risk", ["impurity", "error"])
@SOME
@given(data=st.data())
def test_sequences_are_nested_and_risks_rise(risk: str, data: st.DataObject) -> None:
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, gaps=True))
    model = learner(criterion).fit(table.frame, table.y, table.sample_weight)
    path = complexity_path(model.tree_, risk)
    root, _ = opened(model.tree_)
    kept = [kept_after(root, path.cuts(k)) for k in range(len(path.alphas))]
    assert kept[0] == inner(root)
    assert kept[-1] == frozenset()
    assert all(larger > smaller for larger, smaller in pairwise(kept))
    assert path.alphas[0] == 0
    assert (np.diff(path.alphas) >= 0).all()
    assert (np.diff(path.alphas[1:]) > 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    assert (np.diff(path.risks) >= -1e-15).all()
    levels = [path.level_at(alpha) for alpha in np.linspace(0, 1.1 * path.alphas[-1] + 1, 30)]
    assert levels == sorted(levels)
    assert levels[-1] == len(path.alphas) - 1


@SOME
@given(data=st.data())
def test_rows_end_where_the_grown_tree_passes(data: st.DataObject) -> None:
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, gaps=True))
    model = learner(criterion).fit(table.frame, table.y, table.sample_weight)
    path = complexity_path(model.tree_)
    level = data.draw(st.integers(0, len(path.alphas) - 1))
    small = model.pruned("level", level=level, risk="impurity")
    assert small.get_n_leaves() == path.n_leaves[level]
    cuts, grown = path.cuts(level).tolist(), model.tree_
    passed = model.decision_path(table.frame).toarray()
    ends = model.apply(table.frame).tolist()
    found = small.tree_.value[small.apply(table.frame)]
    for nodes, end, value in zip(passed, ends, found, strict=True):
        (stop,) = [node for node in cuts if nodes[node]] or [end]
        assert value.tolist() == grown.value[stop].tolist()


# Rows and threads

PRUNED = {
    "cross-validation": {"pruning": "cost_complexity", "prune_folds": 4, "prune_rule": "min"},
    "reduced error": {"pruning": "reduced_error"},
    "pessimistic": {"pruning": "pessimistic"},
    "c45": {"algorithm": "c45"},
}


@pytest.mark.parametrize("way", PRUNED)
def test_rows_without_weight_and_threads_do_not_count(way: str) -> None:
    X, y = datasets.load("crx")
    weight = (np.arange(len(y)) * 7 % 4).astype(float)
    some = weight > 0
    options = PRUNED[way]
    model = DecisionTreeClassifier(n_jobs=1, **options).fit(X, y, weight)
    assert model.get_n_leaves() < model.unpruned().get_n_leaves()
    assert_same_tree(model, DecisionTreeClassifier(**options).fit(X[some], y[some], weight[some]))
    assert_same_tree(model, DecisionTreeClassifier(n_jobs=2, **options).fit(X, y, weight))


def test_no_rows_prune_nothing() -> None:
    X, y = datasets.load("iris")
    tree = DecisionTreeClassifier().fit(X, y).tree_
    with pytest.raises(ValueError, match="validation rows"):
        reduced_error_cuts(tree, np.zeros_like(tree.value))
    with pytest.raises(ValueError, match="row for each"):
        reduced_error_cuts(tree, tree.value[1:])


# Undoing


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg", "vote", "servo"])
def test_pruning_can_be_undone(name: str) -> None:
    X, y, ways = with_ways(name)
    model = learner("squared_error" if "pessimistic" not in ways else "gini").fit(X, y)
    before, grown = bits(model), model.tree_
    for way in ways:
        small = pruned(model, way, X, y)
        assert small is not model
        assert small.grown_tree_ is grown
        back = small.unpruned()
        assert back.tree_ is grown
        assert bits(back) == before
        np.testing.assert_array_equal(back.predict(X), model.predict(X))
        # Nothing of it shows in the model that was pruned.
        assert model.tree_ is grown
        assert model.grown_tree_ is grown
        assert bits(model) == before


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg"])
def test_pruning_twice_is_pruning_once(name: str) -> None:
    X, y, ways = with_ways(name)
    model = learner("squared_error" if "pessimistic" not in ways else "gini").fit(X, y)
    for way in ways:
        once = pruned(model, way, X, y)
        assert_same_tree(once, pruned(once, way, X, y))
        for other in ways:
            # It is always the grown tree that is pruned, whatever was done before.
            assert_same_tree(once, pruned(pruned(model, other, X, y), way, X, y))


def test_an_unpruned_model_is_its_own_grown_tree() -> None:
    X, y = datasets.load("iris")
    model = DecisionTreeClassifier().fit(X, y)
    assert model.grown_tree_ is model.tree_
    assert model.unpruned().tree_ is model.tree_


# Files


@pytest.mark.parametrize(
    ("name", "missing"), [("cleveland", "learned"), ("auto_mpg", "branch"), ("vote", "fractional")]
)
def test_pruned_models_keep_their_grown_tree_in_files(
    name: str, missing: str, tmp_path: Any
) -> None:
    X, y, ways = with_ways(name)
    criterion = "squared_error" if "pessimistic" not in ways else "gini"
    model = learner(criterion, missing=missing).fit(X, y)
    for way in ways:
        small = pruned(model, way, X, y)
        ceiba.save(small, tmp_path / "small.ceiba")
        for again in (ceiba.load(tmp_path / "small.ceiba"), pickle.loads(pickle.dumps(small))):
            assert_same_tree(again, small)
            assert_same_tree(again.unpruned(), model)
            np.testing.assert_array_equal(again.predict(X), small.predict(X))
            assert again.pruning_.method == small.pruning_.method
            assert len(again.pruning_.trace) == len(small.pruning_.trace)
            assert again.pruning_.nodes.tolist() == small.pruning_.nodes.tolist()
            assert_same_tree(pruned(again, way, X, y), small)


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg"])
def test_the_trace_ends_with_the_leaves_that_are_left(name: str) -> None:
    X, y, ways = with_ways(name)
    model = learner("squared_error" if "pessimistic" not in ways else "gini").fit(X, y)
    for way in ways:
        small = pruned(model, way, X, y)
        trace = small.pruning_.trace
        if not len(trace):
            assert small.tree_ is model.tree_
            continue
        assert trace[-1]["n_leaves"] == small.get_n_leaves() < model.get_n_leaves()
        counts = [frame["n_leaves"] for frame in trace]
        assert counts == sorted(counts, reverse=True)
        assert not trace.thinned
        assert {frame["node"] for frame in trace} == set(small.pruning_.nodes.tolist())


def test_surrogates_go_with_their_nodes(tmp_path: Any) -> None:
    X, y = datasets.load("hepatitis")
    model = DecisionTreeClassifier(missing="surrogate").fit(X, y)
    for small in (model.pruned("level", level=2), model.pruned("pessimistic", raising=False)):
        grown, tree = model.tree_, small.tree_
        kept = [i for i in range(tree.n_nodes) if not tree.is_leaf[i]]
        assert kept
        listed = [(tree.split(i), tree.surrogates_of(i)) for i in kept]
        known = [(grown.split(i), grown.surrogates_of(i)) for i in range(grown.n_nodes)
                 if not grown.is_leaf[i]]  # fmt: skip
        assert all(pair in known for pair in listed)
        assert any(surrogates for _, surrogates in listed)
        ceiba.save(small, tmp_path / "small.ceiba")
        assert_same_tree(ceiba.load(tmp_path / "small.ceiba"), small)


def test_a_clone_of_a_pruned_model_is_not_fitted() -> None:
    X, y = datasets.load("iris")
    small = DecisionTreeClassifier().fit(X, y).pruned("level", level=1)
    fresh = clone(small)
    assert fresh.get_params() == small.get_params()
    assert not hasattr(fresh, "tree_")


def test_fitting_again_forgets_the_pruning() -> None:
    X, y = datasets.load("iris")
    small = DecisionTreeClassifier().fit(X, y).pruned("level", level=2)
    small.fit(X, y)
    assert small.grown_tree_ is small.tree_
    assert_same_tree(small, DecisionTreeClassifier().fit(X, y))


# Folds


@given(n=st.integers(4, 60), folds=st.integers(2, 4), seed=st.integers(0, 5))
@settings(max_examples=30, deadline=None)
def test_folds_are_alike(n: int, folds: int, seed: int) -> None:
    label = np.arange(n) % 3 // 2
    fold = fold_of_rows(n, folds, seed, label)
    for rows in (fold, fold[label == 0], fold[label == 1]):
        sizes = np.bincount(rows, minlength=folds)
        assert sizes.max() - sizes.min() <= 1
    assert fold.tolist() == fold_of_rows(n, folds, seed, label).tolist()

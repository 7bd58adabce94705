"""Properties of all pruned trees: nested, undone bit for bit, the original unchanged."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba.tree.prune.folds import assign_folds
from ceiba.tree.prune.path import cost_complexity_path
from tests.budget import examples
from tests.oracles.pruning_fits import inner_after, root_and_columns
from tests.oracles.pruning_nodes import inner
from tests.oracles.tree_tables import tables
from tests.tree.parts import assert_same_tree, bits

SOME = examples(15)
CRITERIA = ["gini", "entropy", "gain_ratio", "error", "squared_error"]
REGRESSION = ["none", "reduced_error", "cost_complexity", "alpha", "step"]
CLASSIFICATION = [*REGRESSION, "pessimistic", "subtree_raising"]


def learner(criterion: str, **options: Any) -> Any:
    kind = DecisionTreeRegressor if criterion.endswith("_error") else DecisionTreeClassifier
    return kind(criterion=criterion, n_jobs=1, **options)


def pruned(model: Any, method: str, X: Any, y: Any) -> Any:
    """Prune a model by a method; the rows are used by every method that needs rows."""
    if method == "step":
        return model.pruned("step", step=min(1, model.tree_.n_leaves - 1))
    if method == "alpha":
        return model.pruned("cost_complexity", alpha=0.01)
    if method == "subtree_raising":
        return model.pruned("pessimistic", X, y, subtree_raising=True)
    if method == "pessimistic":
        return model.pruned("pessimistic", subtree_raising=False)
    if method == "none":
        return model.pruned("none")
    return model.pruned(method, X, y)


def load_with_methods(name: str) -> tuple[Any, Any, list[str]]:
    X, y = datasets.load(name)
    return X, y, REGRESSION if y.dtype.kind == "f" else CLASSIFICATION


# Paths


@pytest.mark.parametrize("risk", ["impurity", "error"])
@SOME
@given(data=st.data())
def test_path_is_nested_and_risks_increase(risk: str, data: st.DataObject) -> None:
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=True))
    model = learner(criterion).fit(table.frame, table.y, table.sample_weight)
    path = cost_complexity_path(model.tree_, risk)
    root, _ = root_and_columns(model.tree_)
    kept = [inner_after(root, path.pruned_nodes(k)) for k in range(len(path.alphas))]
    assert kept[0] == inner(root)
    assert kept[-1] == frozenset()
    assert all(larger > smaller for larger, smaller in pairwise(kept))
    assert path.alphas[0] == 0
    assert (np.diff(path.alphas) >= 0).all()
    assert (np.diff(path.alphas[1:]) > 0).all()
    assert (np.diff(path.n_leaves) < 0).all()
    assert (np.diff(path.risks) >= -1e-15).all()
    steps = [path.step_at(alpha) for alpha in np.linspace(0, 1.1 * path.alphas[-1] + 1, 30)]
    assert steps == sorted(steps)
    assert steps[-1] == len(path.alphas) - 1


@SOME
@given(data=st.data())
def test_rows_end_at_nodes_of_their_path_in_the_grown_tree(data: st.DataObject) -> None:
    criterion = data.draw(st.sampled_from(CRITERIA))
    table = data.draw(tables(criterion, with_missing=True))
    model = learner(criterion).fit(table.frame, table.y, table.sample_weight)
    path = cost_complexity_path(model.tree_)
    step = data.draw(st.integers(0, len(path.alphas) - 1))
    small = model.pruned("step", step=step, risk="impurity")
    assert small.get_n_leaves() == path.n_leaves[step]
    leaves, grown = path.pruned_nodes(step).tolist(), model.tree_
    passed = model.decision_path(table.frame).toarray()
    ends = model.apply(table.frame).tolist()
    found = small.tree_.node_values[small.apply(table.frame)]
    for nodes, end, value in zip(passed, ends, found, strict=True):
        (stop,) = [node for node in leaves if nodes[node]] or [end]
        assert value.tolist() == grown.node_values[stop].tolist()


# Rows and threads

PRUNED = {
    "cross-validation": {"pruning": "cost_complexity", "prune_folds": 4, "prune_rule": "min"},
    "reduced error": {"pruning": "reduced_error"},
    "pessimistic": {"pruning": "pessimistic"},
    "c45": {"algorithm": "c45"},
}


@pytest.mark.parametrize("method", PRUNED)
def test_zero_weight_rows_and_threads_do_not_change_the_tree(method: str) -> None:
    X, y = datasets.load("crx")
    weight = (np.arange(len(y)) * 7 % 4).astype(float)
    some = weight > 0
    options = PRUNED[method]
    model = DecisionTreeClassifier(n_jobs=1, **options).fit(X, y, weight)
    assert model.get_n_leaves() < model.unpruned().get_n_leaves()
    assert_same_tree(model, DecisionTreeClassifier(**options).fit(X[some], y[some], weight[some]))
    assert_same_tree(model, DecisionTreeClassifier(n_jobs=2, **options).fit(X, y, weight))


def test_reduced_error_requires_validation_rows_of_positive_weight() -> None:
    X, y = datasets.load("iris")
    model = DecisionTreeClassifier().fit(X, y)
    with pytest.raises(ValueError, match="requires validation rows of positive weight"):
        model.pruned("reduced_error", X, y, np.zeros(len(y)))


# Undoing


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg", "vote", "servo"])
def test_unpruned_restores_the_grown_tree(name: str) -> None:
    X, y, methods = load_with_methods(name)
    model = learner("squared_error" if "pessimistic" not in methods else "gini").fit(X, y)
    before, grown = bits(model), model.tree_
    for method in methods:
        small = pruned(model, method, X, y)
        assert small is not model
        assert small.grown_tree_ is grown
        back = small.unpruned()
        assert back.tree_ is grown
        assert bits(back) == before
        np.testing.assert_array_equal(back.predict(X), model.predict(X))
        # The original model is unchanged.
        assert model.tree_ is grown
        assert model.grown_tree_ is grown
        assert bits(model) == before


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg"])
def test_pruning_always_starts_from_the_grown_tree(name: str) -> None:
    X, y, methods = load_with_methods(name)
    model = learner("squared_error" if "pessimistic" not in methods else "gini").fit(X, y)
    for method in methods:
        once = pruned(model, method, X, y)
        assert_same_tree(once, pruned(once, method, X, y))
        for other in methods:
            # Earlier pruning does not matter.
            assert_same_tree(once, pruned(pruned(model, other, X, y), method, X, y))


def test_grown_tree_of_an_unpruned_model_is_its_tree() -> None:
    X, y = datasets.load("iris")
    model = DecisionTreeClassifier().fit(X, y)
    assert model.grown_tree_ is model.tree_
    assert model.unpruned().tree_ is model.tree_


# Files


@pytest.mark.parametrize(
    ("name", "missing"), [("cleveland", "learned"), ("auto_mpg", "branch"), ("vote", "fractional")]
)
def test_model_files_keep_the_grown_tree(name: str, missing: str, tmp_path: Any) -> None:
    X, y, methods = load_with_methods(name)
    criterion = "squared_error" if "pessimistic" not in methods else "gini"
    model = learner(criterion, missing=missing).fit(X, y)
    for method in methods:
        small = pruned(model, method, X, y)
        ceiba.save(small, tmp_path / "small.ceiba")
        for again in (ceiba.load(tmp_path / "small.ceiba"), pickle.loads(pickle.dumps(small))):
            assert_same_tree(again, small)
            assert_same_tree(again.unpruned(), model)
            np.testing.assert_array_equal(again.predict(X), small.predict(X))
            assert again.pruning_.method == small.pruning_.method
            assert len(again.pruning_.trace) == len(small.pruning_.trace)
            assert again.pruning_.nodes.tolist() == small.pruning_.nodes.tolist()
            assert_same_tree(pruned(again, method, X, y), small)


@pytest.mark.parametrize("name", ["cleveland", "auto_mpg"])
def test_trace_ends_with_the_leaves_of_the_pruned_tree(name: str) -> None:
    X, y, methods = load_with_methods(name)
    model = learner("squared_error" if "pessimistic" not in methods else "gini").fit(X, y)
    for method in methods:
        small = pruned(model, method, X, y)
        trace = small.pruning_.trace
        if not len(trace):
            assert small.tree_ is model.tree_
            continue
        assert trace[-1]["n_leaves"] == small.get_n_leaves() < model.get_n_leaves()
        counts = [frame["n_leaves"] for frame in trace]
        assert counts == sorted(counts, reverse=True)
        assert not trace.thinned
        assert {frame["node"] for frame in trace} == set(small.pruning_.nodes.tolist())


def test_pruned_tree_keeps_the_surrogates_of_its_nodes(tmp_path: Any) -> None:
    X, y = datasets.load("hepatitis")
    model = DecisionTreeClassifier(missing="surrogate").fit(X, y)
    for small in (model.pruned("step", step=2), model.pruned("pessimistic", subtree_raising=False)):
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


def test_clone_of_a_pruned_model_is_not_fitted() -> None:
    X, y = datasets.load("iris")
    small = DecisionTreeClassifier().fit(X, y).pruned("step", step=1)
    copy_tree = clone(small)
    assert copy_tree.get_params() == small.get_params()
    assert not hasattr(copy_tree, "tree_")


def test_refit_discards_the_pruning() -> None:
    X, y = datasets.load("iris")
    small = DecisionTreeClassifier().fit(X, y).pruned("step", step=2)
    small.fit(X, y)
    assert small.grown_tree_ is small.tree_
    assert_same_tree(small, DecisionTreeClassifier().fit(X, y))


# Folds


@given(n=st.integers(4, 60), folds=st.integers(2, 4), seed=st.integers(0, 5))
@examples(30)
def test_folds_are_balanced_in_every_class(n: int, folds: int, seed: int) -> None:
    label = np.arange(n) % 3 // 2
    fold = assign_folds(n, folds, seed, label)
    for rows in (fold, fold[label == 0], fold[label == 1]):
        sizes = np.bincount(rows, minlength=folds)
        assert sizes.max() - sizes.min() <= 1
    assert fold.tolist() == assign_folds(n, folds, seed, label).tolist()

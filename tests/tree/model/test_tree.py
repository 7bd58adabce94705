"""The arrays of a tree, model files, and scikit-learn's tools."""

from __future__ import annotations

import copy
import io
import pickle
import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.inspection import permutation_importance
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import ceiba
from ceiba import DecisionTreeClassifier, DecisionTreeRegressor
from ceiba._typing import Array
from ceiba.base import archive
from ceiba.data.table import Table
from ceiba.export import ModelFileError
from ceiba.tree import Tree

pd = pytest.importorskip("pandas")


def mixed(n: int = 250) -> tuple[Any, Array]:
    rng = np.random.default_rng(8)
    X = pd.DataFrame({"a": rng.normal(size=n), "whole": rng.integers(9, size=n) + 2**55})
    X["a"] = X["a"].mask(rng.random(n) < 0.1)
    X["word"] = np.where(rng.random(n) < 0.1, None, rng.choice([*"pqrs"], size=n))
    X["many"] = pd.Categorical.from_codes(rng.integers(100, size=n), [f"m{k}" for k in range(100)])
    X["size"] = pd.Categorical(rng.choice([*"SML"], size=n), [*"SML"], ordered=True)
    y = X["a"].fillna(0) + (X["whole"] % 3) + (X["size"] == "S") + rng.normal(size=n) / 3
    return X, np.digitize(y, [0.5, 1.5])


X, Y = mixed()
MODELS = {
    "classes": DecisionTreeClassifier(),
    "multiway": DecisionTreeClassifier(splits="multiway", missing="branch", criterion="entropy"),
    "bins": DecisionTreeClassifier(max_bins=8, missing="majority", leaf_probability="laplace"),
    "leaves": DecisionTreeClassifier(max_leaf_nodes=9, class_weight="balanced", trace=True),
    "numbers": DecisionTreeRegressor(splits="multiway"),
    "median": DecisionTreeRegressor(criterion="absolute_error", max_depth=5, missing="branch"),
}
models = pytest.mark.parametrize("name", MODELS)


def fitted(name: str) -> Any:
    return clone(MODELS[name]).fit(X, Y)


@models
def test_prediction_takes_at_most_20_bytes_per_node(name: str) -> None:
    model = fitted(name)
    tree = model.tree_
    assert tree.nodes.itemsize * tree.nodes.shape[1] == 16
    numbers = np.random.default_rng(0).normal(size=(4000, 3))
    big = clone(model).fit(numbers, np.random.default_rng(1).integers(2, size=4000)).tree_
    arrays = [big.nodes, big.words, big.tables]
    if name not in ("leaves", "bins"):  # pure leaves share rows of probabilities
        arrays.append(big.leaves)
    assert sum(array.nbytes for array in arrays) <= 20 * big.n_nodes


@models
def test_node_arrays_agree_with_the_training_rows(name: str) -> None:
    model = fitted(name)
    tree, path = model.tree_, model.decision_path(X).toarray().astype(bool)
    np.testing.assert_array_equal(tree.n_rows, path.sum(axis=0))
    if model.get_params().get("class_weight") is None:
        np.testing.assert_array_equal(tree.weight, tree.n_rows)
    for node in range(tree.n_nodes):
        rows = Y[path[:, node]]
        if name in ("numbers", "median"):
            middle = np.mean(rows) if name == "numbers" else tree.node_values[node, 0]
            assert tree.node_values[node, 0] == pytest.approx(middle, abs=1e-9)
            spread = np.var(rows) if name == "numbers" else np.abs(rows - np.median(rows)).mean()
            assert tree.impurity[node] == pytest.approx(spread, abs=1e-9)
        elif name != "leaves":
            np.testing.assert_array_equal(tree.node_values[node], np.bincount(rows, minlength=3))
    below = [
        sum(tree.weight[c] * tree.impurity[c] for c in tree.children(node)) / tree.weight[node]
        for node in range(tree.n_nodes)
    ]
    gain = np.where(tree.is_leaf, 0, tree.impurity - below)
    np.testing.assert_allclose(tree.gain, gain, atol=1e-9)
    pure = np.array(tree.reasons) == "pure"
    assert (tree.impurity[pure] == 0).all()
    assert (tree.impurity[~tree.is_leaf] > 0).all()


def test_pure_node_has_zero_impurity_for_any_weights() -> None:
    rng = np.random.default_rng(0)
    rows, y, w = rng.normal(size=(300, 2)), rng.integers(3, size=300), rng.exponential(size=300)
    for criterion in ("gini", "entropy", "error", "gain_ratio"):
        tree = DecisionTreeClassifier(criterion=criterion).fit(rows, y, w).tree_
        assert (tree.impurity[tree.is_leaf] == 0).all()


@models
def test_branches_parents_and_missing_child_are_consistent(name: str) -> None:
    tree = fitted(name).tree_
    assert tree.parent[0] == -1
    seen = [0]
    for node in range(tree.n_nodes):
        children = tree.children(node)
        assert bool(children) != bool(tree.is_leaf[node])
        assert all(tree.parent[child] == node for child in children)
        assert all(tree.depth[child] == tree.depth[node] + 1 for child in children)
        assert all(child > node for child in children)
        seen += children
        if tree.is_leaf[node]:
            assert tree.missing_child(node) == -1
            assert tree.column[node] == -1
            with pytest.raises(ValueError, match="is a leaf"):
                tree.split(node)
            continue
        assert tree.missing_child(node) in children
        split = tree.split(node)
        assert split.n_branches == len(children)
        assert split.name == X.columns[tree.column[node]]
        assert tree.n_rows[children].sum() == tree.n_rows[node]
    assert sorted(seen) == list(range(tree.n_nodes)) == sorted(tree.walk())
    assert tree.n_leaves == tree.is_leaf.sum()
    assert tree.max_depth == tree.depth.max()


@models
def test_splits_describe_the_routing_of_rows(name: str) -> None:
    model = fitted(name)
    tree, path = model.tree_, model.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(~tree.is_leaf):
        split, rows = tree.split(node), path[:, node]
        column = X[split.name]
        for branch, child in enumerate(tree.children(node)):
            missing = column.isna() & (branch == split.missing_branch)
            if split.kind == "threshold" and branch == 2:
                expected = missing
            elif split.kind == "threshold":
                expected = (
                    missing | (below(column, split.threshold) == (branch == 0)) & column.notna()
                )
            else:
                expected = missing | column.isin(split.branches[branch])
            np.testing.assert_array_equal(path[:, child], rows & expected)


def below(column: Any, threshold: Any) -> Any:
    if isinstance(threshold, str):
        return column <= threshold
    if threshold == np.inf:
        return column.notna()
    return column <= threshold


@models
def test_decision_paths_end_in_the_leaves_of_apply(name: str) -> None:
    model = fitted(name)
    leaves, path = model.apply(X), model.decision_path(X)
    assert leaves.dtype == np.int32
    assert model.tree_.is_leaf[leaves].all()
    assert path.shape == (len(X), model.tree_.n_nodes)
    np.testing.assert_array_equal(path.indices[path.indptr[1:] - 1], leaves)
    np.testing.assert_array_equal(path.indices[path.indptr[:-1]], 0)
    np.testing.assert_array_equal(path.sum(axis=1).A1, model.tree_.depth[leaves] + 1)
    assert set(leaves) == set(np.flatnonzero(model.tree_.is_leaf))
    single = np.concatenate([model.apply(X.iloc[[i]]) for i in range(20)])
    np.testing.assert_array_equal(single, leaves[:20])
    assert model.get_depth() == path.sum(axis=1).max() - 1


def test_importances_are_fractions_of_the_impurity_decrease() -> None:
    model = fitted("multiway")
    tree = model.tree_
    by_hand = np.zeros(X.shape[1])
    for node in np.flatnonzero(~tree.is_leaf):
        by_hand[tree.column[node]] += tree.weight[node] * tree.gain[node]
    np.testing.assert_allclose(model.feature_importances_, by_hand / by_hand.sum())
    found = permutation_importance(model, X, Y, n_repeats=2, random_state=0)
    assert found.importances_mean.argmax() in (0, 1, 3)
    assert (found.importances_mean > 0).any()


def test_prediction_arrays_are_read_only() -> None:
    with pytest.raises(ValueError, match="read-only"):
        fitted("classes").tree_.nodes[0, 0] = 1


def test_tree_applies_to_tables() -> None:
    model = fitted("classes")
    table = Table.of(X, model.schema_)
    np.testing.assert_array_equal(model.tree_.apply(table, 2), model.apply(X))
    values = model.tree_.leaf_values(model.apply(X))
    np.testing.assert_array_equal(values, model.predict_proba(X))
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(np.log(values), model.predict_log_proba(X))


# Files, pickles, clones


def same(one: Any, other: Any) -> None:
    assert one.get_params() == other.get_params()
    loaded = other.tree_.to_json()
    for name, value in one.tree_.to_json().items():
        found = loaded[name]
        if isinstance(value, np.ndarray):
            assert (found.dtype, found.shape) == (value.dtype, value.shape)
            assert found.tobytes() == value.tobytes()
        else:
            assert found == value
    np.testing.assert_array_equal(one.predict(X), other.predict(X))
    np.testing.assert_array_equal(one.apply(X), other.apply(X))
    assert one.tree_.to_dict() == other.tree_.to_dict()
    if hasattr(one, "classes_"):
        np.testing.assert_array_equal(one.classes_, other.classes_)
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
    assert hasattr(one, "trace_") == hasattr(other, "trace_")


@models
def test_files_and_pickles_are_exact(name: str, tmp_path: Path) -> None:
    model = fitted(name)
    ceiba.save(model, tmp_path / "tree.ceiba")
    for mmap in (False, True):
        same(model, ceiba.load(tmp_path / "tree.ceiba", mmap=mmap))
    same(model, pickle.loads(pickle.dumps(model)))
    same(model, clone(model).fit(X, Y))


def test_text_classes_are_saved(tmp_path: Path) -> None:
    model = DecisionTreeClassifier(class_weight={"b": 2.0}).fit(X, np.array([*"abc"])[Y])
    ceiba.save(model, tmp_path / "tree.ceiba")
    same(model, ceiba.load(tmp_path / "tree.ceiba"))


TREE_ARRAYS = [entry.name for entry in fields(Tree) if entry.init]


def entries(content: bytes) -> dict[str, Any]:
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {name: file.read(name) for name in file.namelist()}


def damaged(parts: dict[str, Any], part: str, array: Array) -> bytes:
    """Return the file with one array replaced, and correct checksums."""
    name = f"model/tree_/{TREE_ARRAYS.index(part)}.npy"
    assert name in parts
    buffer, npy = io.BytesIO(), io.BytesIO()
    np.save(npy, array)
    archive.write(buffer, {**parts, name: npy.getvalue()})
    return buffer.getvalue()


@pytest.fixture
def parts(tmp_path: Path) -> tuple[Tree, dict[str, Any]]:
    model = fitted("multiway")
    ceiba.save(model, tmp_path / "sound.ceiba")
    return model.tree_, entries((tmp_path / "sound.ceiba").read_bytes())


def test_invalid_arrays_raise(parts: Any, tmp_path: Path) -> None:
    tree, content = parts
    path = tmp_path / "bad.ceiba"
    inner = int(np.flatnonzero(~tree.is_leaf)[1])
    nodes = tree.nodes.copy()

    def changed(node: int, word: int, value: int) -> Array:
        other = nodes.copy()
        other[node, word] = np.uint64(value)
        return other

    head = int(nodes[inner, 1]) & ~0xFFFFFFFF
    for part, array in [
        ("nodes", nodes[:-1]),
        ("nodes", nodes[:0]),
        ("nodes", nodes[:, :1]),
        ("nodes", nodes.astype(np.int64)),
        ("nodes", changed(inner, 1, head | inner)),  # its own child
        ("nodes", changed(inner, 1, head | 0)),  # cycle to the root
        ("nodes", changed(inner, 1, head | tree.n_nodes)),
        ("nodes", changed(inner, 1, head | 0xFFFFFFFF)),
        (
            "nodes",
            changed(inner, 1, head | int(tree.child[inner]) | 0xFFFF << 32),
        ),  # no such column
        ("tables", tree.tables[: len(tree.tables) // 2]),
        ("tables", tree.tables + 10**6),
        ("tables", tree.tables - 10**6),
        ("leaves", tree.leaves[:1]),
        ("leaves", tree.leaves[:, :2]),
        ("node_values", tree.node_values[:, 0]),
        ("reason", np.full_like(tree.reason, 99)),
        ("depth", tree.depth[1:]),
    ]:
        path.write_bytes(damaged(content, part, array))
        with pytest.raises(ModelFileError):
            ceiba.load(path)


@pytest.mark.parametrize("part", ["nodes", "tables", "leaves", "depth"])
def test_damaged_file_never_crashes_or_hangs(part: str, parts: Any, tmp_path: Path) -> None:
    """It raises, or every row is routed to a leaf."""
    tree, content = parts
    rng = np.random.default_rng(0)
    path = tmp_path / "bad.ceiba"
    n_errors = 0
    for _ in range(40):
        array = getattr(tree, part).copy()
        flat = array.reshape(-1).view(np.uint8)
        # The highest byte of a depth would allocate too much memory.
        position = (
            rng.integers(flat.size, size=2) if part != "depth" else rng.integers(tree.n_nodes) * 4
        )
        flat[position] ^= np.uint8(1 << int(rng.integers(8)))
        path.write_bytes(damaged(content, part, array))
        try:
            model = ceiba.load(path)
        except ModelFileError:
            n_errors += 1
            continue
        assert model.tree_.is_leaf[model.apply(X)].all()
        assert model.predict_proba(X).shape == (len(X), 3)
        below = [child for node in range(tree.n_nodes) for child in model.tree_.children(node)]
        assert sorted(below) == list(range(1, tree.n_nodes))
        path_of = model.decision_path(X)
        assert path_of.shape == (len(X), tree.n_nodes)
        np.testing.assert_array_equal(path_of.indices[path_of.indptr[:-1]], 0)
    assert n_errors or part == "leaves"


# scikit-learn's tools


def test_grid_search_and_pipelines() -> None:
    grid = {"max_depth": [1, 3], "min_samples_leaf": np.arange(1, 8, 3), "missing": ["branch"]}
    search = GridSearchCV(DecisionTreeClassifier(), grid, cv=3).fit(X, Y)
    assert search.best_score_ > 0.3
    assert len(set(search.cv_results_["mean_test_score"])) > 2
    assert search.best_estimator_.tree_.n_rows.min() >= search.best_params_["min_samples_leaf"]
    numbers = X[["a"]].assign(b=np.arange(len(X)))
    pipe = make_pipeline(StandardScaler(), DecisionTreeRegressor(max_depth=4))
    assert np.isfinite(cross_val_score(pipe, numbers, Y, cv=3)).all()
    pipe.fit(numbers, Y, decisiontreeregressor__sample_weight=np.arange(len(X)))
    assert 0 < pipe.score(numbers, Y) < 1


def test_refit_replaces_the_fitted_attributes() -> None:
    model = DecisionTreeClassifier(trace=True).fit(X, Y)
    model.set_params(trace=False).fit(np.arange(4.0)[:, None], [0, 0, 1, 1])
    assert not hasattr(model, "feature_names_in_")
    assert not hasattr(model, "trace_")
    assert model.n_features_in_ == 1
    kept = model.tree_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.arange(4.0)[:, None], [0, 0, 1, np.nan])
    assert model.tree_ is kept


def test_copies_are_read_only() -> None:
    X = np.random.default_rng(3).normal(size=(50, 2))
    tree = DecisionTreeClassifier().fit(X, X[:, 0] > 0).tree_
    for twin in (pickle.loads(pickle.dumps(tree)), copy.deepcopy(tree)):
        assert not twin.nodes.flags.writeable
        np.testing.assert_array_equal(twin.nodes, tree.nodes)


def test_equal_leaves_share_a_row() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    tree = DecisionTreeClassifier().fit(X, y, rng.random(400) + 0.5).tree_
    assert tree.n_leaves > 10
    assert len(tree.leaves) == 2


def test_importances_without_a_split_are_floats() -> None:
    model = DecisionTreeClassifier().fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert model.feature_importances_.dtype == np.float64

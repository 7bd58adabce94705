"""scikit-learn's names of the arrays of a tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import tree as sklearn_tree
from sklearn.datasets import load_iris

import ceiba
from ceiba import DecisionTreeClassifier
from ceiba.base import ParameterError

IRIS, SPECIES = load_iris(return_X_y=True)


def walk(tree: Any) -> list[tuple[Any, ...]]:
    """List the nodes from the root, whatever their numbers are."""
    found, pending = [], [0]
    while pending:
        node = pending.pop()
        left, right = tree.children_left[node], tree.children_right[node]
        threshold = np.float32(tree.threshold[node])
        entry = (tree.feature[node], threshold, tree.n_node_samples[node])
        found.append((*entry, round(tree.weighted_n_node_samples[node], 9), left < 0))
        pending += [] if left < 0 else [right, left]
    return found


@pytest.mark.parametrize("name", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
def test_arrays_are_those_of_scikit_learn(name: str) -> None:
    own, other = getattr(ceiba, name), getattr(sklearn_tree, name)
    X = np.random.default_rng(0).normal(size=(400, 5)).astype(np.float32).astype(np.float64)
    y = X[:, 0] + X[:, 1] ** 2
    y = np.digitize(y, [0.0, 1.0]) if name == "DecisionTreeClassifier" else y
    weight = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    mine = own(max_depth=3, min_samples_leaf=20).fit(X, y, sample_weight=weight)
    theirs = other(max_depth=3, min_samples_leaf=20, random_state=0).fit(X, y, sample_weight=weight)
    a, b = mine.tree_, theirs.tree_
    assert walk(a) == walk(b)
    assert (a.node_count, a.n_leaves, a.max_depth) == (b.node_count, b.n_leaves, b.max_depth)
    assert (a.n_features, a.n_outputs, a.max_n_classes) == (
        b.n_features, b.n_outputs, b.max_n_classes,
    )  # fmt: skip
    np.testing.assert_array_equal(a.n_classes, b.n_classes)
    np.testing.assert_allclose(
        a.compute_feature_importances(normalize=False),
        b.compute_feature_importances(normalize=False),
        rtol=1e-6, atol=1e-12,
    )  # fmt: skip
    assert (mine.max_features_, mine.n_outputs_) == (theirs.max_features_, theirs.n_outputs_)


def test_apply_and_paths_of_an_array() -> None:
    model = DecisionTreeClassifier(max_depth=3).fit(IRIS, SPECIES)
    tree = model.tree_
    leaves = tree.apply(IRIS.astype(np.float32))
    assert (tree.children_left[leaves] == -1).all()
    np.testing.assert_array_equal(tree.apply(IRIS), model.apply(IRIS))
    np.testing.assert_array_equal(tree.predict(IRIS), model.predict_proba(IRIS))
    assert (tree.decision_path(IRIS) != model.decision_path(IRIS)).nnz == 0


def test_nominal_splits_have_no_threshold_and_missing_values_a_side() -> None:
    color = pd.Series(["red", "blue", None, "green"] * 10, dtype="category")
    frame = pd.DataFrame({"color": color, "size": np.arange(40.0)})
    y = (color == "red") | color.isna()
    tree = DecisionTreeClassifier().fit(frame, y).tree_
    assert tree.feature[0] == 0
    assert np.isnan(tree.threshold[0])
    assert tree.threshold[tree.children_left[0]] == -2
    side = tree.children_left[0] if tree.missing_go_to_left[0] else tree.children_right[0]
    assert tree.missing_child(0) == side
    assert not tree.missing_go_to_left[tree.is_leaf].any()


def test_several_branches_have_no_left_and_right() -> None:
    frame = pd.DataFrame({"color": pd.Series(["a", "b", "c"] * 5, dtype="category")})
    tree = DecisionTreeClassifier(algorithm="id3").fit(frame, [0, 1, 2] * 5).tree_
    assert not hasattr(tree, "children_left")
    with pytest.raises(AttributeError, match="3 branches in node 0: use children"):
        _ = tree.children_right
    assert tree.node_count == 4


def test_splitter_random_draws_one_threshold_per_column() -> None:
    model = DecisionTreeClassifier(splitter="random").fit(IRIS, SPECIES)
    drawn = DecisionTreeClassifier(thresholds="random", n_thresholds=1).fit(IRIS, SPECIES)
    np.testing.assert_array_equal(model.tree_.nodes, drawn.tree_.nodes)
    assert model.tree_.n_nodes > DecisionTreeClassifier().fit(IRIS, SPECIES).tree_.n_nodes
    with pytest.raises(ParameterError, match="'thresholds' has no effect with splitter='random'"):
        DecisionTreeClassifier(splitter="random", thresholds="mean").fit(IRIS, SPECIES)


def test_value_has_class_fractions_or_means() -> None:
    weight = np.random.default_rng(1).integers(1, 4, len(IRIS)).astype(float)
    model = DecisionTreeClassifier(max_depth=2).fit(IRIS, SPECIES, sample_weight=weight)
    tree, other = model.tree_, sklearn_tree.DecisionTreeClassifier(max_depth=1, random_state=0)
    assert tree.value.shape == (tree.node_count, 1, 3)
    np.testing.assert_allclose(tree.value.sum(axis=2), 1.0)
    root = other.fit(IRIS, SPECIES, sample_weight=weight).tree_.value[0]
    np.testing.assert_allclose(tree.value[0], root)
    np.testing.assert_allclose(tree.value[:, 0] * tree.weight[:, None], tree.node_values)
    numbers = ceiba.DecisionTreeRegressor(max_depth=2).fit(IRIS, SPECIES).tree_
    assert numbers.value.shape == (numbers.node_count, 1, 1)
    np.testing.assert_array_equal(numbers.value[:, 0], numbers.node_values)

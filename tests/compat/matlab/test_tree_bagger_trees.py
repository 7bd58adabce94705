"""Trees of MATLAB's TreeBagger: counts and errors of the rows drawn for them."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba import datasets
from ceiba.compat.matlab import ClassificationTree, RegressionTree, TreeBagger, predict, view
from tests.compat.matlab import bagger_naive as naive


@pytest.fixture(scope="module")
def iris():
    meas, species = datasets.load("iris", as_frame=True)
    return meas.to_numpy(), np.asarray(species)


@pytest.fixture(scope="module")
def bag(iris):
    return TreeBagger(12, *iris, "OOBPrediction", "on", "OOBPredictorImportance", "on")


@pytest.mark.parametrize("replace", ["on", "off"])
def test_trees_count_their_drawn_rows(replace):
    X, y, _ = naive.noisy(2, missing=0.1)
    bag = TreeBagger(4, X, y, SampleWithReplacement=replace, InBagFraction=0.8, OOBPrediction="on")
    for t, tree in enumerate(bag.Trees):
        assert isinstance(tree, ClassificationTree)
        assert tree.NumObservations == tree.ClassCount[0].sum() == 48
        inside = ~bag.OOBIndices[:, t]
        assert inside.sum() == 48 if replace == "off" else inside.sum() < 48
        if replace == "off":
            assert tree.ClassCount[0].tolist() == np.bincount(y[inside]).tolist()
        np.testing.assert_allclose(
            tree.ClassProbability, tree.ClassCount / tree.NodeSize[:, None], atol=1e-12
        )
        node = predict(tree, X, nargout=3)[2]
        assert not tree.IsBranchNode[node - 1].any()
        # Every leaf has drawn rows, and only those.
        leaves = np.flatnonzero(~tree.IsBranchNode) + 1
        assert set(leaves) == set(node[inside])
        kids = tree.Children[tree.IsBranchNode]
        assert kids.reshape(-1).tolist() == list(range(2, tree.NumNodes + 1))  # layer by layer
        np.testing.assert_array_equal(
            tree.ClassCount[kids - 1].sum(axis=1), tree.ClassCount[tree.IsBranchNode]
        )


def test_trees_equal_those_of_the_forest(bag, iris):
    for t in (0, 5, -1):
        own = bag.model.tree(t)
        tree = bag.Trees[t]
        thresholds = tree.CutPoint[tree.IsBranchNode]
        assert sorted(thresholds.tolist()) == sorted(own.threshold[~own.is_leaf].tolist())
        assert tree.NumNodes == own.n_nodes
    assert [tree.NumNodes for tree in bag.Trees[1:4]] == [bag.Trees[t].NumNodes for t in (1, 2, 3)]
    np.testing.assert_allclose(
        naive.predictions(bag, iris[0]).mean(axis=0), bag.predict(iris[0], nargout=2)[1], atol=1e-12
    )
    with pytest.raises(IndexError):
        bag.Trees[12]


@pytest.mark.parametrize(
    "options",
    [{}, {"SampleWithReplacement": "off", "InBagFraction": 0.5}, {"NumPredictorsToSample": "all"}],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_regression_trees_have_the_errors_of_their_rows(options, weighted):
    X, _, y = naive.noisy(3, n=90, missing=0.1)
    w = np.random.default_rng(1).uniform(0.5, 2, 90) if weighted else np.ones(90)
    bag = TreeBagger(3, X, y, Method="r", Weights=w, OOBPrediction="on", **options)
    for t, tree in enumerate(bag.Trees):
        assert isinstance(tree, RegressionTree)
        drawn = bag.Trees.draw_counts(t)
        own = drawn * (1 if bag.SampleWithReplacement else w)
        at = predict(tree, X, nargout=2)[1] - 1
        for node in range(tree.NumNodes):
            below = {node}
            for child, parent in enumerate(tree.Parent - 1):
                below |= {child} if parent in below else set()
            inside = np.isin(at, list(below))
            assert tree.NodeSize[node] == drawn[inside].sum()
            mean = np.average(y[inside], weights=own[inside])
            assert tree.NodeMean[node] == pytest.approx(mean, abs=1e-6)
            error = np.average((y[inside] - mean) ** 2, weights=own[inside])
            assert tree.NodeError[node] == pytest.approx(error, abs=1e-6)


@pytest.mark.parametrize("replace", ["on", "off"])
def test_class_probabilities_are_weighted(replace):
    X, y, _ = naive.noisy(16)
    w = np.random.default_rng(2).uniform(0.5, 2, 60)
    bag = TreeBagger(3, X, y, Weights=w, SampleWithReplacement=replace, InBagFraction=0.7)
    for t, tree in enumerate(bag.Trees):
        drawn = bag.Trees.draw_counts(t)
        own = drawn * (1 if replace == "on" else w)
        assert tree.ClassCount[0].tolist() == np.bincount(y, drawn).tolist()
        np.testing.assert_allclose(
            tree.ClassProbability[0], np.bincount(y, own) / own.sum(), atol=1e-9
        )


def test_view_prints_a_tree(bag, capsys):
    view(bag.Trees[0])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "Decision tree for classification"
    assert len(lines) == bag.Trees[0].NumNodes + 1


@pytest.mark.parametrize("method", ["classification", "regression"])
@pytest.mark.parametrize("min_leaf", [1, 4, 9, 40])
def test_leaves_have_min_leaf_size_draws(method, min_leaf):
    X, y, signal = naive.noisy(4)
    X += np.random.default_rng(0).random(X.shape)
    target = y if method == "classification" else signal
    bag = TreeBagger(6, X, target, Method=method, MinLeafSize=min_leaf, OOBPrediction="on")
    sizes = np.concatenate([tree.NodeSize[~tree.IsBranchNode] for tree in bag.Trees])
    assert sizes.min() == (60 if min_leaf > 30 else min_leaf)
    # Draws are counted: some leaf has fewer different rows.
    if min_leaf in (4, 9):
        output = 2 if method == "classification" else 1
        leaves = [predict(tree, X, nargout=output + 1)[output] for tree in bag.Trees]
        rows = [np.bincount(leaf[~bag.OOBIndices[:, t]]) for t, leaf in enumerate(leaves)]
        assert min(counts[counts > 0].min() for counts in rows) < min_leaf

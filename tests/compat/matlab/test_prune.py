"""Pruning in the MATLAB bridge against all subtrees."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ceiba.compat.matlab import fitctree, fitrtree, predict, prune
from tests.compat.matlab import matlab_naive as naive


def small_tree(kind, seed):
    """Grow a tree that is small enough to list all its subtrees; return it and its risks."""
    X, y = naive.noisy(seed, 60)
    options = {"MaxNumSplits": 7, "MinParentSize": 4}
    if kind == "numbers":
        tree = fitrtree(X, X[:, 0] ** 2 + 5.0 * y, **options)
        return X, tree, tree.NodeRisk
    if kind == "costs":
        options["Cost"] = [[0, 1, 2], [3, 0, 1], [1, 4, 0]]
    tree = fitctree(X, y, PruneCriterion="impurity" if kind == "impurity" else "error", **options)
    return X, tree, tree.NodeRisk if kind == "impurity" else naive.error_risks(tree)


@pytest.fixture(params=["error", "impurity", "costs", "numbers"])
def kind(request):
    return request.param


@pytest.mark.parametrize("seed", range(4))
def test_pruning_sequence_is_optimal_among_all_subtrees(kind, seed):
    _, tree, risks = small_tree(kind, seed)
    alphas, trees = naive.sequence(tree, risks)
    assert tree.PruneAlpha.tolist() == pytest.approx(alphas, abs=1e-9)
    assert tree.PruneList.max() == len(alphas) - 1
    for level, leaves in enumerate(trees):
        smaller = prune(tree, Level=level)
        assert naive.shape(smaller) == naive.shape_of_leaves(tree, leaves)
        # The leaves are the topmost nodes that PruneList assigns to this step or an earlier one.
        collapsed = {node + 1 for node in np.flatnonzero(tree.PruneList <= level)}
        assert naive.leaves_of(tree, collapsed) == leaves


@pytest.mark.parametrize("seed", range(2))
def test_alpha_selects_its_step(kind, seed):
    _, tree, risks = small_tree(kind, seed)
    subtrees = naive.subtrees(tree)
    ends = [*tree.PruneAlpha.tolist(), 2 * tree.PruneAlpha[-1] + 1]
    for level, (first, last) in enumerate(pairwise(ends)):
        for alpha in (first, (first + last) / 2):
            found = naive.shape(prune(tree, "Alpha", alpha))
            assert found == naive.shape(prune(tree, Level=level))
            best = naive.best_subtree(tree, risks, alpha + 1e-12, subtrees)
            assert found == naive.shape_of_leaves(tree, best)


def test_sequence_of_a_pruned_tree_is_the_remainder(kind):
    X, tree, _ = small_tree(kind, 1)
    for level in range(int(tree.PruneList.max())):
        smaller = prune(tree, Level=level)
        rest = [0.0, *tree.PruneAlpha[level + 1 :].tolist()]
        assert smaller.PruneAlpha.tolist() == pytest.approx(rest)
        assert naive.shape(prune(smaller, Level=1)) == naive.shape(prune(tree, Level=level + 1))
        assert predict(smaller, X, nargout=2)[0].shape == (60,)


def test_pruning_does_not_change_its_argument(kind):
    X, tree, _ = small_tree(kind, 2)
    before, label = naive.shape(tree), predict(tree, X).tolist()
    top = prune(tree, Level=int(tree.PruneList.max()))
    assert top.NumNodes == 1
    assert top.PruneAlpha.tolist() == [0.0]
    assert top.PruneList.tolist() == [0]
    assert naive.shape(tree) == before
    assert predict(tree, X).tolist() == label
    same = prune(tree, Level=0)
    assert naive.shape(same) == before
    assert predict(same, X).tolist() == label


def test_nodes_become_leaves(kind):
    X, tree, _ = small_tree(kind, 3)
    inner = (np.flatnonzero(tree.IsBranchNode) + 1).tolist()
    for collapsed in ([inner[1]], inner[-2:], inner, [inner[2], tree.NumNodes], inner[0]):
        smaller = prune(tree, "Nodes", collapsed)
        leaves = naive.leaves_of(tree, set(np.atleast_1d(collapsed).tolist()))
        assert naive.shape(smaller) == naive.shape_of_leaves(tree, leaves)
        at = predict(smaller, X, nargout=2 if kind == "numbers" else 3)[-1]
        sizes = np.bincount(at, minlength=smaller.NumNodes + 1)[1:]
        leaf = ~smaller.IsBranchNode
        assert sizes[leaf].tolist() == smaller.NodeSize[leaf].tolist()
    assert naive.shape(prune(tree, Nodes=[tree.NumNodes])) == naive.shape(tree)


def test_kept_nodes_keep_their_attributes():
    X, y = naive.noisy(5)
    tree = fitctree(X, y, MinParentSize=4)
    node = int(np.flatnonzero(tree.IsBranchNode)[2]) + 1
    smaller = prune(tree, Nodes=[node])
    gone = naive.below(tree, node)
    kept = [k for k in range(tree.NumNodes) if k + 1 not in gone]
    for name in (
        "ClassCount",
        "ClassProbability",
        "NodeClass",
        "NodeError",
        "NodeRisk",
        "NodeSize",
    ):
        np.testing.assert_array_equal(getattr(smaller, name), getattr(tree, name)[kept])


def test_prune_without_options_shows_the_sequence():
    X, y = naive.noisy(5)
    tree = fitctree(X, y, Prune="off")
    shown = prune(tree)
    assert shown.PruneAlpha.tolist() == fitctree(X, y).PruneAlpha.tolist()
    assert tree.PruneAlpha.size == 0
    assert naive.shape(prune(tree, Level=1)) == naive.shape(prune(shown, Level=1))


@pytest.mark.parametrize(
    ("named", "message"),
    [
        ({"Level": 99}, r"Level must be an int in \[0, 5\], got 99"),
        ({"Level": -1}, "Level must be an int >= 0, got -1"),
        ({"Alpha": -0.1}, r"Alpha must be a number >= 0, got -0\.1"),
        ({"Alpha": float("nan")}, "Alpha must be a number >= 0, got nan"),
        ({"Nodes": [0]}, r"Nodes must list ints in \[1, 11\], got 0"),
        ({"Nodes": [1.5]}, r"Nodes must list ints in \[1, 11\], got 1\.5"),
        ({"Level": 1, "Alpha": 0.1}, "one of Level, Alpha and Nodes"),
        ({"Depth": 1}, "no option 'Depth'"),
    ],
)
def test_invalid_options_raise(named, message):
    tree = fitctree(*naive.noisy(5))
    with pytest.raises(ValueError, match=message):
        prune(tree, **named)
    with pytest.raises(TypeError, match="fitctree or fitrtree"):
        prune("tree", Level=1)

"""Naive routing, merging, limits and pruning of MATLAB's trees, from their attributes."""

from __future__ import annotations

import math
from itertools import product

import numpy as np


def is_missing(value):
    return value is None or value != value


def node_of(tree, row):
    """Return the node, from 1, at which a row ends; a missing value stops it."""
    node = 1
    while tree.IsBranchNode[node - 1]:
        value = row[tree.CutPredictorIndex[node - 1] - 1]
        if is_missing(value):
            return node
        if tree.CutType[node - 1] == "continuous":
            branch = 0 if value < tree.CutPoint[node - 1] else 1
        else:
            left, right = tree.CutCategories[node - 1]
            branch = 0 if value in left else 1 if value in right else None
            if branch is None:
                return node
        node = int(tree.Children[node - 1, branch])
    return node


def depths(tree):
    found = []
    for parent in tree.Parent.tolist():
        found.append(0 if parent == 0 else found[parent - 1] + 1)
    return found


def below(tree, node):
    """Return all descendants of a node, numbered from 1."""
    children = [k for k in tree.Children[node - 1].tolist() if k]
    return children + [deeper for child in children for deeper in below(tree, child)]


def leaves_of(tree, collapsed):
    """Return the leaves of the tree in which some nodes, from 1, are leaves."""
    found, stack = [], [1]
    while stack:
        node = stack.pop()
        if node in collapsed or not tree.IsBranchNode[node - 1]:
            found.append(node)
        else:
            stack += tree.Children[node - 1].tolist()
    return frozenset(found)


def subtrees(tree, node=1):
    """Return the leaves of every pruned subtree below a node."""
    trees_of_leaves = [frozenset([node])]
    if tree.IsBranchNode[node - 1]:
        one, other = (subtrees(tree, child) for child in tree.Children[node - 1].tolist())
        trees_of_leaves += [left | right for left, right in product(one, other)]
    return trees_of_leaves


def best_subtree(tree, risks, alpha, trees_of_leaves):
    """Return the smallest subtree of minimum risk + alpha x leaves."""
    costs = [
        sum(risks[node - 1] for node in leaves) + alpha * len(leaves) for leaves in trees_of_leaves
    ]
    minimum = min(costs)
    ties = [
        leaves
        for leaves, cost in zip(trees_of_leaves, costs, strict=True)
        if cost <= minimum + 1e-9
    ]
    return min(ties, key=len)


def sequence(tree, risks):
    """Return alphas and leaves of the pruning sequence, by comparing all subtrees."""
    trees_of_leaves = subtrees(tree)
    alphas, trees = [0.0], [leaves_of(tree, set())]
    # Trees change only where two lines risk + alpha x leaves cross.
    lines = sorted(
        {
            (
                len(leaves),
                min(sum(risks[n - 1] for n in w) for w in trees_of_leaves if len(w) == len(leaves)),
            )
            for leaves in trees_of_leaves
        }
    )
    crossings = {
        (r1 - r2) / (n2 - n1) for n1, r1 in lines for n2, r2 in lines if n1 < n2 and r1 > r2
    } | {0.0}
    for alpha in sorted(crossings):
        best = best_subtree(tree, risks, alpha, trees_of_leaves)
        if len(best) < len(trees[-1]):
            if not math.isclose(alpha, alphas[-1], abs_tol=1e-12) or len(alphas) == 1:
                alphas.append(alpha)
                trees.append(best)
            else:
                trees[-1] = best
    return alphas, trees


def merged(tree, risks):
    """Return the leaves after merging siblings without gain, one pair at a time."""
    collapsed = set()
    while True:
        leaves = leaves_of(tree, collapsed)
        pairs = [
            node
            for node in range(1, tree.NumNodes + 1)
            if tree.IsBranchNode[node - 1]
            and node not in leaves
            and all(child in leaves for child in tree.Children[node - 1].tolist())
        ]
        useless = [
            node
            for node in pairs
            if sum(risks[child - 1] for child in tree.Children[node - 1]) >= risks[node - 1] - 1e-12
        ]
        if not useless:
            return leaves
        collapsed.add(useless[0])


def limited(tree, gains, max_splits):
    """Return the branch nodes that are left with a maximum number of splits."""
    layers = depths(tree)
    left = []
    for layer in range(max(layers) + 1):
        here = [
            node
            for node in range(1, tree.NumNodes + 1)
            if layers[node - 1] == layer
            and tree.IsBranchNode[node - 1]
            and (layer == 0 or int(tree.Parent[node - 1]) in left)
        ]
        room = max_splits - len(left)
        best = sorted(here, key=lambda node: (-gains[node - 1], node))[:room]
        left += best
        if len(best) < len(here):
            break
    return sorted(left)


def shape(tree):
    """Return the rows of every leaf by the path to it, without node numbers."""
    found = {}

    def visit(node, path):
        if tree.IsBranchNode[node - 1]:
            for side, child in zip("<>", tree.Children[node - 1].tolist(), strict=True):
                test = (tree.CutPredictor[node - 1], repr(tree.CutPoint[node - 1]), side)
                visit(child, (*path, test))
        else:
            found[path] = int(tree.NodeSize[node - 1])

    visit(1, ())
    return found


def shape_of_leaves(tree, leaves):
    """Return the shape of the subtree with these leaves."""
    found = {}

    def visit(node, path):
        if node in leaves:
            found[path] = int(tree.NodeSize[node - 1])
            return
        for side, child in zip("<>", tree.Children[node - 1].tolist(), strict=True):
            test = (tree.CutPredictor[node - 1], repr(tree.CutPoint[node - 1]), side)
            visit(child, (*path, test))

    visit(1, ())
    return found


def error_risks(tree):
    """Return the expected cost of each node as a leaf, times its probability."""
    return (tree.ClassProbability @ tree.Cost).min(axis=1) * tree.NodeProbability


def noisy(seed, n=80, classes=3):
    """Draw a small table that trees overfit."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (n, 3)).astype(float)
    y = ((X[:, 0] > 3).astype(int) + (X[:, 1] > 5) + (rng.random(n) < 0.25)) % classes
    return X, y

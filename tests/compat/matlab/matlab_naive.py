"""MATLAB's trees a second time, from what they show alone: routing, merging, limits, pruning."""

from __future__ import annotations

import math
from itertools import product

import numpy as np


def is_missing(value):
    return value is None or value != value


def node_of(tree, row):
    """Where a row ends, from 1: below the cut goes left; a missing value stays."""
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
    """All nodes under a node, from 1."""
    kids = [k for k in tree.Children[node - 1].tolist() if k]
    return kids + [deeper for kid in kids for deeper in below(tree, kid)]


def leaves_of(tree, cut):
    """Leaves of the tree that some nodes, from 1, are cut to."""
    found, waiting = [], [1]
    while waiting:
        node = waiting.pop()
        if node in cut or not tree.IsBranchNode[node - 1]:
            found.append(node)
        else:
            waiting += tree.Children[node - 1].tolist()
    return frozenset(found)


def subtrees(tree, node=1):
    """Leaves of every tree that pruning below a node can leave."""
    ways = [frozenset([node])]
    if tree.IsBranchNode[node - 1]:
        one, other = (subtrees(tree, kid) for kid in tree.Children[node - 1].tolist())
        ways += [left | right for left, right in product(one, other)]
    return ways


def best_subtree(tree, risks, alpha, ways):
    """The smallest of the trees with the least risk + alpha x leaves."""
    costs = [sum(risks[node - 1] for node in way) + alpha * len(way) for way in ways]
    least = min(costs)
    ties = [way for way, cost in zip(ways, costs, strict=True) if cost <= least + 1e-9]
    return min(ties, key=len)


def sequence(tree, risks):
    """Alphas and leaves of all trees of the sequence, by looking at every subtree."""
    ways = subtrees(tree)
    alphas, trees = [0.0], [leaves_of(tree, set())]
    # Trees change only where two lines risk + alpha x leaves cross.
    lines = sorted(
        {
            (len(way), min(sum(risks[n - 1] for n in w) for w in ways if len(w) == len(way)))
            for way in ways
        }
    )
    crossings = {
        (r1 - r2) / (n2 - n1) for n1, r1 in lines for n2, r2 in lines if n1 < n2 and r1 > r2
    } | {0.0}
    for alpha in sorted(crossings):
        best = best_subtree(tree, risks, alpha, ways)
        if len(best) < len(trees[-1]):
            if not math.isclose(alpha, alphas[-1], abs_tol=1e-12) or len(alphas) == 1:
                alphas.append(alpha)
                trees.append(best)
            else:
                trees[-1] = best
    return alphas, trees


def merged(tree, risks):
    """Nodes that end as leaves when siblings without gain are merged, one pair at a time."""
    cut = set()
    while True:
        leaves = leaves_of(tree, cut)
        pairs = [
            node
            for node in range(1, tree.NumNodes + 1)
            if tree.IsBranchNode[node - 1]
            and node not in leaves
            and all(kid in leaves for kid in tree.Children[node - 1].tolist())
        ]
        useless = [
            node
            for node in pairs
            if sum(risks[kid - 1] for kid in tree.Children[node - 1]) >= risks[node - 1] - 1e-12
        ]
        if not useless:
            return leaves
        cut.add(useless[0])


def limited(tree, gains, most):
    """Branch nodes that are left when no more than so many may be."""
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
        room = most - len(left)
        best = sorted(here, key=lambda node: (-gains[node - 1], node))[:room]
        left += best
        if len(best) < len(here):
            break
    return sorted(left)


def shape(tree):
    """Rows of every leaf by the way to it: equal for equal trees, whatever their numbers."""
    found = {}

    def walk(node, way):
        if tree.IsBranchNode[node - 1]:
            for side, kid in zip("<>", tree.Children[node - 1].tolist(), strict=True):
                test = (tree.CutPredictor[node - 1], repr(tree.CutPoint[node - 1]), side)
                walk(kid, (*way, test))
        else:
            found[way] = int(tree.NodeSize[node - 1])

    walk(1, ())
    return found


def shape_of_leaves(tree, leaves):
    """The same of the tree that some nodes of a tree are the leaves of."""
    found = {}

    def walk(node, way):
        if node in leaves:
            found[way] = int(tree.NodeSize[node - 1])
            return
        for side, kid in zip("<>", tree.Children[node - 1].tolist(), strict=True):
            test = (tree.CutPredictor[node - 1], repr(tree.CutPoint[node - 1]), side)
            walk(kid, (*way, test))

    walk(1, ())
    return found


def error_risks(tree):
    """Expected cost of each node as a leaf, times its probability."""
    return (tree.ClassProbability @ tree.Cost).min(axis=1) * tree.NodeProbability


def noisy(seed, n=80, classes=3):
    """A small table that trees overfit."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 8, (n, 3)).astype(float)
    y = ((X[:, 0] > 3).astype(int) + (X[:, 1] > 5) + (rng.random(n) < 0.25)) % classes
    return X, y

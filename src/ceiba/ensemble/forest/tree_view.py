"""One tree of a forest as a `Tree`: what a forest does not keep is told from its leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.tree.model.tree import Tree

if TYPE_CHECKING:
    from ceiba.ensemble.forest.model import Forest

_LEAF, _THRESHOLDS = 0, 5
# Why a leaf is one, or how the levels of a split were found, is not kept.
_NOT_KEPT, _PURE_REASON, _SPLIT = 12, 1, 0
_NONE, _BY_THRESHOLD, _ORDERED = 0, 1, 2
# More than this no sum of impurities could hold.
_MOST_IMPURE = 1e290


def tree_of(forest: Forest, number: int) -> Tree:
    """Tree ``number`` of a forest.

    Weights and values of its nodes are sums over their leaves, in draws of the tree's bag (of
    numbers in rows, where these have weights that are not whole); impurity and gain are the Gini
    index, or the variance of the leaves' means, whatever the criterion was. Why a leaf is one and
    runner-up splits are not kept.
    """
    if not -forest.n_trees <= number < forest.n_trees:
        raise IndexError(f"tree {number} of {forest.n_trees}")
    number %= forest.n_trees
    nodes = forest.nodes[forest.first[number] : forest.first[number + 1]].copy()
    halves = nodes.view(np.uint32)
    is_leaf = (halves[:, 3] >> 24 & 0xF) == _LEAF
    parent = parents(nodes, is_leaf)
    depth = depths(parent)
    if forest.n_classes:
        value = class_weights(forest, number) * forest.weight_unit[number]
        leaves = as_rows(nodes, is_leaf, value)
        value = summed(value, parent, depth)
        weight = value.sum(axis=1)
        impurity = 1 - ((value / weight[:, None]) ** 2).sum(axis=1)
    else:
        leaves = np.empty((0, 0))
        weight, value, impurity = number_sums(nodes, is_leaf, parent, depth)
        halves[is_leaf, 2] = np.uint32(0xFFFFFFFF)
    n = len(nodes)
    test = halves[:, 3] >> 24 & 0xF
    method = np.where(test < _THRESHOLDS, _BY_THRESHOLD, _ORDERED)
    # Of numbers nobody knows whether the rows of a leaf differ.
    pure = (impurity == 0) & (forest.n_classes > 0)
    reason = np.where(pure, _PURE_REASON, _NOT_KEPT)
    return Tree(
        nodes=nodes, words=forest.words, tables=forest.tables, leaves=leaves,
        schema=forest.schema, n_rows=np.rint(weight).astype(np.int64), weight=weight,
        impurity=impurity, gain=gains(weight, impurity, parent, is_leaf), value=value,
        reason=np.where(is_leaf, reason, _SPLIT).astype(np.uint8),
        method=np.where(is_leaf, _NONE, method).astype(np.uint8),
        ties=np.zeros(n, np.int32), depth=depth,
        runner_up_column=np.full(n, -1, np.int32), runner_up_gain=np.zeros(n),
    )  # fmt: skip


def parents(nodes: Array, is_leaf: Array) -> Array:
    """The node above each node; -1 for the root."""
    child = nodes.view(np.int32)[:, 2]
    inner = np.flatnonzero(~is_leaf)
    inner = inner[np.argsort(child[inner], kind="stable")]
    branches = np.diff(np.append(child[inner], len(nodes)))
    return np.concatenate([[-1], np.repeat(inner, branches)]).astype(np.int32)


def depths(parent: Array) -> Array:
    """Splits above each node."""
    depth = np.zeros(len(parent), np.int32)
    above = parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return depth


def class_weights(forest: Forest, number: int) -> Array:
    """Class weights of the leaves of a tree, in their unit; zero elsewhere."""
    n = int(forest.first[number + 1] - forest.first[number])
    found = np.empty((n, forest.n_classes))
    _native.forest_class_weights(forest.native, number, found)
    return found


def as_rows(nodes: Array, is_leaf: Array, weights: Array) -> Array:
    """Class shares of the leaves, each once; the leaves are told their rows."""
    own = weights[is_leaf]
    shares, row = np.unique(own / own.sum(axis=1, keepdims=True), axis=0, return_inverse=True)
    halves = nodes.view(np.uint32)
    halves[is_leaf, 2] = row.reshape(-1).astype(np.uint32)
    halves[is_leaf, 3] = 0
    nodes[is_leaf, 0] = 0
    return shares


def summed(value: Array, parent: Array, depth: Array) -> Array:
    """Every node's sum over its leaves."""
    total = value.copy()
    for level in range(int(depth.max()), 0, -1):
        own = np.flatnonzero(depth == level)
        np.add.at(total, parent[own], total[own])
    return total


def number_sums(
    nodes: Array, is_leaf: Array, parent: Array, depth: Array
) -> tuple[Array, Array, Array]:
    """Weight, mean and variance of the leaves' means, of every node."""
    told = np.where(is_leaf, nodes[:, 0].view(np.float64), 0.0)
    weight = np.where(is_leaf, nodes.view(np.int32)[:, 2], 0).astype(np.float64)
    centre = told[is_leaf].mean()
    moved = np.where(is_leaf, told - centre, 0.0)
    # Squares of numbers relative to the largest can be held; their variance perhaps not.
    scale = np.float64(np.abs(moved).max() or 1.0)
    moved = moved / scale
    sums = np.column_stack([weight, weight * moved, weight * moved**2])
    weight, first, second = summed(sums, parent, depth).T
    mean = first / weight
    with np.errstate(over="ignore"):
        impurity = np.maximum(second / weight - mean**2, 0.0) * scale * scale
    impurity = np.minimum(impurity, _MOST_IMPURE)
    mean *= scale
    impurity[is_leaf] = 0.0
    value = np.where(is_leaf, told, mean + centre)
    return weight, value[:, None], impurity


def gains(weight: Array, impurity: Array, parent: Array, is_leaf: Array) -> Array:
    """By how much each split lowers the impurity."""
    left = np.zeros(len(weight))
    np.add.at(left, parent[1:], weight[1:] * impurity[1:])
    gain = np.where(is_leaf, 0.0, impurity - left / weight)
    return np.maximum(gain, 0.0)

"""One tree of a forest as a `Tree`, with node values computed from its leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ceiba import _native
from ceiba._native import LeafReason, NodeTest, SearchMethod
from ceiba._typing import Array
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree

if TYPE_CHECKING:
    from ceiba.ensemble.forest.model import Forest

# A larger impurity could overflow when impurities are summed.
_MAX_IMPURITY = 1e290


def tree_of(forest: Forest, number: int) -> Tree:
    """Return tree ``number`` of a forest.

    Weights and values of the nodes are sums over their leaves: draws of the tree's sample, times
    class weights. Rows that are drawn at most once count by their weights where these are
    fractional; with regression and with several outputs they then count one each. With several
    outputs and fractional class weights, too, rows count one each, however often they were drawn.

    Numbers of rows are draws, too, whatever the class weights are; with several outputs they are
    the weights. Where a classifier's rows count by fractional weights the forest does not store
    their numbers: those of the leaves are their rounded weights, at least 1.

    Impurity and gain are those of the Gini index, or the variance of the leaves' means, whatever
    the criterion was. Reasons of leaves and runner-up splits are not stored.
    """
    if not -forest.n_trees <= number < forest.n_trees:
        raise IndexError(
            f"number must be in [{-forest.n_trees}, {forest.n_trees - 1}], got {number}."
        )
    number %= forest.n_trees
    nodes = forest.nodes[forest.tree_offsets[number] : forest.tree_offsets[number + 1]].copy()
    view = NodeView(nodes)
    is_leaf = view.kind == NodeTest.LEAF
    parent = parents(nodes, is_leaf)
    depth = depths(parent)
    if forest.n_classes:
        units = class_weights(forest, number)
        n_rows = _n_rows(forest, number, units, is_leaf)
        value = units * forest.weight_unit[number]
        leaves = set_leaf_distributions(nodes, is_leaf, value)
        value = subtree_sums(value, parent, depth)
        weight = value.sum(axis=1)
        impurity = 1 - ((value / weight[:, None]) ** 2).sum(axis=1)
    else:
        leaves = np.empty((0, 0))
        n_rows = np.where(is_leaf, view.child, 0).astype(np.int64)
        weight, value, impurity = regression_sums(nodes, is_leaf, parent, depth)
        view.child[is_leaf] = -1
    n = len(nodes)
    # A forest does not store why a node is a leaf or how the categories of a split were found.
    method = np.where(view.kind < NodeTest.MASK, SearchMethod.THRESHOLD, SearchMethod.ORDERED)
    # For regression it is unknown whether the targets of a leaf differ.
    pure = (impurity == 0) & (forest.n_classes > 0)
    reason = np.where(pure, LeafReason.PURE, LeafReason.NOT_KEPT)
    return Tree(
        nodes=nodes, words=forest.words, tables=forest.tables, leaves=leaves,
        schema=forest.schema, n_rows=subtree_sums(n_rows, parent, depth), weight=weight,
        impurity=impurity, gain=gains(weight, impurity, parent, is_leaf), node_values=value,
        reason=np.where(is_leaf, reason, LeafReason.SPLIT).astype(np.uint8),
        method=np.where(is_leaf, SearchMethod.NONE, method).astype(np.uint8),
        ties=np.zeros(n, np.int32), depth=depth,
        runner_up_column=np.full(n, -1, np.int32), runner_up_gain=np.zeros(n),
    )  # fmt: skip


def _n_rows(forest: Forest, number: int, units: Array, is_leaf: Array) -> Array:
    """Return how many rows were drawn in each leaf of a classifier's tree; 0 elsewhere.

    ``units`` are the class weights of the leaves, in the unit of the tree.
    """
    of_draw = None if forest.class_units is None else forest.class_units[number]
    if of_draw is None or (of_draw == 1).all():  # as merged forests have where others have more
        n_rows = units * forest.weight_unit[number]
    else:
        n_rows = units / of_draw
    return np.where(is_leaf, np.maximum(np.rint(n_rows.sum(axis=1)), 1), 0).astype(np.int64)


def parents(nodes: Array, is_leaf: Array) -> Array:
    """Return the parent of each node; -1 for the root."""
    child = NodeView(nodes).child
    inner = np.flatnonzero(~is_leaf)
    inner = inner[np.argsort(child[inner], kind="stable")]
    n_branches = np.diff(np.append(child[inner], len(nodes)))
    return np.concatenate([[-1], np.repeat(inner, n_branches)]).astype(np.int32)


def depths(parent: Array) -> Array:
    """Return the depth of each node."""
    depth = np.zeros(len(parent), np.int32)
    above = parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return depth


def class_weights(forest: Forest, number: int) -> Array:
    """Return the class weights of a tree's leaves in their unit; 0 elsewhere."""
    n_nodes = int(forest.tree_offsets[number + 1] - forest.tree_offsets[number])
    weights = np.empty((n_nodes, forest.n_classes))
    _native.forest_class_weights(forest.native, number, weights)
    return weights


def set_leaf_distributions(nodes: Array, is_leaf: Array, weights: Array) -> Array:
    """Return the distinct class distributions; set the leaves to their indices."""
    of_leaves = weights[is_leaf]
    distributions, row = np.unique(
        of_leaves / of_leaves.sum(axis=1, keepdims=True), axis=0, return_inverse=True
    )
    view = NodeView(nodes)
    view.child[is_leaf] = row.reshape(-1)
    view.make_leaf(is_leaf)
    view.word[is_leaf] = 0
    return distributions


def subtree_sums(value: Array, parent: Array, depth: Array) -> Array:
    """Return the sum over the leaves below each node."""
    total = value.copy()
    for d in range(int(depth.max()), 0, -1):
        nodes = np.flatnonzero(depth == d)
        np.add.at(total, parent[nodes], total[nodes])
    return total


def regression_sums(
    nodes: Array, is_leaf: Array, parent: Array, depth: Array
) -> tuple[Array, Array, Array]:
    """Return weight, mean, and variance of the leaves' means, of each node."""
    predicted = np.where(is_leaf, NodeView(nodes).value, 0.0)
    weight = np.where(is_leaf, NodeView(nodes).child, 0).astype(np.float64)
    center = predicted[is_leaf].mean()
    centered = np.where(is_leaf, predicted - center, 0.0)
    # Squares relative to the largest value cannot overflow; their variance may.
    scale = np.float64(np.abs(centered).max() or 1.0)
    centered = centered / scale
    sums = np.column_stack([weight, weight * centered, weight * centered**2])
    weight, first, second = subtree_sums(sums, parent, depth).T
    mean = first / weight
    with np.errstate(over="ignore"):
        impurity = np.maximum(second / weight - mean**2, 0.0) * scale * scale
    impurity = np.minimum(impurity, _MAX_IMPURITY)
    mean *= scale
    impurity[is_leaf] = 0.0
    value = np.where(is_leaf, predicted, mean + center)
    return weight, value[:, None], impurity


def gains(weight: Array, impurity: Array, parent: Array, is_leaf: Array) -> Array:
    """Return the decrease of impurity by each split."""
    children = np.zeros(len(weight))
    np.add.at(children, parent[1:], weight[1:] * impurity[1:])
    gain = np.where(is_leaf, 0.0, impurity - children / weight)
    return np.maximum(gain, 0.0)

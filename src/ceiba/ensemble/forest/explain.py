"""A forest as the weighted sum of trees whose predictions are explained."""

from __future__ import annotations

import numpy as np

from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.tree_view import class_weights, depths, parents, subtree_sums
from ceiba.tree.explain.shap import TreeSum
from ceiba.tree.model.node_dtype import NodeView

# A sum that takes more memory is not kept with its forest: 11 million nodes of two classes.
_MAX_KEPT_BYTES = 2**28


def forest_sum(forest: Forest, leaf_smoothing: float = 0.0) -> TreeSum:
    """Return the mean of a forest's trees: class probabilities, or a number.

    ``leaf_smoothing`` is added to the weight of each class in each leaf. The last sum is kept with
    the forest, which cannot change: it takes longer to compute than to explain a row.
    """
    kept = forest.tree_sums
    if (found := kept.get(leaf_smoothing)) is not None:
        return found
    trees = _compute_sum(forest, leaf_smoothing)
    kept.clear()
    if trees.leaf_values.nbytes + trees.cover.nbytes <= _MAX_KEPT_BYTES:
        kept[leaf_smoothing] = trees
    return trees


def _compute_sum(forest: Forest, leaf_smoothing: float) -> TreeSum:
    values, covers = [], []
    for number in range(forest.n_trees):
        value, weight = _leaf_values(forest, number, leaf_smoothing)
        values.append(value)
        covers.append(_covers(forest, number, weight))
    return TreeSum(
        nodes=forest.nodes,
        tree_offsets=forest.tree_offsets,
        words=forest.words,
        tables=forest.tables,
        schema=forest.schema,
        leaf_values=np.concatenate(values),
        cover=np.concatenate(covers),
        scale=np.full(forest.n_trees, 1 / forest.n_trees),
    )


def _leaf_values(forest: Forest, number: int, leaf_smoothing: float) -> tuple[Array, Array]:
    """Return what the leaves of a tree predict, and their weights; zero for other nodes."""
    nodes = _nodes(forest, number)
    view = NodeView(nodes)
    is_leaf = view.kind == NodeTest.LEAF
    if not forest.n_classes:
        value = np.where(is_leaf, view.value, 0.0)[:, None]
        return value, np.where(is_leaf, view.child, 0).astype(np.float64)
    value = class_weights(forest, number) * forest.weight_unit[number]
    weight = value.sum(axis=1)
    value[is_leaf] += leaf_smoothing
    value[is_leaf] /= value[is_leaf].sum(axis=1, keepdims=True)
    return value, weight


def _covers(forest: Forest, number: int, weight: Array) -> Array:
    """Return the weight of each node of a tree from that of its leaves."""
    nodes = _nodes(forest, number)
    parent = parents(nodes, NodeView(nodes).kind == NodeTest.LEAF)
    return subtree_sums(weight[:, None], parent, depths(parent))[:, 0]


def _nodes(forest: Forest, number: int) -> Array:
    first, end = forest.tree_offsets[number : number + 2]
    return np.asarray(forest.nodes[first:end])

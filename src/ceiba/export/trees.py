"""The trees of a model, as other libraries and languages need them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.ensemble.common.votes import expand_classes
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.split import THRESHOLD_DTYPES
from ceiba.tree.model.tree import Tree


def forest_trees(model: Any) -> Iterator[Tree]:
    """Yield the trees of a random forest with the predictions of their leaves."""
    smoothing = getattr(model, "_leaf_smoothing", 0.0)
    for tree_index in range(model.forest_.n_trees):
        yield _smoothed(model.forest_.tree(tree_index), smoothing)


def _smoothed(tree: Tree, smoothing: float) -> Tree:
    """Return a tree with ``smoothing`` added to the weight of each class in each leaf."""
    if smoothing == 0:
        return tree
    # Leaves that share a row of probabilities may differ in weight: each gets a row of its own.
    nodes = tree.nodes.copy()
    NodeView(nodes).child[tree.is_leaf] = np.arange(tree.n_leaves)
    weights = tree.node_values[tree.is_leaf] + smoothing
    return replace(tree, nodes=nodes, leaves=weights / weights.sum(axis=1, keepdims=True))


def leaf_predictions(tree: Tree) -> Array:
    """Return the probabilities or the number that each leaf predicts, by node; 0 elsewhere."""
    leaf = np.flatnonzero(tree.is_leaf)
    values = np.zeros((tree.n_nodes, max(1, tree.leaves.shape[1])))
    values[leaf] = tree.leaf_values(leaf).reshape(len(leaf), -1)
    return values


def member_predictions(member: Any, classes: Array | None) -> Array:
    """Return the predictions of a tree in an ensemble, for all classes of the ensemble."""
    values = leaf_predictions(member.tree_)
    if classes is None:
        return values
    return expand_classes(values, np.asarray(member.classes_), classes)


def prediction_table(tree: Tree, values: Array) -> tuple[Array, Array]:
    """Return the distinct predictions of the leaves, and the row of each leaf; -1 elsewhere.

    ``values`` are predictions by node.
    """
    leaves = np.flatnonzero(tree.is_leaf)
    table, row = np.unique(values[leaves], axis=0, return_inverse=True)
    row_of_leaf = np.full(tree.n_nodes, -1)
    row_of_leaf[leaves] = row.reshape(-1)
    return table, row_of_leaf


@dataclass(frozen=True, slots=True, eq=False)
class ThresholdNodes:
    """Tests of all nodes as arrays, for those that float64 thresholds describe completely.

    Parameters
    ----------
    selected : ndarray of bool
        Nodes with two branches, by a threshold of numbers that float64 can hold or of the codes of
        an ordinal column. The other arrays are valid for these nodes.
    column : ndarray
    threshold : ndarray of float64
    missing_first : ndarray of bool
        Whether missing values go to the first branch.
    """

    selected: Array
    column: Array
    threshold: Array
    missing_first: Array

    @classmethod
    def of(cls, tree: Tree) -> ThresholdNodes:
        """Select the nodes of a tree."""
        threshold, column = tree.threshold, tree.column
        has_threshold = np.isin(tree.test, [int(test) for test in THRESHOLD_DTYPES])
        temporal = np.array([c.temporal for c in tree.schema])[column]
        exact = (tree.test == NodeTest.REAL) | np.isinf(threshold) | (np.abs(threshold) <= 2.0**52)
        selected = has_threshold & (tree.n_branches == 2) & ~temporal & exact
        return cls(selected, column, threshold, NodeView(tree.nodes).missing_branch == 0)

"""Validation error of every node of a tree as a leaf."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import class_indices
from ceiba.engine.contract import Batch
from ceiba.stats.labeled import Labeled
from ceiba.tree.grow.encoding import native_table
from ceiba.tree.model.traversal import add_to_ancestors
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.risk import (
    cost_matrix_of,
    is_classification,
    node_class_indices,
    prediction_values,
)


@dataclass(frozen=True, slots=True, eq=False)
class NodeErrors:
    """Statistic: errors of every node as a leaf, with number and weight of the rows.

    Parameters
    ----------
    errors : ndarray of shape (n_nodes,)
        Misclassified weight (with a cost matrix its cost), or weighted squared error.
    rows : int
    weight : float
    """

    errors: Array
    rows: int
    weight: float

    @classmethod
    def of(
        cls,
        batch: Batch[Labeled],
        tree: Tree,
        classes: Array | None = None,
        node_classes: Array | None = None,
        class_weight: Array | None = None,
    ) -> NodeErrors:
        """Compute the statistic of a batch.

        Parameters
        ----------
        batch : Batch of Labeled
        tree : Tree
        classes : ndarray or None
            Classes of the model; None for regression.
        node_classes : ndarray of shape (n_nodes,) or None
            Class index that each node predicts as a leaf.
        class_weight : ndarray of shape (n_classes,) or None
            Factor on the weight of the rows of each class.
        """
        rows = batch.rows
        weight, target = rows.weight, rows.target.values
        if classes is not None:
            target = encode_known_classes(rows, classes).astype(np.int32)
            weight = class_weighted(rows, target, class_weight)
        errors = validation_errors(tree, rows.table, target, weight, batch.threads, node_classes)
        total = float(len(rows)) if weight is None else float(weight.sum())
        return cls(errors, len(rows), total)

    def merge(self, other: NodeErrors) -> NodeErrors:
        """Return the statistic of the rows of both."""
        return NodeErrors(
            self.errors + other.errors, self.rows + other.rows, self.weight + other.weight
        )


def encode_known_classes(rows: Labeled, classes: Array) -> Array:
    """Encode the rows' labels as indices into the model's classes."""
    given = rows.target.classes
    assert given is not None
    present = np.bincount(rows.target.values, minlength=len(given)) > 0
    known = np.isin(given, classes)
    if (present & ~known).any():
        unknown = given[present & ~known].tolist()[0]
        raise ValueError(
            f"y contains the class {unknown!r}, which was not seen in fit; the classes of the tree "
            f"are {classes.tolist()!r}."
        )
    index = np.zeros(len(given), np.int64)
    index[known] = class_indices(given[known], classes)
    labels: Array = index[rows.target.values]
    return labels


def class_weighted(rows: Labeled, labels: Array, class_weight: Array | None) -> Array | None:
    """Multiply row weights by class weights; None where all weights are 1."""
    if class_weight is None:
        return rows.weight
    factors: Array = class_weight[labels]
    return factors if rows.weight is None else factors * rows.weight


def validation_errors(
    tree: Tree,
    table: Table,
    target: Array,
    weight: Array | None = None,
    threads: int = 1,
    node_classes: Array | None = None,
) -> Array:
    """Compute the error of every node as a leaf on the rows that reach it.

    Parameters
    ----------
    tree : Tree
    table : Table
        Rows under the schema of the tree.
    target : ndarray of shape (n_rows,)
        Class indices (int32) or numbers (float64).
    weight : ndarray of shape (n_rows,), optional
    threads : int
    node_classes : ndarray of shape (n_nodes,), optional
        Class index that each node predicts; by default the one of its training weights.

    Returns
    -------
    ndarray of shape (n_nodes,)
        The input of `ceiba.tree.prune.reduced_error.prune_by_errors`.
    """
    if tree.missing == "fractional":
        return _fractional_errors(tree, table, target, weight, node_classes)
    leaf = tree.apply(table, threads)
    if is_classification(tree):
        held_out = node_class_weights(tree, leaf, target, weight)
        return misclassification_errors(tree, held_out, node_classes)
    return squared_errors(tree, node_target_moments(tree, leaf, target, weight))


def _fractional_errors(
    tree: Tree, table: Table, target: Array, weight: Array | None, node_classes: Array | None
) -> Array:
    """Compute node errors where rows reach several leaves in fractions."""
    classification = is_classification(tree)
    value = prediction_values(tree)[:, 0]
    # Relative to the root's value, squares lose fewer digits.
    encoded = {"label": target.astype(np.int32)} if classification else {"value": target - value[0]}
    sums = np.zeros((tree.n_nodes, tree.leaves.shape[1] if classification else 3))
    _native.tree_add_leaf_weights(
        tree.native, tree.native_fractions, native_table(table, tree.columns), sums,
        weight=weight, **encoded,
    )  # fmt: skip
    sums = add_to_ancestors(tree, sums)
    if classification:
        return misclassification_errors(tree, sums, node_classes)
    return _squared_errors_from_sums(sums, value - value[0])


def node_class_weights(tree: Tree, leaf: Array, label: Array, weight: Array | None = None) -> Array:
    """Sum the weight of each class in every node of a classification tree.

    Parameters
    ----------
    tree : Tree
    leaf : ndarray of int of shape (n,)
        Leaf of each row, or of each fraction of a row.
    label : ndarray of int of shape (n,)
        Class index of each row.
    weight : ndarray of shape (n,), optional

    Returns
    -------
    ndarray of shape (n_nodes, n_classes)
    """
    n, k = tree.n_nodes, tree.leaves.shape[1]
    cell = leaf.astype(np.int64) * k + label
    at_leaves = np.bincount(cell, weight, minlength=n * k).reshape(n, k)
    return add_to_ancestors(tree, at_leaves.astype(np.float64))


def node_target_moments(tree: Tree, leaf: Array, y: Array, weight: Array | None = None) -> Array:
    """Compute weight, mean and centered squares of the targets in every node.

    Nodes are merged by centered moments (Chan, Golub & LeVeque 1983), never by raw second moments.

    Parameters
    ----------
    tree : Tree
        A regression tree.
    leaf : ndarray of int of shape (n,)
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,), optional

    Returns
    -------
    ndarray of shape (n_nodes, 3)
    """
    w = np.ones(len(y)) if weight is None else weight
    n = tree.n_nodes
    total = np.bincount(leaf, w, minlength=n)
    divisor = np.where(total > 0, total, 1.0)
    # Relative to the first row of the leaf, equal targets differ by exactly zero.
    origin = np.zeros(n)
    origin[leaf[::-1]] = y[::-1]
    shifted = y - origin[leaf]
    mean = np.bincount(leaf, w * shifted, minlength=n) / divisor
    squares = np.bincount(leaf, w * (shifted - mean[leaf]) ** 2, minlength=n)
    return _merge_moments_upward(tree, total, origin + mean, squares)


def _merge_moments_upward(tree: Tree, weight: Array, mean: Array, squares: Array) -> Array:
    w, m, s = weight.tolist(), mean.tolist(), squares.tolist()
    parents = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):  # children have greater indices than parents
        if w[node] == 0:
            continue
        parent = parents[node]
        total = w[parent] + w[node]
        shift = m[node] - m[parent] if w[parent] else 0.0
        fraction = w[node] / total
        m[parent] = m[parent] + shift * fraction if w[parent] else m[node]
        s[parent] += s[node] + shift * shift * w[parent] * fraction
        w[parent] = total
    return np.stack([w, m, s], axis=1)


def misclassification_errors(
    tree: Tree, held_out: Array, node_classes: Array | None = None
) -> Array:
    """Compute node errors from the class weights of the held-out rows."""
    costs = cost_matrix_of(tree)
    if costs is None:
        costs = 1.0 - np.eye(tree.leaves.shape[1])
    predicted = node_class_indices(tree) if node_classes is None else node_classes
    return np.asarray((held_out * costs.T[predicted]).sum(axis=1))


def squared_errors(tree: Tree, moments: Array) -> Array:
    """Compute the squared error of every node from what `node_target_moments` returns."""
    weight, mean, squares = moments.T
    return np.asarray(squares + weight * (mean - prediction_values(tree)[:, 0]) ** 2)


def errors_from_sums(tree: Tree, held_out: Array) -> Array:
    """Compute node errors from class weights, or sums of (w, w y, w y²).

    For targets far from zero `squared_errors` of `node_target_moments` is more accurate.
    """
    held_out = np.asarray(held_out, dtype=np.float64)
    shape = (tree.n_nodes, tree.leaves.shape[1] if is_classification(tree) else 3)
    if held_out.shape != shape:
        raise ValueError(f"held_out must have shape {shape}, got {held_out.shape}.")
    if is_classification(tree):
        return misclassification_errors(tree, held_out)
    return _squared_errors_from_sums(held_out, prediction_values(tree)[:, 0])


def _squared_errors_from_sums(sums: Array, value: Array) -> Array:
    w, wy, wyy = sums.T
    return np.asarray(np.maximum(wyy - 2 * value * wy + value * value * w, 0.0))

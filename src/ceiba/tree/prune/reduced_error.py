"""Reduced-error pruning on validation rows (Quinlan 1987), and the errors that it compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import class_indices
from ceiba.engine.contract import Batch
from ceiba.stats.labeled import Labeled
from ceiba.tree.grow.encoding import native_table
from ceiba.tree.model.edit import PrunedNodes
from ceiba.tree.model.traversal import add_to_ancestors, collapse_bottom_up, subtree_sums
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import cost_matrix_of

# Sums of weights in another order differ by less than this fraction of the largest error.
_RELATIVE_TOLERANCE = 1e-12


def prune_reduced_error(tree: Tree, held_out: Any) -> PrunedNodes:
    """Find the nodes that reduced-error pruning turns into leaves.

    Bottom-up, a node becomes a leaf if that does not raise the validation error of the tree: the
    misclassified weight (with a cost matrix its cost), or the squared error. A node that no
    validation row reaches becomes a leaf.

    Parameters
    ----------
    tree : Tree
        A grown tree.
    held_out : array of shape (n_nodes, n_classes) or (n_nodes, 3)
        Class weights of the validation rows in each node, as `node_class_weights` returns them;
        for regression the sums of w, w y and w y².

    Returns
    -------
    PrunedNodes
        Frames with the validation error of the whole tree, ``error_before`` and ``error_after``,
        as a fraction of the weight of the validation rows.

    References
    ----------
    Quinlan (1987), "Simplifying decision trees", International Journal of Man-Machine Studies 27.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = DecisionTreeClassifier().fit(iris.table, iris.y).tree_
    >>> len(prune_reduced_error(tree, tree.value))  # the training rows prune nothing
    0
    """
    held_out = np.asarray(held_out, dtype=np.float64)
    errors = errors_from_sums(tree, held_out)
    total = held_out[0].sum() if tree.is_classification else held_out[0, 0]
    return prune_by_errors(tree, errors, float(total))


def prune_by_errors(tree: Tree, errors: Array, total: float) -> PrunedNodes:
    """Find the same nodes from validation errors of nodes and the total weight."""
    if not total > 0:
        raise ValueError("pruning by 'reduced_error' requires validation rows of positive weight.")
    tolerance = _RELATIVE_TOLERANCE * float(errors.max())
    error = float(subtree_sums(tree, errors)[0])
    frames = []
    for leaf in collapse_bottom_up(tree, errors, tolerance):
        before, error = error, max(error + leaf.after - leaf.before, 0.0)
        frames.append(
            {
                "node": leaf.node,
                "error_before": before / total,
                "error_after": error / total,
                "n_leaves": leaf.n_leaves,
            }
        )
    return PrunedNodes.of(tree, frames)


@dataclass(frozen=True, slots=True, eq=False)
class NodeErrors:
    """Statistic: errors of every node as a leaf, with number and weight of the rows.

    The errors are the misclassified weight (with a cost matrix its cost), or weighted squared
    errors.
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

        ``classes`` are those of the model, None for regression; ``node_classes`` the class index
        that each node predicts as a leaf; ``class_weight`` the factor on the weight of the rows of
        each class.
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
    return np.asarray(index[rows.target.values])


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

    ``target`` holds class indices (int32) or numbers (float64). ``node_classes`` are the class
    indices that the nodes predict; by default those of their training weights.
    """
    if tree.missing == "fractional":
        return _fractional_errors(tree, table, target, weight, node_classes)
    leaf = tree.apply(table, threads)
    if tree.is_classification:
        held_out = node_class_weights(tree, leaf, target, weight)
        return misclassification_errors(tree, held_out, node_classes)
    return squared_errors(tree, node_target_moments(tree, leaf, target, weight))


def _fractional_errors(
    tree: Tree, table: Table, target: Array, weight: Array | None, node_classes: Array | None
) -> Array:
    """Compute node errors where rows reach several leaves in fractions."""
    classification = tree.is_classification
    value = tree.prediction_values[:, 0]
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

    ``leaf`` and ``label`` are those of each row, or of each fraction of a row; the sums have the
    shape (n_nodes, n_classes).
    """
    n, k = tree.n_nodes, tree.leaves.shape[1]
    cell = leaf.astype(np.int64) * k + label
    at_leaves = np.bincount(cell, weight, minlength=n * k).reshape(n, k)
    return add_to_ancestors(tree, at_leaves.astype(np.float64))


def node_target_moments(tree: Tree, leaf: Array, y: Array, weight: Array | None = None) -> Array:
    """Compute weight, mean and centered squares of the targets in every node, (n_nodes, 3).

    Nodes are merged by centered moments (Chan, Golub & LeVeque 1983), never by raw second moments.
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
    predicted = tree.node_classes if node_classes is None else node_classes
    return np.asarray((held_out * costs.T[predicted]).sum(axis=1))


def squared_errors(tree: Tree, moments: Array) -> Array:
    """Compute the squared error of every node from what `node_target_moments` returns."""
    weight, mean, squares = moments.T
    return np.asarray(squares + weight * (mean - tree.prediction_values[:, 0]) ** 2)


def errors_from_sums(tree: Tree, held_out: Array) -> Array:
    """Compute node errors from class weights, or sums of (w, w y, w y²).

    For targets far from zero `squared_errors` of `node_target_moments` is more accurate.
    """
    held_out = np.asarray(held_out, dtype=np.float64)
    shape = (tree.n_nodes, tree.leaves.shape[1] if tree.is_classification else 3)
    if held_out.shape != shape:
        raise ValueError(f"held_out must have shape {shape}, got {held_out.shape}.")
    if tree.is_classification:
        return misclassification_errors(tree, held_out)
    return _squared_errors_from_sums(held_out, tree.prediction_values[:, 0])


def _squared_errors_from_sums(sums: Array, value: Array) -> Array:
    w, wy, wyy = sums.T
    return np.asarray(np.maximum(wyy - 2 * value * wy + value * value * w, 0.0))

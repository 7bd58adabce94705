"""Reduced-error pruning on validation rows (Quinlan 1987), and the errors that it compares."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import class_indices
from ceiba.data.warn import warn_user
from ceiba.engine.contract import AdditiveStatistic, Batch
from ceiba.stats.labeled import LabeledRows
from ceiba.tree.grow.encoding import native_table
from ceiba.tree.model.subtrees import add_to_ancestors, collapse_bottom_up, subtree_sums
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import cost_matrix_of

# Sums of weights in another order differ by less than this fraction of the largest error.
_RELATIVE_TOLERANCE = 1e-12
# Weights and means of the same rows differ by less than this, in fixed point and in floats.
_SAME_ROWS_TOLERANCE = 1e-9


class TrainingRowsWarning(UserWarning):
    """Validation rows seem to be the training rows, which prune next to nothing."""


def reduced_error_frames(tree: Tree, errors: Array, total: float) -> list[dict[str, Any]]:
    """Return a trace frame for each node that reduced-error pruning makes a leaf.

    Bottom-up, a node becomes a leaf if that does not raise the error of the tree on the validation
    rows; a node that none of them reaches does so, too. ``errors`` are those of every node as a
    leaf, ``total`` the weight of all validation rows.
    """
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
    return frames


@dataclass(frozen=True, slots=True, eq=False)
class NodeErrors(AdditiveStatistic):
    """Statistic: errors of every node as a leaf, with number and weight of the rows.

    The errors are the misclassified weight (with a cost matrix its cost), or weighted squared
    errors. ``node_sums`` are the weights of the classes in every node, or the weight and the
    weighted sum of the targets.
    """

    errors: Array
    node_sums: Array
    rows: int
    weight: float

    @classmethod
    def of(
        cls,
        batch: Batch[LabeledRows],
        tree: Tree,
        classes: Array | None = None,
        node_classes: Array | None = None,
        class_weight: Array | None = None,
    ) -> NodeErrors:
        """Compute the statistic of a batch.

        ``classes`` are those of the model, None for regression; ``node_classes`` the class index
        that each node predicts as a leaf, by default that of its training weights.
        """
        rows = batch.rows
        weight, target = rows.weight, rows.target.values
        if classes is not None:
            target = encode_known_classes(rows, classes).astype(np.int32)
            weight = apply_class_weight(rows, target, class_weight)
        errors, sums = _node_errors(tree, rows.table, target, weight, batch.threads, node_classes)
        total = float(len(rows)) if weight is None else float(weight.sum())
        return cls(errors, sums, len(rows), total)


def warn_of_training_rows(tree: Tree, held_out: NodeErrors, medians: bool) -> None:
    """Warn if every node has the same weights and targets among the rows as in training.

    Nothing else is compared, and no row is stored: the rows are routed for their errors anyway. So
    permuted, reloaded and partitioned training rows are found, too. Other rows of the same weights
    in every node have the same effect. ``medians``: the tree stores no means to compare.
    """
    if tree.is_classification:
        given, grown = held_out.node_sums, tree.node_values
    else:
        given = held_out.node_sums[:, : 1 if medians else 2]
        weight = tree.weight[:, None]
        grown = np.concatenate([weight, weight * tree.node_values], axis=1)[:, : given.shape[1]]
    tolerance = _SAME_ROWS_TOLERANCE * np.abs(grown).max(axis=0)
    if tree.n_nodes > 1 and np.all(np.abs(given - grown) <= tolerance):
        warn_user(
            "pruning by 'reduced_error' has no effect on the training rows: the validation rows "
            "have the same weights and targets in every node as the training rows. Pass rows that "
            "the tree was not grown from, or set pruning='reduced_error', which holds some out in "
            "fit.",
            TrainingRowsWarning,
        )


def encode_known_classes(rows: LabeledRows, classes: Array) -> Array:
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


def apply_class_weight(
    rows: LabeledRows, labels: Array, class_weight: Array | None
) -> Array | None:
    """Multiply row weights by class weights; None where all weights are 1."""
    if class_weight is None:
        return rows.weight
    factors: Array = class_weight[labels]
    return factors if rows.weight is None else factors * rows.weight


def _node_errors(
    tree: Tree,
    table: Table,
    target: Array,
    weight: Array | None,
    threads: int,
    node_classes: Array | None,
) -> tuple[Array, Array]:
    """Compute the error of every node as a leaf on the rows that reach it, and its sums."""
    if tree.missing == "fractional":
        return _fractional_errors(tree, table, target, weight, node_classes)
    leaf = tree.apply(table, threads)
    if tree.is_classification:
        held_out = node_class_weights(tree, leaf, target, weight)
        return misclassification_errors(tree, held_out, node_classes), held_out
    node_weight, mean, squares = node_target_moments(tree, leaf, target, weight).T
    errors = squares + node_weight * (mean - tree.prediction_values[:, 0]) ** 2
    return errors, np.stack([node_weight, node_weight * mean], axis=1)


def _fractional_errors(
    tree: Tree, table: Table, target: Array, weight: Array | None, node_classes: Array | None
) -> tuple[Array, Array]:
    """Compute node errors where rows reach several leaves in fractions, and the nodes' sums."""
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
        return misclassification_errors(tree, sums, node_classes), sums
    weight_sum, y_sum, yy_sum = sums.T
    shifted = value - value[0]
    errors = yy_sum - 2 * shifted * y_sum + shifted * shifted * weight_sum
    sums = np.stack([weight_sum, y_sum + value[0] * weight_sum], axis=1)
    return np.maximum(errors, 0.0), sums


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

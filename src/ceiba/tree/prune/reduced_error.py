"""Reduced-error pruning on validation rows (Quinlan 1987)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.edit import PrunedNodes
from ceiba.tree.model.traversal import collapse_bottom_up, subtree_sums
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.node_errors import errors_from_sums
from ceiba.tree.prune.risk import is_classification

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
        Class weights of the validation rows in each node, as
        `ceiba.tree.prune.node_errors.node_class_weights` returns them; for regression the sums of
        w, w y and w y².

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
    total = held_out[0].sum() if is_classification(tree) else held_out[0, 0]
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

"""Pessimistic pruning from the training rows alone, as in C4.5 (Quinlan 1993)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from ceiba._typing import Array
from ceiba.tree.model.edit import PrunedNodes, frames_from_columns
from ceiba.tree.model.traversal import collapse_bottom_up, subtree_sums, topmost
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.risk import is_classification, normalized_costs, resubstitution_errors

# C4.5's own constants: a leaf may be estimated to make 0.1 errors more than the subtree that it
# replaces, and training errors that differ by less than 0.001 are equal.
_SLACK = 0.1
_TOLERANCE = 1e-3


def added_errors(n: Any, errors: Any, confidence: float) -> Array:
    """Compute the errors to add to those seen in training for a pessimistic estimate.

    The upper confidence limit of a binomial proportion, times the rows, minus the errors seen.
    Without an error the limit is exact; from one error on it is the normal limit with a continuity
    correction; between zero and one error, and from half a row below n on, it is interpolated.

    Parameters
    ----------
    n : array of float
        Rows of each leaf, or their weight.
    errors : array of float
        Misclassified rows of each leaf, or their weight.
    confidence : float
        C4.5's CF in (0, 0.5]: the smaller, the more errors are added.

    Returns
    -------
    ndarray

    References
    ----------
    Quinlan (1993), "C4.5: programs for machine learning", section 4.2.

    Examples
    --------
    >>> added_errors([6, 9, 1], [0, 0, 0], 0.25).round(3)
    array([1.238, 1.285, 0.75 ])
    """
    check_confidence(confidence)
    n, errors = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(errors, np.float64))
    # -expm1(log(CF) / n) is 1 - CF^(1/n) without the rounding of large n; 0 for empty leaves.
    positive = np.maximum(n, np.finfo(np.float64).tiny)
    without_error = -n * np.expm1(np.log(confidence) / positive)
    with_error = _normal_limit(n, np.maximum(errors, 1.0), confidence)
    fraction = np.minimum(errors, 1.0)
    added = without_error + fraction * (with_error - without_error)
    return np.asarray(np.where(n > 0, added, 0.0))


def _normal_limit(n: Array, errors: Array, confidence: float) -> Array:
    """Compute the added errors where at least one was seen."""
    z = float(-ndtri(confidence))
    almost_all = errors + 0.5 >= n
    rows = np.where(almost_all, errors + 1, n)
    f = (errors + 0.5) / rows
    deviation = np.sqrt(f * (1 - f) / rows + (z / (2 * rows)) ** 2)
    limit = (f + z * z / (2 * rows) + z * deviation) / (1 + z * z / rows)
    return np.where(almost_all, np.maximum(n - errors, 0.0), limit * rows - errors)


def check_confidence(confidence: float) -> None:
    """Raise ValueError unless a confidence is in (0, 0.5]."""
    if not 0 < confidence <= 0.5:
        raise ValueError(f"confidence must be a float in (0, 0.5], got {confidence!r}.")


def prune_pessimistic(tree: Tree, confidence: float = 0.25) -> PrunedNodes:
    """Find the nodes that C4.5's pruning without subtree raising turns into leaves.

    Bottom-up, a node becomes a leaf if its pessimistic error is at most 0.1 errors above that of
    its subtree, as pruned so far.

    Parameters
    ----------
    tree : Tree
        A grown classification tree.
    confidence : float
        C4.5's CF in (0, 0.5]: the smaller, the smaller the pruned tree.

    Returns
    -------
    PrunedNodes
        Frames with the pessimistic error of the subtree, ``estimate_before``, and of the leaf,
        ``estimate_after``, and the training ``errors`` of the leaf.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> tree = DecisionTreeClassifier(criterion="entropy").fit(vote.table, vote.y).tree_
    >>> len(prune_pessimistic(tree, 0.25)) > 0
    True
    """
    errors = _training_errors(tree)
    estimate = errors + added_errors(tree.weight, errors, confidence)
    frames = [
        {
            "node": leaf.node,
            "errors": float(errors[leaf.node]),
            "estimate_before": leaf.before,
            "estimate_after": leaf.after,
            "n_leaves": leaf.n_leaves,
        }
        for leaf in collapse_bottom_up(tree, estimate, _SLACK)
    ]
    return PrunedNodes.of(tree, frames)


def prune_collapsible(tree: Tree) -> PrunedNodes:
    """Find the subtrees that C4.5 collapses: a leaf makes no more training errors.

    Top-down; nothing below a collapsed node is considered.

    Parameters
    ----------
    tree : Tree
        A grown classification tree.

    Returns
    -------
    PrunedNodes
        Frames with the training errors of the subtree, ``errors_before``, and of the leaf,
        ``errors_after``.
    """
    errors = _training_errors(tree)
    subtree_errors = subtree_sums(tree, errors)
    subtree_leaves = subtree_sums(tree, np.ones(tree.n_nodes, np.int64))
    collapsible = ~tree.is_leaf & (subtree_errors >= errors - _TOLERANCE)
    nodes = topmost(tree, np.flatnonzero(collapsible))
    columns = {
        "node": nodes,
        "errors_before": subtree_errors[nodes],
        "errors_after": errors[nodes],
        "n_leaves": tree.n_leaves - np.cumsum(subtree_leaves[nodes] - 1),
    }
    return PrunedNodes.of(tree, frames_from_columns(columns))


def _training_errors(tree: Tree) -> Array:
    """Return resubstitution errors of nodes; costs are in units of their mean."""
    check_classification(tree)
    return resubstitution_errors(tree, normalized_costs(tree))


def check_classification(tree: Tree) -> None:
    """Raise ValueError for a regression tree."""
    if not is_classification(tree):
        raise ValueError(
            "pruning by 'pessimistic' requires a classification tree; prune a regression tree by "
            "'cost_complexity' or 'reduced_error'."
        )

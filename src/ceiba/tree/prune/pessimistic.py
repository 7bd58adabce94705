"""Pruning by a pessimistic estimate of errors, from the training rows alone, as C4.5 does."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from ceiba._typing import Array
from ceiba.tree.model.edit import Cuts, frames_of
from ceiba.tree.model.traversal import new_leaves, subtree_sums, topmost
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.risk import is_of_classes, leaf_errors, unit_costs

# By how many errors a leaf may look worse than the subtree that it replaces, and how much of a
# training error counts as none: C4.5's own numbers.
_SLACK = 0.1
_ALIKE = 1e-3


def added_errors(n: Any, errors: Any, confidence: float) -> Array:
    """How many errors a pessimist adds to those seen among training rows.

    The upper limit of a binomial share at ``confidence``, times the rows, minus the errors seen.
    Without an error it is exact; from one error on it is the normal limit with a correction for
    continuity; between them, and from half a row below n on, it is interpolated.

    Parameters
    ----------
    n : array of float
        Rows of each leaf, or their weight.
    errors : array of float
        Those that it misclassifies.
    confidence : float
        C4.5's CF, above 0 and at most 0.5: the smaller, the more is added.

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
    if not 0 < confidence <= 0.5:
        raise ValueError(f"confidence={confidence!r}: give a number above 0 and up to 0.5")
    n, errors = np.broadcast_arrays(np.asarray(n, np.float64), np.asarray(errors, np.float64))
    # -expm1(log(CF) / n) is 1 - CF^(1/n) without the rounding of large n; no rows, no errors.
    some = np.maximum(n, np.finfo(np.float64).tiny)
    none = -n * np.expm1(np.log(confidence) / some)
    one = _normal_bound(n, np.maximum(errors, 1.0), confidence)
    share = np.minimum(errors, 1.0)
    return np.asarray(np.where(n > 0, none + share * (one - none), 0.0))


def _normal_bound(n: Array, errors: Array, confidence: float) -> Array:
    """Errors added where at least one was seen."""
    z = float(-ndtri(confidence))
    near = errors + 0.5 >= n
    rows = np.where(near, errors + 1, n)
    f = (errors + 0.5) / rows
    spread = np.sqrt(f * (1 - f) / rows + (z / (2 * rows)) ** 2)
    bound = (f + z * z / (2 * rows) + z * spread) / (1 + z * z / rows)
    return np.where(near, np.maximum(n - errors, 0.0), bound * rows - errors)


def pessimistic_cuts(tree: Tree, confidence: float = 0.25) -> Cuts:
    """Where C4.5's error-based pruning cuts a tree, without raising of subtrees.

    From the leaves up, a node becomes a leaf if the errors that a pessimist expects of it are at
    most 0.1 more than those of the subtree, as pruned so far.

    Parameters
    ----------
    tree : Tree
        A grown tree of classes.
    confidence : float
        C4.5's CF, above 0 and at most 0.5: the smaller, the more is cut.

    Returns
    -------
    Cuts
        Its frames have the estimates of the subtree, ``estimate_before``, and of the leaf,
        ``estimate_after``, and the ``errors`` seen in training.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> tree = DecisionTreeClassifier(criterion="entropy").fit(vote.table, vote.y).tree_
    >>> len(pessimistic_cuts(tree, 0.25)) > 0
    True
    """
    wrong = _wrong(tree)
    estimate = wrong + added_errors(tree.weight, wrong, confidence)
    frames = [
        {
            "node": leaf.node,
            "errors": float(wrong[leaf.node]),
            "estimate_before": leaf.before,
            "estimate_after": leaf.after,
            "n_leaves": leaf.n_leaves,
        }
        for leaf in new_leaves(tree, estimate, _SLACK)
    ]
    return Cuts.of(tree, frames)


def collapse_cuts(tree: Tree) -> Cuts:
    """Where C4.5 collapses a grown tree: subtrees that err as often in training as a leaf would.

    From the root down; nothing below a node that became a leaf is looked at.

    Parameters
    ----------
    tree : Tree
        A grown tree of classes.

    Returns
    -------
    Cuts
        Its frames have the training errors of the subtree, ``errors_before``, and of the leaf,
        ``errors_after``.
    """
    wrong = _wrong(tree)
    below = subtree_sums(tree, wrong)
    width = subtree_sums(tree, np.ones(tree.n_nodes, np.int64))
    alike = ~tree.is_leaf & (below >= wrong - _ALIKE)
    nodes = topmost(tree, np.flatnonzero(alike))
    columns = {
        "node": nodes,
        "errors_before": below[nodes],
        "errors_after": wrong[nodes],
        "n_leaves": tree.n_leaves - np.cumsum(width[nodes] - 1),
    }
    return Cuts.of(tree, frames_of(columns))


def _wrong(tree: Tree) -> Array:
    """Weight that every node misclassifies as a leaf; with costs, in mistakes of average cost."""
    if not is_of_classes(tree):
        raise ValueError(
            "the pessimistic estimate counts wrong classes, and this tree predicts numbers: prune "
            "it by 'cost_complexity' or 'reduced_error'"
        )
    return leaf_errors(tree, unit_costs(tree))

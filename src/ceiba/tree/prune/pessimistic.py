"""Pessimistic pruning from the training rows alone, as in C4.5 (Quinlan 1993)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from ceiba import _native
from ceiba._native import LeafReason
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.tree.grow.encoding import native_table
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.subtrees import (
    LEAF_DEFAULTS,
    collapse_bottom_up,
    frames_from_columns,
    subtree_sums,
    take_surrogates,
    topmost,
)
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import normalized_costs, resubstitution_errors

# C4.5's own constants: a leaf may be estimated to make 0.1 errors more than the subtree that it
# replaces, and training errors that differ by less than 0.001 are equal.
_SLACK = 0.1
_TOLERANCE = 1e-3
_ESTIMATES = ("errors_leaf", "errors_tree", "errors_branch")


def added_errors(n: Any, errors: Any, confidence: float) -> Array:
    """Compute the errors to add to those seen in training for a pessimistic estimate.

    They are ``n``, the rows of a leaf, times the upper confidence limit of its error rate, minus
    its ``errors`` (Quinlan 1993, "C4.5: programs for machine learning", section 4.2). Without an
    error the limit is exact; from one error on it is the normal limit with a continuity
    correction; between zero and one error it is interpolated; from n - 0.5 errors on all rows
    count as errors. ``confidence`` is C4.5's CF in (0, 0.5]: the smaller, the more are added.

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


def pessimistic_frames(tree: Tree, confidence: float) -> list[dict[str, Any]]:
    """Return a trace frame for each node that pessimistic pruning makes a leaf.

    Bottom-up, a node becomes a leaf if its pessimistic error, in training errors, is at most 0.1
    above that of its subtree, as pruned so far.
    """
    errors = _training_errors(tree)
    estimate = errors + added_errors(tree.weight, errors, confidence)
    return [
        {
            "node": leaf.node,
            "errors": float(errors[leaf.node]),
            "estimate_before": leaf.before,
            "estimate_after": leaf.after,
            "n_leaves": leaf.n_leaves,
        }
        for leaf in collapse_bottom_up(tree, estimate, _SLACK)
    ]


def collapsed_frames(tree: Tree) -> list[dict[str, Any]]:
    """Return a trace frame for each subtree that C4.5 collapses before it prunes.

    A subtree becomes a leaf if that makes no more training errors. Nodes are tested from the root
    down, and none below a collapsed one.
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
    return frames_from_columns(columns)


def _training_errors(tree: Tree) -> Array:
    """Return resubstitution errors of nodes; costs are in units of their mean."""
    return resubstitution_errors(tree, normalized_costs(tree))


def raise_subtrees(
    tree: Tree, table: Table, labels: Array, weight: Array | None, confidence: float, threads: int
) -> tuple[Tree, list[dict[str, Any]]]:
    """Return the tree pruned by pessimistic errors with subtree raising, and a frame per change.

    Bottom-up, a node becomes a leaf, or is replaced by its heaviest branch, which then gets all of
    its rows, if the pessimistic error rises by 0.1 errors at most. A raised branch is pruned again
    (Quinlan 1993, chapter 4). The rows are those that the tree was grown from. Impurities and gains
    stay those of the grown tree.
    """
    config = _native.ErrorPruneConfig(
        n_classes=tree.leaves.shape[1],
        confidence=confidence,
        deviate=float(-ndtri(confidence)),
        subtree_raising=True,
        fractional=tree.missing == "fractional",
        costs=normalized_costs(tree),
    )
    found = _native.tree_prune_by_errors(
        config,
        tree.native,
        tree.n_branches,
        native_table(table, tree.columns),
        np.ascontiguousarray(labels, np.uint16),
        None if weight is None else np.ascontiguousarray(weight, np.float64),
        threads,
    )
    return _build_tree(tree, found), _build_frames(tree.n_leaves, found)


def _build_tree(tree: Tree, found: dict[str, Array]) -> Tree:
    """Build the pruned tree; ``origin`` indexes the grown tree, ``child`` the new."""
    origin, leaf = found["origin"], found["child"] < 0
    nodes: Array = tree.nodes[origin]
    nodes[leaf] = 0
    NodeView(nodes).child[:] = np.where(leaf, np.cumsum(leaf) - 1, found["child"])
    side: dict[str, Any] = {
        name: getattr(tree, name)[origin] for name in ("impurity", *LEAF_DEFAULTS)
    }
    for name, number in LEAF_DEFAULTS.items():
        side[name][leaf & ~tree.is_leaf[origin]] = number
    side["reason"] = _leaf_reasons(tree, found)
    side |= {"n_rows": found["n_rows"], "weight": found["weight"], "node_values": found["value"]}
    side |= take_surrogates(tree, origin, leaf)
    pruned = replace(tree, nodes=nodes, **side)
    pruned = replace(pruned, depth=_depths(pruned.parent))
    return pruned.with_leaves(pruned.prediction_values[leaf])


def _leaf_reasons(tree: Tree, found: dict[str, Array]) -> Array:
    """Return why each node is a leaf; raising adds rows to pure or empty leaves."""
    origin, leaf = found["origin"], found["child"] < 0
    reason: Array = tree.reason[origin]
    now_impure = (reason == LeafReason.PURE) & ((found["value"] > 0).sum(axis=1) > 1)
    now_filled = (reason == LeafReason.EMPTY) & (found["weight"] > 0)
    reason[leaf & (~tree.is_leaf[origin] | now_impure | now_filled)] = LeafReason.PRUNED
    return reason


def _depths(parent: Array) -> Array:
    depths = [0]
    for above in parent[1:].tolist():
        depths.append(depths[above] + 1)
    return np.array(depths, np.int32)


def _build_frames(n_leaves: int, found: dict[str, Array]) -> list[dict[str, Any]]:
    columns = {"node": found["node"], "replaced_by": found["replaced_by"]}
    columns |= {name: found[name] for name in _ESTIMATES}
    frames = frames_from_columns(
        columns | {"n_leaves": n_leaves - np.cumsum(found["leaves_removed"])}
    )
    for frame in frames:
        raised = frame["replaced_by"] >= 0
        frame["kind"] = "raised" if raised else "leaf"
        frame["replaced_by"] = frame["replaced_by"] if raised else None
    return frames

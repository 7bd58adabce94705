"""Error-based pruning with subtree raising, as in C4.5 (Quinlan 1993)."""

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
from ceiba.tree.model.edit import LEAF_DEFAULTS, frames_from_columns
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.pessimistic import check_classification, check_confidence
from ceiba.tree.prune.risk import normalized_costs, prediction_values

_ESTIMATES = ("errors_leaf", "errors_tree", "errors_branch")


def prune_error_based(
    tree: Tree,
    table: Table,
    labels: Array,
    weight: Array | None,
    confidence: float,
    *,
    subtree_raising: bool,
    threads: int = 1,
) -> tuple[Tree, list[dict[str, Any]]]:
    """Prune a classification tree by pessimistic errors, with subtree raising.

    Bottom-up, a node becomes a leaf, or is replaced by its heaviest branch, which then gets all of
    its rows, if the pessimistic error rises by 0.1 errors at most. A raised branch is pruned again.

    Parameters
    ----------
    tree : Tree
        A grown tree; it is not changed.
    table : Table
        The rows that it was grown from, under its schema.
    labels : ndarray of uint16
        Class index of each row.
    weight : ndarray of float64 or None
        Weights of the rows, None for 1; rows of weight zero are ignored.
    confidence : float
        C4.5's CF in (0, 0.5]: the smaller, the smaller the pruned tree.
    subtree_raising : bool
        Whether a branch may replace its parent.
    threads : int

    Returns
    -------
    tree : Tree
        Its leaves hold class weights. Class weights, rows and depths of the nodes are those of
        the new tree; impurities and gains are those of the grown tree.
    frames : list of dict
        In order of pruning: ``node``, ``kind`` ("leaf" or "raised"), ``replaced_by`` (the branch
        that replaces the node, or None), the pessimistic errors of the node as a leaf, as a subtree
        and of its heaviest branch (``errors_leaf``, ``errors_tree``, ``errors_branch``; infinity
        without subtree raising), and ``n_leaves`` of the tree afterwards. Node indices are those of
        the grown tree.

    References
    ----------
    Quinlan (1993), "C4.5: programs for machine learning", chapter 4.
    """
    check_confidence(confidence)
    check_classification(tree)
    config = _native.ErrorPruneConfig(
        n_classes=tree.leaves.shape[1],
        confidence=confidence,
        deviate=float(-ndtri(confidence)),
        subtree_raising=subtree_raising,
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
    side |= {name: found[name] for name in ("n_rows", "weight", "value")}
    side |= _kept_surrogates(tree, origin, leaf)
    pruned = replace(tree, nodes=nodes, **side)
    pruned = replace(pruned, depth=_depths(pruned.parent))
    return pruned.with_leaves(prediction_values(pruned)[leaf])


def _leaf_reasons(tree: Tree, found: dict[str, Array]) -> Array:
    """Return why each node is a leaf; raising adds rows to pure or empty leaves."""
    origin, leaf = found["origin"], found["child"] < 0
    reason: Array = tree.reason[origin]
    now_impure = (reason == LeafReason.PURE) & ((found["value"] > 0).sum(axis=1) > 1)
    now_filled = (reason == LeafReason.EMPTY) & (found["weight"] > 0)
    reason[leaf & (~tree.is_leaf[origin] | now_impure | now_filled)] = LeafReason.PRUNED
    return reason


def _kept_surrogates(tree: Tree, origin: Array, leaf: Array) -> dict[str, Array]:
    """Return the surrogates of the nodes that are still split."""
    if not len(tree.first_surrogate):
        return {}
    first = tree.first_surrogate[origin]
    count = np.where(leaf, 0, tree.first_surrogate[origin + 1] - first)
    ends = np.append(0, np.cumsum(count))
    index = np.repeat(first - ends[:-1], count) + np.arange(ends[-1])
    names = ("surrogates", "agreement", "adjusted_agreement")
    return {name: getattr(tree, name)[index] for name in names} | {"first_surrogate": ends}


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

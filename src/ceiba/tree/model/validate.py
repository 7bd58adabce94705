"""Checks that the arrays of a tree, which may come from a file, fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ceiba import _native
from ceiba.tree.model.split import METHODS

if TYPE_CHECKING:
    from ceiba.tree.model.tree import Tree

REASONS = (
    "split", "pure", "impurity", "max_depth", "min_samples_split", "no_split",
    "min_samples_leaf", "min_impurity_decrease", "max_leaf_nodes", "no_gain", "empty", "pruned",
    "not_kept",
)  # fmt: skip
# Arrays with one entry per node.
NODE_ARRAYS = (
    "n_rows", "weight", "impurity", "gain", "reason", "method", "ties", "depth",
    "runner_up_column", "runner_up_gain", "value",
)  # fmt: skip


def check_tree(tree: Tree) -> None:
    """Check what the kernels rely on: every path ends in a leaf, and every index is valid."""
    if tree.n_nodes == 0:
        raise ValueError("nodes must have at least one row, got none.")
    if tree.reason.max() >= len(REASONS) or tree.method.max() >= len(METHODS):
        raise ValueError("reason and method must be codes of Tree.reasons and Tree.methods.")
    defect = _native.tree_check(
        tree.nodes, tree.words, tree.tables, tree.columns.types, tree.columns.n_categories
    )
    if defect:
        raise ValueError(defect)
    if tree.depth[0] or not (tree.depth[1:] == tree.depth[tree.parent[1:]] + 1).all():
        raise ValueError("depth must be 0 for the root and one more than its parent's elsewhere.")
    rows = tree.child[tree.is_leaf]
    if tree.leaves.shape[1] and not (rows.min() >= 0 and rows.max() < len(tree.leaves)):
        raise ValueError("every leaf must name a row of leaves.")
    check_costs(tree)
    check_missing(tree)


def check_costs(tree: Tree) -> None:
    """Check the cost matrix."""
    n_classes = tree.leaves.shape[1]
    if len(tree.costs) and tree.costs.shape != (n_classes, n_classes):
        raise ValueError(f"costs must have shape {(n_classes, n_classes)}, got {tree.costs.shape}.")
    if not (np.isfinite(tree.costs) & (tree.costs >= 0)).all():
        raise ValueError("costs must be finite and not negative.")


def check_missing(tree: Tree) -> None:
    """Check the routing of missing values."""
    if len(tree.surrogates) and tree.missing != "surrogate":
        raise ValueError(f"surrogates require missing='surrogate', got {tree.missing!r}.")
    if tree.missing != "branch":
        defect = _native.tree_check_presence(
            tree.nodes, tree.words, tree.tables, tree.columns.n_categories
        )
        if defect:
            raise ValueError(defect)
    if len(tree.surrogates) == 0:
        return
    defect = _native.tree_check_surrogates(
        tree.nodes, tree.words, tree.tables, tree.surrogates, tree.first_surrogate,
        tree.columns.types, tree.columns.n_categories,
    )  # fmt: skip
    if defect:
        raise ValueError(defect)

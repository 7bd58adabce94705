"""Checks that the arrays of a tree, which may come from a file, fit together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ceiba._native import LeafReason
from ceiba.base.record import check_values
from ceiba.tree.model.split import METHODS

if TYPE_CHECKING:
    from ceiba.tree.model.tree import Tree

REASONS = tuple(reason.name.lower() for reason in LeafReason)
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
        raise ValueError(
            f"reason and method must be codes below {len(REASONS)} and {len(METHODS)}, got "
            f"{tree.reason.max()} and {tree.method.max()}."
        )
    _raise_if(tree.native.defect())
    expected = np.where(tree.parent < 0, 0, tree.depth[tree.parent] + 1)
    rule = "0 for the root and one more than its parent's elsewhere"
    check_values("depth", tree.depth, tree.depth == expected, rule)
    rows = tree.child[tree.is_leaf]
    if tree.leaves.shape[1] and not (rows.min() >= 0 and rows.max() < len(tree.leaves)):
        raise ValueError(
            f"every leaf must name one of the {len(tree.leaves)} rows of leaves, got indices from "
            f"{rows.min()} to {rows.max()}."
        )
    n_classes = tree.leaves.shape[1]
    if len(tree.costs) and tree.costs.shape != (n_classes, n_classes):
        raise ValueError(f"costs must have shape {(n_classes, n_classes)}, got {tree.costs.shape}.")
    valid = np.isfinite(tree.costs) & (tree.costs >= 0)
    check_values("costs", tree.costs, valid, "finite and not negative")
    if len(tree.surrogates) and tree.missing != "surrogate":
        raise ValueError(f"surrogates require missing='surrogate', got {tree.missing!r}.")
    if tree.missing != "branch":
        _raise_if(tree.native.categories_defect())
    _raise_if(tree.native.surrogates_defect())


def _raise_if(defect: str | None) -> None:
    if defect is not None:
        raise ValueError(defect)

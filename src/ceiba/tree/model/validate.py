"""Checks that the arrays of a tree, which may come from a file, fit together."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ceiba._native import LeafReason, SearchMethod
from ceiba.base.record import check_values
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.split import METHODS

if TYPE_CHECKING:
    from ceiba.tree.model.tree import Tree

REASONS = tuple(reason.name.lower() for reason in LeafReason)
# Probabilities of 65,535 classes sum to 1 with a smaller error.
MAX_ROUNDING = 1e-9
# Arrays with one entry per node.
NODE_ARRAYS = (
    "n_rows", "weight", "impurity", "gain", "reason", "method", "ties", "depth",
    "runner_up_column", "runner_up_gain", "node_values",
)  # fmt: skip


def check_tree(tree: Tree, check_predictions: Callable[[Tree], None] | None = None) -> None:
    """Check what the kernels rely on: every path ends in a leaf, and every index is valid.

    ``check_predictions`` checks what leaves predict; by default one target.
    """
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
    (check_predictions or _check_predictions)(tree)
    _check_descriptions(tree)
    if len(tree.surrogates) and tree.missing != "surrogate":
        raise ValueError(f"surrogates require missing='surrogate', got {tree.missing!r}.")
    if tree.missing != "branch":
        _raise_if(tree.native.categories_defect())
    _raise_if(tree.native.surrogates_defect())


def _check_predictions(tree: Tree) -> None:
    """Check what leaves predict, and the weights and costs that predictions are computed with."""
    if tree.is_classification:
        _check_probabilities(tree)
    else:
        own = NodeView(tree.nodes).value[tree.is_leaf]
        check_values("the predictions of the leaves", own, np.isfinite(own), "finite")
    n_classes = tree.leaves.shape[1]
    if len(tree.costs) and tree.costs.shape != (n_classes, n_classes):
        raise ValueError(f"costs must have shape {(n_classes, n_classes)}, got {tree.costs.shape}.")
    valid = np.isfinite(tree.costs) & (tree.costs >= 0)
    check_values("costs", tree.costs, valid, "finite and not negative")
    valid = np.isfinite(tree.weight) & (tree.weight >= 0)
    check_values("weight", tree.weight, valid, "finite and not negative")
    if tree.missing == "fractional":
        # A missing value is divided among the branches in proportion to their weights.
        branches = np.zeros(tree.n_nodes)
        np.add.at(branches, tree.parent[1:], tree.weight[1:])
        rule = "positive in at least one branch of each node"
        check_values("weight", tree.weight, tree.is_leaf | (branches > 0), rule)


def check_leaf_rows(tree: Tree) -> None:
    """Check that every leaf names a row of ``leaves``."""
    rows = tree.child[tree.is_leaf]
    if not (rows.min() >= 0 and rows.max() < len(tree.leaves)):
        raise ValueError(
            f"every leaf must name one of the {len(tree.leaves)} rows of leaves, got indices from "
            f"{rows.min()} to {rows.max()}."
        )


def _check_probabilities(tree: Tree) -> None:
    check_leaf_rows(tree)
    leaves = tree.leaves
    check_values("leaves", leaves, np.isfinite(leaves) & (leaves >= 0), "finite and not negative")
    total = leaves.sum(axis=1)
    rule = "rows of probabilities, which sum to 1"
    check_values("leaves", leaves, np.abs(total - 1) <= MAX_ROUNDING, rule)


def _check_descriptions(tree: Tree) -> None:
    """Check the arrays that describe the nodes but do not take part in predictions."""
    for name in ("impurity", "gain", "runner_up_gain", "node_values"):
        array = getattr(tree, name)
        check_values(name, array, np.isfinite(array), "finite")
    for name in ("n_rows", "ties"):
        array = getattr(tree, name)
        check_values(name, array, array >= 0, "not negative")
    n_values = max(1, tree.leaves.shape[1])
    if tree.node_values.shape[1] != n_values:
        raise ValueError(
            f"node_values must have {n_values} columns, got {tree.node_values.shape[1]}."
        )
    if tree.has_class_weights:
        check_values(
            "node_values", tree.node_values, tree.node_values >= 0, "class weights, not negative"
        )
    n_columns = len(tree.schema)
    valid = (tree.runner_up_column >= -1) & (tree.runner_up_column < n_columns)
    rule = f"-1 or the index of one of {n_columns} columns"
    check_values("runner_up_column", tree.runner_up_column, valid, rule)
    rule = f"{int(LeafReason.SPLIT)} in inner nodes and another code in leaves"
    check_values("reason", tree.reason, tree.is_leaf != (tree.reason == LeafReason.SPLIT), rule)
    rule = f"{int(SearchMethod.NONE)} in leaves and another code in inner nodes"
    check_values("method", tree.method, tree.is_leaf == (tree.method == SearchMethod.NONE), rule)


def _raise_if(defect: str | None) -> None:
    if defect is not None:
        raise ValueError(defect)

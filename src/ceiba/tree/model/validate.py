"""What the arrays of a tree must satisfy: one may come out of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba import _native
from ceiba.data.schema import Schema
from ceiba.tree.model.split import METHODS

if TYPE_CHECKING:
    from ceiba.tree.model.tree import Tree

REASONS = (
    "split", "pure", "impurity", "max_depth", "min_samples_split", "no_split",
    "min_samples_leaf", "min_impurity_decrease", "max_leaf_nodes", "no_gain", "empty", "pruned",
    "not_kept",
)  # fmt: skip
# What rows with a gap do: take the node's branch for them, go down all branches, or follow the
# first surrogate that they have a value for.
GAP_WAYS = ("branch", "shared", "surrogate")
# Arrays with one entry a node.
SIDE: dict[str, Any] = {
    "n_rows": np.int64, "weight": np.float64, "impurity": np.float64, "gain": np.float64,
    "reason": np.uint8, "method": np.uint8, "ties": np.int32, "depth": np.int32,
    "runner_up_column": np.int32, "runner_up_gain": np.float64,
}  # fmt: skip
_LATER_ARRAYS: dict[str, tuple[Any, int]] = {
    "costs": (np.float64, 2), "surrogates": (np.uint64, 2), "first_surrogate": (np.int64, 1),
    "agreement": (np.float64, 1), "adjusted_agreement": (np.float64, 1),
}  # fmt: skip
_LATER = {"missing", *_LATER_ARRAYS}


def check_record(record: dict[str, Any], names: set[str]) -> None:
    """Names, types and lengths of a tree's arrays."""
    # Trees of the first files knew neither costs nor other ways of gaps.
    if not names - _LATER <= set(record) <= names or not isinstance(record["schema"], Schema):
        raise ValueError("these are not the arrays of a tree")
    _check_arrays(record)


def check_tree(tree: Tree) -> None:
    """What the kernels rely on: every way ends in a leaf, and nothing lies outside."""
    wrong = _native.tree_check(
        tree.nodes, tree.words, tree.tables, tree.columns.types, tree.columns.levels
    )
    if wrong:
        raise ValueError(wrong)
    if tree.depth[0] or not (tree.depth[1:] == tree.depth[tree.parent[1:]] + 1).all():
        raise ValueError("a node's depth must be one more than that of the node above it")
    rows = tree.child[tree.is_leaf]
    if tree.leaves.shape[1] and not (rows.min() >= 0 and rows.max() < len(tree.leaves)):
        raise ValueError("a leaf's row is not there")
    check_ways(tree)


def _check_arrays(record: dict[str, Any]) -> None:
    wanted: dict[str, tuple[Any, int]] = {
        "nodes": (np.uint64, 2), "words": (np.uint64, 1), "tables": (np.int32, 1),
        "leaves": (np.float64, 2), "value": (np.float64, 2),
    }  # fmt: skip
    wanted |= {name: (dtype, 1) for name, dtype in SIDE.items()}
    wanted |= {name: wish for name, wish in _LATER_ARRAYS.items() if name in record}
    for name, (dtype, ndim) in wanted.items():
        array = record[name]
        if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
            raise ValueError(f"{name} must be an array of {np.dtype(dtype)} in {ndim} dimensions")
        if not array.flags.c_contiguous:
            record[name] = np.ascontiguousarray(array)
    n = len(record["nodes"])
    if n == 0 or record["nodes"].shape[1] != 2:
        raise ValueError("nodes must be two words each")
    for name in (*SIDE, "value"):
        if len(record[name]) != n:
            raise ValueError(f"{name} must have one entry a node")
    if record["reason"].max() >= len(REASONS) or record["method"].max() >= len(METHODS):
        raise ValueError("a reason or method is not known")


def check_ways(tree: Tree) -> None:
    """Costs, and what rows with gaps do."""
    n_classes = tree.leaves.shape[1]
    if len(tree.costs) and tree.costs.shape != (n_classes, n_classes):
        raise ValueError("costs must have a row and a column for each class")
    if not (np.isfinite(tree.costs) & (tree.costs >= 0)).all():
        raise ValueError("costs must be numbers of 0 or more")
    if tree.missing not in GAP_WAYS or (len(tree.surrogates) and tree.missing != "surrogate"):
        raise ValueError(f"missing must be one of {GAP_WAYS}, and name surrogates where some are")
    if tree.missing != "branch":
        wrong = _native.tree_check_presence(
            tree.nodes, tree.words, tree.tables, tree.columns.levels
        )
        if wrong:
            raise ValueError(wrong)
    if len(tree.surrogates) == 0:
        return
    if not len(tree.agreement) == len(tree.adjusted_agreement) == len(tree.surrogates):
        raise ValueError("every surrogate has its agreement")
    wrong = _native.tree_check_surrogates(
        tree.nodes, tree.words, tree.tables, tree.surrogates, tree.first_surrogate,
        tree.columns.types, tree.columns.levels,
    )  # fmt: skip
    if wrong:
        raise ValueError(wrong)

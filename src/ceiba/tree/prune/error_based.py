"""Error-based pruning with subtree raising, of a tree and the rows that it was grown from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.tree.model.edit import OF_A_LEAF, frames_of
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import REASONS
from ceiba.tree.prune.risk import filled_values, is_of_classes, unit_costs

_ERRORS = ("errors_leaf", "errors_tree", "errors_branch")
_PRUNED, _PURE, _EMPTY = (REASONS.index(name) for name in ("pruned", "pure", "empty"))


def error_based(
    tree: Tree,
    table: Table,
    labels: Array,
    weight: Array | None,
    confidence: float,
    *,
    raising: bool,
    threads: int = 1,
) -> tuple[Tree, list[dict[str, Any]]]:
    """Prune a tree of classes where the errors to be expected do not grow by it.

    From the leaves up, a node becomes a leaf, or its heaviest branch takes its place and gets all
    of its rows, when a pessimistic estimate of the errors is then higher by 0.1 at most. What lies
    below a raised branch is pruned again.

    Parameters
    ----------
    tree : Tree
        A grown tree; it stays as it is.
    table : Table
        The rows it was grown from, under its schema.
    labels : ndarray of uint16
        Number of each row's class.
    weight : ndarray of float64 or None
        Weights of the rows, 1 each where None; rows of weight zero count as absent.
    confidence : float
        Chance that the errors of a leaf lie above the estimate: the smaller, the smaller the tree.
        In (0, 0.5].
    raising : bool
        Whether branches may take the place of the node above them.
    threads : int

    Returns
    -------
    tree : Tree
        Its leaves hold class weights. Class weights, rows and depths of the nodes are those of
        the new tree; impurities and gains are those of growing.
    frames : list of dict
        What was done, in order: ``node``, ``kind`` ("leaf" or "raised"), ``replacing`` (the node
        that takes its place, or None), the errors to be expected of the node as a leaf, as it was
        and of its heaviest branch (``errors_leaf``, ``errors_tree``, ``errors_branch``; infinity
        without raising), and ``n_leaves`` of the tree afterwards. Numbers are those of the old
        tree.

    References
    ----------
    Quinlan (1993), "C4.5: programs for machine learning", chapter 4.
    """
    if not 0 < confidence <= 0.5:
        raise ValueError(f"confidence={confidence!r}: give a number above 0 and up to 0.5")
    if not is_of_classes(tree):
        raise ValueError(
            "error-based pruning counts wrong classes, and this tree predicts numbers: prune it by "
            "'cost_complexity' or 'reduced_error'"
        )
    by_surrogates = len(tree.surrogates) > 0
    found = _native.tree_prune_errors(
        _rules(tree, confidence, raising),
        tree.nodes,
        tree.words,
        tree.tables,
        tree.n_branches,
        tree.missing == "shared",
        tree.surrogates if by_surrogates else None,
        tree.first_surrogate if by_surrogates else None,
        *tree._native_columns(table),
        np.ascontiguousarray(labels, np.uint16),
        None if weight is None else np.ascontiguousarray(weight, np.float64),
        unit_costs(tree),
        threads,
    )
    return _pruned_tree(tree, found), _frames(tree.n_leaves, found)


def _rules(tree: Tree, confidence: float, raising: bool) -> Any:
    rules = _native.TreeErrorRules()
    rules.confidence = confidence
    rules.deviate = float(-ndtri(confidence))
    rules.raising = raising
    rules.classes = tree.leaves.shape[1]
    return rules


def _pruned_tree(tree: Tree, found: dict[str, Array]) -> Tree:
    """The tree of the nodes that are left: ``origin`` in the old tree, ``child`` in the new."""
    origin, leaf = found["origin"], found["child"] < 0
    nodes: Array = tree.nodes[origin]
    nodes[leaf] = 0
    nodes.view(np.int32)[:, 2] = np.where(leaf, np.cumsum(leaf) - 1, found["child"])
    side: dict[str, Any] = {name: getattr(tree, name)[origin] for name in ("impurity", *OF_A_LEAF)}
    for name, number in OF_A_LEAF.items():
        side[name][leaf & ~tree.is_leaf[origin]] = number
    side["reason"] = _reasons(tree, found)
    side |= {name: found[name] for name in ("n_rows", "weight", "value")}
    side |= _surrogates(tree, origin, leaf)
    made = replace(tree, nodes=nodes, **side)
    made = replace(made, depth=_depths(made.parent))
    return made.with_leaves(filled_values(made)[leaf])


def _reasons(tree: Tree, found: dict[str, Array]) -> Array:
    """Why nodes are leaves; raising can bring rows to one that was pure or had none."""
    origin, leaf = found["origin"], found["child"] < 0
    reason: Array = tree.reason[origin]
    mixed = (reason == _PURE) & ((found["value"] > 0).sum(axis=1) > 1)
    filled = (reason == _EMPTY) & (found["weight"] > 0)
    reason[leaf & (~tree.is_leaf[origin] | mixed | filled)] = _PRUNED
    return reason


def _surrogates(tree: Tree, origin: Array, leaf: Array) -> dict[str, Array]:
    """Surrogates of the nodes that are still split."""
    if not len(tree.first_surrogate):
        return {}
    first = tree.first_surrogate[origin]
    count = np.where(leaf, 0, tree.first_surrogate[origin + 1] - first)
    ends = np.append(0, np.cumsum(count))
    places = np.repeat(first - ends[:-1], count) + np.arange(ends[-1])
    names = ("surrogates", "agreement", "adjusted_agreement")
    return {name: getattr(tree, name)[places] for name in names} | {"first_surrogate": ends}


def _depths(parent: Array) -> Array:
    depths = [0]
    for above in parent[1:].tolist():
        depths.append(depths[above] + 1)
    return np.array(depths, np.int32)


def _frames(n_leaves: int, found: dict[str, Array]) -> list[dict[str, Any]]:
    columns = {name: found[name] for name in ("node", "replacing", *_ERRORS)}
    frames = frames_of(columns | {"n_leaves": n_leaves - np.cumsum(found["lost"])})
    for frame in frames:
        raised = frame["replacing"] >= 0
        frame["kind"] = "raised" if raised else "leaf"
        frame["replacing"] = frame["replacing"] if raised else None
    return frames

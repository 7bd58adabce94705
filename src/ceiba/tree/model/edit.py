"""Collapse nodes of a tree to leaves."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._native import LeafReason
from ceiba._typing import Array
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.traversal import kept_nodes, topmost
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import NODE_ARRAYS


@dataclass(frozen=True, slots=True, eq=False)
class PrunedNodes:
    """Nodes of a grown tree that become leaves.

    Parameters
    ----------
    nodes : ndarray of int32
        The topmost of them, ascending: all nodes below are removed.
    frames : tuple of dict
        Frames of the trace, one for each node in the order in which they became leaves, with
        ``node``, the numbers that the pruner compared, and ``n_leaves`` of the tree afterwards.
    """

    nodes: Array
    frames: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, tree: Tree, frames: Iterable[dict[str, Any]]) -> PrunedNodes:
        """Return the pruned nodes of some frames."""
        listed = tuple(frames)
        return cls(topmost(tree, [frame["node"] for frame in listed]), listed)

    def __len__(self) -> int:
        return len(self.nodes)


def frames_from_columns(columns: dict[str, Array]) -> list[dict[str, Any]]:
    """Return one frame of plain numbers per entry of some arrays."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


# Entries of a leaf in the arrays that describe splits.
LEAF_DEFAULTS: dict[str, Any] = {
    "gain": 0.0, "method": 0, "ties": 0, "runner_up_column": -1, "runner_up_gain": 0.0,
}  # fmt: skip


def collapse(tree: Tree, nodes: Any) -> Tree:
    """Return a tree in which some nodes are leaves, with the reason "pruned".

    Nodes keep their order, so that the branches of a node stay consecutive.

    Parameters
    ----------
    tree : Tree
        It is not changed.
    nodes : array of int
        Numbers of inner nodes; nodes below another one are ignored.

    Returns
    -------
    Tree
        Its leaves hold class weights, which a classifier turns into probabilities, or the
        numbers of their nodes. An empty leaf has the class weights of its parent.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = DecisionTreeClassifier().fit(iris.table, iris.y).tree_
    >>> collapse(tree, [2])
    Tree(3 nodes, 2 leaves, depth 1)
    """
    pruned = topmost(tree, nodes)
    if tree.is_leaf[pruned].any():
        leaf = int(pruned[tree.is_leaf[pruned]][0])
        raise ValueError(f"nodes must be numbers of inner nodes, got {leaf}, which is a leaf.")
    kept = kept_nodes(tree, pruned)
    is_pruned = np.zeros(tree.n_nodes, bool)
    is_pruned[pruned] = True
    is_leaf = (tree.is_leaf | is_pruned)[kept]
    arrays = {name: getattr(tree, name)[kept] for name in NODE_ARRAYS}
    for name, number in LEAF_DEFAULTS.items():
        arrays[name][is_pruned[kept]] = number
    arrays["reason"][is_pruned[kept]] = LeafReason.PRUNED
    arrays |= surrogates_of_nodes(tree, kept, is_leaf)
    smaller = replace(tree, nodes=_pack(tree, kept, is_leaf), **arrays)
    if not tree.is_classification:
        return smaller
    return smaller.with_leaves(tree.prediction_values[kept[is_leaf]])


def _pack(tree: Tree, kept: Array, is_leaf: Array) -> Array:
    """Return the kept nodes under their new numbers, and leaves with numbers of their own."""
    number = np.full(tree.n_nodes, -1, np.int32)
    number[kept] = np.arange(len(kept))
    nodes: Array = tree.nodes[kept]
    packed = NodeView(nodes)
    packed.child[~is_leaf] = number[tree.child[kept[~is_leaf]]]
    packed.make_leaf(is_leaf)
    if tree.is_classification:
        packed.word[is_leaf] = 0
        packed.child[is_leaf] = np.arange(is_leaf.sum())
    else:
        packed.value[is_leaf] = tree.prediction_values[kept[is_leaf], 0]
        packed.child[is_leaf] = -1
    return nodes


def surrogates_of_nodes(tree: Tree, origin: Array, leaf: Array) -> dict[str, Array]:
    """Return the surrogates of some nodes, except those that become leaves."""
    if not len(tree.first_surrogate):
        return {}
    first = tree.first_surrogate[origin]
    count = np.where(leaf, 0, tree.first_surrogate[origin + 1] - first)
    ends = np.append(0, np.cumsum(count))
    index = np.repeat(first - ends[:-1], count) + np.arange(ends[-1])
    names = ("surrogates", "agreement", "adjusted_agreement")
    return {name: getattr(tree, name)[index] for name in names} | {"first_surrogate": ends}

"""Where a pruner cuts a tree, and how it came to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.traversal import kept_nodes, topmost
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import REASONS, SIDE
from ceiba.tree.prune.risk import filled_values, is_of_classes


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Nodes of a grown tree that become leaves.

    Parameters
    ----------
    nodes : ndarray of int32
        The topmost of them, ascending: what stands below is gone.
    frames : tuple of dict
        For the trace: one frame for each node that became a leaf, in the order in which they did,
        with ``node``, what the pruner compared, and ``n_leaves`` of the tree after it.
    """

    nodes: Array
    frames: tuple[dict[str, Any], ...]

    @classmethod
    def of(cls, tree: Tree, frames: Iterable[dict[str, Any]]) -> Cuts:
        """The cuts of some frames."""
        listed = tuple(frames)
        return cls(topmost(tree, [frame["node"] for frame in listed]), listed)

    def __len__(self) -> int:
        return len(self.nodes)


def frames_of(columns: dict[str, Array]) -> list[dict[str, Any]]:
    """Frames of plain numbers, from one array for each of their names."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]


# What a leaf says in the side arrays that speak of splits.
OF_A_LEAF: dict[str, Any] = {
    "gain": 0.0, "method": 0, "ties": 0, "runner_up_column": -1, "runner_up_gain": 0.0,
}  # fmt: skip


def collapse(tree: Tree, nodes: Any) -> Tree:
    """A new tree in which some nodes are leaves, of reason "pruned", and all below them is gone.

    Nodes keep their order, so that branches stay neighbours.

    Parameters
    ----------
    tree : Tree
        It is not changed.
    nodes : array of int
        Numbers of inner nodes; of nodes one above the other the topmost counts.

    Returns
    -------
    Tree
        Its leaves hold class weights, which a classifier turns into what it predicts, or the
        numbers of their nodes. An empty leaf has the class weights of the node above it.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> tree = DecisionTreeClassifier().fit(iris.table, iris.y).tree_
    >>> collapse(tree, [2])
    Tree(3 nodes, 2 leaves, depth 1)
    """
    cut = topmost(tree, nodes)
    if tree.is_leaf[cut].any():
        number = int(cut[tree.is_leaf[cut]][0])
        raise ValueError(f"node {number} is a leaf already: give numbers of inner nodes")
    kept = kept_nodes(tree, cut)
    marked = np.zeros(tree.n_nodes, bool)
    marked[cut] = True
    leaf = (tree.is_leaf | marked)[kept]
    side = {name: getattr(tree, name)[kept] for name in (*SIDE, "value")}
    for name, number in OF_A_LEAF.items():
        side[name][marked[kept]] = number
    side["reason"][marked[kept]] = REASONS.index("pruned")
    packed, leaves = _packed(tree, kept, leaf)
    surrogates = _surrogates(tree, kept, leaf)
    return replace(tree, nodes=packed, leaves=leaves, **side, **surrogates)


def _packed(tree: Tree, kept: Array, leaf: Array) -> tuple[Array, Array]:
    """Nodes under their new numbers, and the class weights of leaves."""
    number = np.full(tree.n_nodes, -1, np.int32)
    number[kept] = np.arange(len(kept))
    nodes: Array = tree.nodes[kept]
    halves = nodes.view(np.int32)
    halves[~leaf, 2] = number[tree.child[kept[~leaf]]]
    halves[leaf, 3] = 0
    value = filled_values(tree)[kept[leaf]]
    if not is_of_classes(tree):
        nodes[leaf, 0] = np.ascontiguousarray(value[:, 0]).view(np.uint64)
        halves[leaf, 2] = -1
        return nodes, tree.leaves
    nodes[leaf, 0] = 0
    # Equal leaves share a row, in the order of the nodes.
    places: dict[bytes, int] = {}
    halves[leaf, 2] = [places.setdefault(row.tobytes(), len(places)) for row in value]
    return nodes, np.frombuffer(b"".join(places)).reshape(-1, tree.leaves.shape[1]).copy()


def _surrogates(tree: Tree, kept: Array, leaf: Array) -> dict[str, Any]:
    """Surrogates of the nodes that are still split."""
    if not len(tree.first_surrogate):
        return {}
    split = np.zeros(tree.n_nodes, bool)
    split[kept[~leaf]] = True
    count = np.diff(tree.first_surrogate)
    stay = np.repeat(split, count)
    first = np.append(0, np.cumsum(np.where(leaf, 0, count[kept])))
    names = ("surrogates", "agreement", "adjusted_agreement")
    return {name: getattr(tree, name)[stay] for name in names} | {"first_surrogate": first}

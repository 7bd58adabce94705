"""Ancestors and subtrees of nodes: sums over subtrees, and subtrees that become leaves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ceiba._native import LeafReason
from ceiba._typing import Array
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import NODE_ARRAYS

# Entries of a leaf in the arrays that describe splits.
LEAF_DEFAULTS: dict[str, Any] = {
    "gain": 0.0, "method": 0, "ties": 0, "runner_up_column": -1, "runner_up_gain": 0.0,
}  # fmt: skip


def min_above(parent: Array, key: Array, default: Any) -> Array:
    """Return the minimum key among the ancestors of each node; ``default`` for the root.

    The number of ancestors covered doubles in every round, so a tree of any depth takes few
    rounds.
    """
    n = len(parent)
    # One more entry, which is its own parent and that of the root.
    jump = np.append(np.where(parent < 0, n, parent), n)
    found = np.append(key, default)[jump]
    found[-1] = default
    while (jump != n).any():
        np.minimum(found, found[jump], out=found)
        jump = jump[jump]
    return np.asarray(found[:-1])


def any_above(parent: Array, marked: Array) -> Array:
    """Return whether any ancestor of each node is marked."""
    return np.asarray(~min_above(parent, ~marked, True))


def topmost(tree: Tree, nodes: Any) -> Array:
    """Return those of some nodes that are below no other of them, ascending, as int32."""
    numbers = np.asarray(nodes)
    if numbers.size == 0:
        return np.empty(0, np.int32)
    if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= tree.n_nodes:
        raise ValueError(f"nodes must be ints in [0, {tree.n_nodes - 1}], got {nodes!r}.")
    marked = _mask(tree, numbers.ravel())
    return np.flatnonzero(marked & ~any_above(tree.parent, marked)).astype(np.int32)


def kept_nodes(tree: Tree, pruned: Array) -> Array:
    """Return the numbers of the nodes that stay if some become leaves."""
    return np.flatnonzero(~any_above(tree.parent, _mask(tree, pruned)))


def _mask(tree: Tree, nodes: Array) -> Array:
    marked = np.zeros(tree.n_nodes, bool)
    marked[nodes] = True
    return marked


def subtree_sums(tree: Tree, at_leaves: Array) -> Array:
    """Return the sum over the leaves below each node; for a leaf its own number."""
    sums = np.where(tree.is_leaf, at_leaves, 0).tolist()
    parent = tree.parent.tolist()
    # Branches have greater numbers than their node: in descending order, every sum is complete.
    for node in range(tree.n_nodes - 1, 0, -1):
        sums[parent[node]] += sums[node]
    return np.array(sums)


def add_to_ancestors(tree: Tree, at_leaves: Array) -> Array:
    """Return rows of numbers of the leaves, summed over the leaves below each node."""
    sums = at_leaves.copy()
    for nodes in nodes_by_depth(tree):
        np.add.at(sums, tree.parent[nodes], sums[nodes])
    return sums


def nodes_by_depth(tree: Tree) -> Iterator[Array]:
    """Yield the nodes of each depth, the deepest first; the root is left out."""
    order = np.argsort(tree.depth, kind="stable")
    ends = np.cumsum(np.bincount(tree.depth))
    for first, last in zip(ends[-2::-1], ends[:0:-1], strict=True):
        yield order[first:last]


@dataclass(frozen=True, slots=True)
class SubtreeSizes:
    """Number of nodes, number of leaves and depth below each node, itself excluded."""

    nodes: Array
    leaves: Array
    depth: Array

    @classmethod
    def of(cls, tree: Tree) -> SubtreeSizes:
        """Count from the leaves up."""
        nodes = np.zeros(tree.n_nodes, np.int64)
        leaves, height = nodes.copy(), nodes.copy()
        for children in nodes_by_depth(tree):
            parents = tree.parent[children]
            np.add.at(nodes, parents, nodes[children] + 1)
            np.add.at(leaves, parents, leaves[children] + tree.is_leaf[children])
            np.maximum.at(height, parents, height[children] + 1)
        return cls(nodes, leaves, height)


class CollapsedNode(NamedTuple):
    """A node that became a leaf: costs of its subtree and of the leaf, leaves of the new tree."""

    node: int
    before: float
    after: float
    n_leaves: int


def collapse_bottom_up(tree: Tree, cost: Array, slack: float) -> Iterator[CollapsedNode]:
    """Yield nodes that cost no more as a leaf than their subtree, descendants first.

    ``cost`` is that of every node as a leaf; a subtree costs the sum of its leaves, as pruned so
    far. A leaf may cost more than its subtree by ``slack``.
    """
    best, width = cost.tolist(), [1] * tree.n_nodes
    first, branches = tree.child.tolist(), tree.n_branches.tolist()
    n_leaves = tree.n_leaves
    # Branches have greater numbers than their node.
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        children = range(first[node], first[node] + branches[node])
        subtree = sum([best[child] for child in children])
        n_below = sum([width[child] for child in children])
        if best[node] > subtree + slack:
            best[node], width[node] = subtree, n_below
            continue
        n_leaves -= n_below - 1
        yield CollapsedNode(node, subtree, best[node], n_leaves)


def collapse(tree: Tree, nodes: Any) -> Tree:
    """Return a tree in which some inner nodes are leaves, with the reason "pruned".

    Nodes below another one are ignored. Nodes keep their order, so that the branches of a node stay
    consecutive. Leaves hold class weights, which a classifier turns into probabilities, or the
    numbers of their nodes; an empty leaf has the class weights of its parent.
    """
    pruned = topmost(tree, nodes)
    if tree.is_leaf[pruned].any():
        leaf = int(pruned[tree.is_leaf[pruned]][0])
        raise ValueError(f"nodes must be numbers of inner nodes, got {leaf}, which is a leaf.")
    kept = kept_nodes(tree, pruned)
    is_pruned = _mask(tree, pruned)[kept]
    is_leaf = tree.is_leaf[kept] | is_pruned
    arrays = {name: getattr(tree, name)[kept] for name in NODE_ARRAYS}
    for name, number in LEAF_DEFAULTS.items():
        arrays[name][is_pruned] = number
    arrays["reason"][is_pruned] = LeafReason.PRUNED
    arrays |= take_surrogates(tree, kept, is_leaf)
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


def take_surrogates(tree: Tree, origin: Array, leaf: Array) -> dict[str, Array]:
    """Return the surrogates of some nodes, except those that become leaves."""
    if not len(tree.first_surrogate):
        return {}
    first = tree.first_surrogate[origin]
    count = np.where(leaf, 0, tree.first_surrogate[origin + 1] - first)
    ends = np.append(0, np.cumsum(count))
    index = np.repeat(first - ends[:-1], count) + np.arange(ends[-1])
    names = ("surrogates", "agreement", "adjusted_agreement")
    return {name: getattr(tree, name)[index] for name in names} | {"first_surrogate": ends}


def frames_from_columns(columns: dict[str, Array]) -> list[dict[str, Any]]:
    """Return one frame of plain numbers per entry of some arrays."""
    rows = zip(*(column.tolist() for column in columns.values()), strict=True)
    return [dict(zip(columns, row, strict=True)) for row in rows]

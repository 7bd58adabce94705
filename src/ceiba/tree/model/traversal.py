"""Computations up and down a tree: ancestors, sums over subtrees, bottom-up collapsing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.tree import Tree


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
    marked = np.zeros(tree.n_nodes, bool)
    marked[numbers.ravel()] = True
    return np.flatnonzero(marked & ~any_above(tree.parent, marked)).astype(np.int32)


def kept_nodes(tree: Tree, pruned: Array) -> Array:
    """Return the numbers of the nodes that stay if some become leaves."""
    marked = np.zeros(tree.n_nodes, bool)
    marked[pruned] = True
    return np.flatnonzero(~any_above(tree.parent, marked))


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
    # The deepest nodes are added to their parents first.
    order = np.argsort(tree.depth, kind="stable")
    ends = np.cumsum(np.bincount(tree.depth))
    for first, last in zip(ends[-2::-1], ends[:0:-1], strict=True):
        nodes = order[first:last]
        np.add.at(sums, tree.parent[nodes], sums[nodes])
    return sums


@dataclass(frozen=True, slots=True)
class CollapsedNode:
    """A node that became a leaf.

    ``before`` is the cost of its subtree as pruned so far, ``after`` that of the leaf, and
    ``n_leaves`` the number of leaves of the whole tree afterwards.
    """

    node: int
    before: float
    after: float
    n_leaves: int


def collapse_bottom_up(tree: Tree, cost: Array, slack: float) -> Iterator[CollapsedNode]:
    """Yield nodes that cost no more as a leaf than their subtree, descendants first.

    ``cost`` is that of every node as a leaf; a subtree costs the sum of its leaves. A leaf may cost
    more than its subtree by ``slack``.
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

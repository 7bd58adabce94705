"""From the leaves up, a node becomes a leaf where that is no worse than what stands below it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.tree import Tree


def least_above(parent: Array, key: Array, nothing: Any) -> Array:
    """The least key among the nodes above each node; ``nothing`` for the root.

    Every node looks twice as far up as in the round before, so that a tree of any depth takes few
    rounds.
    """
    n = len(parent)
    # One more entry, which stands above the root and above itself.
    jump = np.append(np.where(parent < 0, n, parent), n)
    found = np.append(key, nothing)[jump]
    found[-1] = nothing
    while (jump != n).any():
        np.minimum(found, found[jump], out=found)
        jump = jump[jump]
    least: Array = found[:-1]
    return least


def any_above(parent: Array, marked: Array) -> Array:
    """Whether any of the nodes above each node is marked."""
    above: Array = ~least_above(parent, ~marked, True)
    return above


def topmost(tree: Tree, nodes: Any) -> Array:
    """Those of some nodes that stand below no other of them, ascending, as int32."""
    numbers = np.asarray(nodes)
    if numbers.size == 0:
        return np.empty(0, np.int32)
    if numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= tree.n_nodes:
        raise ValueError(f"nodes must be numbers from 0 to {tree.n_nodes - 1}")
    marked = np.zeros(tree.n_nodes, bool)
    marked[numbers.ravel()] = True
    return np.flatnonzero(marked & ~any_above(tree.parent, marked)).astype(np.int32)


def kept_nodes(tree: Tree, cuts: Array) -> Array:
    """Numbers of the nodes that are left where some become leaves: those with no cut above."""
    marked = np.zeros(tree.n_nodes, bool)
    marked[cuts] = True
    return np.flatnonzero(~any_above(tree.parent, marked))


def subtree_sums(tree: Tree, at_leaves: Array) -> Array:
    """The sum of numbers of the leaves below each node; of a leaf its own number."""
    sums = np.where(tree.is_leaf, at_leaves, 0).tolist()
    parent = tree.parent.tolist()
    # Branches have greater numbers than their node: from the last to the first, all are complete.
    for node in range(tree.n_nodes - 1, 0, -1):
        sums[parent[node]] += sums[node]
    return np.array(sums)


def summed_up(tree: Tree, at_leaves: Array) -> Array:
    """Rows of numbers of the leaves, added up in all nodes above them."""
    sums = at_leaves.copy()
    # The nodes of one depth hand on to those above, the deepest first.
    order = np.argsort(tree.depth, kind="stable")
    ends = np.cumsum(np.bincount(tree.depth))
    for first, last in zip(ends[-2::-1], ends[:0:-1], strict=True):
        level = order[first:last]
        np.add.at(sums, tree.parent[level], sums[level])
    return sums


@dataclass(frozen=True, slots=True)
class NewLeaf:
    """A node that became a leaf.

    Parameters
    ----------
    node : int
    before, after : float
        What the subtree cost, as cut so far, and what the leaf costs.
    n_leaves : int
        Leaves of the whole tree after it.
    """

    node: int
    before: float
    after: float
    n_leaves: int


def new_leaves(tree: Tree, cost: Array, slack: float) -> Iterator[NewLeaf]:
    """Nodes that become leaves, the deepest first, each after all that stand below it.

    Parameters
    ----------
    tree : Tree
    cost : ndarray of shape (n_nodes,)
        Of every node as a leaf; costs of leaves add up.
    slack : float
        How much more than its subtree a leaf may cost.
    """
    best, n_below = cost.tolist(), [1] * tree.n_nodes
    first, branches = tree.child.tolist(), tree.n_branches.tolist()
    n_leaves = tree.n_leaves
    # Branches have greater numbers than their node.
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():
        children = range(first[node], first[node] + branches[node])
        together = sum([best[child] for child in children])
        width = sum([n_below[child] for child in children])
        if best[node] > together + slack:
            best[node], n_below[node] = together, width
            continue
        n_leaves -= width - 1
        yield NewLeaf(node, together, best[node], n_leaves)

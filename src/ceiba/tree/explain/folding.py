"""Which nodes of a large tree are shown, and what is folded; for text and plots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.tree import Tree


def check_view(
    tree: Tree,
    *,
    node: int = 0,
    max_depth: int | None = None,
    max_nodes: int | None = None,
    max_labels: int = 1,
    decimals: int = 0,
) -> None:
    """Raise ValueError for limits that show nothing."""
    if not 0 <= node < tree.n_nodes:
        raise ValueError(f"node must be an int in [0, {tree.n_nodes - 1}], got {node}.")
    if max_depth is not None and max_depth < 0:
        raise ValueError(f"max_depth must be an int >= 0 or None for no limit, got {max_depth}.")
    if max_nodes is not None and max_nodes < 1:
        raise ValueError(f"max_nodes must be an int >= 1 or None for no limit, got {max_nodes}.")
    check_format(max_labels, decimals)


def check_format(max_labels: int, decimals: int) -> None:
    """Raise ValueError for a format that shows nothing."""
    if max_labels < 1:
        raise ValueError(f"max_labels must be an int >= 1, got {max_labels}.")
    if decimals < 0:
        raise ValueError(f"decimals must be an int >= 0, got {decimals}.")


def unfolded_nodes(
    tree: Tree,
    start: int,
    *,
    max_nodes: int | None = None,
    max_depth: int | None = None,
    priority: Callable[[int], Any] | None = None,
) -> list[int]:
    """Choose the nodes whose branches are shown, in order of priority.

    Parameters
    ----------
    tree : Tree
    start : int
        Topmost node that is shown.
    max_nodes : int, optional
        Maximum number of shown nodes: a node is unfolded if there is room for all its branches.
    max_depth : int, optional
        Maximum depth below ``start``.
    priority : callable, optional
        Sort key of a node; nodes with a small key are unfolded first. By default breadth-first.
    """
    room = tree.n_nodes if max_nodes is None else max_nodes - 1
    deepest = tree.n_nodes if max_depth is None else int(tree.depth[start]) + max_depth
    unfolded: list[int] = []
    queue: list[tuple[Any, int, int]] = [(0, 0, start)]
    n_queued = 1
    while queue:
        _, _, node = heappop(queue)
        n_branches = int(tree.n_branches[node])
        if not n_branches or n_branches > room or tree.depth[node] >= deepest:
            continue
        room -= n_branches
        unfolded.append(node)
        for child in tree.children(node):
            heappush(queue, (0 if priority is None else priority(child), n_queued, child))
            n_queued += 1
    return unfolded


@dataclass(frozen=True, slots=True)
class SubtreeSizes:
    """What is below each node of a tree, the node itself excluded.

    Attributes
    ----------
    nodes, leaves, depth : ndarray of int of shape (n_nodes,)
        Number of nodes, number of leaves, and depth below each node.
    """

    nodes: Array
    leaves: Array
    depth: Array

    @classmethod
    def of(cls, tree: Tree) -> SubtreeSizes:
        """Count from the leaves up, one depth at a time."""
        nodes = np.zeros(tree.n_nodes, np.int64)
        leaves, height = nodes.copy(), nodes.copy()
        by_depth = np.argsort(tree.depth, kind="stable")
        ends = np.cumsum(np.bincount(tree.depth))
        for depth in range(tree.max_depth, 0, -1):
            children = by_depth[ends[depth - 1] : ends[depth]]
            parents = tree.parent[children]
            np.add.at(nodes, parents, nodes[children] + 1)
            np.add.at(leaves, parents, leaves[children] + tree.is_leaf[children])
            np.maximum.at(height, parents, height[children] + 1)
        return cls(nodes, leaves, height)

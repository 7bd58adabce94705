"""Which nodes of a tree a picture shows, and what it folds."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.tree import Tree


@dataclass(frozen=True, eq=False)
class Part:
    """The shown part of a tree.

    Attributes
    ----------
    nodes : list of int
        Numbers of the shown nodes, each before its branches, the first being the start.
    branches : list of lists of int
        Places in ``nodes`` of each node's branches; empty for leaves and folded nodes.
    """

    nodes: list[int]
    branches: list[list[int]]

    @cached_property
    def parent(self) -> list[int]:
        """Place of the node above each shown node; -1 for the start."""
        parent = [-1] * len(self.nodes)
        for place, below in enumerate(self.branches):
            for child in below:
                parent[child] = place
        return parent


def opened_nodes(
    tree: Tree,
    start: int,
    *,
    max_nodes: int,
    max_depth: int | None = None,
    first: Collection[int] = (),
) -> list[int]:
    """Nodes whose branches are shown, in the order in which they are opened.

    Those of ``first`` come before the others, then those with most weight, as long as there is
    room for all branches of a node among ``max_nodes``.
    """
    deepest = tree.n_nodes if max_depth is None else int(tree.depth[start]) + max_depth
    opened: list[int] = []
    room = max_nodes - 1
    waiting = [(False, 0.0, start)]
    while waiting and room > 1:
        _, _, node = heappop(waiting)
        branches = int(tree.n_branches[node])
        if not branches or branches > room or tree.depth[node] >= deepest:
            continue
        room -= branches
        opened.append(node)
        for child in tree.children(node):
            heappush(waiting, (child not in first, -float(tree.weight[child]), child))
    return opened


def shown_part(tree: Tree, start: int, opened: Collection[int]) -> Part:
    """The part below ``start`` with these nodes opened."""
    part, waiting = Part([], []), [(start, -1)]
    opened = set(opened)
    while waiting:
        node, above = waiting.pop()
        place = len(part.nodes)
        part.nodes.append(node)
        part.branches.append([])
        if above >= 0:
            part.branches[above].append(place)
        if node in opened:
            waiting += [(child, place) for child in reversed(tree.children(node))]
    return part


@dataclass(frozen=True, slots=True)
class Below:
    """What hangs at each node of a tree, the node itself left out.

    Attributes
    ----------
    nodes, leaves, depth : array
        Number of nodes, of leaves, and levels below each node.
    """

    nodes: Array
    leaves: Array
    depth: Array

    @classmethod
    def of(cls, tree: Tree) -> Below:
        """Counted from the leaves up, a level at a time."""
        nodes = np.zeros(tree.n_nodes, np.int64)
        leaves, depth = nodes.copy(), nodes.copy()
        by_depth = np.argsort(tree.depth, kind="stable")
        ends = np.cumsum(np.bincount(tree.depth))
        for level in range(tree.max_depth, 0, -1):
            mine = by_depth[ends[level - 1] : ends[level]]
            above = tree.parent[mine]
            np.add.at(nodes, above, nodes[mine] + 1)
            np.add.at(leaves, above, leaves[mine] + tree.is_leaf[mine])
            np.maximum.at(depth, above, depth[mine] + 1)
        return cls(nodes, leaves, depth)

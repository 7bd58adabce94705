"""A tree at one step of its growth or pruning."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.plots.painter import frame_names
from ceiba.plots.plane import Array
from ceiba.tree.ancestry import any_above
from ceiba.tree.structure import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """Which nodes of a grown tree are there at one step.

    Attributes
    ----------
    there, split, lost : array of bool
        Nodes that are there, those of them that are split, and those that pruning has taken away.
    """

    there: Array
    split: Array
    lost: Array

    @classmethod
    def growing(cls, tree: Tree, splits: int) -> Moment:
        """After so many splits."""
        split = growth_order(tree) < splits
        there = np.append(True, split[tree.parent[1:]])
        return cls(there, split, np.zeros(tree.n_nodes, bool))

    @classmethod
    def pruning(cls, tree: Tree, frames: Iterable[Any]) -> Moment:
        """After the cuts of these frames: nodes become leaves, or a branch takes their place."""
        cut, lost, raised = (np.zeros(tree.n_nodes, bool) for _ in range(3))
        for frame in frames:
            node, heir = int(frame["node"]), raised_branch(frame)
            if heir is None:
                cut[node] = True
            else:
                raised[node] = True
                lost[[child for child in tree.children(node) if child != heir]] = True
        lost |= any_above(tree.parent, cut | lost)
        lost |= raised
        return cls(~lost, ~lost & ~cut & ~tree.is_leaf, lost)


def raised_branch(frame: Any) -> int | None:
    """The branch that takes the place of the frame's node; None where that becomes a leaf."""
    found = frame["replacing"] if "replacing" in frame_names(frame) else None
    return None if found is None else int(found)


def growth_order(tree: Tree) -> Array:
    """When each node was split, counted from 0; leaves never."""
    turn = np.full(tree.n_nodes, tree.n_nodes)
    inner = np.flatnonzero(~tree.is_leaf)
    order = inner[np.argsort(tree.child[inner], kind="stable")]
    turn[order] = np.arange(len(order))
    return turn

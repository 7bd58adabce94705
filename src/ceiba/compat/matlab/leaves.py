"""What MATLAB does to a grown tree: at most so many splits, and no leaves that gain nothing."""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from ceiba.tree.model.edit import collapse
from ceiba.tree.model.traversal import kept_nodes
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.risk import is_of_classes

# Risks that differ by less than this share of the root's are equal.
_ALIKE = 1e-12


def pruned(tree: Tree, nodes: Array) -> tuple[Tree, Array]:
    """The tree with some nodes as leaves, and the numbers that its nodes had before."""
    kept, smaller = kept_nodes(tree, nodes), collapse(tree, nodes)
    if is_of_classes(smaller):
        smaller = smaller.with_leaves(smaller.leaves / smaller.leaves.sum(axis=1, keepdims=True))
    return smaller, kept


def surplus(tree: Tree, most: int) -> Array:
    """Nodes that become leaves so that no more than ``most`` are split.

    Layer by layer; in the first that is too wide those that gain least, weighted by their rows,
    are not split, and nothing below it is.
    """
    inner = ~tree.is_leaf
    per_layer = np.bincount(tree.depth[inner])
    full = int(np.searchsorted(np.cumsum(per_layer), most, side="right"))
    if full == len(per_layer):
        return np.empty(0, np.int64)
    room = most - int(per_layer[:full].sum())
    layer = np.flatnonzero(inner & (tree.depth == full))
    best_first = np.argsort(-(tree.weight * tree.gain)[layer], kind="stable")
    split = layer[best_first[:room]]
    # What hangs below those that are split is one layer further down.
    below = np.flatnonzero(inner & (tree.depth == full + 1) & np.isin(tree.parent, split))
    return np.union1d(layer[best_first[room:]], below)


def mergeable(tree: Tree, risks: Array) -> Array:
    """Nodes that become leaves since those below them have no less risk together.

    Again and again, leaves of one parent: what they become may be merged with its own neighbour.
    """
    near = _ALIKE * float(risks[0])
    leaf = tree.is_leaf.copy()
    merged = []
    for node in np.flatnonzero(~tree.is_leaf)[::-1].tolist():  # branches come after their node
        children = tree.children(node)
        if leaf[children].all() and risks[children].sum() >= risks[node] - near:
            leaf[node] = True
            merged.append(node)
    return np.array(merged, np.int64)

"""Some trees of a forest, with those words, tables and leaves that are theirs.

Trees stand one after the other in these arrays, as their nodes do, so what a tree has in one of
them is a span. Places among leaves are counted from where the tree's own begin.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ceiba.stats.points import Array

if TYPE_CHECKING:
    from ceiba.ensemble.forest import Forest

LEAF, WORDS, TABLE = 0, 6, 7
_NOWHERE = np.iinfo(np.int64).max


class Places(NamedTuple):
    """Nodes that point into an array beside them, where to, and how many entries are theirs."""

    nodes: Array
    begin: Array
    length: Array


def chosen(forest: Forest, kept: Array) -> Forest:
    """The forest of those trees that are True in ``kept``, in their order."""
    sizes = np.diff(forest.first)
    nodes = forest.nodes[np.repeat(kept, sizes)]
    sizes = sizes[kept]
    beside = {"leaves": forest.leaves[np.repeat(kept, np.diff(forest.native.first_leaf))]}
    for name, places in pointing(forest, nodes).items():
        tree = np.repeat(np.arange(len(sizes)), sizes)[places.nodes]
        taken, shift = spans(places, tree, len(sizes))
        beside[name] = getattr(forest, name)[taken]
        # Unsigned numbers wrap around, so that places may move back.
        nodes[places.nodes, 0] += shift[tree].astype(np.uint64)
    return replace(
        forest, nodes=nodes, first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        keys=forest.keys[kept], importances=forest.importances[kept],
        weight_unit=forest.weight_unit[kept],
        steps=None if forest.steps is None else forest.steps[kept],
        origins=None if forest.origins is None else forest.origins[kept], **beside,
    )  # fmt: skip


def shifted(forest: Forest, **by: int) -> Array:
    """Nodes whose places in the arrays named are moved on."""
    if not any(by.values()):
        return forest.nodes
    nodes = forest.nodes.copy()
    for name, places in pointing(forest, nodes).items():
        nodes[places.nodes, 0] += np.uint64(by[name])
    return nodes


def pointing(forest: Forest, nodes: Array) -> dict[str, Places]:
    """Who points into ``words`` and ``tables``."""
    last = nodes.view(np.uint32)[:, 3]
    test = last >> 24 & 0xF
    levels = np.array(forest.columns.levels, np.int64)
    words, tables = np.flatnonzero(test == WORDS), np.flatnonzero(test == TABLE)

    def of_levels(own: Array) -> Array:
        return np.asarray(levels[last[own] & 0xFFFFFF])

    return {
        "words": Places(words, nodes[words, 0].astype(np.int64), (of_levels(words) + 63) // 64),
        "tables": Places(tables, nodes[tables, 0].astype(np.int64), of_levels(tables) + 1),
    }


def spans(places: Places, tree: Array, n_trees: int) -> tuple[Array, Array]:
    """The entries that each tree has, from its first to the end of its last; and how they move.

    Tree by tree, one span behind the other.
    """
    begin = np.full(n_trees, _NOWHERE)
    np.minimum.at(begin, tree, places.begin)
    end = np.zeros(n_trees, np.int64)
    np.maximum.at(end, tree, places.begin + places.length)
    length = np.maximum(end - begin, 0)
    shift = np.where(length > 0, np.cumsum(length) - length - begin, 0)
    taken = np.arange(length.sum()) - np.repeat(shift, length)
    return taken, shift

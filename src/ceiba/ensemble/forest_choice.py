"""Some trees of a forest, with those words, tables and leaves that are theirs.

Trees stand one after the other in these arrays, as their nodes do, so what a tree has in one of
them is a span.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ceiba.stats.points import Array

if TYPE_CHECKING:
    from ceiba.ensemble.forest import Forest

LEAF, WORDS, TABLE = 0, 6, 7
# A leaf of classes whose weights are a row of `leaves`.
LISTED = 2
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
    beside = {}
    for name, places in pointing(forest, nodes).items():
        tree = np.repeat(np.arange(len(sizes)), sizes)[places.nodes]
        taken, shift = spans(places, tree, len(sizes))
        beside[name] = getattr(forest, name)[taken]
        shift_places(nodes, name, places, shift[tree])
    return replace(
        forest, nodes=nodes, first=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        keys=forest.keys[kept], importances=forest.importances[kept],
        weight_unit=forest.weight_unit[kept],
        origins=None if forest.origins is None else forest.origins[kept], **beside,
    )  # fmt: skip


def shifted(forest: Forest, **by: int) -> Array:
    """Nodes whose places in the arrays named are moved on."""
    if not any(by.values()):
        return forest.nodes
    nodes = forest.nodes.copy()
    for name, places in pointing(forest, nodes).items():
        shift_places(nodes, name, places, np.int64(by[name]))
    return nodes


def pointing(forest: Forest, nodes: Array) -> dict[str, Places]:
    """Who points into ``words``, ``tables`` and ``leaves``."""
    halves = nodes.view(np.uint32)
    test = halves[:, 3] >> 24 & 0xF
    levels = np.array(forest.columns.levels, np.int64)
    words, tables = np.flatnonzero(test == WORDS), np.flatnonzero(test == TABLE)
    listed = np.flatnonzero((test == LEAF) & (halves[:, 3] >> 28 == LISTED))
    if forest.n_classes == 0:
        listed = listed[:0]

    def of_levels(own: Array) -> Array:
        return np.asarray(levels[halves[own, 3] & 0xFFFFFF])

    return {
        "words": Places(words, nodes[words, 0].astype(np.int64), (of_levels(words) + 63) // 64),
        "tables": Places(tables, nodes[tables, 0].astype(np.int64), of_levels(tables) + 1),
        "leaves": Places(
            listed, halves[listed, 2].astype(np.int64), np.ones(len(listed), np.int64)
        ),
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


def shift_places(nodes: Array, name: str, places: Places, by: Array | np.int64) -> None:
    """Move the places of some nodes on; unsigned numbers wrap around, so that it may be back."""
    if name == "leaves":
        nodes.view(np.uint32)[places.nodes, 2] += by.astype(np.uint32)
    else:
        nodes[places.nodes, 0] += by.astype(np.uint64)

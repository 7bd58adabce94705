"""Layout of a packed tree node: 16 bytes, decoded here and nowhere else; trees are joined here.

====  =======================================================================
word  threshold, set of categories, or offset into ``words`` or ``tables``;
      in a leaf of a regression tree its prediction
child first branch; in a leaf of a classification tree its row of ``leaves``
test  bits 0-23 tested column, 24-27 `NodeTest`, 28-30 branch of missing values,
      31 whether a threshold of an integer column is word + 1/2
====  =======================================================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ceiba._native import NodeTest
from ceiba._typing import Array

NODE_DTYPE = np.dtype([("word", np.uint64), ("child", np.int32), ("test", np.uint32)])

_COLUMN_MASK, _KIND_SHIFT, _KIND_MASK = 0xFFFFFF, 24, 0xF
_MISSING_SHIFT, _MISSING_MASK, _HALF_SHIFT = 28, 0x7, 31


class NodeView:
    """Named fields of packed nodes, an array of uint64 of shape (n, 2) as the kernels take it.

    Assigning to elements of ``word``, ``value`` or ``child`` writes to the nodes.
    """

    __slots__ = ("record",)

    def __init__(self, nodes: Array) -> None:
        self.record = nodes.view(NODE_DTYPE)[:, 0]

    @property
    def word(self) -> Array:
        """First word of each node, as uint64."""
        return np.asarray(self.record["word"])

    @property
    def value(self) -> Array:
        """First word of each node, as float64."""
        return np.asarray(self.record["word"].view(np.float64))

    @property
    def child(self) -> Array:
        """First branch of each node, or its row of ``leaves``."""
        return np.asarray(self.record["child"])

    @property
    def kind(self) -> Array:
        """`ceiba._native.NodeTest` of each node."""
        return np.asarray(self.record["test"] >> _KIND_SHIFT & _KIND_MASK)

    @property
    def column(self) -> Array:
        """Tested column of each node; 0 in leaves."""
        return np.asarray(self.record["test"] & _COLUMN_MASK)

    @property
    def missing_branch(self) -> Array:
        """Branch of missing values of each node, where the node itself holds it."""
        return np.asarray(self.record["test"] >> _MISSING_SHIFT & _MISSING_MASK)

    @property
    def has_half(self) -> Array:
        """Mask of the nodes whose integer threshold is one half higher than ``word``.

        Integers are compared with the word alone. Of intervals, some threshold is.
        """
        return np.asarray(self.record["test"] >> _HALF_SHIFT).astype(bool)

    def clear_half(self, nodes: Array) -> None:
        """Make the integer thresholds of some nodes equal to their words."""
        self.record["test"][nodes] &= np.uint32((1 << _HALF_SHIFT) - 1)

    def make_leaf(self, leaf: Array) -> None:
        """Clear the tests of the nodes in a mask."""
        self.record["test"][leaf] = 0

    def replace_columns(self, columns: Array) -> None:
        """Number the tested columns of inner nodes by ``columns``, which has the new numbers."""
        inner = self.kind > 0
        number = np.asarray(columns, np.uint32)[self.column[inner]]
        self.record["test"][inner] = (
            self.record["test"][inner] & np.uint32(~_COLUMN_MASK & 0xFFFFFFFF)
        ) | number


def join_trees(
    nodes: Sequence[Array],
    tree_offsets: Sequence[Array],
    words: Sequence[Array],
    tables: Sequence[Array],
) -> dict[str, Array]:
    """Join the arrays of packed trees, part after part; each argument has one of every part.

    Nodes that refer to entries of ``words`` or ``tables`` refer to the same entries after those of
    the parts before.
    """
    first_node, first_word, first_entry = (
        np.cumsum([0, *map(len, arrays)]) for arrays in (nodes, words, tables)
    )
    shifted = map(_shift_references, nodes, first_word.tolist(), first_entry.tolist())
    offsets = [part[:-1] + first for part, first in zip(tree_offsets, first_node[:-1], strict=True)]
    return {
        "nodes": np.concatenate(list(shifted)),
        "tree_offsets": np.concatenate([*offsets, first_node[-1:]]).astype(np.int64),
        "words": np.concatenate(words),
        "tables": np.concatenate(tables),
    }


def _shift_references(nodes: Array, n_words: int, n_entries: int) -> Array:
    """Return nodes whose words and table entries come after so many others."""
    if not n_words and not n_entries:
        return nodes
    kind = NodeView(nodes).kind
    shifted = nodes.copy()
    in_words = (kind == NodeTest.WORDS) | (kind == NodeTest.INTERVALS)
    shifted[in_words, 0] += np.uint64(n_words)
    shifted[kind == NodeTest.TABLE, 0] += np.uint64(n_entries)
    return shifted

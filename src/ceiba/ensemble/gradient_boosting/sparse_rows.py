"""Predict the rows of sparse tables, in dense blocks of the columns that the trees test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ceiba import _native
from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.data.sparse import SparseTable
from ceiba.ensemble.forest.model import forest_rows
from ceiba.tree.grow.encoding import ColumnTypes
from ceiba.tree.model.node_dtype import NodeView

if TYPE_CHECKING:
    from ceiba.ensemble.gradient_boosting.model import BoostedTrees


@dataclass(frozen=True, slots=True, eq=False)
class NarrowTrees:
    """Some trees of a model, whose columns are only those that they test.

    The trees of a round test few columns, so that only these become dense.

    Parameters
    ----------
    native : ForestArrays
    columns : list of int
        The model's columns, in the order of those of ``native``.
    types : ColumnTypes
        Their types.
    """

    native: _native.ForestArrays
    columns: list[int]
    types: ColumnTypes

    @classmethod
    def of(cls, trees: BoostedTrees, begin: int, end: int) -> NarrowTrees:
        """Return the trees ``begin`` to ``end`` of a model."""
        offsets = trees.tree_offsets[begin : end + 1]
        nodes = trees.nodes[offsets[0] : offsets[-1]].copy()
        view = NodeView(nodes)
        tested = np.unique(view.column[view.kind != NodeTest.LEAF])
        columns = tested if len(tested) else np.array([0])  # rows must have a column
        number = np.zeros(len(trees.schema), np.uint32)
        number[columns] = np.arange(len(columns))
        view.replace_columns(number)
        types = ColumnTypes(
            [trees.columns.types[j] for j in columns],
            [trees.columns.n_categories[j] for j in columns],
        )
        native = _native.ForestArrays(
            nodes, offsets - offsets[0], trees.words, trees.tables,
            np.empty(0, np.uint8), 0, None, types.native,
        )  # fmt: skip
        return cls(native, columns.tolist(), types)

    def row_blocks(self, table: SparseTable) -> Iterator[tuple[slice, _native.ForestRows]]:
        """Yield the rows of a table in blocks, with their positions."""
        for rows, block in table.row_blocks(self.columns):
            yield rows, forest_rows(block, self.types)


def add_sparse_scores(
    trees: BoostedTrees, table: SparseTable, begin: int, end: int, scores: Array, threads: int
) -> None:
    """Add the leaf values of the trees ``begin`` to ``end``, of whole rounds, to raw scores."""
    narrow = NarrowTrees.of(trees, begin, end)
    for rows, block in narrow.row_blocks(table):
        _native.add_raw_scores(narrow.native, block, 0, end - begin, scores[rows], threads)


def apply_sparse(trees: BoostedTrees, table: SparseTable, leaf: Array, threads: int) -> None:
    """Compute the leaf of each row in each tree."""
    narrow = NarrowTrees.of(trees, 0, trees.n_trees)
    for rows, block in narrow.row_blocks(table):
        _native.forest_apply(narrow.native, block, leaf[rows], threads)

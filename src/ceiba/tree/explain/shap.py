"""Shapley values (SHAP) of weighted sums of trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.schema import Kind, Schema
from ceiba.data.sparse import SparseTable, dense_blocks
from ceiba.data.table import Table
from ceiba.tree.grow.encoding import ColumnTypes, native_table
from ceiba.tree.model.node_dtype import NodeView, join_trees
from ceiba.tree.model.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class ShapValues:
    """Contributions of the columns to the scores of rows.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns, n_outputs)
    base : ndarray of shape (n_outputs,)
        Expected score. With the contributions of a row it adds up to the row's score.
    """

    values: Array
    base: Array


@dataclass(frozen=True, eq=False)
class TreeSum:
    """A weighted sum of trees, whose predictions are explained.

    Parameters
    ----------
    nodes, tree_offsets, words, tables : ndarray
        Packed nodes of all trees, as in a forest.
    schema : Schema
    leaf_values : ndarray of shape (n_nodes, n_outputs), or (n_nodes,) with ``output``
        What each leaf adds to the scores; entries of other nodes are ignored.
    cover : ndarray of shape (n_nodes,)
        Weight of the training rows of each node.
    scale : ndarray of shape (n_trees,)
        Factor of each tree.
    output : ndarray of int32 of shape (n_trees,), optional
        Score that each tree adds to.
    offset : ndarray of shape (n_outputs,), optional
        Added to the scores.
    fractional : bool
        Whether a row without the value of a split follows all branches, by their covers.
    """

    nodes: Array
    tree_offsets: Array
    words: Array
    tables: Array
    schema: Schema
    leaf_values: Array
    cover: Array
    scale: Array
    output: Array | None = None
    offset: Array | None = None
    fractional: bool = False

    @classmethod
    def of(
        cls,
        trees: Sequence[Tree],
        leaf_values: Sequence[Array],
        scale: Array,
        schema: Schema | None = None,
        columns: Sequence[Array] | None = None,
    ) -> TreeSum:
        """Join trees; ``leaf_values`` has the values of each tree's nodes.

        ``columns`` are the indices, in ``schema``, of each tree's columns; by default all trees
        have the same columns.
        """
        fractional = trees[0].missing == "fractional"
        for tree in trees:
            _check_missing(tree, fractional)
        nodes = [tree.nodes for tree in trees]
        if columns is not None:
            nodes = list(map(_with_columns, nodes, columns))
        joined = join_trees(
            nodes, [np.array([0, tree.n_nodes]) for tree in trees],
            [tree.words for tree in trees], [tree.tables for tree in trees],
        )  # fmt: skip
        return cls(
            **joined,
            schema=trees[0].schema if schema is None else schema,
            leaf_values=np.concatenate(leaf_values),
            cover=np.concatenate([tree.weight for tree in trees]),
            scale=np.asarray(scale, np.float64),
            fractional=fractional,
        )

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        if self.output is None:
            return int(self.leaf_values.shape[1])
        return len(self.offset) if self.offset is not None else int(self.output.max()) + 1

    def explain(
        self, table: Table, background: Table | None = None, threads: int = 1
    ) -> ShapValues:
        """Compute the contributions of the columns for each row of a table.

        Without a background, the expectation over the unknown columns follows the training rows
        of the branches (path-dependent). With one, unknown columns have the values of its rows
        (interventional), and the base value is its mean score.
        """
        out = np.empty((len(table), len(self.schema), self.n_outputs))
        base = np.empty(self.n_outputs)
        others = None
        if background is not None:
            dense = background.dense() if isinstance(background, SparseTable) else background
            others = native_table(dense, self.columns)
        for rows, block in dense_blocks(table):
            explained = native_table(block, self.columns)
            _native.tree_shap(self.native, explained, others, out[rows], base, threads)
        return ShapValues(out, base if self.offset is None else base + self.offset)

    def expected_scores(self) -> Array:
        """Return the path-dependent base values of `explain`, of shape (n_outputs,)."""
        return self.explain(_empty_table(self.schema)).base

    @cached_property
    def columns(self) -> ColumnTypes:
        """Types and numbers of categories of the columns."""
        return ColumnTypes.of(self.schema)

    @cached_property
    def native(self) -> _native.TreeSum:
        """The native counterpart; its constructor checks all nodes."""
        values = np.ascontiguousarray(self.leaf_values, np.float64).reshape(len(self.nodes), -1)
        return _native.TreeSum(
            np.ascontiguousarray(self.nodes), self.tree_offsets, self.words, self.tables,
            self.columns.native, leaf_values=values,
            cover=np.ascontiguousarray(self.cover, np.float64), scale=self.scale,
            output=self.output, n_outputs=self.n_outputs, fractional=self.fractional,
        )  # fmt: skip


def _empty_table(schema: Schema) -> Table:
    """Return a table without rows."""
    dtypes = [column.dtype if column.kind is Kind.NUMERIC else np.int32 for column in schema]
    return Table.from_columns([np.empty(0, dtype) for dtype in dtypes], schema)


def _with_columns(nodes: Array, columns: Array) -> Array:
    """Return a copy of nodes with renumbered column indices."""
    renumbered = nodes.copy()
    NodeView(renumbered).replace_columns(columns)
    return renumbered


def _check_missing(tree: Tree, fractional: bool) -> None:
    """Raise ValueError for trees whose missing values follow other columns, or another policy."""
    if tree.missing == "surrogate" or (tree.missing == "fractional") != fractional:
        raise ValueError(
            "An explanation requires trees whose missing values follow one branch, or in all trees "
            f"all branches, got missing={tree.missing!r}: fit all with missing='learned'."
        )


def node_predictions(tree: Tree) -> Array:
    """Return the predictions of the leaves, one row per node; rows of other nodes are zero."""
    values = np.zeros((tree.n_nodes, tree.leaves.shape[1] if tree.is_classification else 1))
    leaves = np.flatnonzero(tree.is_leaf)
    values[leaves] = tree.leaf_values(leaves).reshape(len(leaves), -1)
    return values


def node_votes(tree: Tree) -> Array:
    """Return 1 for the class that each leaf predicts, one row per node; other entries are 0."""
    values = np.zeros((tree.n_nodes, tree.leaves.shape[1]))
    leaves = np.flatnonzero(tree.is_leaf)
    values[leaves, tree.leaf_class[tree.child[leaves]]] = 1.0
    return values

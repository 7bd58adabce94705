"""The trees of gradient boosting as plain arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from ceiba import _native
from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Record
from ceiba.base.record import check_values
from ceiba.data.schema import Schema
from ceiba.data.sparse import SparseTable
from ceiba.data.table import Table
from ceiba.ensemble.forest.model import Forest, forest_rows
from ceiba.ensemble.forest.storage import select_trees
from ceiba.ensemble.gradient_boosting.sparse_rows import add_sparse_scores, apply_sparse
from ceiba.tree.explain.shap import TreeSum
from ceiba.tree.grow.encoding import ColumnTypes
from ceiba.tree.model.node_dtype import NodeView, join_trees
from ceiba.tree.model.tree import Tree


@dataclass(frozen=True, eq=False)
class BoostedTrees(Record):
    """The trees of all rounds; their leaf values add up to raw scores.

    Parameters
    ----------
    nodes : ndarray of uint64 of shape (n_nodes, 2)
        Nodes of all trees, as in `ceiba.ensemble.forest.model.Forest`; leaves hold their value,
        multiplied by the learning rate.
    tree_offsets : ndarray of int64 of shape (n_trees + 1,)
        Index of the first node of each tree, and the number of nodes. Tree t belongs to output
        t % n_outputs and to round t // n_outputs.
    words, tables : ndarray
        Categories of nominal splits that do not fit into a node.
    node_rows : ndarray of float64 of shape (n_nodes,)
        Number of rows of each node in the sample of its round, whatever their weights, those of
        one-side sampling (GOSS) included.
    node_gains : ndarray of float64 of shape (n_nodes,)
        Gain of the split of each node, 0 for leaves.
    first_scores : ndarray of shape (n_outputs,)
        Constant of each output; 0 with an ``init``, whose scores are added outside of the model.
    schema : Schema
    n_outputs : int
        Number of raw scores: 1 for regression and two classes, else the number of classes.
    """

    nodes: Annotated[Array, ArrayOf("uint64", "n_nodes", 2)]
    tree_offsets: Annotated[Array, ArrayOf("int64", "n_offsets")]
    words: Annotated[Array, ArrayOf("uint64", "n_words")]
    tables: Annotated[Array, ArrayOf("int32", "n_entries")]
    node_rows: Annotated[Array, ArrayOf("float64", "n_nodes")]
    node_gains: Annotated[Array, ArrayOf("float64", "n_nodes")]
    first_scores: Annotated[Array, ArrayOf("float64", "n_outputs")]
    schema: Schema
    n_outputs: Annotated[int, AtLeast(1)]

    def __post_init__(self) -> None:
        for entry in fields(self):
            array = getattr(self, entry.name)
            if isinstance(array, np.ndarray):
                # The kernels do not check these arrays again, so nothing may change them.
                array.flags.writeable = False

    def __reduce__(self) -> tuple[Any, ...]:
        return BoostedTrees.from_json, (self.to_json(),)

    def __repr__(self) -> str:
        return f"BoostedTrees({self.n_rounds} rounds, {self.n_trees} trees, {self.n_nodes} nodes)"

    @classmethod
    def of_parts(
        cls, parts: Sequence[dict[str, Any]], first_scores: Array, schema: Schema
    ) -> BoostedTrees:
        """Join the arrays of single trees, as the kernels return them."""
        return cls(
            **join_parts(parts),
            first_scores=np.array(first_scores, np.float64),
            schema=schema,
            n_outputs=len(first_scores),
        )

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.tree_offsets) - 1

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return self.n_trees // self.n_outputs

    @property
    def n_nodes(self) -> int:
        """Number of nodes of all trees."""
        return len(self.nodes)

    @cached_property
    def columns(self) -> ColumnTypes:
        """Types and numbers of categories of the columns."""
        return ColumnTypes.of(self.schema)

    @cached_property
    def native(self) -> _native.ForestArrays:
        """The native counterpart; its constructor raises ValueError for invalid arrays."""
        return _native.ForestArrays(
            self.nodes, self.tree_offsets, self.words, self.tables,
            np.empty(0, np.uint8), 0, None, self.columns.native,
        )  # fmt: skip

    def native_rows(self, table: Table) -> _native.ForestRows | SparseTable:
        """Return a table with the model's schema as `add_rounds` takes it.

        A sparse table stays one: its rows become dense in blocks, when they are predicted.
        """
        return table if isinstance(table, SparseTable) else forest_rows(table, self.columns)

    def raw_scores(self, table: Table, threads: int = 1, n_rounds: int | None = None) -> Array:
        """Return the raw scores after all rounds, or the first ones: (n_rows, n_outputs)."""
        scores = np.tile(self.first_scores, (len(table), 1))
        end = self.n_rounds if n_rounds is None else n_rounds
        self.add_rounds(self.native_rows(table), 0, end, scores, threads)
        return scores

    def add_rounds(
        self, rows: _native.ForestRows | SparseTable, begin: int, end: int, scores: Array,
        threads: int,
    ) -> None:  # fmt: skip
        """Add the leaf values of rounds ``begin`` to ``end`` to raw scores."""
        k = self.n_outputs
        if isinstance(rows, SparseTable):
            add_sparse_scores(self, rows, begin * k, end * k, scores, threads)
        else:
            _native.add_raw_scores(self.native, rows, begin * k, end * k, scores, threads)

    def apply(self, table: Table, threads: int = 1) -> Array:
        """Return the leaf of each row in each tree, numbered within the tree."""
        leaf = np.empty((len(table), self.n_trees), np.int32)
        if isinstance(table, SparseTable):
            apply_sparse(self, table, leaf, threads)
        else:
            _native.forest_apply(self.native, forest_rows(table, self.columns), leaf, threads)
        return leaf

    def first_rounds(self, n_rounds: int) -> BoostedTrees:
        """Return the model of the first rounds."""
        return self._slice_rounds(0, n_rounds)

    def single_rounds(self) -> list[BoostedTrees]:
        """Return the trees of each round."""
        return [self._slice_rounds(number, number + 1) for number in range(self.n_rounds)]

    def _slice_rounds(self, begin: int, end: int) -> BoostedTrees:
        """Return the rounds ``begin`` to ``end``, in time that depends on these alone."""
        forest = self._slice_trees(begin * self.n_outputs, end * self.n_outputs)
        forest = select_trees(forest, np.ones(forest.n_trees, bool))  # with their own categories
        nodes = self._nodes_of(begin * self.n_outputs, end * self.n_outputs)
        return BoostedTrees(
            forest.nodes, forest.tree_offsets, forest.words, forest.tables,
            self.node_rows[nodes], self.node_gains[nodes], self.first_scores, self.schema,
            self.n_outputs,
        )  # fmt: skip

    def _nodes_of(self, begin: int, end: int) -> slice:
        """Return the positions of the nodes of the trees ``begin`` to ``end``."""
        return slice(int(self.tree_offsets[begin]), int(self.tree_offsets[end]))

    def importances(self, kind: str) -> Array:
        """Return the total gain, or the number of splits, of each column."""
        view = NodeView(self.nodes)
        inner = view.kind != NodeTest.LEAF
        weights = self.node_gains[inner] if kind == "gain" else None
        counts = np.bincount(view.column[inner], weights, minlength=len(self.schema))
        return np.asarray(counts, np.float64)

    def to_forest(self) -> Forest:
        """Return the trees as a forest of regression trees, for viewers and exports."""
        return self._slice_trees(0, self.n_trees)

    def _slice_trees(self, begin: int, end: int) -> Forest:
        """Return the trees ``begin`` to ``end`` as a forest, with the categories of all trees."""
        nodes, n_trees = self._nodes_of(begin, end), end - begin
        offsets = self.tree_offsets[begin : end + 1] - self.tree_offsets[begin]
        importances = np.zeros((n_trees, len(self.schema)))
        view = NodeView(self.nodes[nodes])
        inner = view.kind != NodeTest.LEAF
        tree = np.repeat(np.arange(n_trees), np.diff(offsets))
        np.add.at(importances, (tree[inner], view.column[inner]), self.node_gains[nodes][inner])
        pairs = np.zeros((n_trees, 2), np.uint64)
        pairs[:, 1] = np.arange(begin, end)
        return Forest(
            self.nodes[nodes], offsets, self.words, self.tables, np.empty(0, np.uint8), pairs,
            np.zeros_like(pairs), importances, self.schema, 0, n_trees, np.ones(n_trees),
        )  # fmt: skip

    def tree_sum(self) -> TreeSum:
        """Return the raw scores as a sum of trees, whose predictions are explained."""
        view = NodeView(self.nodes)
        is_leaf = view.kind == NodeTest.LEAF
        trees = np.arange(self.n_trees, dtype=np.int32)
        return TreeSum(
            self.nodes, self.tree_offsets, self.words, self.tables, self.schema,
            leaf_values=np.where(is_leaf, view.value, 0.0), cover=self.node_rows,
            scale=np.ones(self.n_trees), output=trees % np.int32(self.n_outputs),
            offset=self.first_scores,
        )  # fmt: skip

    def tree(self, number: int) -> Tree:
        """Return one tree as a regression tree."""
        if not -self.n_trees <= number < self.n_trees:
            raise IndexError(
                f"number must be in [{-self.n_trees}, {self.n_trees - 1}], got {number}."
            )
        number %= self.n_trees
        return self._slice_trees(number, number + 1).tree(0)

    def check(self) -> None:
        """Raise ValueError if the arrays contradict each other."""
        k, n_trees = self.n_outputs, self.n_trees
        if len(self.first_scores) != k or n_trees % k or n_trees < k:
            raise ValueError(
                f"first_scores and trees must belong to n_outputs={k}, got "
                f"{len(self.first_scores)} scores and {n_trees} trees."
            )
        check_values("first_scores", self.first_scores, np.isfinite(self.first_scores), "finite")
        for name in ("node_rows", "node_gains"):
            values = getattr(self, name)
            check_values(name, values, np.isfinite(values) & (values >= 0), "not negative")
        _ = self.native


def join_parts(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Join the arrays of trees, as the kernels return them, one part behind the other."""
    if len(parts) == 1:
        return dict(parts[0])

    def arrays(name: str) -> list[Array]:
        return [part[name] for part in parts]

    return {
        **join_trees(arrays("nodes"), arrays("tree_offsets"), arrays("words"), arrays("tables")),
        "node_rows": np.concatenate(arrays("node_rows")),
        "node_gains": np.concatenate(arrays("node_gains")),
    }

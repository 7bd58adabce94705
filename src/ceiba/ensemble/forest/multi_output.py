"""Forests of several targets: one structure per tree, and a vector for each leaf.

Segal & Xiao (2011), "Multivariate random forests", WIREs Data Mining and Knowledge Discovery 1.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Annotated, Self

import numpy as np

from ceiba import _native
from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.base import ArrayOf
from ceiba.data.table import Table
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.tree_view import parents, subtree_sums, tree_of
from ceiba.tree.model.multi_output import (
    MultiOutputTree,
    check_output_classes,
    check_vectors,
)
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree


@dataclass(frozen=True, eq=False)
class MultiOutputForest(Forest):
    """The trees of a forest of several outputs.

    Nodes are those of a forest for regression, whose leaves have no values of their own.

    Parameters
    ----------
    leaf_values : ndarray of shape (n_leaves, width)
        Vector of each leaf, in the order of the nodes: numbers, or the class probabilities of all
        outputs, one output after another.
    output_classes : ndarray of int64 of shape (n_outputs,)
        Number of classes of each output; 0 for numbers.
    """

    leaf_values: Annotated[Array, ArrayOf("float64", "n_vectors", "width")] = field(
        default_factory=lambda: np.empty((0, 0))
    )
    output_classes: Annotated[Array, ArrayOf("int64", "n_outputs")] = field(
        default_factory=lambda: np.empty(0, np.int64)
    )

    def __repr__(self) -> str:
        return f"MultiOutput{super().__repr__()[:-1]}, {self.n_outputs} outputs)"

    @property
    def n_outputs(self) -> int:
        """Number of outputs: the columns of y."""
        return len(self.output_classes)

    @cached_property
    def is_leaf(self) -> Array:
        """Mask of the leaves of all trees."""
        return np.asarray(NodeView(self.nodes).kind == NodeTest.LEAF)

    @cached_property
    def leaf_row(self) -> Array:
        """Row of each leaf in ``leaf_values``; of other nodes that of the leaf before."""
        row: Array = np.cumsum(self.is_leaf) - 1
        return np.maximum(row, 0).astype(np.int32)

    def predict(self, table: Table, threads: int = 1, leaf_smoothing: float = 0.0) -> Array:
        """Return the mean of the trees' vectors; ``leaf_smoothing`` is 0 for several outputs."""
        out = np.empty((len(table), self.leaf_values.shape[1]))
        _native.forest_predict_vectors(
            self.native, self.native_rows(table), self.leaf_row, self.leaf_values, out, threads
        )
        return out

    def tree(self, number: int) -> Tree:
        """Return one tree; its values are means over the leaves, weighted by their rows."""
        structure = tree_of(self, number)
        nodes = slice(*self.tree_offsets[number % self.n_trees :][:2].tolist())
        is_leaf = structure.is_leaf
        parent, depth = parents(structure.nodes, is_leaf), structure.depth
        sums = np.zeros((structure.n_nodes, self.leaf_values.shape[1]))
        sums[is_leaf] = self.leaf_values[self.leaf_row[nodes][is_leaf]]
        sums[is_leaf] *= structure.weight[is_leaf, None]
        means = subtree_sums(sums, parent, depth) / structure.weight[:, None]
        # Exactly what the leaves predict.
        means[is_leaf] = self.leaf_values[self.leaf_row[nodes][is_leaf]]
        return MultiOutputTree.of(structure, means, self.output_classes)

    def select_trees(self, is_kept: Array) -> Self:
        """Return the forest of the trees that are True in a mask."""
        selected = super().select_trees(is_kept)
        of_node = np.repeat(is_kept, np.diff(self.tree_offsets))
        return replace(selected, leaf_values=self.leaf_values[of_node[self.is_leaf]])

    def merge_forests(self, *others: Forest) -> Forest:
        """Return the trees of all forests, one forest after the other."""
        forests = [self, *others]
        for other in forests:
            if not isinstance(other, MultiOutputForest) or not np.array_equal(
                self.output_classes, other.output_classes
            ):
                raise ValueError("the forests must have the same targets.")
        merged = super().merge_forests(*others)
        structure = {entry.name: getattr(merged, entry.name) for entry in fields(Forest)}
        values = np.concatenate([forest.leaf_values for forest in forests])  # type: ignore[attr-defined]
        return MultiOutputForest(
            **structure, leaf_values=values, output_classes=self.output_classes
        )

    def check(self) -> None:
        """Raise ValueError if the arrays contradict each other."""
        super().check()
        if self.n_classes:
            raise ValueError(f"n_classes must be 0 with several outputs, got {self.n_classes}.")
        n_leaves = int(self.is_leaf.sum())
        if len(self.leaf_values) != n_leaves:
            raise ValueError(
                f"leaf_values must have one row for each of {n_leaves} leaves, got "
                f"{len(self.leaf_values)}."
            )
        check_output_classes(self.output_classes, self.leaf_values.shape[1])
        check_vectors("leaf_values", self.leaf_values, self.output_classes)

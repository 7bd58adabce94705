"""Quantile regression forests: training targets weighted by shared leaves.

Meinshausen (2006), "Quantile regression forests", Journal of Machine Learning Research 7.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.record import check_values
from ceiba.base.value_types import format_value
from ceiba.ensemble.forest.model import Forest
from ceiba.stats.labeled import LabeledRows


@dataclass(frozen=True, eq=False)
class LeafTargets(Record):
    """The targets of the training rows in every leaf of every tree.

    Parameters
    ----------
    target : ndarray of float64 of shape (n_rows,)
        Targets of the training rows, ascending.
    weight : ndarray of float64 of shape (n_rows,)
    order : ndarray of uint32 of shape (n_trees, n_rows)
        Indices into ``target``, leaf by leaf, ascending within a leaf.
    offsets : ndarray of int64 of shape (n_nodes + n_trees,)
        For every tree, the index of each node's first row in ``order``, and the number of rows;
        nodes that are not leaves have no rows.
    """

    target: Annotated[Array, ArrayOf("float64", "n_rows")]
    weight: Annotated[Array, ArrayOf("float64", "n_rows")]
    order: Annotated[Array, ArrayOf("uint32", "n_trees", "n_rows")]
    offsets: Annotated[Array, ArrayOf("int64", "n_offsets")]

    @classmethod
    def of(cls, forest: Forest, rows: LabeledRows, threads: int) -> LeafTargets:
        """Collect the leaves of the training rows in every tree."""
        by_target = np.argsort(rows.target.values, kind="stable")
        leaf = forest.apply(rows.table, threads)[by_target]
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        order = np.empty((forest.n_trees, len(rows)), np.uint32)
        offsets = np.empty(forest.n_nodes + forest.n_trees, np.int64)
        for t in range(forest.n_trees):
            order[t] = np.argsort(leaf[:, t], kind="stable")
            n_nodes = int(forest.tree_offsets[t + 1] - forest.tree_offsets[t])
            first = int(forest.tree_offsets[t]) + t
            counts = np.bincount(leaf[:, t], minlength=n_nodes)
            offsets[first : first + n_nodes + 1] = np.concatenate([[0], np.cumsum(counts)])
        return cls(rows.target.values[by_target], weight[by_target], order, offsets)

    def quantiles(self, forest: Forest, leaf: Array, q: Array, threads: int) -> Array:
        """Return quantiles of the training targets that share the leaves of each row.

        ``leaf`` has shape (n_rows, n_trees).
        """
        out = np.empty((len(leaf), len(q)))
        targets = _native.LeafTargets(
            np.ascontiguousarray(self.target), np.ascontiguousarray(self.weight),
            np.ascontiguousarray(self.order), np.ascontiguousarray(self.offsets),
            forest.tree_offsets,
        )  # fmt: skip
        _native.forest_quantiles(
            targets, np.ascontiguousarray(leaf), np.ascontiguousarray(q, np.float64), out, threads
        )
        return out

    def check(self) -> None:
        """Raise ValueError if targets, weights and indices are inconsistent."""
        valid = np.isfinite(self.target) & (np.diff(self.target, prepend=-np.inf) >= 0)
        check_values("target", self.target, valid, "finite and ascending")
        valid = np.isfinite(self.weight) & (self.weight > 0)
        check_values("weight", self.weight, valid, "positive and finite")
        n_rows = len(self.target)
        if not n_rows:
            raise ValueError("target must have at least one row, got 0.")
        check_values("order", self.order, self.order < n_rows, f"indices below {n_rows}")

    def check_forest(self, forest: Forest) -> None:
        """Raise ValueError unless the rows are those of the forest's leaves."""
        n_nodes = np.diff(forest.tree_offsets)
        if len(self.order) != forest.n_trees or len(self.offsets) != int((n_nodes + 1).sum()):
            raise ValueError(
                f"leaf_targets_ must have {forest.n_trees} orders and {int((n_nodes + 1).sum())} "
                f"offsets, as forest_, got {len(self.order)} and {len(self.offsets)}."
            )
        first = np.cumsum(n_nodes + 1) - (n_nodes + 1)
        counts = np.diff(self.offsets)
        counts[first[1:] - 1] = 0  # from the last offset of one tree to the first of the next
        last = self.offsets[first + n_nodes]
        if self.offsets[first].any() or (last != len(self.target)).any() or (counts < 0).any():
            raise ValueError(
                f"the offsets of each tree must rise from 0 to {len(self.target)}, the number of "
                f"training rows, got last offsets {format_value(last.tolist())}."
            )

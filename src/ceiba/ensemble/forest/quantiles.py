"""Quantiles of what a forest of numbers expects: the training targets, weighted by leaves shared.

Meinshausen (2006), "Quantile regression forests", Journal of Machine Learning Research 7.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.ensemble.forest.model import Forest
from ceiba.stats.rows import Labelled


@dataclass(frozen=True, slots=True, eq=False)
class LeafTargets:
    """The training rows of every leaf of every tree, and their targets.

    Parameters
    ----------
    target : ndarray of float64
        Targets of the training rows, ascending.
    weight : ndarray of float64
        Their weights.
    order : ndarray of uint32 of shape (n_trees, n_rows)
        Places of rows in ``target``, those of each leaf side by side and ascending.
    start : ndarray of int64
        For every node of the forest where its rows begin in ``order`` of its tree, and the end
        behind the last: a node that is no leaf has none.
    """

    target: Array
    weight: Array
    order: Array
    start: Array

    @classmethod
    def of(cls, forest: Forest, rows: Labelled, threads: int) -> LeafTargets:
        """Send the training rows down every tree."""
        by_target = np.argsort(rows.target.values, kind="stable")
        leaf = forest.apply(rows.table, threads)[by_target]
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        order = np.empty((forest.n_trees, len(rows)), np.uint32)
        start = np.empty(forest.n_nodes + forest.n_trees, np.int64)
        for t in range(forest.n_trees):
            order[t] = np.argsort(leaf[:, t], kind="stable")
            size = int(forest.first[t + 1] - forest.first[t])
            begin = int(forest.first[t]) + t
            counts = np.bincount(leaf[:, t], minlength=size)
            start[begin : begin + size + 1] = np.concatenate([[0], np.cumsum(counts)])
        return cls(rows.target.values[by_target], weight[by_target], order, start)

    def quantiles(self, forest: Forest, leaf: Array, wanted: Array, threads: int) -> Array:
        """For every row of leaves (row x tree) the quantiles of the targets that share them."""
        out = np.empty((len(leaf), len(wanted)))
        _native.forest_quantiles(
            self.target, self.weight, self.order, self.start, forest.first,
            np.ascontiguousarray(leaf), np.ascontiguousarray(wanted, np.float64), out, threads,
        )  # fmt: skip
        return out

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {entry.name: getattr(self, entry.name) for entry in fields(self)}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> LeafTargets:
        """The record that `to_json` wrote; ValueError where it contradicts itself."""
        wanted = {
            "target": (np.float64, 1), "weight": (np.float64, 1), "order": (np.uint32, 2),
            "start": (np.int64, 1),
        }  # fmt: skip
        if set(record) != set(wanted):
            raise ValueError("these are not the targets of leaves")
        for name, (dtype, ndim) in wanted.items():
            array = record[name]
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != ndim:
                raise ValueError(f"{name} must be an array of {np.dtype(dtype)}")
        n = len(record["target"])
        if len(record["weight"]) != n or record["order"].shape[1] != n:
            raise ValueError("targets, weights and places must be as many as rows")
        _check_rows(record)
        return cls(**{name: np.ascontiguousarray(record[name]) for name in wanted})

    def check_forest(self, forest: Forest) -> None:
        """Refuse the training rows of another forest."""
        nodes = np.diff(forest.first)
        if len(self.order) != forest.n_trees or len(self.start) != int((nodes + 1).sum()):
            raise ValueError("leaf_targets_ must be those of the forest's leaves")
        begin = np.cumsum(nodes + 1) - (nodes + 1)
        steps = np.diff(self.start)
        steps[begin[1:] - 1] = 0  # from the end of one tree to the next
        ends = self.start[begin + nodes]
        if self.start[begin].any() or (ends != len(self.target)).any() or (steps < 0).any():
            raise ValueError("the leaves of a tree must take up all training rows")


def _check_rows(record: dict[str, Any]) -> None:
    target, weight, order = record["target"], record["weight"], record["order"]
    if not np.isfinite(target).all() or (np.diff(target) < 0).any():
        raise ValueError("targets must be numbers that ascend")
    if not (np.isfinite(weight) & (weight > 0)).all():
        raise ValueError("weights must be positive numbers")
    if not len(target) or (order.size and order.max() >= len(target)):
        raise ValueError("a training row is not there")

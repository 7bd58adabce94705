"""Grow with a cost matrix: classes are weighted by the costs of their errors.

Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", section 4.4:
altered priors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.engine import Batch
from ceiba.stats.labeled import Labeled
from ceiba.tree.grow.targets import FixedPointScale
from ceiba.tree.model.tree import Tree


def check_cost_matrix(costs: Any, classes: Array) -> None:
    """Raise ValueError unless ``costs`` is a cost matrix of these classes."""
    matrix = np.asarray(costs, dtype=np.float64)
    n = len(classes)
    if matrix.shape != (n, n):
        raise ValueError(
            f"cost_matrix must have shape {(n, n)}, got {matrix.shape}: give it a row and a column "
            f"for each of the classes {classes.tolist()!r}."
        )
    if not (np.isfinite(matrix) & (matrix >= 0)).all() or np.diag(matrix).any():
        raise ValueError(
            "cost_matrix must hold finite costs >= 0 with 0 on the diagonal, got "
            f"{matrix.tolist()!r}."
        )
    if n > 1 and not matrix.sum(axis=1).all():
        raise ValueError(
            "cost_matrix must not have a row of zeros, got one: a class whose errors cost nothing "
            "is never predicted; leave its rows out."
        )


def cost_factors(costs: Any) -> Array:
    """Return a weight factor per class: the sum of its costs, relative to the smallest sum."""
    total = np.asarray(costs, dtype=np.float64).sum(axis=1)
    if not total.any():  # a single class
        return np.ones(len(total))
    return np.asarray(total / total.min())


def remove_cost_factors(tree: Tree, costs: Any, factors: Array, *, integer: bool) -> Tree:
    """Return the tree with class weights without cost factors, and with its cost matrix."""

    def original(weights: Array) -> Array:
        plain = weights / factors
        return np.rint(plain) if integer else plain

    value = original(tree.value)
    return replace(
        tree,
        value=value,
        leaves=original(tree.leaves),
        weight=value.sum(axis=1),
        costs=np.asarray(costs, dtype=np.float64).copy(),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ClassTotals:
    """Sums of the rows' weights by class, in fixed-point units."""

    totals: Array

    @classmethod
    def of(cls, batch: Batch[Labeled], scale: FixedPointScale) -> ClassTotals:
        """Sum the weights of a batch."""
        assert scale.classes is not None
        totals = np.zeros(len(scale.classes), np.int64)
        labels = batch.rows.labels(scale.classes)
        weights = scale.fixed_weights(batch.rows)
        np.add.at(totals, labels, 1 if weights is None else weights)
        return cls(totals)

    def merge(self, other: ClassTotals) -> ClassTotals:
        """Return the sums of both parts."""
        return ClassTotals(self.totals + other.totals)

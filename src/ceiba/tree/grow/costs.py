"""A cost matrix in growing: classes weigh as much as their mistakes cost.

Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", section 4.4:
altered priors.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.tree.grow.targets import FixedPoint
from ceiba.tree.model.tree import Tree


def checked_costs(costs: Any, classes: Array) -> Array:
    """The matrix as floats; ValueError where it is none for these classes."""
    matrix = np.asarray(costs, dtype=np.float64)
    n = len(classes)
    if matrix.shape != (n, n):
        raise ValueError(
            f"cost_matrix has the shape {matrix.shape}, and there are {n} classes: give it a row "
            f"and a column for each of {classes.tolist()!r}"
        )
    if not (np.isfinite(matrix) & (matrix >= 0)).all() or np.diag(matrix).any():
        raise ValueError("cost_matrix must hold costs of 0 or more, with 0 on the diagonal")
    if n > 1 and not matrix.sum(axis=1).all():
        raise ValueError(
            "cost_matrix has a row of zeros: a class whose mistakes cost nothing is never "
            "predicted; leave its rows out"
        )
    return matrix


def cost_weights(costs: Any) -> Array:
    """Factor of each class's weight: what its mistakes cost together, the least being 1."""
    total = np.asarray(costs, dtype=np.float64).sum(axis=1)
    if not total.any():  # a single class
        return np.ones(len(total))
    return np.asarray(total / total.min())


def as_given(tree: Tree, costs: Any, factors: Array, *, whole: bool) -> Tree:
    """The tree with class weights as the rows were given, and the costs that its leaves heed."""

    def given(weights: Array) -> Array:
        plain = weights / factors
        return np.rint(plain) if whole else plain

    value = given(tree.value)
    return replace(
        tree,
        value=value,
        leaves=given(tree.leaves),
        weight=value.sum(axis=1),
        costs=np.asarray(costs, dtype=np.float64).copy(),
    )


@dataclass(frozen=True, slots=True, eq=False)
class ClassTotals:
    """Sums of the rows' weights by class, in units of a fixed point."""

    totals: Array

    @classmethod
    def of(cls, batch: Any, fixed: FixedPoint) -> ClassTotals:
        """Of labelled rows."""
        assert fixed.classes is not None
        totals = np.zeros(len(fixed.classes), np.int64)
        labels = batch.rows.labels(fixed.classes)
        weights = fixed.fixed_weights(batch.rows)
        np.add.at(totals, labels, 1 if weights is None else weights)
        return cls(totals)

    def merge(self, other: ClassTotals) -> ClassTotals:
        """Of both parts."""
        return ClassTotals(self.totals + other.totals)

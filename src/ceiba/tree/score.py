"""Scores of a fitted tree on rows that need not be in memory, as statistics."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ceiba.data.source import Source
from ceiba.data.table import Table
from ceiba.engine import Engine
from ceiba.stats import Labelled, ToLabelled
from ceiba.stats.accuracy import Accuracy, check_sums
from ceiba.stats.points import Array
from ceiba.tree.structure import Tree


def score_of(model: Any, engine: Engine, source: Source) -> float:
    """Accuracy of a tree of classes, R² of a tree of numbers, in one pass over the rows.

    Parameters
    ----------
    model : DecisionTreeClassifier or DecisionTreeRegressor
        Fitted.
    engine : Engine
    source : Source
        Rows under the model's schema, with a target.
    """
    rows = engine.rows(source.partitions, ToLabelled(model._task))
    if model._task == "classification":
        predict = partial(likeliest, model.tree_)
        return engine.reduce(rows, Accuracy.of, model.classes_, predict).score
    return engine.reduce(rows, Determination.of, model.tree_).score


def likeliest(tree: Tree, table: Table, threads: int) -> Array:
    """Place of the class that the tree predicts for every row."""
    if tree.missing == "shared":
        return tree.decided(tree.told(table, threads))
    places: Array = tree.likeliest[tree.child[tree.apply(table, threads)]]
    return places


@dataclass(frozen=True, slots=True)
class Determination:
    """Rows, their weight, mean and centred squares of the target, and squares of what is left.

    Two parts are merged centred, never by raw second moments.

    References
    ----------
    Chan, Golub & LeVeque (1983), "Algorithms for computing the sample variance", The American
    Statistician 37.
    """

    rows: int
    weight: float
    mean: float
    squares: float
    residual: float

    @classmethod
    def of(cls, batch: Any, tree: Tree) -> Determination:
        """Of labelled rows."""
        rows: Labelled = batch.rows
        if len(rows) == 0:
            return cls(0, 0.0, 0.0, 0.0, 0.0)
        y = rows.target.values
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        with np.errstate(over="ignore", invalid="ignore"):  # refused when all is summed
            total = float(weight.sum())
            left = y - tree.told(rows.table, batch.threads)
            # Taken from the first, equal targets differ by exactly nothing.
            moved = y - y[0]
            mean = float((weight * moved).sum()) / total
            squares = float((weight * (moved - mean) ** 2).sum())
            residual = float((weight * left**2).sum())
        return cls(len(rows), total, float(y[0]) + mean, squares, residual)

    def merge(self, other: Determination) -> Determination:
        """Of both parts."""
        if self.rows == 0 or other.rows == 0:
            return other if self.rows == 0 else self
        weight = self.weight + other.weight
        shift, share = other.mean - self.mean, other.weight / weight
        return Determination(
            self.rows + other.rows,
            weight,
            self.mean + shift * share,
            self.squares + other.squares + shift * shift * self.weight * share,
            self.residual + other.residual,
        )

    @property
    def score(self) -> float:
        """R²: 1 where all is explained, 0 where it is no better than the mean.

        Where all targets are equal it is 1 if they are predicted, else 0; of a single row it is
        not defined: NaN, with a warning, as in scikit-learn.
        """
        check_sums(self.weight, self.squares, self.residual)
        if self.rows < 2:
            warn_single()
            return math.nan
        if self.squares == 0:
            return 1.0 if self.residual == 0 else 0.0
        return 1.0 - self.residual / self.squares


def warn_single() -> None:
    """Say that a single row has no R²."""
    from sklearn.exceptions import UndefinedMetricWarning

    warnings.warn(
        "R² is not well-defined with less than two rows.", UndefinedMetricWarning, stacklevel=5
    )

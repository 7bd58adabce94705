"""Leaves of rows, as a statistic: their merge puts the rows of the parts one after the other."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.source import Source
from ceiba.data.table import Table
from ceiba.engine import Engine
from ceiba.stats import Labelled, ToLabelled
from ceiba.stats.row_values import joined
from ceiba.stats.scores import Accuracy, check_sums
from ceiba.tree.model.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class LeafNumbers:
    """The leaf of every row; of a forest, that in each of its trees."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, tree: Any) -> LeafNumbers:
        """Route the tables of a batch through a tree or forest."""
        return cls((tree.apply(batch.rows, batch.threads),))

    def merge(self, other: LeafNumbers) -> LeafNumbers:
        """Both parts, in order."""
        return LeafNumbers(self.parts + other.parts)

    @property
    def numbers(self) -> Array:
        """Leaves of all rows, in order."""
        return joined(self.parts)


@dataclass(frozen=True, slots=True, eq=False)
class ToldValues:
    """What a tree or forest says of every row: class probabilities, or a number."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, tree: Any, *more: Any) -> ToldValues:
        """Ask a tree or forest about the tables of a batch; ``more`` is what it wants to know."""
        return cls((tree.told(batch.rows, batch.threads, *more),))

    def merge(self, other: ToldValues) -> ToldValues:
        """Both parts, in order."""
        return ToldValues(self.parts + other.parts)

    @property
    def values(self) -> Array:
        """What is said of all rows, in order."""
        return joined(self.parts)


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
    return scored(model, model.tree_, engine, source)


def scored(model: Any, grown: Any, engine: Engine, source: Source, *more: Any) -> float:
    """The same of a fitted estimator's tree or forest; ``more`` is what it wants to know."""
    rows = engine.rows(source.partitions, ToLabelled(model._task))
    if model._task == "classification":
        predict = partial(likeliest, grown, more=more)
        return engine.reduce(rows, Accuracy.of, model.classes_, predict).score
    return engine.reduce(rows, Determination.of, grown, *more).score


def likeliest(grown: Any, table: Table, threads: int, more: tuple[Any, ...] = ()) -> Array:
    """Place of the class that a tree or forest predicts for every row."""
    if isinstance(grown, Tree) and grown.missing != "shared":
        # A row has one leaf, and its class is known: no shares are written out.
        leaf = grown.apply(table, threads)
        places: Array = grown.likeliest[grown.child[leaf]]
    else:
        places = grown.decided(grown.told(table, threads, *more))
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
    def of(cls, batch: Any, grown: Any, *more: Any) -> Determination:
        """Of labelled rows, and what a tree or forest says of them."""
        rows: Labelled = batch.rows
        if len(rows) == 0:
            return cls(0, 0.0, 0.0, 0.0, 0.0)
        y = rows.target.values
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        with np.errstate(over="ignore", invalid="ignore"):  # refused when all is summed
            total = float(weight.sum())
            left = y - grown.told(rows.table, batch.threads, *more)
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

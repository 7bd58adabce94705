"""Scores of a fitted tree on rows that need not be in memory, as statistics."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.data.source import Source
from ceiba.engine import Engine
from ceiba.stats import Labelled, ToLabelled
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
        return engine.reduce(rows, Accuracy.of, model.tree_, model.classes_).score
    return engine.reduce(rows, Determination.of, model.tree_).score


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Weight of all rows, and of those whose class is predicted."""

    weight: float
    right: float

    @classmethod
    def of(cls, batch: Any, tree: Tree, classes: Array) -> Accuracy:
        """Of labelled rows; a class that is not among the model's ``classes`` is wrong."""
        rows: Labelled = batch.rows
        if len(rows) == 0:
            return cls(0.0, 0.0)
        leaves = tree.apply(rows.table, batch.threads)
        predicted = tree.likeliest[tree.child[leaves]]
        right = predicted == places_of(rows, classes)
        if rows.weight is None:
            return cls(float(len(rows)), float(np.count_nonzero(right)))
        # Added up in the same order, zeros in place of the wrong: never more than the whole.
        return cls(float(rows.weight.sum()), float((rows.weight * right).sum()))

    def merge(self, other: Accuracy) -> Accuracy:
        """Of both parts."""
        return Accuracy(self.weight + other.weight, self.right + other.right)

    @property
    def score(self) -> float:
        """Share of the weight whose class is predicted."""
        check_sums(self.weight, self.right)
        return self.right / self.weight


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
            left = y - tree.values_of(tree.apply(rows.table, batch.threads))
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


def places_of(rows: Labelled, classes: Array) -> Array:
    """The place of every row's class among the model's; -1 for one that it does not know."""
    own, known = rows.target.classes, classes.tolist()
    assert own is not None
    labels = own.tolist()
    if isinstance(labels[0], str) != isinstance(known[0], str):
        raise ValueError(
            f"the target holds {labels[0]!r}, and the model's classes are like {known[0]!r}: give "
            "the target in the type that the model was fitted with"
        )
    # By Python's equality, which tells whole numbers and floats apart at any size.
    place = {label: k for k, label in enumerate(known)}
    found: Array = np.array([place.get(label, -1) for label in labels])[rows.target.values]
    return found


def check_sums(weight: float, *sums: float) -> None:
    """Refuse sums that no score can be taken of."""
    if weight == 0:
        raise ValueError("every row has weight zero: there is nothing to score")
    if not all(map(math.isfinite, (weight, *sums))):
        raise ValueError("the sums of weights or squares are too large: give smaller numbers")


def warn_single() -> None:
    """Say that a single row has no R²."""
    from sklearn.exceptions import UndefinedMetricWarning

    warnings.warn(
        "R² is not well-defined with less than two rows.", UndefinedMetricWarning, stacklevel=5
    )


class ScoresScans:
    """``score`` on rows that need not be in memory; stands before scikit-learn's mixin."""

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Share of rows whose class is predicted right, or the coefficient of determination R².

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``: ``y`` is None where ``X`` is a scan that names its target.

        Returns
        -------
        float
        """
        if y is not None:
            found: float = super().score(X, y, sample_weight)  # type: ignore[misc]
            return found
        engine, source = self._open(  # type: ignore[attr-defined]
            X,
            sample_weight,
            reset=False,
            task=self._task,  # type: ignore[attr-defined]
        )
        return score_of(self, engine, source)

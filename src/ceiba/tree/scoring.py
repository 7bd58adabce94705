"""Predictions and scores of a fitted tree or forest, on rows that need not be in memory."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from ceiba._typing import Array
from ceiba.data.source import Source
from ceiba.data.table import Table
from ceiba.engine import Batch, Engine
from ceiba.stats import LabeledRows, ToLabeledRows
from ceiba.stats.labeled import Accuracy, check_score_sums

# Rows of a chunk without target and weights.
to_table = attrgetter("table")


def predict_batch(
    batch: Batch[Table], method: Callable[..., Array], model: Any, *options: Any
) -> Array:
    """Return what a method of a tree or forest, such as `Tree.apply`, returns per row."""
    return np.asarray(method(model, batch.rows, batch.threads, *options))


def score(estimator: Any, model: Any, engine: Engine, source: Source, *options: Any) -> float:
    """Return the accuracy of a classifier, or the R² of a regressor, in one pass.

    ``model`` is the tree or forest of the estimator, ``source`` has rows under its schema, with a
    target, and ``options`` are further arguments of ``model.predict``.
    """
    rows = engine.rows(source.partitions, ToLabeledRows(estimator._task))
    if estimator._task == "classification":
        model_args = (estimator.classes_, model.predict_class, *options)
        return engine.reduce(rows, Accuracy.of, *model_args).score
    return engine.reduce(rows, R2Score.of, model, *options).score


@dataclass(frozen=True, slots=True)
class R2Score:
    """Weight, mean and centered squares of the target, and squares of the residuals.

    Two parts are merged with centered moments, never with raw second moments.

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
    def of(cls, batch: Batch[LabeledRows], model: Any, *options: Any) -> R2Score:
        """Score the predictions of a tree or forest for labeled rows."""
        rows = batch.rows
        if len(rows) == 0:
            return cls(0, 0.0, 0.0, 0.0, 0.0)
        y = rows.target.values
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        with np.errstate(over="ignore", invalid="ignore"):  # checked when all is summed
            total = float(weight.sum())
            error = y - model.predict(rows.table, batch.threads, *options)
            # Relative to the first target, the differences of equal targets are exactly zero.
            shifted = y - y[0]
            mean = float((weight * shifted).sum()) / total
            squares = float((weight * (shifted - mean) ** 2).sum())
            residual = float((weight * error**2).sum())
        return cls(len(rows), total, float(y[0]) + mean, squares, residual)

    def merge(self, other: R2Score) -> R2Score:
        """Return the moments of both parts."""
        if self.rows == 0 or other.rows == 0:
            return other if self.rows == 0 else self
        weight = self.weight + other.weight
        shift, fraction = other.mean - self.mean, other.weight / weight
        return R2Score(
            self.rows + other.rows,
            weight,
            self.mean + shift * fraction,
            self.squares + other.squares + shift * shift * self.weight * fraction,
            self.residual + other.residual,
        )

    @property
    def score(self) -> float:
        """R²: 1 for perfect predictions, 0 for predictions no better than the mean.

        If all targets are equal it is 1 if they are predicted exactly, else 0. For a single row
        it is NaN, with a warning, as in scikit-learn.
        """
        check_score_sums(self.weight, self.squares, self.residual)
        if self.rows < 2:
            text = "R² is not well-defined with less than two rows."
            warnings.warn(text, UndefinedMetricWarning, stacklevel=4)
            return math.nan
        if self.squares == 0:
            return 1.0 if self.residual == 0 else 0.0
        return 1.0 - self.residual / self.squares

"""Rows with category codes and numeric values, and their statistics in discriminative training.

The statistics are those of `ceiba.bayes.statistics`, for the weights of a `DensityModel`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.coding import ToCodedRows
from ceiba.bayes.discriminative.density_model import DensityModel
from ceiba.bayes.distributions.fit import DensityStatistics
from ceiba.bayes.distributions.rows import ToNumericRows
from ceiba.bayes.network import ClassTable
from ceiba.bayes.statistics import CodedRows
from ceiba.data.source import Chunk
from ceiba.engine import Batch
from ceiba.engine.contract import AdditiveStatistic
from ceiba.stats import LabeledRows, ToLabeledRows

# Rows whose scores and terms are held at a time: in the cache, a pass takes half the time that it
# takes with 65,536 rows.
_ROWS = 8_192


@dataclass(frozen=True, slots=True, eq=False)
class DensityRows(CodedRows):
    """Coded rows with the values of the numeric columns that have a density.

    Parameters
    ----------
    codes, labels, weight, n_classes
        As in `CodedRows`.
    X : ndarray of float64, shape (n_rows, n_columns)
        Values minus the center of their column, divided by its spread; NaN for a missing value.
    """

    X: Array

    def take(self, index: Array | slice) -> DensityRows:
        """Return some of the rows."""
        coded = CodedRows.take(self, index)
        return DensityRows(coded.codes, coded.labels, coded.weight, self.n_classes, self.X[index])


@dataclass(frozen=True, eq=False)
class ToDensityRows:
    """Prepare a partition as rows with codes and numeric values.

    Parameters
    ----------
    codes : ToCodedRows
    numbers : ToNumericRows
    center, spread : ndarray of shape (n_columns,)
    """

    codes: ToCodedRows
    numbers: ToNumericRows
    center: Array
    spread: Array

    @classmethod
    def of(
        cls,
        codes: ToCodedRows,
        prepare: ToNumericRows,
        statistics: DensityStatistics,
    ) -> ToDensityRows:
        """Return the preparation of the columns of some statistics."""
        columns = tuple(statistics.columns.tolist())
        counts = tuple(statistics.indices("poisson"))
        numbers = replace(prepare, columns=columns, scaling=statistics.scaling, counts=counts)
        pooled = statistics.moments.pooled()
        return cls(codes, numbers, pooled.mean[0], np.sqrt(pooled.variance[0]))

    def __call__(self, chunk: Chunk) -> DensityRows:
        """Return the rows of one chunk."""
        return self.of_labeled(ToLabeledRows("classification")(chunk))

    def of_labeled(self, rows: LabeledRows) -> DensityRows:
        """Return the rows of labeled rows."""
        coded, X = self.codes.of_labeled(rows), self.numbers.of_labeled(rows).X
        X = (X - self.center) / self.spread
        return DensityRows(coded.codes, coded.labels, coded.weight, coded.n_classes, X)


@dataclass(frozen=True, slots=True, eq=False)
class MissingValues(AdditiveStatistic):
    """Number of missing values of numeric columns."""

    count: int

    @classmethod
    def of(cls, batch: Batch[DensityRows]) -> MissingValues:
        """Count the missing values of a batch."""
        return cls(int(np.isnan(batch.rows.X).sum()))


@dataclass(frozen=True, slots=True, eq=False)
class DensityResiduals(AdditiveStatistic):
    """Conditional log-likelihood, and sums of the residuals of the classes, 1 or 0 minus p(c | x).

    Attributes
    ----------
    objective : float
    table : ndarray of shape (n_weights, n_classes)
        By table row, and multiplied by each term of the known values.
    bias : ndarray of shape (n_classes,)
    missing : ndarray of shape (n_columns, n_classes)
        Over the rows in which each numeric column is missing.
    """

    objective: float
    table: Array
    bias: Array
    missing: Array

    @classmethod
    def of(
        cls, batch: Batch[DensityRows], model: DensityModel, weights: ClassTable
    ) -> DensityResiduals:
        """Sum over the rows of a batch."""
        k, m = len(weights.bias), batch.rows.X.shape[1]
        found = cls(0.0, np.zeros_like(weights.table), np.zeros(k), np.zeros((m, k)))
        for rows in _parts(batch.rows):
            found = found.merge(cls._of_part(rows, model, weights, batch.threads))
        return found

    @classmethod
    def _of_part(
        cls, rows: DensityRows, model: DensityModel, weights: ClassTable, threads: int
    ) -> DensityResiduals:
        log_p = _log_posteriors(model.log_scores(rows, weights, threads))
        row_weights = np.ones(len(rows)) if rows.weight is None else rows.weight
        each = np.arange(len(rows))
        objective = float(row_weights @ log_p[each, rows.labels])
        residuals = -np.exp(log_p)
        residuals[each, rows.labels] += 1.0
        residuals *= row_weights[:, None]
        missing = np.isnan(rows.X)
        terms = model.statistics(np.where(missing, 0.0, rows.X))
        table = np.concatenate([_table_sums(rows, model, residuals), terms.T @ residuals])
        return cls(objective, table, residuals.sum(axis=0), missing.T.astype(float) @ residuals)


@dataclass(frozen=True, slots=True, eq=False)
class DensityLikelihoods(AdditiveStatistic):
    """Conditional log-likelihood under several models, or at several steps along a direction."""

    log_likelihoods: Array

    @classmethod
    def of(
        cls, batch: Batch[DensityRows], model: DensityModel, weights: Sequence[ClassTable]
    ) -> DensityLikelihoods:
        """Compute the log-likelihoods of a batch under several weights."""
        found = np.zeros(len(weights))
        for rows in _parts(batch.rows):
            for i, candidate in enumerate(weights):
                found[i] += _log_likelihood(rows, model.log_scores(rows, candidate, batch.threads))
        return cls(found)

    @classmethod
    def along(
        cls,
        batch: Batch[DensityRows],
        model: DensityModel,
        weights: ClassTable,
        direction: ClassTable,
        steps: Array,
    ) -> DensityLikelihoods:
        """Compute those at steps from log-linear weights, in which scores are linear."""
        found = np.zeros(len(steps))
        for rows in _parts(batch.rows):
            scores = model.log_scores(rows, weights, batch.threads)
            change = model.log_scores(rows, direction, batch.threads)
            for i, step in enumerate(steps):
                found[i] += _log_likelihood(rows, scores + step * change)
        return cls(found)


@dataclass(frozen=True, slots=True, eq=False)
class DensityErrors(AdditiveStatistic):
    """Weight of the rows whose most probable class is not their own."""

    weight: float

    @classmethod
    def of(
        cls, batch: Batch[DensityRows], model: DensityModel, weights: ClassTable
    ) -> DensityErrors:
        """Sum the weight of the errors of a batch."""
        found = 0.0
        for rows in _parts(batch.rows):
            scores = model.log_scores(rows, weights, batch.threads)
            wrong = scores.argmax(axis=1) != rows.labels
            found += float(wrong.sum() if rows.weight is None else rows.weight[wrong].sum())
        return cls(found)


def _parts(rows: DensityRows) -> Iterator[DensityRows]:
    for start in range(0, len(rows), _ROWS):
        yield rows.take(slice(start, start + _ROWS))


def _log_posteriors(scores: Array) -> Array:
    scores -= scores.max(axis=1, keepdims=True)
    scores -= np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return scores


def _log_likelihood(rows: DensityRows, scores: Array) -> float:
    found = _log_posteriors(scores)[np.arange(len(rows)), rows.labels]
    return float(found.sum() if rows.weight is None else rows.weight @ found)


def _table_sums(rows: DensityRows, model: DensityModel, values: Array) -> Array:
    """Sum values of the rows and classes by the table rows of the families."""
    n = model.families.n_table_rows
    sums = np.zeros((n, values.shape[1]))
    for table_row in model.families.table_rows(rows.codes):
        for c in range(values.shape[1]):
            sums[:, c] += np.bincount(table_row, values[:, c], n)
    return sums

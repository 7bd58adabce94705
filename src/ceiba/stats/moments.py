"""Weighted mean and variance of every column, over its observed values."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.engine.contract import Batch
from ceiba.stats.points import Points


@dataclass(frozen=True, slots=True)
class Moments:
    """Weight, mean, centered sum of squares, minimum and maximum per column.

    ``rows`` has the number of rows of each partition, in order, for numbering rows globally;
    ``total`` is the weight of all rows, with or without missing values. Sums of squares are
    centered at the mean, because differences of raw second moments would lose digits.

    References
    ----------
    Chan, Golub & LeVeque (1983), "Algorithms for computing the sample variance", The American
    Statistician 37.
    """

    weight: Array
    mean: Array
    squares: Array
    min: Array
    max: Array
    n_missing: int
    rows: tuple[int, ...]
    total: float

    @classmethod
    def of(cls, batch: Batch[Points]) -> Moments:
        """Summarize points; raise for infinite values."""
        X = batch.rows.X
        out = np.empty((5, X.shape[1]))
        n_missing, row, column = _native.moments(X, batch.rows.weight, out, batch.threads)
        if row >= 0:
            raise ValueError(
                f"Input X contains infinity: row {batch.rows.row_number(row)}, column "
                f"{batch.rows.column_name(column)}. Correct it, or use NaN for a missing value."
            )
        weight = batch.rows.weight
        total = float(len(X) if weight is None else weight.sum())
        return cls(out[0], out[1], out[2], out[3], out[4], n_missing, (len(X),), total)

    def merge(self, other: Moments) -> Moments:
        """Return the moments of both parts' rows."""
        weight = self.weight + other.weight
        both = (self.weight > 0) & (other.weight > 0)
        # A part without observed values in a column has no mean there.
        shift = np.where(both, other.mean - self.mean, 0.0)
        fraction = np.divide(other.weight, weight, out=np.zeros_like(weight), where=both)
        mean = np.where(self.weight > 0, self.mean, other.mean)
        return Moments(
            weight,
            mean + shift * fraction,
            self.squares + other.squares + shift * shift * self.weight * fraction,
            np.minimum(self.min, other.min),
            np.maximum(self.max, other.max),
            self.n_missing + other.n_missing,
            self.rows + other.rows,
            self.total + other.total,
        )

    def extended_to(self, centers: Array) -> Moments:
        """Return the moments with minimum and maximum extended to ``centers``."""
        low = np.minimum(self.min, centers.min(axis=0))
        return replace(self, min=low, max=np.maximum(self.max, centers.max(axis=0)))

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight, in all parts."""
        return sum(self.rows)

    @property
    def variance(self) -> Array:
        """Variance of each column: squares divided by weight."""
        return self.squares / self.weight

    @property
    def spread(self) -> float:
        """Largest difference between values of the same column."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.max(self.max - self.min))

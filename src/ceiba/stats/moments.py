"""Weighted mean and variance of every column, over what is observed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array


@dataclass(frozen=True, slots=True)
class Moments:
    """Per column: weight, mean, centred sum of squares, least and most; and the rows behind them.

    ``rows`` counts the rows of each part in order, so that the parts of a whole can number theirs;
    ``total`` is the weight of all rows, whatever they miss.
    Two parts are merged centred, never by raw second moments.

    References
    ----------
    Chan, Golub & LeVeque (1983), "Algorithms for computing the sample variance", The American
    Statistician 37.
    """

    weight: Array
    mean: Array
    squares: Array
    least: Array
    most: Array
    gaps: int
    rows: tuple[int, ...]
    total: float

    @classmethod
    def of(cls, batch: Any) -> Moments:
        """Summarise points; infinity is refused."""
        X = batch.rows.X
        out = np.empty((5, X.shape[1]))
        gaps, row, column = _native.moments(X, batch.rows.weight, out, batch.threads)
        if row >= 0:
            raise ValueError(
                f"Input X contains infinity: row {batch.rows.row_number(row)}, column "
                f"{batch.rows.column_name(column)}. Correct it, or give NaN where the value is "
                "missing."
            )
        weight = batch.rows.weight
        total = float(len(X) if weight is None else weight.sum())
        return cls(out[0], out[1], out[2], out[3], out[4], gaps, (len(X),), total)

    def merge(self, other: Moments) -> Moments:
        """Moments of both parts' rows."""
        weight = self.weight + other.weight
        both = (self.weight > 0) & (other.weight > 0)
        # A part without values in a column has no mean there that could be shifted from.
        shift = np.where(both, other.mean - self.mean, 0.0)
        share = np.divide(other.weight, weight, out=np.zeros_like(weight), where=both)
        mean = np.where(self.weight > 0, self.mean, other.mean)
        return Moments(
            weight,
            mean + shift * share,
            self.squares + other.squares + shift * shift * self.weight * share,
            np.minimum(self.least, other.least),
            np.maximum(self.most, other.most),
            self.gaps + other.gaps,
            self.rows + other.rows,
            self.total + other.total,
        )

    def reaching(self, centres: Array) -> Moments:
        """The same, with a range that takes in some centres."""
        least = np.minimum(self.least, centres.min(axis=0))
        return replace(self, least=least, most=np.maximum(self.most, centres.max(axis=0)))

    @property
    def n_rows(self) -> int:
        """Rows of positive weight, in all parts."""
        return sum(self.rows)

    @property
    def variance(self) -> Array:
        """Variance of each column (divided by the weight)."""
        return self.squares / self.weight

    @property
    def spread(self) -> float:
        """The largest difference within any column."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.max(self.most - self.least))

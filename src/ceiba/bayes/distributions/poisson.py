"""Poisson distributions of counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from scipy.special import gammaln

from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.record import check_values
from ceiba.bayes.distributions.gaussian import ClassMoments
from ceiba.bayes.distributions.rows import check_counts, numeric_matrix
from ceiba.bayes.network import MIN_PROBABILITY
from ceiba.data.table import Table
from ceiba.stats.scaling import PointScaling

# Larger counts have its density, the logarithm of which is finite.
_MAX_COUNT = 1e300


@dataclass(frozen=True, eq=False)
class PoissonColumns(Record):
    """Fitted Poisson distributions, one for each class and column.

    Parameters
    ----------
    columns : ndarray of int64
        Indices of the columns in the schema.
    rate : ndarray of shape (n_classes, n_columns)
    """

    columns: Annotated[Array, ArrayOf("int64", "n_columns")]
    rate: Annotated[Array, ArrayOf("float64", "n_classes", "n_columns")]

    @classmethod
    def solve(cls, columns: Array, moments: ClassMoments, alpha: float) -> Self:
        """Return rates that are finite and positive.

        Each class gets ``alpha`` rows with the mean of the column over all classes, which itself
        gets one row of one event, so that no rate is zero. Moments are in the columns' own units.
        """
        total = (moments.weight * moments.mean).sum(axis=0)
        overall = (total + 1.0) / (moments.weight.sum(axis=0) + 1.0)
        weight = moments.weight + alpha
        sums = moments.weight * moments.mean + alpha * overall
        rate = np.where(weight > 0, sums / np.where(weight > 0, weight, 1.0), overall)
        return cls(columns, np.maximum(rate, MIN_PROBABILITY))

    def check(self) -> None:
        """Raise ValueError unless rates are positive."""
        check_values("rate", self.rate, np.isfinite(self.rate) & (self.rate > 0), "positive")

    def add_log_densities(self, table: Table, threads: int, out: Array) -> None:
        """Add log p(values | class) of each row to ``out``; missing values add nothing."""
        indices = self.columns.tolist()
        X = numeric_matrix(table, indices, PointScaling.identity(len(indices)))
        known = ~np.isnan(X)
        check_counts(X, [table.schema[j].name for j in indices])
        counts = np.minimum(np.where(known, X, 0.0), _MAX_COUNT)
        out += counts @ np.log(self.rate).T - known @ self.rate.T
        out -= gammaln(counts + 1.0).sum(axis=1)[:, None]

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.rate)

    def split(self) -> list[tuple[int, PoissonColumns]]:
        """Return the distributions of each column."""
        cls = type(self)
        return [
            (int(column), cls(self.columns[[i]], np.ascontiguousarray(self.rate[:, [i]])))
            for i, column in enumerate(self.columns)
        ]

    def describe(self) -> dict[str, Array]:
        """Return the parameters of each class in a single column."""
        return {"rate": self.rate[:, 0]}

"""Kernel densities: a normal kernel at each distinct value of a class."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, pi
from typing import Annotated, Self

import numpy as np
from scipy.special import logsumexp

from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.record import check_values
from ceiba.base.scaling import StoredScaling
from ceiba.bayes.distributions.rows import NumericRows, numeric_matrix
from ceiba.data.table import Table
from ceiba.engine import Batch

# Distinct values of a column; with more of them, they are rounded to as many cells of its range.
MAX_VALUES = 65_536
_ROUNDING = 1e-9
# A value within _NEAR bandwidths of a kernel needs those within _FAR only: the others add less than
# exp(-66) of its density, times their weight.
_NEAR, _FAR = 8.0, 14.0
_QUERIES = 256
_ENTRIES = 2**21


@dataclass(frozen=True, eq=False)
class ColumnValues(Record):
    """Distinct values of a column, ascending, with the weight of each class.

    With more than 65,536 of them (``rounded``), values are rounded to the centers of cells, 65,536
    of which cover the range from ``low`` to ``high`` of the first rows.
    """

    values: Annotated[Array, ArrayOf("float64", "n_values")]
    weights: Annotated[Array, ArrayOf("float64", "n_values", "n_classes")]
    low: float
    high: float
    rounded: bool = False

    @classmethod
    def count(cls, x: Array, rows: NumericRows, low: float, high: float) -> Self:
        """Count the observed values of a column."""
        known = ~np.isnan(x)
        values, where = np.unique(x[known] + 0.0, return_inverse=True)
        cell = where * rows.n_classes + rows.labels[known]
        weight = None if rows.weight is None else rows.weight[known]
        sums = np.bincount(cell, weight, minlength=len(values) * rows.n_classes)
        table = sums.astype(np.float64).reshape(len(values), rows.n_classes)
        return cls(values, table, low, high)._limited()

    def check(self) -> None:
        """Raise ValueError unless values ascend and weights are not negative."""
        check_values("values", self.values, np.isfinite(self.values), "finite")
        if (np.diff(self.values) <= 0).any():
            raise ValueError("values must ascend.")
        positive = np.isfinite(self.weights) & (self.weights >= 0)
        check_values("weights", self.weights, positive, "finite and >= 0")

    def merge(self, other: ColumnValues) -> Self:
        """Return the values of both parts."""
        one, two = (self, other)
        if one.rounded != two.rounded:
            one, two = one._in_cells(), two._in_cells()
        return one._combined(two, 1.0)._limited()

    def without(self, other: ColumnValues) -> Self:
        """Return the values that remain when those of ``other`` are removed."""
        other = other._in_cells() if self.rounded else other
        found = self._combined(other, -1.0)
        before = np.zeros_like(found.weights)
        before[np.searchsorted(found.values, self.values)] = self.weights
        limit = _ROUNDING * before
        if (found.weights < -limit).any():
            raise ValueError(
                "forget requires rows that were fitted before, got values that the model does "
                "not have."
            )
        weights = np.where(found.weights > limit, found.weights, 0.0)
        kept = weights.any(axis=1)
        cls = type(self)
        return cls(found.values[kept], weights[kept], self.low, self.high, self.rounded)

    def _combined(self, other: ColumnValues, sign: float) -> Self:
        both = np.concatenate([self.values, other.values])
        values, where = np.unique(both, return_inverse=True)
        weights = np.zeros((len(values), self.weights.shape[1]))
        weights[where[: len(self.values)]] += self.weights
        weights[where[len(self.values) :]] += sign * other.weights
        return type(self)(values, weights, self.low, self.high, self.rounded)

    def _limited(self) -> Self:
        return self if len(self.values) <= MAX_VALUES else self._in_cells()

    def _in_cells(self) -> Self:
        """Return the values rounded to the centers of cells of the range."""
        if self.rounded:
            return self
        # Values of later rows may lie outside of the range, in cells of the same width.
        width = ((self.high - self.low) or abs(self.low) or 1.0) / MAX_VALUES
        cell = np.floor((self.values - self.low) / width)
        filled, where = np.unique(cell, return_inverse=True)
        weights = np.zeros((len(filled), self.weights.shape[1]))
        np.add.at(weights, where, self.weights)
        values = self.low + (filled + 0.5) * width
        return type(self)(values, weights, self.low, self.high, True)


@dataclass(frozen=True, slots=True, eq=False)
class KernelValues:
    """Distinct values of several columns, as a reduction over partitions."""

    columns: tuple[ColumnValues, ...]

    @classmethod
    def of(cls, batch: Batch[NumericRows], low: Array, high: Array) -> Self:
        """Count the values of numeric rows whose columns have the given ranges."""
        rows = batch.rows
        ranges = zip(low.tolist(), high.tolist(), strict=True)
        return cls(
            tuple(ColumnValues.count(rows.X[:, j], rows, a, b) for j, (a, b) in enumerate(ranges))
        )

    def merge(self, other: KernelValues) -> KernelValues:
        """Return the values of both parts."""
        pairs = zip(self.columns, other.columns, strict=True)
        return KernelValues(tuple(one.merge(two) for one, two in pairs))


@dataclass(frozen=True, eq=False)
class KernelColumn(Record):
    """Kernel densities of a column, one for each class.

    Parameters
    ----------
    column : int
        Index of the column in the schema.
    scaling : StoredScaling
        Units of values and bandwidths.
    values : ColumnValues
        Distinct values with the weight of each class.
    bandwidth : ndarray of shape (n_classes,)
        Standard deviation of the kernels of each class; 0 in a column that is the same in all rows,
        which has no effect.
    """

    column: int
    scaling: StoredScaling
    values: ColumnValues
    bandwidth: Annotated[Array, ArrayOf("float64", "n_classes")]

    @classmethod
    def solve(
        cls, column: int, scaling: StoredScaling, values: ColumnValues, class_factors: Array
    ) -> Self:
        """Return the densities with bandwidths by Silverman's rule.

        That is 0.9 min(s, IQR / 1.34) n^(-1/5), with the standard deviation s, the range IQR of
        the middle half of the values, and the weight n of the class, without the factor of its
        class weight. Where all values of a class are equal, s is that of all classes; a class
        without values has the values of all classes.

        References
        ----------
        Silverman (1986), "Density Estimation for Statistics and Data Analysis".
        """
        weights = values.weights
        overall = weights.sum(axis=1)
        absent = ~weights.any(axis=0)
        if absent.any():
            filled = np.where(absent, overall[:, None], weights)
            values = ColumnValues(values.values, filled, values.low, values.high, values.rounded)
        spread = _spread(values.values, overall)
        own = [_spread(values.values, w) for w in values.weights.T]
        n = values.weights.sum(axis=0) / class_factors
        spreads = np.where(np.array(own) > 0, own, spread)
        return cls(column, scaling, values, 0.9 * spreads * np.maximum(n, 1.0) ** -0.2)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.bandwidth)

    def split(self) -> list[tuple[int, KernelColumn]]:
        """Return the distributions of each column."""
        return [(self.column, self)]

    def describe(self) -> dict[str, Array]:
        """Return the parameters of each class."""
        bandwidth = self.scaling.divisors * np.ldexp(self.bandwidth, -self.scaling.exponents)
        return {"bandwidth": bandwidth, "n_values": (self.values.weights > 0).sum(axis=0)}

    def check(self) -> None:
        """Raise ValueError for bandwidths and weights that no values have."""
        valid = np.isfinite(self.bandwidth) & (self.bandwidth >= 0)
        check_values("bandwidth", self.bandwidth, valid, "finite and >= 0")
        if not self.bandwidth.all():
            return
        sums = self.values.weights.sum(axis=0)
        check_values("weights", sums, (sums > 0) & np.isfinite(sums), "positive in every class")
        with np.errstate(over="ignore"):
            ratios = np.abs(self.values.values).max(initial=0.0) / self.bandwidth
        check_values("bandwidth", self.bandwidth, np.isfinite(ratios), "in the range of the values")

    def add_log_densities(self, table: Table, threads: int, out: Array) -> None:
        """Add log p(value | class) of each row to ``out``; a missing value adds nothing."""
        if not self.bandwidth.all():
            return
        x = numeric_matrix(table, [self.column], self.scaling)[:, 0]
        known = np.flatnonzero(~np.isnan(x))
        queries, where = np.unique(x[known], return_inverse=True)
        for c, h in enumerate(self.bandwidth.tolist()):
            used = self.values.weights[:, c] > 0
            with np.errstate(over="ignore"):  # infinitely many bandwidths from all kernels
                scaled = queries / h
            found = _log_density(scaled, self.values.values[used] / h, self.values.weights[used, c])
            out[known, c] += (found - log(h) + float(self.scaling.log_factors[0]))[where]


def _spread(values: Array, weight: Array) -> float:
    """Return min(s, IQR / 1.34); s where half of the values are equal."""
    total = weight.sum()
    if not total > 0:
        return 0.0
    used = weight > 0
    values, share = values[used], weight[used] / total
    mean = float(share @ values)
    deviation = float(np.sqrt(share @ (values - mean) ** 2)) if len(values) > 1 else 0.0
    below = np.cumsum(share)
    index = np.minimum(np.searchsorted(below, [0.25, 0.75]), len(values) - 1)
    iqr = float(values[index[1]] - values[index[0]])
    return min(deviation, iqr / 1.34) if iqr > 0 else deviation


def _log_density(queries: Array, kernels: Array, weights: Array) -> Array:
    """Return the log density at ascending queries, in units of the bandwidth."""
    log_weights = np.log(weights) - log(weights.sum()) - 0.5 * log(2 * pi)
    found = np.empty(len(queries))
    after = np.searchsorted(kernels, queries)
    right = np.abs(kernels[np.minimum(after, len(kernels) - 1)] - queries)
    left = np.abs(queries - kernels[np.maximum(after - 1, 0)])
    near = np.minimum(left, right) <= _NEAR
    for start in range(0, len(queries), _QUERIES):
        block = slice(start, start + _QUERIES)
        first, last = 0, len(kernels)
        if near[block].all():
            window = queries[block][[0, -1]] + [-_FAR, _FAR]
            first, last = np.searchsorted(kernels, window)
        step = max(_ENTRIES // max(last - first, 1), 1)
        own = queries[block]
        for i in range(0, len(own), step):
            z = own[i : i + step, None] - kernels[first:last]
            with np.errstate(over="ignore"):  # far from all kernels the density is zero
                terms = log_weights[first:last] - 0.5 * z * z
            found[start + i : start + i + len(terms)] = logsumexp(terms, axis=1)
    return found

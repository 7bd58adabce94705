"""Normal distributions: moments of each class and column, and log densities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from math import log, pi, sqrt
from typing import Annotated, Any, Self

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.record import check_values
from ceiba.base.scaling import StoredScaling
from ceiba.bayes.distributions.rows import numeric_matrix, take_scaling
from ceiba.data.table import Table

# Deviations beyond have no effect on a column in its units.
_MAX_DEVIATION = 1e150


@dataclass(frozen=True, eq=False)
class ClassMoments:
    """Weight, mean and centered squares of the observed values of each class and column.

    References
    ----------
    Chan, Golub & LeVeque (1983), "Algorithms for computing the sample variance", The American
    Statistician 37.
    """

    weight: Array
    mean: Array
    squares: Array

    def merge(self, other: ClassMoments) -> Self:
        """Return the moments of both parts' rows."""
        weight = self.weight + other.weight
        both = (self.weight > 0) & (other.weight > 0)
        shift = np.where(both, other.mean - self.mean, 0.0)
        fraction = np.divide(other.weight, weight, out=np.zeros_like(weight), where=both)
        mean = np.where(self.weight > 0, self.mean, other.mean)
        squares = self.squares + other.squares + shift * shift * self.weight * fraction
        return type(self)(weight, mean + shift * fraction, squares)

    def take(self, columns: Any) -> Self:
        """Return the moments of some columns."""
        parts = (self.weight, self.mean, self.squares)
        return type(self)(*(np.ascontiguousarray(part[:, columns]) for part in parts))

    def pooled(self) -> Self:
        """Return the moments over all classes, of shape (1, n_columns)."""
        parts = (self.weight, self.mean, self.squares)
        classes = [type(self)(*(part[[c]] for part in parts)) for c in range(len(self.weight))]
        # Merged one by one: equal means have no deviation, however they are rounded.
        return reduce(type(self).merge, classes)

    @property
    def constant(self) -> Array:
        """Whether each column has the same value in all classes: no squares, and equal means."""
        seen = self.weight > 0
        low = np.where(seen, self.mean, np.inf).min(axis=0)
        high = np.where(seen, self.mean, -np.inf).max(axis=0)
        return np.asarray((low >= high) & ~self.squares.any(axis=0))

    @property
    def variance(self) -> Array:
        """Variance of each class and column; 0 without values."""
        return np.divide(
            self.squares, self.weight, out=np.zeros_like(self.squares), where=self.weight > 0
        )


@dataclass(frozen=True, eq=False)
class GaussianColumns(Record):
    """Fitted normal distributions, one for each class and column.

    Parameters
    ----------
    columns : ndarray of int64
        Indices of the columns in the schema.
    scaling : StoredScaling
        Units of mean and deviation.
    mean, deviation : ndarray of shape (n_classes, n_columns)
        The deviation is infinite for columns that are the same in all rows, which have no effect.
    """

    columns: Annotated[Array, ArrayOf("int64", "n_columns")]
    scaling: StoredScaling
    mean: Annotated[Array, ArrayOf("float64", "n_classes", "n_columns")]
    deviation: Annotated[Array, ArrayOf("float64", "n_classes", "n_columns")]

    @classmethod
    def solve(
        cls,
        columns: Array,
        scaling: StoredScaling,
        moments: ClassMoments,
        var_smoothing: float,
        names: list[str],
    ) -> Self:
        """Return the distributions of maximum likelihood with raised variances.

        ``var_smoothing`` times the largest variance of a column, over all classes, is added to
        every variance. A class without values in a column has the moments of all classes there.
        """
        pooled = moments.pooled()
        seen = moments.weight > 0
        mean = np.where(seen, moments.mean, pooled.mean)
        own = np.sqrt(np.where(seen, moments.variance, pooled.variance))
        floor = sqrt(var_smoothing) * _largest_deviation(np.sqrt(pooled.variance[0]), scaling)
        deviation = np.minimum(np.hypot(own, floor), _MAX_DEVIATION)
        constant = moments.constant
        deviation[:, constant] = np.inf
        if (deviation == 0).any():
            name = names[int(np.argmax((deviation == 0).any(axis=0)))]
            raise ValueError(
                f"var_smoothing must be positive, since column {name!r} is constant within a "
                f"class, got {var_smoothing:g}."
            )
        return cls(columns, scaling, mean, deviation)

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        if len(self.scaling.divisors) != len(self.columns):
            raise ValueError("scaling must have an entry for each of the columns.")
        check_values("mean", self.mean, np.isfinite(self.mean), "finite")
        check_values("deviation", self.deviation, self.deviation > 0, "positive")

    def add_log_densities(self, table: Table, threads: int, out: Array) -> None:
        """Add log p(values | class) of each row to ``out``; missing values add nothing."""
        X = numeric_matrix(table, self.columns.tolist(), self.scaling)
        _native.bayes_add_log_normals(X, *self.terms, out, threads)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.mean)

    def split(self) -> list[tuple[int, GaussianColumns]]:
        """Return the distributions of each column."""
        cls = type(self)
        return [
            (
                int(column),
                cls(
                    self.columns[[i]], take_scaling(self.scaling, [i]),
                    np.ascontiguousarray(self.mean[:, [i]]),
                    np.ascontiguousarray(self.deviation[:, [i]]),
                ),
            )
            for i, column in enumerate(self.columns)
        ]  # fmt: skip

    def describe(self) -> dict[str, Array]:
        """Return the parameters of each class in a single column."""
        mean = self.scaling.from_units(self.mean)[:, 0]
        with np.errstate(over="ignore", under="ignore"):
            deviation = np.ldexp(self.deviation[:, 0], -self.scaling.exponents[0])
        return {"mean": mean, "standard_deviation": deviation}

    @property
    def terms(self) -> tuple[Array, Array, Array]:
        """Means, factors and constants of the native kernel."""
        finite = np.isfinite(self.deviation)
        factor = np.where(finite, sqrt(0.5) / self.deviation, 0.0)
        safe = np.where(finite, self.deviation, 1.0)
        constant = np.where(finite, self.scaling.log_factors - np.log(safe) - 0.5 * log(2 * pi), 0)
        mean, factor, constant = map(np.ascontiguousarray, (self.mean, factor, constant))
        return mean, factor, constant


def _largest_deviation(deviations: Array, scaling: StoredScaling) -> Array:
    """Return the largest deviation of all columns, in the units of each of them."""
    varying = deviations > 0
    if not varying.any():
        return np.zeros_like(deviations)
    # log2 in the columns' own units, where the numbers themselves may overflow.
    size = np.where(varying, np.log2(np.where(varying, deviations, 1.0)), -np.inf)
    index = int(np.argmax(size - scaling.exponents))
    shift = np.clip(scaling.exponents - scaling.exponents[index], -2000, 2000)
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.minimum(np.ldexp(deviations[index], shift), _MAX_DEVIATION))

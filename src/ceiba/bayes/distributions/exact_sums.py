"""Sums of values and squares by class, from which rows can be removed without loss of digits.

The square of a value of 1e9 leaves none of the digits of values about 1 in a double. Here a sum is
three doubles, each of which takes up what the one before loses by rounding. That is about 159 bits:
enough for the squares of full doubles whose sizes differ by a factor of 1e15.

References
----------
Ogita, Rump & Oishi (2005), "Accurate sum and dot product", SIAM J. Sci. Comput. 26.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.record import check_values
from ceiba.bayes.distributions.gaussian import ClassMoments
from ceiba.bayes.distributions.rows import NumericRows
from ceiba.engine import Batch

# Largest value, in the units of a fit, whose squares times weights do not overflow.
MAX_VALUE = 1e100
# Share of the weight that is rounding when rows are removed.
_ROUNDING = 1e-9
# Share of the largest sum of squares so far that its three doubles may have lost: n^3 2^-159 for
# the n = 512 rows that are summed before the doubles are brought into order.
_LOST = 2.0**-130
# What the square of a value may lose by underflow.
_UNDERFLOW = 2.0**-960
# A variance has half of the digits of a double if its sum of squares exceeds the loss so much.
_MARGIN = 2.0**26
# Remaining values that agree to this fraction, about 1e-12, count as equal where digits are lost.
_EQUAL = 2.0**-40
_N_SUMS = 10


@dataclass(frozen=True, eq=False)
class ClassSums(Record):
    """Sums over the observed values of each class and column.

    Parameters
    ----------
    weight, total, squares : ndarray of shape (3, n_classes, n_columns)
        Sums of the weights, of the weighted values and of their squares, in three doubles each.
    nonzero : ndarray of shape (n_classes, n_columns)
        Weight of the values that are not zero.
    peak : ndarray of shape (n_classes, n_columns)
        Largest sum of squares so far, which determines what may be lost.
    """

    weight: Annotated[Array, ArrayOf("float64", 3, "n_classes", "n_columns")]
    total: Annotated[Array, ArrayOf("float64", 3, "n_classes", "n_columns")]
    squares: Annotated[Array, ArrayOf("float64", 3, "n_classes", "n_columns")]
    nonzero: Annotated[Array, ArrayOf("float64", "n_classes", "n_columns")]
    peak: Annotated[Array, ArrayOf("float64", "n_classes", "n_columns")]

    @classmethod
    def of(cls, batch: Batch[NumericRows]) -> Self:
        """Summarize numeric rows."""
        rows = batch.rows
        shape = rows.n_classes, rows.X.shape[1]
        sums = np.zeros((_N_SUMS, shape[0] * shape[1]))
        _native.bayes_class_sums(
            rows.X, rows.labels, rows.weight, rows.n_classes, sums, batch.threads
        )
        sums = sums.reshape(_N_SUMS, *shape)
        return cls(sums[:3], sums[3:6], sums[6:9], sums[9], sums[6])

    def check(self) -> None:
        """Raise ValueError for values that no rows have."""
        for name in ("weight", "total", "squares", "nonzero", "peak"):
            values = getattr(self, name)
            check_values(name, values, np.isfinite(values), "finite")
        for name in ("weight", "squares"):
            first = getattr(self, name)[0]
            check_values(name, first, first >= 0, "at least 0")

    def merge(self, other: ClassSums) -> Self:
        """Return the sums of both parts' rows."""
        squares = _add_up([*self.squares, *other.squares])
        return type(self)(
            _add_up([*self.weight, *other.weight]),
            _add_up([*self.total, *other.total]),
            squares,
            self.nonzero + other.nonzero,
            np.maximum(np.maximum(self.peak, other.peak), squares[0]),
        )

    def without(self, other: ClassSums) -> Self:
        """Return the sums of the rows that remain when those of ``other`` are removed."""
        weight = _add_up([*self.weight, *-other.weight])
        limit = _ROUNDING * self.weight[0]
        if (weight[0] < -limit).any():
            raise ValueError(
                "forget requires rows that were fitted before, got more weight than the model has."
            )
        left = weight[0] > limit
        nonzero = self.nonzero - other.nonzero
        nonzero = np.where(left & (nonzero > _ROUNDING * self.nonzero), nonzero, 0.0)
        varied = nonzero > 0
        rest = type(self)(
            np.where(left, weight, 0.0),
            np.where(varied, _add_up([*self.total, *-other.total]), 0.0),
            np.where(varied, _add_up([*self.squares, *-other.squares]), 0.0),
            nonzero,
            np.where(varied, self.peak, 0.0),
        )
        mean, squares = rest._centered()
        if (squares < -_MARGIN * rest._lost - rest._equal_squares(mean)).any():
            raise ValueError(
                "forget requires rows that were fitted before, got values that the model does not "
                "have."
            )
        return rest

    def take(self, columns: Any) -> Self:
        """Return the sums of some columns."""
        parts = (self.weight, self.total, self.squares, self.nonzero, self.peak)
        return type(self)(*(np.ascontiguousarray(part[..., columns]) for part in parts))

    def moments(self) -> ClassMoments:
        """Return weight, mean and centered squares of each class and column.

        Squares that cannot be distinguished from those of equal values are zero.
        """
        mean, squares = self._centered()
        equal = (squares <= self._lost) & (self._lost <= self._equal_squares(mean))
        return ClassMoments(self.weight[0], mean, np.where(equal, 0.0, np.maximum(squares, 0.0)))

    def unresolved(self) -> Array:
        """Return whether the variance of each class and column is lost beside removed values."""
        mean, squares = self._centered()
        resolved = (squares >= _MARGIN * self._lost) | (self._lost <= self._equal_squares(mean))
        return np.asarray(~resolved)

    @property
    def _lost(self) -> Array:
        """Bound of what the sums of squares have lost."""
        return _LOST * self.peak + _UNDERFLOW * self.nonzero

    def _equal_squares(self, mean: Array) -> Array:
        """Return the centered squares of values that count as equal to their mean."""
        return np.asarray((_EQUAL * mean) ** 2 * self.weight[0])

    def _centered(self) -> tuple[Array, Array]:
        """Return mean and centered sum of squares of each class and column; 0 without values."""
        mean, squares = np.empty_like(self.nonzero), np.empty_like(self.nonzero)
        _native.bayes_centered_moments(
            np.ascontiguousarray(self.weight),
            np.ascontiguousarray(self.total),
            np.ascontiguousarray(self.squares),
            mean,
            squares,
        )
        return mean, squares


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the sum, and what it loses by rounding."""
    total = a + b
    added = total - a
    return total, (a - (total - added)) + (b - added)


def _add_up(terms: Iterable[Array]) -> Array:
    """Add up doubles to a sum of three doubles, the first of which is the rounded sum."""
    first = second = third = np.zeros(())
    for term in terms:
        first, error = _two_sum(first, term)
        second, error = _two_sum(second, error)
        third = third + error
    second, third = _two_sum(second, third)
    first, second = _two_sum(first, second)
    second, third = _two_sum(second, third)
    return np.stack([first, second, third])

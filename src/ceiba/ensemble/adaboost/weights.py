"""Row weights of AdaBoost from round to round."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ceiba._typing import Array

# Factors are rounded to at least _MIN_BITS bits, and to more on small tables: as many as let the
# sum of all weights fit into _SUM_BITS bits. Such sums are exact, also in trees, which use 52 bits.
_MIN_BITS, _SUM_BITS = 36, 48
# Smaller weights are replaced by this one, which is the smallest that `fit` accepts.
_MIN_WEIGHT = 1e-50


@dataclass(frozen=True, slots=True, eq=False)
class RowWeights:
    """Row weights that sum to 1: the initial weight of each row times a factor.

    Factors are rounded to positive multiples of a unit, a power of two of at most 2^-35 of the
    largest factor. On small tables sums of weights are therefore exact in any order, and a row of
    weight 2 is equivalent to two equal rows even if splits are tied.

    Parameters
    ----------
    initial : ndarray or None
        ``sample_weight``; None for 1 each.
    factors : ndarray
        Product of the factors of all rounds.
    bits : int
        Bits of the largest factor.

    Examples
    --------
    >>> import numpy as np
    >>> weights = RowWeights.first(np.array([1.0, 1.0, 2.0]), 3)
    >>> weights.values.round(6)
    array([0.25, 0.25, 0.5 ])
    >>> weights.multiplied(np.array([1.0, 1.0, 0.5])).values.round(6)
    array([0.333333, 0.333333, 0.333333])
    """

    initial: Array | None
    factors: Array
    bits: int

    @classmethod
    def first(cls, initial: Array | None, n_rows: int) -> RowWeights:
        """Return the weights of the first round."""
        integral = initial is not None and bool((np.floor(initial) == initial).all())
        total = float(initial.sum()) if initial is not None and integral else float(n_rows)
        bits = max(_MIN_BITS, _SUM_BITS - math.frexp(total)[1])
        return cls(initial, np.ones(n_rows), bits).multiplied(np.ones(n_rows))

    @property
    def values(self) -> Array:
        """Weight of each row."""
        if self.initial is None:
            return self.factors
        weights: Array = np.maximum(self.initial * self.factors, _MIN_WEIGHT)
        return weights

    def multiplied(self, factors: Array) -> RowWeights:
        """Return the weights of the next round; a common factor has no effect."""
        product = self.factors * factors
        product = self._rounded(product / product.max())
        weights = product if self.initial is None else self.initial * product
        product = self._rounded(product / weights.sum(), min_units=1.0)
        return RowWeights(self.initial, product, self.bits)

    def _rounded(self, factors: Array, min_units: float = 0.0) -> Array:
        """Round factors to units of the largest factor's last bit, at least ``min_units``."""
        unit = 2.0 ** (math.frexp(factors.max())[1] - self.bits)
        rounded: Array = np.maximum(np.rint(factors / unit), min_units) * unit
        return rounded

"""Weights of rows from round to round."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ceiba._typing import Array

# Factors keep this many bits at least; of a small table so many that sums of them are exact, those
# of its trees too, which add up weights in 52 bits.
_LEAST_BITS, _SUM_BITS = 36, 48
# No learner is given a weight below this.
_LEAST = 1e-50


@dataclass(frozen=True, slots=True, eq=False)
class RowWeights:
    """Weights that sum to 1: what each row came with, times what the rounds have made of it.

    The factors are whole multiples, one at least, of a step: a power of two that is at most 2^-35
    of the largest. So the sums of small tables are exact in any order: a row of weight 2 is then
    the row twice, even where splits tie.

    Parameters
    ----------
    given : ndarray or None
        What the rows came with; None for 1 each.
    factors : ndarray
    bits : int
        Bits of the largest factor.

    Examples
    --------
    >>> import numpy as np
    >>> weights = RowWeights.first(np.array([1.0, 1.0, 2.0]), 3)
    >>> weights.values.round(6), weights.times(np.array([1.0, 1.0, 0.5])).values.round(6)
    (array([0.25, 0.25, 0.5 ]), array([0.333333, 0.333333, 0.333333]))
    """

    given: Array | None
    factors: Array
    bits: int

    @classmethod
    def first(cls, given: Array | None, n_rows: int) -> RowWeights:
        """Before the first round."""
        whole = given is not None and bool((np.floor(given) == given).all())
        rows = float(given.sum()) if given is not None and whole else float(n_rows)
        bits = max(_LEAST_BITS, _SUM_BITS - math.frexp(rows)[1])
        return cls(given, np.ones(n_rows), bits).times(np.ones(n_rows))

    @property
    def values(self) -> Array:
        """The weights."""
        if self.given is None:
            return self.factors
        weights: Array = np.maximum(self.given * self.factors, _LEAST)
        return weights

    def times(self, factors: Array) -> RowWeights:
        """After a round that multiplies them so; only ratios of factors count."""
        grown = self.factors * factors
        grown = self._rounded(grown / grown.max())
        whole = grown if self.given is None else self.given * grown
        grown = self._rounded(grown / whole.sum(), least=1.0)
        return RowWeights(self.given, grown, self.bits)

    def _rounded(self, factors: Array, least: float = 0.0) -> Array:
        """The factors to so many bits of the largest, or ``least`` of the last bit."""
        unit = 2.0 ** (math.frexp(factors.max())[1] - self.bits)
        rounded: Array = np.maximum(np.rint(factors / unit), least) * unit
        return rounded

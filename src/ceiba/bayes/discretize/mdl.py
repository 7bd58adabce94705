"""Thresholds by the class entropy and the minimum description length (Fayyad and Irani, 1993)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ceiba._typing import Array

# Sums of weight times entropy that differ by less than this fraction of the weight are equal: their
# logarithms are rounded, by less than 1e-14 of it, differently from processor to processor.
_TIE = 1e-12
# Logarithms of integers up to here are looked up: three times as fast as computing them again for
# every interval.
_MAX_TABLE = 2**22


def mdl_splits(counts: Array, unit: float = 1.0) -> list[int]:
    """Return where to split ascending groups of values by the criterion of Fayyad and Irani.

    The best split of an interval has the smallest class entropy, the first of several. It is
    accepted if its information gain exceeds the description length of the split, and the intervals
    on both sides are split in turn.

    Parameters
    ----------
    counts : ndarray of int64 of shape (n_groups, n_classes)
        Weights of the rows of each group and class, in units.
    unit : float
        Weight of one unit. A weight of w counts as w rows.

    Returns
    -------
    list of int
        Indices of the groups before which the values are split, ascending.

    References
    ----------
    Fayyad & Irani (1993), "Multi-interval discretization of continuous-valued attributes for
    classification learning", IJCAI.

    Examples
    --------
    >>> mdl_splits(np.array([[5, 0], [4, 0], [0, 6], [0, 3]]))
    [2]
    """
    search = _SplitSearch.of(counts, unit)
    splits: list[int] = []
    intervals = [(0, len(counts))]
    while intervals:
        begin, end = intervals.pop()
        split = search.best_split(begin, end)
        if split is not None:
            splits.append(split)
            intervals += [(begin, split), (split, end)]
    return sorted(splits)


@dataclass(frozen=True, slots=True, eq=False)
class _SplitSearch:
    """Search of the best split of an interval.

    ``below`` are the counts of the groups before each, of shape (n_classes, n_groups + 1), and
    ``candidates`` the groups before which a split can be best. ``table`` has x log2 x of integers.
    """

    below: Array
    candidates: Array
    unit: float
    table: Array | None

    @classmethod
    def of(cls, counts: Array, unit: float) -> _SplitSearch:
        counts = counts.T[counts.any(axis=0)]
        below = np.zeros((counts.shape[0], counts.shape[1] + 1), np.int64)
        np.cumsum(counts, axis=1, out=below[:, 1:])
        n = int(below[:, -1].sum())
        table = _xlog2x(np.arange(n + 1.0)) if unit == 1 and n <= _MAX_TABLE else None
        return cls(below, _boundaries(counts), unit, table)

    def best_split(self, begin: int, end: int) -> int | None:
        """Return the best split of the groups from ``begin`` to ``end``, if it is accepted."""
        first, last = np.searchsorted(self.candidates, [begin + 1, end])
        own = self.candidates[first:last]
        total = self.below[:, end] - self.below[:, begin]
        n = float(total.sum()) * self.unit
        if not len(own) or n <= 1:
            return None
        # Few of many classes are left in a small interval.
        classes = np.flatnonzero(total)
        total = total[classes]
        sides = np.empty((len(classes), 2, len(own)), np.int64)
        np.subtract(
            self.below[classes[:, None], own], self.below[classes, begin, None], sides[:, 0]
        )
        np.subtract(total[:, None], sides[:, 0], sides[:, 1])
        left, right = self._weighted_entropy(sides)
        bits = left + right
        best = int(np.argmax(bits <= bits.min() + _TIE * n))
        gain = float(self._weighted_entropy(total)) - float(bits[best])
        parts = total.tolist(), *sides[:, :, best].T.tolist()
        return int(own[best]) if gain > self._description_length(*parts) else None

    def _weighted_entropy(self, counts: Array) -> Array:
        """Return weight times entropy, in bits, of counts by class in the first axis."""
        bits: Array = self._terms(counts.sum(axis=0))
        for own in counts:
            bits = bits - self._terms(own)
        return bits

    def _terms(self, counts: Array) -> Array:
        return _xlog2x(counts * self.unit) if self.table is None else self.table[counts]

    def _description_length(self, total: list[int], left: list[int], right: list[int]) -> float:
        """Return the bits that a split must save."""
        n, k = sum(total) * self.unit, len(total)
        entropies = k * self._entropy(total)
        for side in (left, right):
            entropies -= sum(count > 0 for count in side) * self._entropy(side)
        # log2(3^k - 2), where 3^k may overflow
        subsets = k * math.log2(3) + math.log1p(-2.0 * 3.0**-k) / math.log(2)
        return math.log2(n - 1) + subsets - entropies

    def _entropy(self, counts: list[int]) -> float:
        """Return the entropy of a few counts, in bits: faster than by arrays."""
        weights = [count * self.unit for count in counts if count]
        n = sum(weights)
        return math.log2(n) - sum(w * math.log2(w) for w in weights) / n


def _xlog2x(x: Array) -> Array:
    return np.asarray(x * np.log2(np.where(x > 0, x, 1.0)))


def _boundaries(counts: Array) -> Array:
    """Return the groups before which a split can be best: not within a run of one class.

    Within such a run the entropy is a strictly concave function of the split.
    """
    pure = np.count_nonzero(counts, axis=0) == 1
    only = np.where(pure, counts.argmax(axis=0), -1) if len(counts) else np.zeros(counts.shape[1])
    return np.flatnonzero((only[1:] != only[:-1]) | (only[1:] < 0)) + 1

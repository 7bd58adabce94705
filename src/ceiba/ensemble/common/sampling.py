"""Keyed draws of rows and columns: the same for any number of threads or parts of a table.

A draw is a function of (seed of the member, number of the draw), so the members of an ensemble can
be drawn in any order, again, or on parts of the rows.

Breiman (1996), "Bagging predictors", Machine Learning 24. Ho (1998), "The random subspace method
for constructing decision forests", IEEE PAMI 20.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array

# Streams of random bits: seeds of trees and of members, of their own random states, and ties.
TREE, MEMBER, STATE, TIE = 0x666F72657374, 0x626167, 0x7374617465, 0x746965
# Weights that are not whole numbers are drawn by to this share of all weight.
_WEIGHT_BITS = 52
# More draws than this, and than a hundred of each row, are asked for by name only.
_MOST_DRAWS = 10_000_000


def keyed(seed: int, stream: int, number: int) -> int:
    """64 random bits of (seed, stream, number).

    Examples
    --------
    >>> keyed(0, MEMBER, 1) == keyed(0, MEMBER, 1), keyed(0, MEMBER, 1) == keyed(0, MEMBER, 2)
    (True, False)
    """
    return int(_native.keyed(seed, stream, np.array([number], np.uint64))[0])


def tree_seeds(origins: Array) -> Array:
    """Seeds of trees, from the seed of the forest that each was grown in and its number there."""
    seeds = np.empty(len(origins), np.uint64)
    for seed in np.unique(origins[:, 0]):
        own = origins[:, 0] == seed
        seeds[own] = _native.keyed(int(seed), TREE, np.ascontiguousarray(origins[own, 1]))
    return seeds


def drawn_columns(seed: int, n_columns: int, wanted: int, *, replace: bool = False) -> Array:
    """Columns that the member of a seed looks at.

    Ascending without replacement; with it in the order of the draws, some perhaps twice.
    """
    return np.asarray(_native.forest_columns(seed, n_columns, wanted, replace))


def tied_choice(seed: int, rows: Array, ties: Array) -> Array:
    """Which of ``ties[i]`` alike is drawn for the row of number ``rows[i]``."""
    bits = _native.keyed(seed, TIE, np.ascontiguousarray(rows, np.uint64)).tolist()
    picked = [b * int(t) >> 64 for b, t in zip(bits, ties.tolist(), strict=True)]
    return np.array(picked, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class Sampling:
    """How the rows of a member are drawn.

    Parameters
    ----------
    n_rows : int
    draws : int
        How many rows are drawn.
    replace : bool
        Whether a row can be drawn again.
    weights : ndarray of int64 or None
        Whole weights that rows are drawn by, or keep without replacement; None: 1 each.
    every : bool
        Whether nothing is drawn: each member has all rows.
    """

    n_rows: int
    draws: int
    replace: bool
    weights: Array | None = None
    every: bool = False

    @classmethod
    def of(
        cls, n_rows: int, weights: Array | None, max_samples: float | None, bootstrap: bool
    ) -> Sampling:
        """From an estimator's parameters, for rows of positive weight.

        Whole weights count as repeated rows: with replacement as many rows are drawn as there are
        then. Other weights are the chances of rows, and as many rows are drawn as there are.

        Examples
        --------
        >>> Sampling.of(10, None, 0.5, True).draws
        5
        """
        bootstrap = bool(bootstrap)
        whole = None if weights is None else _as_whole(weights)
        usual = n_rows
        if bootstrap and weights is not None and counts_rows(weights):
            usual = int(weights.sum())
        if max_samples is None and usual > max(_MOST_DRAWS, 100 * n_rows):
            raise ValueError(
                f"the whole weights sum to {usual:,}, and so many rows would be drawn for each "
                "member: say how many by max_samples, or divide the weights"
            )
        draws = _draws(max_samples, usual)
        if not bootstrap and draws > n_rows:
            raise ValueError(
                f"max_samples={max_samples} of {n_rows} rows: more than there are can only be "
                "drawn with bootstrap=True"
            )
        return cls(n_rows, draws, bootstrap, whole, not bootstrap and max_samples is None)

    def native(self) -> Any:
        """The native view."""
        return _native.ForestSampling(
            rows=self.n_rows, draws=self.draws, replace=self.replace, every=self.every,
            weights=self.weights,
        )  # fmt: skip

    def counts(self, seed: int) -> Array:
        """How often each row is in the bag of a seed; a row that is not drawn again has its weight.

        Examples
        --------
        >>> int(Sampling.of(10, None, None, True).counts(3).sum())
        10
        """
        return np.asarray(self.native().counts(seed))

    def drawn(self, seed: int) -> Array:
        """Numbers of the rows in the order in which they are drawn; ascending without replacement.

        Examples
        --------
        >>> Sampling.of(10, None, 3, False).drawn(3).tolist() == sorted(
        ...     Sampling.of(10, None, 3, False).drawn(3).tolist()
        ... )
        True
        """
        return np.asarray(self.native().drawn(seed)).astype(np.int64)


def counts_rows(weights: Array) -> bool:
    """Whether weights are whole numbers, and so few that their sum is exact."""
    whole = bool((np.floor(weights) == weights).all())
    return whole and float(weights.sum()) < 2.0**_WEIGHT_BITS


def _as_whole(weights: Array) -> Array:
    """Weights as whole numbers, whose sum is exact."""
    if counts_rows(weights):
        return weights.astype(np.int64)
    bits = _WEIGHT_BITS - int(np.frexp(weights.max())[1]) - int(np.frexp(float(len(weights)))[1])
    return np.maximum(np.rint(np.ldexp(weights, bits)), 1).astype(np.int64)


def _draws(asked: float | None, usual: int) -> int:
    if asked is None:
        return usual
    if isinstance(asked, Integral):
        return int(asked)
    return max(1, round(float(asked) * usual))

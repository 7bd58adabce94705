"""Draw rows and columns for the members of an ensemble.

Every draw is a function of the member's seed and the number of the draw. Members can therefore be
fitted in any order or drawn again later, and the result does not depend on the number of threads.

Breiman (1996), "Bagging predictors", Machine Learning 24. Ho (1998), "The random subspace method
for constructing decision forests", IEEE PAMI 20.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.base.value_types import format_value
from ceiba.data.warn import warn_user

# Streams of random bits for member seeds, random states of members, and ties: the numbers are the
# ASCII codes of "bag", "state" and "tie".
MEMBER, STATE, TIE = 0x626167, 0x7374617465, 0x746965
# Fractional weights are rounded to this fraction of the total weight.
_WEIGHT_BITS = 52
# Members draw at most so many rows in all, or so many per row of the table if that is more.
_MAX_DRAWS, _MAX_DRAWS_PER_ROW = 10_000_000, 100


class OutOfBagWarning(UserWarning):
    """Some rows are in the sample of every member and have no out-of-bag prediction."""


def warn_in_all_samples(n_inside: int, n_rows: int, member: str) -> None:
    """Warn if some rows are in the sample of every member."""
    if n_inside:
        warn_user(
            f"Some inputs do not have OOB scores: {n_inside} of {n_rows} rows are in the sample of "
            f"every {member}, so that they have no out-of-bag prediction (NaN) and do not count in "
            "oob_score_; increase n_estimators, or decrease max_samples.",
            OutOfBagWarning,
        )


def check_warm_start(n_estimators: int, n_fitted: int, members: str, remedy: str = "") -> None:
    """Raise if a warm start has too many members already; warn if it adds none."""
    if n_fitted > n_estimators:
        raise ValueError(
            f"n_estimators={n_estimators} must be larger or equal to the number of fitted "
            f"{members}, {n_fitted}, when warm_start==True{remedy}."
        )
    if n_fitted == n_estimators:
        warn_user(
            f"Warm-start fitting without increasing n_estimators does not fit new {members}: there "
            f"are n_estimators={n_estimators} already.",
            UserWarning,
        )


def keyed_bits(seed: int, stream: int, number: int) -> int:
    """Return 64 random bits keyed by (seed, stream, number)."""
    return int(_native.keyed_bits(seed, stream, np.array([number], np.uint64))[0])


def tree_seeds(origins: Array) -> Array:
    """Return tree seeds from pairs of forest seed and tree number."""
    seeds = np.empty(len(origins), np.uint64)
    for seed in np.unique(origins[:, 0]):
        own = origins[:, 0] == seed
        seeds[own] = _native.tree_seeds(int(seed), np.ascontiguousarray(origins[own, 1]))
    return seeds


def draw_columns(seed: int, n_columns: int, n_drawn: int, *, replace: bool = False) -> Array:
    """Draw the columns of one member: ascending, or with replacement as they are drawn."""
    return np.asarray(_native.draw_columns(seed, n_columns, n_drawn, replace))


def break_ties(seed: int, rows: Array, n_tied: Array) -> Array:
    """Draw one of ``n_tied[i]`` equal candidates for row number ``rows[i]``."""
    bits = _native.keyed_bits(seed, TIE, np.ascontiguousarray(rows, np.uint64)).tolist()
    drawn = [b * int(t) >> 64 for b, t in zip(bits, n_tied.tolist(), strict=True)]
    return np.array(drawn, np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class RowSampler:
    """Draw the rows of a member: bootstrap sample, subsample or all rows.

    Parameters
    ----------
    n_rows : int
    n_draws : int
        Number of rows drawn.
    replace : bool
        Whether a row can be drawn more than once.
    weights : ndarray of int64 or None
        Integer weights of the rows: proportional to their probability with replacement, kept by
        the rows without; None for 1 each.
    all_rows : bool
        Whether every member gets all rows, without a draw.
    """

    n_rows: int
    n_draws: int
    replace: bool
    weights: Array | None = None
    all_rows: bool = False

    @classmethod
    def of(
        cls, n_rows: int, weights: Array | None, max_samples: float | None, bootstrap: bool
    ) -> RowSampler:
        """Create a sampler from hyper-parameters, for rows of positive weight.

        With replacement, rows are drawn by weight. By default as many are drawn as there are, or
        ``max_samples`` of them, whatever the scale of the weights is. A float is a fraction of the
        total weight: integer weights then count as repeated rows.

        Examples
        --------
        >>> RowSampler.of(10, None, 0.5, True).n_draws
        5
        """
        bootstrap = bool(bootstrap)
        integer_weights = None if weights is None else _to_integers(weights)
        total = float(weights.sum()) if bootstrap and weights is not None else n_rows
        n_draws = n_rows if max_samples is None else _n_draws(max_samples, total)
        limit = max(_MAX_DRAWS, _MAX_DRAWS_PER_ROW * n_rows)
        if n_draws > limit:
            raise ValueError(
                f"max_samples={format_value(max_samples)} must stand for at most {limit:,} draws "
                f"per member ({_MAX_DRAWS:,}, or {_MAX_DRAWS_PER_ROW} per row), got "
                f"{format_value(n_draws)}: decrease it, or divide sample_weight if it is a "
                "fraction."
            )
        if not bootstrap and n_draws > n_rows:
            raise ValueError(
                f"max_samples must be at most the number of rows, {n_rows}, with bootstrap=False, "
                f"got {max_samples}: set bootstrap=True to draw more."
            )
        all_rows = not bootstrap and max_samples is None
        return cls(n_rows, n_draws, bootstrap, integer_weights, all_rows)

    def native(self) -> _native.RowSampler:
        """Return the native counterpart."""
        return _native.RowSampler(
            n_rows=self.n_rows, n_draws=self.n_draws, replace=self.replace,
            all_rows=self.all_rows, weights=self.weights,
        )  # fmt: skip

    def counts(self, seed: int) -> Array:
        """Return the count of each row in a sample; without replacement its weight."""
        return np.asarray(self.native().counts(seed))

    def draw(self, seed: int) -> Array:
        """Return the row indices in the order of the draws; ascending without replacement."""
        return np.asarray(self.native().draw(seed)).astype(np.int64)


def are_integer_weights(weights: Array) -> bool:
    """Return whether the weights are integers whose sum is exact."""
    integral = bool((np.floor(weights) == weights).all())
    return integral and float(weights.sum()) < 2.0**_WEIGHT_BITS


def _to_integers(weights: Array) -> Array:
    """Scale the weights to integers whose sum is exact."""
    if are_integer_weights(weights):
        return weights.astype(np.int64)
    bits = _WEIGHT_BITS - int(np.frexp(weights.max())[1]) - int(np.frexp(float(len(weights)))[1])
    return np.maximum(np.rint(np.ldexp(weights, bits)), 1).astype(np.int64)


def _n_draws(max_samples: float, total: float) -> int:
    if isinstance(max_samples, Integral):
        return int(max_samples)
    return max(1, round(float(max_samples) * total))

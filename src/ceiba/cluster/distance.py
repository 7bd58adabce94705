"""Partial distances: between rows that may have gaps, over the columns both of them have.

The squared distance over the shared columns is scaled by (all columns / shared columns), so that
a pair with gaps is comparable with a complete one [1]_.

References
----------
.. [1] J. K. Dixon, "Pattern recognition with partly missing data", IEEE Transactions on Systems,
   Man, and Cybernetics 9(10), 1979.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

Array = np.ndarray[Any, Any]

# Where a difference falls below this part of what was subtracted, six of sixteen digits are
# gone: such pairs are computed again, directly.
_CANCELLED = 1e-6
_PAIRS_AT_ONCE = 1 << 14


def squared_distances(A: Array, B: Array) -> Array:
    """Squared partial distances of the rows of ``A`` from the rows of ``B``.

    Parameters
    ----------
    A, B : float64 arrays of shape (n, d) and (m, d)
        NaN is a gap.

    Returns
    -------
    array of shape (n, m)
        NaN where a pair shares no column.

    Examples
    --------
    >>> import numpy as np
    >>> rows = np.array([[0.0, 0.0], [3.0, np.nan]])
    >>> squared_distances(rows, rows)
    array([[ 0., 18.],
           [18.,  0.]])
    """
    gaps_a, gaps_b = np.isnan(A), np.isnan(B)
    if not (gaps_a.any() or gaps_b.any()):
        return np.asarray(cdist(A, B, "sqeuclidean"))
    full_a, full_b = np.where(gaps_a, 0.0, A), np.where(gaps_b, 0.0, B)
    shared = (~gaps_a).astype(float) @ (~gaps_b).astype(float).T
    # With zeros in the gaps, a column that only one of the pair has adds its square: take it off.
    alone = full_a**2 @ gaps_b.astype(float).T + gaps_a.astype(float) @ (full_b**2).T
    squared = np.asarray(cdist(full_a, full_b, "sqeuclidean")) - alone
    _repair(squared, alone, A, B)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(shared > 0, squared * (A.shape[1] / shared), np.nan)


def _repair(squared: Array, alone: Array, A: Array, B: Array) -> None:
    """Compute again, in place, the pairs whose digits went into the subtraction."""
    left, right = np.nonzero(squared < _CANCELLED * alone)
    for start in range(0, len(left), _PAIRS_AT_ONCE):
        i, j = left[start : start + _PAIRS_AT_ONCE], right[start : start + _PAIRS_AT_ONCE]
        squared[i, j] = np.nansum((A[i] - B[j]) ** 2, axis=1)


def paired_squared_distances(A: Array, B: Array) -> Array:
    """Squared partial distance of each row of ``A`` from the same row of ``B``."""
    difference = A - B
    shared = A.shape[1] - np.isnan(difference).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(
            shared > 0, np.nansum(difference**2, axis=1) * (A.shape[1] / shared), np.nan
        )


def nearest(X: Array, centres: Array) -> Array:
    """Number of the nearest centre of each row; the first of equals, and 0 for a row of gaps."""
    block = max(1, (1 << 20) // max(1, len(centres)))
    parts = [
        np.argmin(np.nan_to_num(squared_distances(X[i : i + block], centres), nan=np.inf), axis=1)
        for i in range(0, len(X), block)
    ]
    return np.concatenate(parts) if parts else np.empty(0, np.intp)

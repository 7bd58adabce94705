"""Partial distances: between rows that may have gaps, over the columns both of them have.

The squared distance over the shared columns is scaled by (all columns / shared columns), so that
a pair with gaps is comparable with a complete one [1]_.

References
----------
.. [1] J. K. Dixon, "Pattern recognition with partly missing data", IEEE Transactions on Systems,
   Man, and Cybernetics 9(10), 1979.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from ceiba._typing import Array
from ceiba.data.encoding import Encoding
from ceiba.data.table import Table

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


__all__ = [
    "calinski_harabasz_score",
    "davies_bouldin_score",
    "inertia_score",
]


def calinski_harabasz_score(X: Any, labels: Any) -> float:
    """Variance between clusters over variance within them, each by its degrees of freedom.

    Larger is better. Infinite where every row lies on its cluster's centre.

    Parameters
    ----------
    X : array, frame or table of shape (n, d)
    labels : array of shape (n,)
        At least two different labels and at most n - 1.

    References
    ----------
    T. Calinski and J. Harabasz, "A dendrite method for cluster analysis", Communications in
    Statistics 3(1), 1974.

    Examples
    --------
    >>> import numpy as np
    >>> calinski_harabasz_score(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1])
    50.0
    """
    rows, grouping = labelled(X, labels)
    rows, _ = unit_rows(rows)
    centres = grouping.centres(rows)
    middle = np.broadcast_to(observed_mean(rows), centres.shape)
    between = np.nansum(grouping.sizes * paired_squared_distances(centres, middle))
    within = np.nansum(paired_squared_distances(rows, centres[grouping.codes]))
    if within == 0 and between == 0:
        raise ValueError("every row is the same: the Calinski-Harabasz index means nothing here")
    freedom = (len(rows) - len(centres)) / (len(centres) - 1)
    return float(between / within * freedom) if within > 0 else float("inf")


def davies_bouldin_score(X: Any, labels: Any) -> float:
    """Mean over clusters of the worst (spread + spread) / distance to another cluster.

    Smaller is better. Infinite where two clusters have the same centre.

    Parameters
    ----------
    X : array, frame or table of shape (n, d)
    labels : array of shape (n,)
        At least two different labels and at most n - 1.

    References
    ----------
    D. L. Davies and D. W. Bouldin, "A cluster separation measure", IEEE Transactions on Pattern
    Analysis and Machine Intelligence 1(2), 1979.

    Examples
    --------
    >>> import numpy as np
    >>> davies_bouldin_score(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1])
    0.2
    """
    rows, grouping = labelled(X, labels)
    rows, _ = unit_rows(rows)
    centres = grouping.centres(rows)
    distance = np.sqrt(paired_squared_distances(rows, centres[grouping.codes]))
    measured = np.bincount(grouping.codes, weights=~np.isnan(distance), minlength=len(centres))
    total = np.bincount(grouping.codes, weights=np.nan_to_num(distance), minlength=len(centres))
    spread = total / np.maximum(measured, 1)
    apart = np.sqrt(squared_distances(centres, centres))
    # Centres that share no column have no distance: such a pair says nothing about overlap.
    apart[np.isnan(apart)] = np.inf
    np.fill_diagonal(apart, np.inf)
    both = spread[:, None] + spread
    # Means of equal rows differ by their rounding: nearer than that is the same place.
    rounding = 8 * np.finfo(float).eps * np.sqrt(rows.size) * np.nan_to_num(np.abs(rows)).max()
    overlap = np.divide(both, apart, out=np.full_like(both, np.inf), where=apart > rounding)
    return float(overlap.max(axis=1).mean())


def inertia_score(X: Any, labels: Any) -> float:
    """Sum of squares of the rows about the means of their clusters, over the observed values.

    This is what k-means makes small: a gap adds nothing and, unlike in a distance, the rest is
    not scaled up for it.

    Parameters
    ----------
    X : array, frame or table of shape (n, d)
    labels : array of shape (n,)
        Any labels; one cluster will do.

    Examples
    --------
    >>> import numpy as np
    >>> inertia_score(np.array([[0.0], [2.0], [10.0], [12.0]]), [0, 0, 1, 1])
    4.0
    """
    rows = as_rows(X)
    grouping = Grouping.of(labels, len(rows))
    rows, unit = unit_rows(rows)
    centres = grouping.centres(rows)
    total = np.nansum((rows - centres[grouping.codes]) ** 2)
    result = float(total) * unit * unit
    if not np.isfinite(result):
        raise ValueError("the inertia is too large for a float: divide the columns by their scale")
    return result


@dataclass(frozen=True, slots=True)
class Grouping:
    """Labels as codes 0, 1, ... in sorted order, with the size of each group."""

    codes: Array
    sizes: Array

    @classmethod
    def of(cls, labels: Any, n_rows: int) -> Grouping:
        """The groups of ``labels``; an error unless there is one label a row."""
        labels = np.asarray(labels)
        if labels.shape != (n_rows,):
            raise ValueError(f"labels must have shape ({n_rows},), one a row; got {labels.shape}")
        _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
        return cls(codes, sizes)

    @property
    def comparable(self) -> bool:
        """Whether there are at least two groups and fewer groups than rows."""
        return 2 <= len(self.sizes) < len(self.codes)

    def centres(self, rows: Array) -> Array:
        """Mean of the observed values of each group and column; NaN where there is none."""
        n = len(self.codes)
        members = sparse.csr_array((np.ones(n), (self.codes, np.arange(n))), (len(self.sizes), n))
        observed = ~np.isnan(rows)
        with np.errstate(invalid="ignore"):
            return np.asarray(
                (members @ np.where(observed, rows, 0.0)) / (members @ observed.astype(float))
            )


def as_rows(X: Any) -> Array:
    """``X`` as float64 rows, nominal columns as scaled indicators, gaps as NaN."""
    table = Table.of(X)
    table.check_finite()
    return np.asarray(Encoding.of(table.schema).apply(table), dtype=np.float64)


def labelled(X: Any, labels: Any) -> tuple[Array, Grouping]:
    """Rows and groups, refused where an index compares groups and there are none to compare."""
    rows = as_rows(X)
    grouping = Grouping.of(labels, len(rows))
    if not grouping.comparable:
        raise ValueError(
            f"{len(grouping.sizes)} different labels for {len(rows)} rows: this index compares "
            "clusters and needs at least 2 of them, and fewer than there are rows"
        )
    return rows, grouping


def observed_mean(rows: Array) -> Array:
    """Mean of the observed values of each column; NaN where there is none."""
    observed = ~np.isnan(rows)
    with np.errstate(invalid="ignore"):
        mean: Array = np.where(observed, rows, 0.0).sum(axis=0) / observed.sum(axis=0)
    return mean


def unit_rows(rows: Array) -> tuple[Array, float]:
    """Rows about their mean in a unit (a power of two) that keeps squares from overflowing."""
    largest = np.nanmax(np.abs(rows), initial=0.0)
    if largest == 0:
        return rows, 1.0
    unit = float(np.ldexp(1.0, int(np.frexp(largest)[1]) - 1))
    scaled = rows / unit
    return scaled - observed_mean(scaled), unit

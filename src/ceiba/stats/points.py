"""Rows as points of a Euclidean space: what every learner that measures distances is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.data.encoding import Encoding
from ceiba.data.source import Chunk

if TYPE_CHECKING:
    from ceiba.stats.moments import Moments

Array = np.ndarray[Any, Any]

# Squares of differences must neither overflow nor vanish in float64; bounds are kept in float32.
_SQUARABLE = {"float64": (1e-150, 1e150), "float32": (1e-15, 1e15)}


@dataclass(frozen=True, slots=True)
class Points:
    """Rows as a C-contiguous float matrix, with positive weights (None: 1 each)."""

    X: Array
    weight: Array | None = None


@dataclass(frozen=True, slots=True)
class ToPoints:
    """Makes points of a partition's rows: encodes the columns, checks the weights.

    Parameters
    ----------
    dtype : str, optional
        Type of the matrix; that of the columns if not given.
    keep_all : bool
        Keep rows of weight zero; otherwise they vanish.
    """

    dtype: str | None = None
    keep_all: bool = False

    def __call__(self, chunk: Chunk) -> Points:
        """The points of one chunk."""
        X = chunk.table.matrix
        if X is None:
            X = Encoding.of(chunk.table.schema).apply(chunk.table)
        X = np.ascontiguousarray(X, dtype=self.dtype)
        if chunk.weight is None:
            return Points(X)
        weight = checked_weight(chunk.weight, len(X))
        if self.keep_all or weight.all():
            return Points(X, weight)
        kept = weight > 0
        return Points(X[kept], weight[kept])


def checked_weight(weight: Any, n_rows: int) -> Array:
    """Weights as float64, one a row, finite and not negative; a number stands for all rows."""
    values = np.ascontiguousarray(weight, dtype=np.float64)
    if values.ndim == 0:
        values = np.full(n_rows, float(values))
    if values.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(values) != n_rows:
        raise ValueError(
            f"sample_weight.shape == {values.shape}, expected {(n_rows,)}: one weight a row"
        )
    bad = ~((values >= 0) & (values < np.inf))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"sample_weight of row {row} is {values[row]}: weights must be finite and not negative"
        )
    return values


@dataclass(frozen=True, slots=True)
class Space:
    """Where the points lie: the origin that kernels work relative to, and whether there are gaps.

    Parameters
    ----------
    offset : ndarray of shape (d,)
        The mean. Rows and centres are taken relative to it, so that a common shift costs no digits.
    gaps : bool or None
        Whether any value is missing: distances then run over the observed columns. None: unknown,
        each batch looks for itself.
    bounded : bool
        Whether distances lie in the range of the float32 bounds of Lloyd's algorithm.
    """

    offset: Array
    gaps: bool | None
    bounded: bool = False

    @classmethod
    def of(cls, moments: Moments) -> Space:
        """The space of the points that were summarised; refuses what has no meaning there."""
        if not moments.weight.all():
            column = int(np.argmin(moments.weight))
            raise ValueError(
                f"matrix column {column} has no value in any row: leave that column out"
            )
        spread = moments.spread
        least, most = _SQUARABLE["float64"]
        if spread > most or 0 < spread < least:
            raise ValueError(
                f"values differ by {spread:.3g}, and squares of that cannot be held: rescale X, "
                "for instance by its largest difference"
            )
        return cls(moments.mean, moments.gaps > 0, suits(spread, "float32"))


def suits(spread: float, dtype: str) -> bool:
    """Whether squares of differences up to ``spread`` can be held in that type."""
    least, most = _SQUARABLE[dtype]
    return spread == 0 or least <= spread <= most

"""Rows as points of a Euclidean space, for learners that compute distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk

if TYPE_CHECKING:
    from ceiba.stats.moments import Moments


# Within these ranges, squared differences times weights, summed over any number of rows, neither
# overflow nor underflow. Bounds of distances are stored in float32.
_SQUARE_RANGE = {"float64": (1e-100, 1e100), "float32": (1e-15, 1e15)}
_WEIGHT_RANGE = (1e-50, 1e50)


@dataclass(frozen=True, slots=True)
class Points:
    """Rows as a C-contiguous float matrix, with positive weights (None for unit weights)."""

    X: Array
    weight: Array | None = None
    schema: Schema | None = None
    kept: Array | None = None  # original row numbers, where rows of weight zero were dropped
    n_given: int | None = None  # number of rows before any was dropped, where some were

    def row_number(self, row: int) -> int:
        """Return the original number of a row, for messages."""
        return row if self.kept is None else int(self.kept[row])

    def column_name(self, column: int) -> str:
        """Return the name of a column of the matrix, for messages."""
        names = Encoding.of(self.schema).names if self.schema else ()
        return repr(names[column]) if column < len(names) else str(column)


@dataclass(frozen=True, slots=True)
class ToPoints:
    """Prepare a partition as points: encode the columns and check the weights.

    Parameters
    ----------
    dtype : str, optional
        Dtype of the matrix; by default that of the columns.
    keep_all : bool
        Whether to keep rows of weight zero; otherwise they are dropped.
    """

    dtype: str | None = None
    keep_all: bool = False

    def __call__(self, chunk: Chunk) -> Points:
        """Return the points of one chunk."""
        X = chunk.table.matrix
        if X is None:
            X = Encoding.of(chunk.table.schema).apply(chunk.table)
        X = np.ascontiguousarray(X, dtype=self.dtype)
        schema = chunk.table.schema
        if chunk.weight is None:
            return Points(X, None, schema)
        weight = checked_weight(chunk.weight, len(X))
        if self.keep_all or weight.all():
            return Points(X, weight, schema)
        kept = np.flatnonzero(weight)
        return Points(X[kept], weight[kept], schema, kept, len(X))


def checked_weight(weight: Any, n_rows: int) -> Array:
    """Return weights as float64, one per row; a scalar applies to all rows."""
    values = np.asarray(weight, dtype=np.float64)
    values = np.full(n_rows, float(values)) if values.ndim == 0 else np.ascontiguousarray(values)
    if values.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(values) != n_rows:
        raise ValueError(f"sample_weight.shape == {values.shape}, expected {(n_rows,)}!")
    low, high = _WEIGHT_RANGE
    bad = ~((values == 0) | ((values >= low) & (values <= high)))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"sample_weight must be zero or in [{low:g}, {high:g}], got {values[row]} in row {row}."
        )
    return values


@dataclass(frozen=True, slots=True)
class Space:
    """Origin and range of the points, as the kernels need them.

    Parameters
    ----------
    offset : ndarray of shape (d,)
        The mean. Rows and centers are taken relative to it, so that a common shift costs no digits.
    has_missing : bool
        Whether any value is missing: distances then use the observed columns.
    bounded : bool
        Whether distances are in the range of the float32 bounds of Lloyd's algorithm.
    """

    offset: Array
    has_missing: bool
    bounded: bool = False

    @classmethod
    def of(cls, moments: Moments) -> Space:
        """Return the space of summarized points; raise where squared distances overflow."""
        _check_squarable(moments.spread)
        return cls(moments.mean, moments.n_missing > 0, squares_fit(moments.spread, "float32"))

    @classmethod
    def around(cls, moments: Moments, centers: Array) -> Space:
        """Return the space of the points together with given centers."""
        spread = moments.extended_to(centers).spread
        if spread > 1:  # rows that nearly coincide with one center are harmless
            _check_squarable(spread)
        offset = np.where(moments.weight > 0, moments.mean, centers[0])
        return cls(offset, moments.n_missing > 0, squares_fit(spread, "float32"))


def _check_squarable(spread: float) -> None:
    if not squares_fit(spread, "float64"):
        raise ValueError(
            f"The values of X differ by up to {spread:.3g}, whose squares are not representable: "
            "rescale X, for instance by its largest difference."
        )


def has_finite_distances(X: Array) -> Array:
    """Return which rows have values small enough for squared distances."""
    largest = np.nan_to_num(np.abs(X), nan=0.0, posinf=np.inf).max(axis=1)
    finite: Array = largest <= _SQUARE_RANGE["float64"][1]
    return finite


def squares_fit(spread: float, dtype: str) -> bool:
    """Whether squares of differences up to ``spread`` are representable in a dtype."""
    low, high = _SQUARE_RANGE[dtype]
    return spread == 0 or low <= spread <= high

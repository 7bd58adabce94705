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
    """Rows as a float matrix with weights.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        C-contiguous.
    weight : ndarray of float64 or None
        Weights, positive unless all rows are kept; None for 1 each.
    schema : Schema or None
    kept : ndarray or None
        Original row numbers, if rows of weight zero were dropped.
    n_given : int or None
        Number of rows before rows of weight zero were dropped, if any were.
    """

    X: Array
    weight: Array | None = None
    schema: Schema | None = None
    kept: Array | None = None
    n_given: int | None = None

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
        Dtype of the matrix; the dtype of the columns by default.
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
        weight = check_sample_weight(chunk.weight, len(X))
        if self.keep_all or weight.all():
            return Points(X, weight, schema)
        kept = np.flatnonzero(weight)
        return Points(X[kept], weight[kept], schema, kept, len(X))


def check_sample_weight(weight: Any, n_rows: int) -> Array:
    """Check weights and return them as float64, one per row.

    A scalar is the weight of all rows.
    """
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
    """Origin and range of the points, for kernels that compute squared distances.

    Parameters
    ----------
    offset : ndarray of shape (d,)
        The mean, which is subtracted from rows and centers, so that a common shift of all rows
        does not reduce the precision of distances.
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
        """Return the space of some points; raise if squared distances would overflow."""
        _check_squarable(moments.spread)
        return cls(moments.mean, moments.n_missing > 0, squares_fit(moments.spread, "float32"))

    @classmethod
    def around(cls, moments: Moments, centers: Array) -> Space:
        """Return the space of points and given centers."""
        spread = moments.extended_to(centers).spread
        if spread > 1:  # underflow of tiny distances is harmless here: the centers are given
            _check_squarable(spread)
        offset = np.where(moments.weight > 0, moments.mean, centers[0])
        return cls(offset, moments.n_missing > 0, squares_fit(spread, "float32"))


def _check_squarable(spread: float) -> None:
    if not squares_fit(spread, "float64"):
        raise ValueError(
            "X must have differences whose squares are representable, got values of a column that "
            f"differ by {spread:.3g}: rescale X, for example by its largest difference."
        )


def has_finite_distances(X: Array) -> Array:
    """Return which rows have values small enough for squared distances."""
    largest = np.nan_to_num(np.abs(X), nan=0.0, posinf=np.inf).max(axis=1)
    finite: Array = largest <= _SQUARE_RANGE["float64"][1]
    return finite


def squares_fit(spread: float, dtype: str) -> bool:
    """Return whether squares of differences up to ``spread`` fit into a dtype."""
    low, high = _SQUARE_RANGE[dtype]
    return spread == 0 or low <= spread <= high

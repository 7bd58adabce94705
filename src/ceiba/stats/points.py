"""Rows as points of a Euclidean space, their moments, and the scale of their distances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.categories import list_labels
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.engine.contract import Batch
from ceiba.stats.scaling import MAX_SPREAD, MIN_SPREAD, PointScaling

# Within these ranges, squared differences times weights, summed over any number of rows, neither
# overflow nor underflow. Bounds of distances are stored in float32.
_SQUARE_RANGE = {"float64": (MIN_SPREAD, MAX_SPREAD), "float32": (1e-15, 1e15)}
WEIGHT_RANGE = (1e-50, 1e50)


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
    log_factors : ndarray of shape (n_columns,) or None
        Logarithm of what multiplied each column, if the columns are not in their own units.
    """

    X: Array
    weight: Array | None = None
    schema: Schema | None = None
    kept: Array | None = None
    n_given: int | None = None
    log_factors: Array | None = None

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
    scaling : PointScaling, optional
        Units of the matrix; the columns' own units by default.
    """

    dtype: str | None = None
    keep_all: bool = False
    scaling: PointScaling | None = None

    def __call__(self, chunk: Chunk) -> Points:
        """Return the points of one chunk."""
        X = chunk.table.matrix
        if X is None:
            X = Encoding.of(chunk.table.schema).apply(chunk.table)
        log_factors = None
        if self.scaling is not None:
            X, log_factors = self.scaling.apply(chunk.table, X), self.scaling.log_factors
        X = np.ascontiguousarray(X, dtype=self.dtype)
        schema = chunk.table.schema
        if not X.shape[1]:
            raise ValueError(
                "X has no column to compute distances with: identifiers are left out, and so are "
                f"columns without categories, got {list_labels(schema.names, 3)}."
            )
        if chunk.weight is None:
            return Points(X, None, schema, log_factors=log_factors)
        weight = check_sample_weight(chunk.weight, len(X))
        if self.keep_all or weight.all():
            return Points(X, weight, schema, log_factors=log_factors)
        kept = np.flatnonzero(weight)
        return Points(X[kept], weight[kept], schema, kept, len(X), log_factors)


def check_sample_weight(weight: Any, n_rows: int) -> Array:
    """Check weights, or one for all rows, and return them as float64, one per row."""
    values = _weight_numbers(weight)
    values = np.full(n_rows, float(values)) if values.ndim == 0 else np.ascontiguousarray(values)
    if values.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(values) != n_rows:
        raise ValueError(f"sample_weight.shape == {values.shape}, expected {(n_rows,)}!")
    low, high = WEIGHT_RANGE
    bad = ~((values == 0) | ((values >= low) & (values <= high)))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"sample_weight must be zero or in [{low:g}, {high:g}], got {values[row]} in row {row}."
        )
    return values


def _weight_numbers(weight: Any) -> Array:
    """Convert weights to float64; raise for complex numbers, times and what is not a number."""
    try:
        values = np.asarray(weight)
        if values.dtype.kind in "cmM":
            raise TypeError(f"the dtype is {values.dtype}")
        return values.astype(np.float64, copy=False)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(
            f"sample_weight must be real numbers that float64 can represent, one per row: {error}."
        ) from error


def zero_weights_error() -> ValueError:
    """Return the error for rows whose weights are all zero."""
    return ValueError("sample_weight must have at least one positive entry, got only zeros.")


@dataclass(frozen=True, slots=True)
class Moments:
    """Weight, mean, centered sum of squares, minimum and maximum per column.

    ``rows`` has the number of rows of each partition, in order, for numbering rows globally;
    ``total`` is the weight of all rows, with or without missing values. Sums of squares are
    centered at the mean, because differences of raw second moments would lose digits.

    References
    ----------
    Chan, Golub & LeVeque (1983), "Algorithms for computing the sample variance", The American
    Statistician 37.
    """

    weight: Array
    mean: Array
    squares: Array
    min: Array
    max: Array
    n_missing: int
    rows: tuple[int, ...]
    total: float

    @classmethod
    def of(cls, batch: Batch[Points]) -> Moments:
        """Summarize points; raise for infinite values."""
        X = batch.rows.X
        out = np.empty((5, X.shape[1]))
        n_missing, row, column = _native.moments(X, batch.rows.weight, out, batch.threads)
        if row >= 0:
            raise ValueError(
                f"Input X contains infinity: row {batch.rows.row_number(row)}, column "
                f"{batch.rows.column_name(column)}. Correct it, or use NaN for a missing value."
            )
        weight = batch.rows.weight
        total = float(len(X) if weight is None else weight.sum())
        return cls(out[0], out[1], out[2], out[3], out[4], n_missing, (len(X),), total)

    def merge(self, other: Moments) -> Moments:
        """Return the moments of both parts' rows."""
        weight = self.weight + other.weight
        both = (self.weight > 0) & (other.weight > 0)
        # Means and squares of huge values overflow, and are computed again in other units.
        with np.errstate(all="ignore"):
            # A part without observed values in a column has no mean there.
            shift = np.where(both, other.mean - self.mean, 0.0)
            fraction = np.divide(other.weight, weight, out=np.zeros_like(weight), where=both)
            mean = np.where(self.weight > 0, self.mean, other.mean)
            return Moments(
                weight,
                mean + shift * fraction,
                self.squares + other.squares + shift * shift * self.weight * fraction,
                np.minimum(self.min, other.min),
                np.maximum(self.max, other.max),
                self.n_missing + other.n_missing,
                self.rows + other.rows,
                self.total + other.total,
            )

    def divided(self, divisors: Array) -> Moments:
        """Return the moments of the columns divided by ``divisors``."""
        return replace(
            self,
            mean=self.mean / divisors,
            squares=self.squares / divisors**2,
            min=self.min / divisors,
            max=self.max / divisors,
        )

    def extended_to(self, centers: Array) -> Moments:
        """Return the moments with minimum and maximum extended to ``centers``."""
        low = np.minimum(self.min, centers.min(axis=0))
        return replace(self, min=low, max=np.maximum(self.max, centers.max(axis=0)))

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight, in all parts."""
        return sum(self.rows)

    @property
    def variance(self) -> Array:
        """Variance of each column: squares divided by weight."""
        with np.errstate(all="ignore"):
            return np.asarray(self.squares / self.weight)

    @property
    def spread(self) -> float:
        """Largest difference between values of the same column."""
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.max(self.max - self.min))


@dataclass(frozen=True, slots=True)
class PointSpace:
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
    def of(cls, moments: Moments, centers: Array | None = None) -> PointSpace:
        """Return the space of points and given centers; raise if squared distances overflow."""
        offset, spread = moments.mean, moments.spread
        if centers is not None:
            offset = np.where(moments.weight > 0, offset, centers[0])
            spread = moments.extended_to(centers).spread
        # Underflow of tiny distances is harmless if the centers are given.
        checked = centers is None or spread > 1
        if checked and not squares_fit(spread, "float64"):
            raise ValueError(
                "X must have differences whose squares are representable, got values of a column "
                f"that differ by {spread:.3g}: rescale X, for example by its largest difference."
            )
        return cls(offset, moments.n_missing > 0, squares_fit(spread, "float32"))


def squares_fit(spread: float, dtype: str) -> bool:
    """Return whether squares of differences up to ``spread`` fit into a dtype."""
    low, high = _SQUARE_RANGE[dtype]
    return spread == 0 or low <= spread <= high

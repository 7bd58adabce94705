"""Rows as points of a Euclidean space: what every learner that measures distances is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba.data.encoding import Encoding
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk

if TYPE_CHECKING:
    from ceiba.stats.moments import Moments

Array = np.ndarray[Any, Any]

# Between these, squares of differences, times weights, times any number of rows, neither overflow
# nor vanish. Bounds of distances are kept in float32.
_SQUARABLE = {"float64": (1e-100, 1e100), "float32": (1e-15, 1e15)}
_WEIGHABLE = (1e-50, 1e50)


@dataclass(frozen=True, slots=True)
class Points:
    """Rows as a C-contiguous float matrix, with positive weights (None: 1 each)."""

    X: Array
    weight: Array | None = None
    schema: Schema | None = None
    kept: Array | None = None  # numbers of the rows, where some of weight zero were left out
    n_given: int | None = None  # rows before any was left out, where some were

    def row_number(self, row: int) -> int:
        """What a message calls a row: its number before any was left out."""
        return row if self.kept is None else int(self.kept[row])

    def column_name(self, column: int) -> str:
        """What a message calls a column of the matrix."""
        names = Encoding.of(self.schema).names if self.schema else ()
        return repr(names[column]) if column < len(names) else str(column)


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
        schema = chunk.table.schema
        if chunk.weight is None:
            return Points(X, None, schema)
        weight = checked_weight(chunk.weight, len(X))
        if self.keep_all or weight.all():
            return Points(X, weight, schema)
        kept = np.flatnonzero(weight)
        return Points(X[kept], weight[kept], schema, kept, len(X))


def checked_weight(weight: Any, n_rows: int) -> Array:
    """Weights as float64, one a row, finite and not negative; a number stands for all rows."""
    values = np.asarray(weight, dtype=np.float64)
    values = np.full(n_rows, float(values)) if values.ndim == 0 else np.ascontiguousarray(values)
    if values.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(values) != n_rows:
        raise ValueError(
            f"sample_weight.shape == {values.shape}, expected {(n_rows,)}: one weight a row"
        )
    least, most = _WEIGHABLE
    bad = ~((values == 0) | ((values >= least) & (values <= most)))
    if bad.any():
        row = int(np.argmax(bad))
        raise ValueError(
            f"sample_weight of row {row} is {values[row]}: weights must be zero (the row is "
            f"ignored) or between {least:g} and {most:g}"
        )
    return values


@dataclass(frozen=True, slots=True)
class Space:
    """Where the points lie: the origin that kernels work relative to, and whether there are gaps.

    Parameters
    ----------
    offset : ndarray of shape (d,)
        The mean. Rows and centres are taken relative to it, so that a common shift costs no digits.
    gaps : bool
        Whether any value is missing: distances then run over the observed columns.
    bounded : bool
        Whether distances lie in the range of the float32 bounds of Lloyd's algorithm.
    """

    offset: Array
    gaps: bool
    bounded: bool = False

    @classmethod
    def of(cls, moments: Moments) -> Space:
        """The space of the points that were summarised; refuses what has no meaning there."""
        _check_squarable(moments.spread)
        return cls(moments.mean, moments.gaps > 0, suits(moments.spread, "float32"))

    @classmethod
    def around(cls, moments: Moments, centres: Array) -> Space:
        """The space of the points and of centres that were found elsewhere."""
        spread = moments.reaching(centres).spread
        if spread > 1:  # rows that all but coincide with one centre are no harm
            _check_squarable(spread)
        offset = np.where(moments.weight > 0, moments.mean, centres[0])
        return cls(offset, moments.gaps > 0, suits(spread, "float32"))


def _check_squarable(spread: float) -> None:
    if not suits(spread, "float64"):
        raise ValueError(
            f"values differ by {spread:.3g}, and squares of that cannot be held: rescale X, for "
            "instance by its largest difference"
        )


def lie_somewhere(X: Array) -> Array:
    """Which rows have no value that is infinite or too large to measure."""
    far = np.nan_to_num(np.abs(X), nan=0.0, posinf=np.inf).max(axis=1)
    somewhere: Array = far <= _SQUARABLE["float64"][1]
    return somewhere


def suits(spread: float, dtype: str) -> bool:
    """Whether squares of differences up to ``spread`` can be held in that type."""
    least, most = _SQUARABLE[dtype]
    return spread == 0 or least <= spread <= most

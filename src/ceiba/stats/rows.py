"""Rows as points of a Euclidean space: what every learner that measures distances is given."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.data.target import Target, Task, class_places

if TYPE_CHECKING:
    from ceiba.stats.moments import Moments


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


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Rows, their target and their weights.

    Parameters
    ----------
    table : Table
    target : Target
        With the classes that these rows have, in codes of their own, or numbers.
    weight : ndarray of float64 or None
        Positive weights; None for 1 each.
    kept : ndarray or None
        Numbers of the rows, where some of weight zero were left out.
    """

    table: Table
    target: Target
    weight: Array | None = None
    kept: Array | None = None

    def __len__(self) -> int:
        return len(self.target.values)

    def row_number(self, row: int) -> int:
        """What a message calls a row: its number before any was left out."""
        return row if self.kept is None else int(self.kept[row])

    def labels(self, classes: Array) -> Array:
        """The class of every row, as its place (int32) in the ``classes`` of all parts.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba.data.table import Table
        >>> rows = Labelled(Table.of(np.eye(2)), Target.of(["yes", "no"], 2))
        >>> rows.labels(np.array(["maybe", "no", "yes"]))
        array([2, 1], dtype=int32)
        """
        own = self.target.classes
        if own is None:
            raise ValueError("the target holds numbers, which have no classes")
        if classes is own:
            return self.target.values
        places = class_places(own, classes)
        if len(places) == 0 or places[-1] == len(places) - 1:  # ascending: the first of all
            return self.target.values
        labels: Array = places[self.target.values]
        return labels


@dataclass(frozen=True, slots=True)
class ToLabelled:
    """Makes labelled rows of a partition: reads the target, checks the weights.

    Rows of weight zero vanish, with the classes that no other row has.

    Parameters
    ----------
    task : "classification" or "regression"
    """

    task: Task

    def __call__(self, chunk: Chunk) -> Labelled:
        """The labelled rows of one chunk."""
        table = chunk.table
        target = Target.of(chunk.target, len(table), task=self.task)
        if chunk.weight is None:
            return Labelled(table, target)
        weight = checked_weight(chunk.weight, len(table))
        if weight.all():
            return Labelled(table, target, weight)
        kept = np.flatnonzero(weight)
        return Labelled(table.take(kept), target.take(kept), weight[kept], kept)

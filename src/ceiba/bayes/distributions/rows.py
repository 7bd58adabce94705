"""Numeric columns as a matrix with the class of each row, in units without overflow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base.scaling import StoredScaling
from ceiba.bayes.coding import labels_and_weights
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine import Engine
from ceiba.stats import LabeledRows, Moments, Points, ToLabeledRows
from ceiba.stats.scaling import IntegerRanges, PointScaling, range_exponents, with_origins

_EXACT_INTEGERS = 2.0**53
# Values up to 2^330, about 1e99, whose squares times weights do not overflow.
_MAX_EXPONENT = 330


@dataclass(frozen=True, slots=True, eq=False)
class NumericRows:
    """Values of some numeric columns, class indices and weights.

    Parameters
    ----------
    X : ndarray of float64, shape (n_rows, n_columns)
        NaN for a missing value.
    labels : ndarray of int32, shape (n_rows,)
    weight : ndarray of float64 or None
    n_classes : int
    """

    X: Array
    labels: Array
    weight: Array | None
    n_classes: int

    def __len__(self) -> int:
        return len(self.X)


def select_columns(table: Table, columns: Sequence[int]) -> Table:
    """Return the table of some columns, by position, in their order."""
    if list(columns) == list(range(len(table.schema))):
        return table
    return table._select(list(columns))


def numeric_matrix(table: Table, columns: Sequence[int], scaling: PointScaling) -> Array:
    """Return numeric columns as a float64 matrix in the units of a fit."""
    part = select_columns(table, columns)
    X = part.matrix if part.matrix is not None else Encoding.of(part.schema).apply(part)
    X = np.ascontiguousarray(X, np.float64)
    return X if scaling.is_identity else np.ascontiguousarray(scaling.apply(part, X))


@dataclass(frozen=True, eq=False)
class ToNumericRows:
    """Prepare a partition as numeric rows; rows of weight zero are dropped.

    Parameters
    ----------
    columns : tuple of int
        Indices of the columns in the schema.
    scaling : PointScaling
    classes : ndarray
        Classes of all rows, ascending.
    class_weights : ndarray of shape (n_classes,) or None
        Factors of the weights of each class's rows.
    counts : tuple of int
        Positions among ``columns`` of those that must be counts.
    """

    columns: tuple[int, ...]
    scaling: PointScaling
    classes: Array
    class_weights: Array | None = None
    counts: tuple[int, ...] = ()

    def __call__(self, chunk: Chunk) -> NumericRows:
        """Return the numeric rows of one chunk."""
        return self.of_labeled(ToLabeledRows("classification")(chunk))

    def of_labeled(self, rows: LabeledRows) -> NumericRows:
        """Return the numeric rows of labeled rows."""
        labels, weight = labels_and_weights(rows, self.classes, self.class_weights)
        X = numeric_matrix(rows.table, self.columns, self.scaling)
        if self.counts:
            names = [rows.table.schema[self.columns[i]].name for i in self.counts]
            check_counts(X[:, self.counts], names)
        return NumericRows(X, labels, weight, len(self.classes))


def check_counts(X: Array, names: Sequence[str]) -> None:
    """Raise ValueError for values that are neither missing nor whole numbers of at least 0."""
    whole = (X >= 0) & np.isfinite(X) & (np.floor(X) == X)
    bad = ~(np.isnan(X) | whole)
    if bad.any():
        row, j = np.argwhere(bad)[0]
        raise ValueError(
            "distributions='poisson' requires counts, whole numbers of at least 0, got "
            f"{float(X[row, j])} in column {names[j]!r}: round the values, or use 'gaussian' or "
            "'kernel'."
        )


@dataclass(frozen=True, eq=False)
class ToRange:
    """Prepare the numeric columns of a partition for their moments."""

    columns: tuple[int, ...]
    scaling: PointScaling

    def __call__(self, chunk: Chunk) -> Points:
        """Return the columns of one chunk as points, without their weights."""
        part = select_columns(chunk.table, self.columns)
        X = numeric_matrix(chunk.table, self.columns, self.scaling)
        return Points(X, None, part.schema)


def learn_units(
    engine: Engine, partitions: Any, schema: Schema, columns: tuple[int, ...]
) -> tuple[StoredScaling, Moments]:
    """Return units in which squares neither overflow nor underflow, and the moments in them.

    Integers beyond 2^53 that are close together are taken from their smallest value, and columns
    of extreme range or size are multiplied by powers of two; ordinary columns keep their units.
    Raise for infinite values.
    """
    scaling = PointScaling.identity(len(columns))
    moments = _range(engine, partitions, columns, scaling)
    unresolved = {
        j: column
        for j, column in enumerate(columns)
        if schema[column].dtype in ("int64", "uint64")
        and moments.min[j] <= moments.max[j]
        and np.spacing(max(abs(moments.min[j]), abs(moments.max[j]))) > 1
        and moments.max[j] - moments.min[j] < _EXACT_INTEGERS
    }
    if unresolved:
        whole = engine.rows(partitions, _as_loaded)
        ranges = engine.reduce(whole, IntegerRanges.of, tuple(unresolved.values()))
        pairs = zip(unresolved, ranges.low, strict=True)
        scaling = with_origins(scaling, {j: low for j, low in pairs if low is not None})
        moments = _range(engine, partitions, columns, scaling)
    known = moments.min <= moments.max
    low, high = np.where(known, moments.min, 0.0), np.where(known, moments.max, 0.0)
    exponents = range_exponents(low, high, own=True)
    # A column that hardly varies may be large, though its range is not.
    sizes = np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    exponents = np.where(sizes + exponents > _MAX_EXPONENT, -sizes, exponents).astype(np.int64)
    if exponents.any():
        scaling = replace(scaling, exponents=exponents)
        moments = _range(engine, partitions, columns, scaling)
    return StoredScaling.of(scaling), moments


def _as_loaded(chunk: Chunk) -> Chunk:
    return chunk


def _range(
    engine: Engine, partitions: Any, columns: tuple[int, ...], scaling: PointScaling
) -> Moments:
    rows = engine.rows(partitions, ToRange(columns, scaling))
    return engine.reduce(rows, Moments.of)


def take_scaling(scaling: PointScaling, index: Sequence[int]) -> StoredScaling:
    """Return the units of some of the columns."""
    where = list(index)
    return StoredScaling(
        exponents=scaling.exponents[where],
        divisors=scaling.divisors[where],
        origins=scaling.origins[where],
        origin_values=scaling.origin_values[where],
        scaled=scaling.scaled,
    )

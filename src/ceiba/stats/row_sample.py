"""A sample of rows that is the same for any partitioning: those with the smallest keyed draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba.stats.points import Array
from ceiba.stats.tree_columns import ColumnTypes, column_arrays

_STREAM = 0x73616D706C65


@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    """At most ``size`` rows, drawn by (seed, global row), in the order of their rows.

    Parameters
    ----------
    size : int
    keys : ndarray of float64
        The draw of each row kept.
    arrays, gaps : list of ndarray
        Its values, column by column, and masks of the gaps of whole numbers.
    weight : ndarray or None
    columns : ColumnTypes
    """

    size: int
    keys: Array
    arrays: list[Array]
    gaps: list[Array | None]
    weight: Array | None
    columns: ColumnTypes

    @classmethod
    def of(cls, batch: Any, size: int, seed: int) -> RowSample:
        """The sample of a batch of labelled rows."""
        rows = batch.rows
        keys = np.empty(len(rows))
        _native.uniforms(seed, _STREAM, batch.first_row, keys)
        columns = ColumnTypes.of(rows.table.schema)
        if len(rows) <= size:
            return cls(size, keys, *column_arrays(rows.table, columns), rows.weight, columns)
        kept = smallest(keys, size)
        arrays, gaps = column_arrays(rows.table.take(kept), columns)
        weight = None if rows.weight is None else rows.weight[kept]
        return cls(size, keys[kept], arrays, gaps, weight, columns)

    def merge(self, other: RowSample) -> RowSample:
        """The sample of both parts' rows."""
        keys = np.concatenate([self.keys, other.keys])
        kept = smallest(keys, self.size)
        arrays = [
            np.concatenate(pair)[kept] for pair in zip(self.arrays, other.arrays, strict=True)
        ]
        gaps = [
            _masks(mine, len(self.keys), theirs, len(other.keys), kept)
            for mine, theirs in zip(self.gaps, other.gaps, strict=True)
        ]
        weight = None
        if self.weight is not None and other.weight is not None:
            weight = np.concatenate([self.weight, other.weight])[kept]
        return replace(self, keys=keys[kept], arrays=arrays, gaps=gaps, weight=weight)


def smallest(keys: Array, size: int) -> Array:
    """Places of the ``size`` smallest keys, ascending."""
    if len(keys) <= size:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, size - 1)[:size])


def _masks(mine: Array | None, n: int, theirs: Array | None, m: int, kept: Array) -> Array | None:
    if mine is None and theirs is None:
        return None
    parts = [
        np.zeros(count, bool) if mask is None else mask for mask, count in ((mine, n), (theirs, m))
    ]
    return np.concatenate(parts)[kept]

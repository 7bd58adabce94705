"""Columns of a table as the tree kernels take them: arrays in their own types, masks of gaps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table
from ceiba.stats.points import Array

REAL, SINGLE, INT, UNSIGNED, ORDINAL, NOMINAL = range(6)
_NUMBERS = {"float64": REAL, "float32": SINGLE, "uint64": UNSIGNED}


def column_type(column: Column) -> int:
    """How the values of a column are stored, and so compared; times are whole numbers."""
    if column.kind is Kind.NOMINAL:
        return NOMINAL
    if column.kind is Kind.ORDINAL:
        return ORDINAL
    return _NUMBERS.get(column.dtype, INT)


@dataclass(frozen=True, slots=True)
class ColumnTypes:
    """Types and numbers of levels of all columns."""

    types: list[int]
    levels: list[int]

    @classmethod
    def of(cls, schema: Schema) -> ColumnTypes:
        """Those of a schema."""
        return _types_of(schema)

    @property
    def nominal(self) -> Array:
        """Which columns are nominal."""
        return np.array([kind == NOMINAL for kind in self.types])


@lru_cache(maxsize=128)
def _types_of(schema: Schema) -> ColumnTypes:
    return ColumnTypes([column_type(c) for c in schema], [len(c.levels) for c in schema])


def column_arrays(table: Table, types: ColumnTypes) -> tuple[list[Array], list[Array | None]]:
    """Arrays and masks of all columns, in the types that a model was fitted with."""
    if table.block is not None and set(types.types) == {_block_type(table)}:
        block = table.block
        return list(block.T), [None] * block.shape[1]
    arrays, gaps = [], []
    for j, kind in enumerate(types.types):
        array, mask = _suited(table, j, kind)
        arrays.append(array)
        gaps.append(mask)
    return arrays, gaps


def _block_type(table: Table) -> int:
    assert table.block is not None
    return _NUMBERS.get(table.block.dtype.name, INT)


def _suited(table: Table, j: int, kind: int) -> tuple[Array, Array | None]:
    array = table.column(j)
    if kind in (NOMINAL, ORDINAL):
        return array, None
    if kind in (REAL, SINGLE):
        wanted = np.float64 if kind == REAL else array.dtype
        return array.astype(wanted, copy=False), None
    name = "int64" if kind == INT else "uint64"
    return array if array.dtype == name else _whole(array, name), table.gaps(j)


def _whole(array: Array, wanted: str) -> Array:
    """Numbers for thresholds that are whole: x > t for a whole t just where ceil(x) > t."""
    reach = np.iinfo(wanted)
    if array.dtype.kind != "f":
        return np.clip(array, max(reach.min, 0), np.iinfo(np.int64).max).astype(wanted)
    values = np.nan_to_num(np.ceil(array.astype(np.float64)), nan=0.0)
    # The largest float that is not above the largest whole number: a float cannot say that one.
    top = np.nextafter(float(reach.max), 0.0)
    above = values > top
    whole = np.clip(values, float(reach.min), top).astype(wanted)
    return np.where(above, reach.max, whole)

"""Columns gathered into a table, as one matrix where all of them are floats."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ceiba._typing import Array
from ceiba.data.column import Values
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import IdentifierWarning, Table

# Rows written at a time: the part of the matrix at hand stays in the cache (3 times as fast).
_ROWS = 4096
# Fewer rows than this may well have a different label each and still be no identifiers.
_IDENTIFIER_ROWS = 20


def gather(schema: Schema, values: Sequence[Values]) -> Table:
    """The table of columns that are ready for the schema."""
    arrays = [column.array for column in values]
    dtypes = {column.dtype for column in schema}
    if dtypes in ({"float64"}, {"float32"}) and len(arrays[0]):
        return Table.of(side_by_side(arrays, schema[0].dtype), schema)
    gaps = {j: column.gaps for j, column in enumerate(values) if column.gaps is not None}
    return Table.from_columns(arrays, schema, gaps)


def side_by_side(arrays: Sequence[Array], dtype: str) -> Array:
    """The C-ordered matrix of floats whose columns are these arrays of numbers."""
    matrix = np.empty((len(arrays[0]), len(arrays)), dtype)
    for start in range(0, len(matrix), _ROWS):
        rows = slice(start, start + _ROWS)
        for j, array in enumerate(arrays):
            matrix[rows, j] = array[rows]
    return matrix


def point_out_identifier(column: Column, present: int, place: str) -> None:
    """Warn of a nominal column of text that has as many levels as values."""
    if column.kind is not Kind.NOMINAL or present <= _IDENTIFIER_ROWS:
        return
    if len(column.levels) == present and isinstance(column.levels[0], str):
        warnings.warn(
            f"{place}: column {column.name!r} has a different label in every row, as an identifier "
            "has: nothing can be learnt from it. Leave it out with `columns`, or declare what it "
            f"is, kinds={{{column.name!r}: 'nominal'}}.",
            IdentifierWarning,
            stacklevel=2,
        )

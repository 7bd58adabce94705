"""How a table becomes one matrix of floats, for learners that measure distances."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table

# Two different levels differ in two indicators, so that their squared distance is exactly 1
# up to the rounding of this root.
_INDICATOR = np.sqrt(0.5)
_DAY = 86_400e9  # nanoseconds
# Rows written at a time: the part of the matrix at hand then stays in the cache.
_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Encoding:
    """The map from tables of a schema to matrices of floats in which distances mean something.

    Numbers stay as they are. Instants count in days since 1970 and durations in days (float64
    days tell instants of this century apart down to about a microsecond). A nominal column of L
    levels becomes L indicators of value sqrt(1/2), so that two rows that differ in it have squared
    distance 1 there. An ordinal column of L levels becomes its rank over L - 1, from 0 to 1.
    A gap is NaN in every column that its value would fill.

    Parameters
    ----------
    schema : Schema
    offsets : tuple of int
        Where the columns of each attribute begin in the matrix, and the width at the end.
    dtype : str
        ``"float32"`` where every column of the schema is, else ``"float64"``.

    Examples
    --------
    >>> from ceiba.data import Table
    >>> table = Table.of([{"size": 2, "colour": "red"}, {"size": 3, "colour": "blue"}])
    >>> encoding = Encoding.of(table.schema)
    >>> encoding.names
    ['size', 'colour=blue', 'colour=red']
    >>> encoding.apply(table).round(3)
    array([[2.   , 0.   , 0.707],
           [3.   , 0.707, 0.   ]])
    """

    schema: Schema
    offsets: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, schema: Schema) -> Encoding:
        """The encoding of a schema's tables."""
        widths = (len(c.levels) if c.kind is Kind.NOMINAL else 1 for c in schema)
        single = all(column.dtype == "float32" for column in schema)
        offsets = tuple(accumulate(widths, initial=0))
        return cls(schema, offsets, "float32" if single else "float64")

    @property
    def width(self) -> int:
        """How many columns the matrix has."""
        return self.offsets[-1]

    @property
    def names(self) -> list[str]:
        """Names of the matrix's columns: ``size``, ``colour=red``."""
        return [name for column in self.schema for name in _names(column)]

    def apply(self, table: Table) -> Array:
        """The table as a C-contiguous matrix of floats; its own memory where it is that already.

        Parameters
        ----------
        table : Table
            A table made under this schema, ``Table.of(X, schema)``.

        Returns
        -------
        ndarray of shape (n_rows, width)
        """
        self._check(table.schema)
        if table.block is not None:
            return np.ascontiguousarray(table.block, dtype=self.dtype)
        matrix = np.empty((table.n_rows, self.width), self.dtype)
        for start in range(0, table.n_rows, _ROWS):
            rows = slice(start, start + _ROWS)
            part = table.take(rows)
            for j, (begin, end) in enumerate(pairwise(self.offsets)):
                _write(matrix[rows, begin:end], part, j)
        return matrix

    def check_whole_numbers(self, least: Array, most: Array) -> None:
        """Refuse whole numbers that lie closer together than float64 can tell apart.

        Parameters
        ----------
        least, most : ndarray of shape (width,)
            The range of each column of the matrix, over all rows.
        """
        for column, j in zip(self.schema, self.offsets, strict=False):
            if column.dtype not in ("int64", "uint64"):
                continue
            step = np.spacing(max(abs(least[j]), abs(most[j])))
            # Beyond 2^53 floats are `step` > 1 apart; a hundredth of the range is no harm.
            if step > 1 and 0 < 0.01 * (most[j] - least[j]) < step:
                raise ValueError(
                    f"Column {column.name!r} holds whole numbers around {most[j]:.0f} so close "
                    "together that float64 cannot tell them apart: subtract a constant."
                )

    def _check(self, schema: Schema) -> None:
        if schema is self.schema:
            return
        self.schema.check_width(len(schema))
        for have, want in zip(schema, self.schema, strict=True):
            if have.kind is not want.kind or have.levels != want.levels:
                raise ValueError(
                    f"Column {have.name!r} was made under another schema: make the table with "
                    "Table.of(X, schema)."
                )


def _names(column: Column) -> list[str]:
    if column.kind is Kind.NOMINAL:
        return [f"{column.name}={level}" for level in column.levels]
    return [column.name]


def _write(out: Array, table: Table, j: int) -> None:
    """Write column ``j`` of the table into its columns of the matrix."""
    column, values = table.schema[j], table.column(j)
    if column.kind is Kind.NOMINAL:
        out[:] = 0.0
        if column.levels:
            out[np.arange(len(out)), values] = _INDICATOR
    elif column.kind is Kind.ORDINAL:
        out[:, 0] = values / max(len(column.levels) - 1, 1)
    elif column.temporal:
        out[:, 0] = values / _DAY
    else:
        out[:, 0] = values
    gaps = table.gaps(j)
    if gaps is not None:
        out[gaps] = np.nan

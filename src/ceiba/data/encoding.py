"""Encode tables as matrices of floats, for learners that use distances."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table

# Two different categories differ in two indicators, so that their squared distance is exactly 1
# up to the rounding of this root.
INDICATOR = float(np.sqrt(0.5))
_DAY = 86_400e9  # nanoseconds
# Rows written at a time: the block of the matrix then stays in the cache.
_ROWS = 4096


@dataclass(frozen=True, slots=True)
class Encoding:
    """Map from tables of a schema to matrices of floats with meaningful distances.

    Numbers are unchanged. Times are days since 1970, durations days (float64 days resolve times of
    this century to about a microsecond). A nominal column of L categories becomes L indicators of
    value sqrt(1/2), so that two rows that differ in it have squared distance 1 there. An ordinal
    column of L categories becomes its rank over L - 1, from 0 to 1. A missing value is NaN in all
    of its columns.

    ``offsets`` are the first column of each attribute in the matrix, and the width at the end.
    ``dtype`` is ``"float32"`` where every column of the schema is, else ``"float64"``.
    """

    schema: Schema
    offsets: tuple[int, ...]
    dtype: str

    @classmethod
    def of(cls, schema: Schema) -> Encoding:
        """Make the encoding of tables of a schema."""
        widths = (len(c.categories) if c.kind is Kind.NOMINAL else 1 for c in schema)
        single = all(column.dtype == "float32" for column in schema)
        offsets = tuple(accumulate(widths, initial=0))
        return cls(schema, offsets, "float32" if single else "float64")

    @property
    def width(self) -> int:
        """Number of columns of the matrix."""
        return self.offsets[-1]

    @property
    def names(self) -> list[str]:
        """Names of the columns of the matrix: ``size``, ``color=red``."""
        names: list[str] = []
        for column in self.schema:
            nominal = column.kind is Kind.NOMINAL
            names += [f"{column.name}={c}" for c in column.categories] if nominal else [column.name]
        return names

    def apply(self, table: Table) -> Array:
        """Encode a table of this schema as a C-contiguous matrix, without a copy where possible."""
        if table.schema is not self.schema:
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

    def decode(self, matrix: Array) -> Table:
        """Return points as a table: the inverse of `apply`, with the nearest categories.

        A nominal column has the category of the largest indicator, an ordinal one that of the
        nearest rank; numbers are floats, because a point between rows need not be whole.
        """
        columns: list[Array] = []
        kept: list[Column] = []
        for column, begin, end in zip(self.schema, self.offsets, self.offsets[1:], strict=False):
            values = np.asarray(matrix[:, begin:end], dtype=np.float64)
            if column.kind is Kind.NOMINAL:
                codes = values.argmax(axis=1) if end > begin else np.full(len(values), -1)
                columns.append(codes.astype(np.int32))
            elif column.kind is Kind.ORDINAL:
                rank = np.round(values[:, 0] * max(len(column.categories) - 1, 1))
                codes = np.clip(rank, 0, len(column.categories) - 1)
                columns.append(codes.astype(np.int32))
            elif column.temporal:
                columns.append(np.round(values[:, 0] * _DAY).astype(np.int64))
            else:
                columns.append(np.ascontiguousarray(values[:, 0]))
                column = replace(column, dtype="float64")
            kept.append(column)
        return Table.from_columns(columns, Schema(tuple(kept), self.schema.named))

    def _check(self, schema: Schema) -> None:
        self.schema.check_width(len(schema))
        for column, expected in zip(schema, self.schema, strict=True):
            if column.kind is not expected.kind or column.categories != expected.categories:
                raise ValueError(
                    f"Column {column.name!r} has another schema: make the table with "
                    "ceiba.data.Table.of(X, schema)."
                )


def _write(out: Array, table: Table, j: int) -> None:
    """Write column ``j`` of the table into its columns of the matrix."""
    column, values = table.schema[j], table.column(j)
    if column.kind is Kind.NOMINAL:
        out[:] = 0.0
        if column.categories:
            out[np.arange(len(out)), values] = INDICATOR
    elif column.kind is Kind.ORDINAL:
        out[:, 0] = values / max(len(column.categories) - 1, 1)
    elif column.temporal:
        out[:, 0] = values / _DAY
    else:
        out[:, 0] = values
    missing = table.missing_mask(j)
    if missing is not None:
        out[missing] = np.nan

"""Tables of sparse matrices, whose columns and blocks of rows are made dense when they are read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.arrays import check_size
from ceiba.data.column import number_dtype
from ceiba.data.frames import check_dense_size
from ceiba.data.schema import Schema
from ceiba.data.table import Table, block_schema

# Bytes of the columns or rows that are dense at the same time.
_DENSE_BYTES = 2**25


class SparseTable(Table):
    """A numeric table whose values are those of a sparse matrix; absent ones are zeros.

    Parameters
    ----------
    schema : Schema
        Numeric columns of one dtype, that of the matrix.
    matrix : csc matrix or array
        The non-zeros of each column, each row once.

    Examples
    --------
    >>> from scipy import sparse
    >>> from ceiba.data.sparse import open_sparse
    >>> table = open_sparse(sparse.csr_array([[0.0, 2.0], [3.0, 0.0]]))
    >>> table.column(1), table.non_zeros(1)
    (array([2., 0.]), (array([0], dtype=int32), array([2.])))
    """

    __slots__ = ("_matrix",)

    def __init__(self, schema: Schema, matrix: Any) -> None:
        super().__init__(schema, matrix.shape[0])
        self._matrix = matrix

    def column(self, j: int) -> Array:
        """Return column ``j`` as a dense array."""
        rows, values = self.non_zeros(j)
        dense = np.zeros(self.n_rows, values.dtype)
        dense[rows] = values
        return dense

    def non_zeros(self, j: int) -> tuple[Array, Array]:
        """Return the rows and the values of the non-zeros of column ``j``."""
        part = slice(self._matrix.indptr[j], self._matrix.indptr[j + 1])
        return self._matrix.indices[part], self._matrix.data[part]

    def take(self, rows: Any) -> SparseTable:
        """Select rows by indices, a mask or a slice."""
        return SparseTable(self.schema, self._matrix[rows])

    def _select(self, indices: list[int]) -> SparseTable:
        """Return a table of some columns, by position."""
        schema = replace(self.schema, columns=tuple(self.schema[j] for j in indices))
        return SparseTable(schema, self._matrix[:, indices])

    def column_groups(self, max_rows: int) -> Iterator[SparseTable]:
        """Yield groups of columns, of which ``max_rows`` rows are to be dense at the same time."""
        width = _n_dense(min(self.n_rows, max_rows) * self._matrix.dtype.itemsize)
        for begin in range(0, len(self.schema), width):
            yield self._select(list(range(begin, min(begin + width, len(self.schema)))))

    def row_blocks(self, columns: list[int] | None = None) -> Iterator[tuple[slice, Table]]:
        """Yield blocks of rows as dense tables of some columns, with the positions of the rows."""
        table = self if columns is None else self._select(columns)
        by_row = table._matrix.tocsr()  # rows of a csc matrix are searched in all columns
        height = _n_dense(len(table.schema) * by_row.dtype.itemsize)
        for begin in range(0, self.n_rows, height):
            rows = slice(begin, min(begin + height, self.n_rows))
            block = by_row[rows].toarray()
            yield rows, Table(table.schema, len(block), block)

    def dense(self) -> Table:
        """Return the table as a dense one, if it is not above scikit-learn's limit."""
        check_dense_size(self.shape, self._matrix.dtype.itemsize)
        return Table(self.schema, self.n_rows, self._matrix.toarray(order="C"))


def dense_blocks(table: Table) -> Iterator[tuple[slice, Table]]:
    """Yield the rows of any table as dense tables: of a sparse one in blocks, else all at once."""
    if isinstance(table, SparseTable):
        yield from table.row_blocks()
    else:
        yield slice(None), table


def _n_dense(n_bytes: int) -> int:
    """Return how many rows or columns of some bytes each are dense at the same time."""
    return max(1, _DENSE_BYTES // n_bytes)


def open_sparse(X: Any, schema: Schema | None = None, expected_by: str = "this model") -> Table:
    """Return a sparse matrix or array as a table, with an inferred or a given schema.

    A schema whose columns are not the numbers of the matrix needs conversions, column by column:
    the table is then a dense one.
    """
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        return Table.of(X, schema, expected_by=expected_by)
    check_size(*X.shape)
    if schema is None:
        # A fit has at least one byte per value. Checked first: a schema has an object per column.
        check_dense_size(X.shape, 1, "bin codes")
    own = block_schema(X.shape[1], number_dtype(X.dtype), schema, expected_by)
    if own is None:
        return Table.of(X, schema, expected_by=expected_by)
    matrix = X.tocsc()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()  # the caller keeps the duplicates
        matrix.sum_duplicates()
    return SparseTable(own, matrix.astype(own[0].dtype, copy=False))

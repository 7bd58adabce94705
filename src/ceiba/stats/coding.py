"""Codes of a table's values: ranks among all values, or bins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba.data.table import Table
from ceiba.stats.points import Array
from ceiba.stats.row_sample import RowSample
from ceiba.stats.tree_columns import ColumnTypes, column_arrays


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """What the codes of each column mean.

    Parameters
    ----------
    columns : ColumnTypes
    n_codes : ndarray of uint32
        Codes of each column; a gap has the code behind the last.
    scale, offsets : ndarray
        Values of the codes (exact) or upper edges of the bins (binned) of all numeric columns, one
        column behind the other, as the bits of float64, int64 or uint64.
    binned : bool
    """

    columns: ColumnTypes
    n_codes: Array
    scale: Array
    offsets: Array
    binned: bool

    @classmethod
    def exact(cls, table: Table, threads: int) -> tuple[Coding, Array]:
        """Ranks of all values, and the codes of the table."""
        columns = ColumnTypes.of(table.schema)
        arrays, gaps = column_arrays(table, columns)
        codes, n_codes, scale, offsets = _native.tree_rank(
            arrays, gaps, columns.types, columns.levels, threads
        )
        return cls(columns, n_codes, scale, offsets, False), codes

    @classmethod
    def of_bins(cls, sample: RowSample, max_bins: int, threads: int) -> Coding:
        """Bins of about equal weight, told by a sample; few different values have one each."""
        n_codes, edges, offsets = _native.tree_edges(
            sample.arrays,
            sample.gaps,
            sample.columns.types,
            sample.columns.levels,
            sample.weight,
            max_bins,
            threads,
        )
        return cls(sample.columns, n_codes, edges, offsets, True)

    def codes(self, table: Table, threads: int) -> Array:
        """The bins of a table's values, of shape (columns, rows)."""
        arrays, gaps = column_arrays(table, self.columns)
        columns = self.columns
        codes: Any = _native.tree_bin(
            arrays,
            gaps,
            columns.types,
            columns.levels,
            self.n_codes,
            self.scale,
            self.offsets,
            threads,
        )
        return np.asarray(codes)

    def values(self, column: int) -> Array:
        """Values of a numeric column's codes, or the upper edges of its bins, in their own type."""
        bits = self.scale[self.offsets[column] : self.offsets[column + 1]]
        types = {2: np.int64, 3: np.uint64}
        return bits.view(types.get(self.columns.types[column], np.float64))

    @property
    def total_codes(self) -> int:
        """Codes of all columns, gaps included: the cells of one node's histograms."""
        return int(self.n_codes.sum()) + len(self.n_codes)

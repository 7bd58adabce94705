"""Codes of a table's values: ranks among all values, or bins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba import _native
from ceiba.data.table import Table
from ceiba.stats.points import Array
from ceiba.stats.row_sample import RowSample
from ceiba.stats.tree_columns import INT, ORDINAL, UNSIGNED, ColumnTypes, column_arrays


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """Numbers behind codes, of all numeric columns one behind the other.

    Parameters
    ----------
    bits : ndarray of uint64
        The bits of float64, int64 or uint64 numbers.
    offsets : ndarray of int64
        Where each column's numbers begin, and the end.
    codes : ndarray of uint32 or None
        The codes whose values these are, ascending in each column; None for the upper edges of
        bins, one for each but the last.
    """

    bits: Array
    offsets: Array
    codes: Array | None = None

    def number(self, columns: ColumnTypes, column: int, code: int) -> float:
        """Value of a code or upper edge of a bin, as a float."""
        part = slice(self.offsets[column], self.offsets[column + 1])
        place = code if self.codes is None else int(np.searchsorted(self.codes[part], code))
        numbers = self.numbers(columns, column)
        return float(numbers[place]) if place < len(numbers) else np.inf

    def numbers(self, columns: ColumnTypes, column: int) -> Array:
        """All numbers of a column, as floats."""
        part = slice(self.offsets[column], self.offsets[column + 1])
        types = {INT: np.int64, UNSIGNED: np.uint64}
        own: Array = self.bits[part].view(types.get(columns.types[column], np.float64))
        return own.astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class Coding:
    """What the codes of each column mean.

    Parameters
    ----------
    columns : ColumnTypes
    n_codes : ndarray of uint32
        Codes of each column; a gap has the code behind the last.
    edges : Scale or None
        Upper edges of bins; None where codes are ranks among all values.
    worth : ndarray of float64 or None
        What each code counts as, column after column, for a rule that says where to cut.
    cuts : tuple of ndarray or None
        Where all nodes cut, column after column, and where those of each column begin.
    """

    columns: ColumnTypes
    n_codes: Array
    edges: Scale | None = None
    worth: Array | None = None
    cuts: tuple[Array, Array] | None = None

    def native(self) -> Any:
        """The native view."""
        cuts, first = self.cuts or (None, None)
        return _native.TreeColumns(
            n_codes=self.n_codes, nominal=self.columns.nominal,
            values=self.worth, cuts=cuts, first_cut=first,
        )  # fmt: skip

    @classmethod
    def exact(cls, table: Table, threads: int) -> tuple[Coding, Array]:
        """Ranks of all values, and the codes of the table."""
        columns = ColumnTypes.of(table.schema)
        arrays, gaps = column_arrays(table, columns)
        codes, n_codes = _native.tree_rank(arrays, gaps, columns.types, columns.levels, threads)
        return cls(columns, n_codes), codes

    @classmethod
    def of_bins(cls, sample: RowSample, max_bins: int, threads: int) -> Coding:
        """Bins told by a sample, finer in the tails; few different values have one each."""
        columns = sample.columns
        n_codes, edges, offsets = _native.tree_edges(
            sample.arrays,
            sample.gaps,
            columns.types,
            columns.levels,
            sample.weight,
            max_bins,
            threads,
        )
        return cls(columns, n_codes, Scale(edges, offsets))

    def codes(self, table: Table, threads: int) -> Array:
        """The bins of a table's values, of shape (columns, rows)."""
        assert self.edges is not None
        arrays, gaps = column_arrays(table, self.columns)
        return np.asarray(
            _native.tree_bin(
                arrays,
                gaps,
                self.columns.types,
                self.columns.levels,
                self.n_codes,
                self.edges.bits,
                self.edges.offsets,
                threads,
            )
        )

    def values(
        self, table: Table, codes: Array, columns: Array, wanted: Array, threads: int
    ) -> Scale:
        """Values of some codes: ``wanted[i]`` of column ``columns[i]``.

        They are looked up in the rows: the values of all codes would take as much memory as the
        table itself.
        """
        kept = (np.array(self.columns.types) < ORDINAL)[columns]
        pairs = np.unique(columns[kept].astype(np.int64) << 32 | wanted[kept].astype(np.int64))
        offsets = np.searchsorted(pairs >> 32, np.arange(len(self.n_codes) + 1))
        own = (pairs & 0xFFFFFFFF).astype(np.uint32)
        arrays, gaps = column_arrays(table, self.columns)
        bits = _native.tree_values(
            arrays, gaps, self.columns.types, self.columns.levels, codes, own, offsets, threads
        )
        return Scale(np.asarray(bits), offsets, own)

    def with_worth(self, worth: list[Array], cuts: list[Array] | None) -> Coding:
        """The same coding, told what codes count as and, if so, where every node cuts."""
        given = None
        if cuts is not None:
            first = np.cumsum([0, *(len(own) for own in cuts)], dtype=np.int64)
            given = np.concatenate(cuts).astype(np.float64), first
        return replace(self, worth=np.concatenate(worth).astype(np.float64), cuts=given)

    @property
    def total_codes(self) -> int:
        """Codes of all columns, gaps included: the cells of one node's histograms."""
        return int(self.n_codes.sum()) + len(self.n_codes)

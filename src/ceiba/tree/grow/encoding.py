"""A sample of rows that is the same for any partitioning: those with the smallest keyed draws."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table

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

"""Encode the values of columns as integer codes: ranks of all values, or bins of a row sample."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._native import ColumnType
from ceiba._typing import Array
from ceiba.data.frames import check_dense_size
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.sparse import SparseTable
from ceiba.data.table import Table
from ceiba.engine import Batch, Engine
from ceiba.stats.labeled import LabeledRows

_NUMBER_TYPES = {
    "float64": ColumnType.FLOAT64, "float32": ColumnType.FLOAT32, "uint64": ColumnType.UINT64
}  # fmt: skip
_SAMPLE_STREAM = 0x73616D706C65


@dataclass(frozen=True)
class ColumnTypes:
    """Storage types and numbers of categories of all columns."""

    types: list[ColumnType]
    n_categories: list[int]

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnTypes, (self.types, self.n_categories)

    @staticmethod
    @lru_cache(maxsize=128)
    def of(schema: Schema) -> ColumnTypes:
        """Return the types of a schema's columns."""
        return ColumnTypes([_column_type(c) for c in schema], [len(c.categories) for c in schema])

    @property
    def nominal(self) -> Array:
        """Mask of the nominal columns."""
        return np.array([kind == ColumnType.NOMINAL for kind in self.types])

    @property
    def integer(self) -> Array:
        """Mask of the columns of integers."""
        return np.array([kind in (ColumnType.INT64, ColumnType.UINT64) for kind in self.types])

    @cached_property
    def native(self) -> _native.ColumnTypes:
        """The native counterpart."""
        return _native.ColumnTypes(self.types, self.n_categories)


def _column_type(column: Column) -> ColumnType:
    """Return how values are stored, and so compared; datetimes are integers."""
    if column.kind is not Kind.NUMERIC:
        return ColumnType[column.kind.name]
    return _NUMBER_TYPES.get(column.dtype, ColumnType.INT64)


def column_arrays(
    table: Table, columns: ColumnTypes, *, integers_only: bool = False
) -> tuple[list[Array], list[Array | None]]:
    """Return arrays and missing masks of all columns, in the types of a model.

    Floats in an integer column stay floats, which prediction compares with the thresholds exactly;
    ``integers_only`` rounds them up, for codes.
    """
    block = table.block
    if block is not None:
        kind = _NUMBER_TYPES.get(block.dtype.name, ColumnType.INT64)
        if set(columns.types) == {kind}:
            return list(block.T), [None] * block.shape[1]
    typed = [_typed_column(table, j, kind, integers_only) for j, kind in enumerate(columns.types)]
    return [array for array, _ in typed], [mask for _, mask in typed]


def _integer_arrays(table: Table, columns: ColumnTypes) -> tuple[list[Array], list[Array | None]]:
    return column_arrays(table, columns, integers_only=True)


def observed_mask(kind: int, array: Array, mask: Array | None) -> Array:
    """Return which rows have a value in a column."""
    if kind in (ColumnType.NOMINAL, ColumnType.ORDINAL):
        return array >= 0
    if array.dtype.kind != "f":
        return np.ones(len(array), bool) if mask is None else ~mask
    return ~np.isnan(array)


def native_table(
    table: Table, columns: ColumnTypes, *, integers_only: bool = False
) -> _native.TreeTable:
    """Return a table for the kernels, in the types of a model; see `column_arrays`."""
    arrays, masks = column_arrays(table, columns, integers_only=integers_only)
    return _native.TreeTable(arrays, masks, columns.native)


def _typed_column(
    table: Table, j: int, kind: ColumnType, integers_only: bool
) -> tuple[Array, Array | None]:
    array = table.column(j)
    if kind in (ColumnType.NOMINAL, ColumnType.ORDINAL):
        return array, None
    if kind in (ColumnType.FLOAT64, ColumnType.FLOAT32):
        # A column of float32 may be float64 at prediction: both are compared as float64.
        dtype = np.float64 if kind == ColumnType.FLOAT64 else array.dtype
        return array.astype(dtype, copy=False), None
    if array.dtype.kind == "f" and not integers_only:
        return array.astype(np.float64, copy=False), None
    name = "int64" if kind == ColumnType.INT64 else "uint64"
    return array if array.dtype == name else _to_integers(array, name), table.missing_mask(j)


def _to_integers(array: Array, dtype: str) -> Array:
    """Return numbers as integers: floats are rounded up, and all limited to the dtype."""
    limits = np.iinfo(dtype)
    if array.dtype.kind != "f":
        return np.clip(array, max(limits.min, 0), np.iinfo(np.int64).max).astype(dtype)
    values = np.nan_to_num(np.ceil(array.astype(np.float64)), nan=0.0)
    # The largest float below the largest integer, which has no float of its own.
    top = np.nextafter(float(limits.max), 0.0)
    above = values > top
    integers = np.clip(values, float(limits.min), top).astype(dtype)
    return np.where(above, limits.max, integers)


@dataclass(frozen=True, slots=True, eq=False)
class RowSample:
    """At most ``size`` rows with the smallest draws keyed by (seed, global row), in row order.

    The sample is the same for any partitioning. ``keys`` are the draws of the rows, ``arrays``
    their values, column by column, and ``missing_masks`` the masks of missing integers.
    """

    size: int
    keys: Array
    arrays: list[Array]
    missing_masks: list[Array | None]
    weight: Array | None
    columns: ColumnTypes

    @classmethod
    def of(cls, batch: Batch[LabeledRows], size: int, seed: int, max_key: float = 1.0) -> RowSample:
        """Draw the sample of a batch from the rows with keys below ``max_key``."""
        rows = batch.rows
        keys = np.empty(len(rows))
        _native.uniforms(seed, _SAMPLE_STREAM, batch.first_row, keys)
        columns = ColumnTypes.of(rows.table.schema)
        if len(rows) <= size and max_key >= 1.0:
            return cls(size, keys, *_integer_arrays(rows.table, columns), rows.weight, columns)
        kept = np.flatnonzero(keys < max_key)
        kept = kept[_smallest(keys[kept], size)]
        arrays, masks = _integer_arrays(rows.table.take(kept), columns)
        weight = None if rows.weight is None else rows.weight[kept]
        return cls(size, keys[kept], arrays, masks, weight, columns)

    def merge(self, other: RowSample) -> RowSample:
        """Return the sample of both parts' rows."""
        keys = np.concatenate([self.keys, other.keys])
        kept = _smallest(keys, self.size)
        arrays = [
            np.concatenate(pair)[kept] for pair in zip(self.arrays, other.arrays, strict=True)
        ]
        masks = [
            None
            if mine is None and theirs is None
            else np.concatenate([_full_mask(mine, self), _full_mask(theirs, other)])[kept]
            for mine, theirs in zip(self.missing_masks, other.missing_masks, strict=True)
        ]
        weight = None
        if self.weight is not None and other.weight is not None:
            weight = np.concatenate([self.weight, other.weight])[kept]
        return replace(self, keys=keys[kept], arrays=arrays, missing_masks=masks, weight=weight)


def draw_sample(engine: Engine, rows: Any, n_rows: int, size: int, seed: int) -> RowSample:
    """Draw the sample of numbered rows on any engine.

    Parts need not return rows that are unlikely to be in the sample: of a terabyte in ten thousand
    partitions each would return as many rows as the sample has.
    """
    # The number of keys below ``max_key`` is binomial. Less than ``size`` would be eight standard
    # deviations below its mean.
    max_key = (size + 8.0 * np.sqrt(size)) / n_rows
    if max_key < 1.0:
        sample = engine.reduce(rows, RowSample.of, size, seed, max_key)
        if len(sample.keys) == size:
            return sample
    return engine.reduce(rows, RowSample.of, size, seed)


def _smallest(keys: Array, size: int) -> Array:
    """Return the indices of the ``size`` smallest keys, ascending."""
    if len(keys) <= size:
        return np.arange(len(keys))
    return np.sort(np.argpartition(keys, size - 1)[:size])


def _full_mask(mask: Array | None, sample: RowSample) -> Array:
    return np.zeros(len(sample.keys), bool) if mask is None else mask


@dataclass(frozen=True, slots=True, eq=False)
class CodeValues:
    """Values of the codes of all numeric columns, concatenated.

    ``bits`` are those of float64, int64 or uint64 numbers, ``offsets`` the index of the first
    number of each column, and the end. ``codes`` are those of the values, ascending in each column;
    None for the upper edges of bins, one for each but the last. ``halves`` is the mask of the edges
    between integers that are one half higher.
    """

    bits: Array
    offsets: Array
    codes: Array | None = None
    halves: Array | None = None

    def value(self, columns: ColumnTypes, column: int, code: int) -> float:
        """Return the value of a code, or the upper edge of a bin, as a float."""
        part = slice(self.offsets[column], self.offsets[column + 1])
        index = code if self.codes is None else int(np.searchsorted(self.codes[part], code))
        values = self.values(columns, column)
        if index == len(values):
            return np.inf
        half = self.halves is not None and self.halves[self.offsets[column] + index]
        return float(values[index]) + half / 2

    def values(self, columns: ColumnTypes, column: int) -> Array:
        """Return all values of a column, in its type."""
        part = slice(self.offsets[column], self.offsets[column + 1])
        dtypes = {ColumnType.INT64: np.int64, ColumnType.UINT64: np.uint64}
        own: Array = self.bits[part].view(dtypes.get(columns.types[column], np.float64))
        return own

    def native(self, columns: ColumnTypes, *, all_values: bool = False) -> _native.CodeValues:
        """Return the native view; ``all_values`` if every code has its value."""
        return _native.CodeValues(
            columns.native, self.bits, self.offsets, self.codes, all_values, self.halves
        )


@dataclass(frozen=True, slots=True, eq=False)
class ColumnEncoding:
    """Meaning of the codes of each column.

    A column has ``n_codes`` codes, and a missing value the next one. ``edges`` are the upper edges
    of bins; None if codes are ranks among all values. For a grid of thresholds,
    ``representatives`` has a value for each code, column after column; columns in ``exact``, whose
    integers float64 would round, have ``distances`` from the smallest one instead.
    ``root_thresholds`` are those that all nodes use, column after column (with distances the
    fractional and the whole part of their own), and the index of each column's first.
    """

    columns: ColumnTypes
    n_codes: Array
    edges: CodeValues | None = None
    representatives: Array | None = None
    distances: Array | None = None
    exact: Array | None = None
    root_thresholds: tuple[Array, Array, Array] | None = None

    def native(self) -> _native.ColumnEncoding:
        """Return the native view."""
        thresholds, whole, first = self.root_thresholds or (None, None, None)
        return _native.ColumnEncoding(
            self.n_codes, self.columns.nominal, self.columns.integer,
            representatives=self.representatives, distances=self.distances, exact=self.exact,
            thresholds=thresholds, whole_thresholds=whole, first_threshold=first,
        )  # fmt: skip

    @classmethod
    def of_ranks(cls, table: Table, threads: int) -> tuple[ColumnEncoding, Array]:
        """Return the ranks of all values, and the codes of the table."""
        columns = ColumnTypes.of(table.schema)
        rows = native_table(table, columns, integers_only=True)
        codes, n_codes = _native.tree_rank(rows, threads)
        return cls(columns, n_codes), codes

    @classmethod
    def of_bins(cls, sample: RowSample, max_bins: int, threads: int) -> ColumnEncoding:
        """Return bins of a sample, finer in the tails; few distinct values get one bin each."""
        columns = sample.columns
        rows = _native.TreeTable(sample.arrays, sample.missing_masks, columns.native)
        n_codes, edges, offsets, halves = _native.tree_bin_edges(
            rows, sample.weight, max_bins, threads
        )
        return cls(columns, n_codes, CodeValues(edges, offsets, halves=halves.view(np.bool_)))

    def encode(self, table: Table, threads: int) -> Array:
        """Return the bins of a table's values, of shape (columns, rows)."""
        assert self.edges is not None
        if isinstance(table, SparseTable):
            return self._encode_sparse(table, self.edges)
        rows = native_table(table, self.columns, integers_only=True)
        codes = _native.tree_bin(rows, self.n_codes, self.edges.bits, self.edges.offsets, threads)
        return np.asarray(codes)

    def _encode_sparse(self, table: SparseTable, edges: CodeValues) -> Array:
        """Return the bins column by column: that of zero everywhere, then those of non-zeros."""
        dtype = np.min_scalar_type(int(self.n_codes.max()))
        check_dense_size(table.shape, dtype.itemsize, "bin codes")
        codes = np.empty((len(table.schema), len(table)), dtype)
        for j, kind in enumerate(self.columns.types):
            rows, values = table.non_zeros(j)
            own = slice(edges.offsets[j], edges.offsets[j + 1])
            column = _native.TreeTable(
                [np.append(values, values.dtype.type(0))], [None], _native.ColumnTypes([kind], [0])
            )
            offsets = np.array([0, own.stop - own.start])
            bins = _native.tree_bin(column, self.n_codes[j : j + 1], edges.bits[own], offsets, 1)
            (found,) = np.asarray(bins)
            codes[j] = found[-1]
            codes[j, rows] = found[:-1]
        return codes

    @classmethod
    def join(cls, parts: Sequence[ColumnEncoding], columns: ColumnTypes) -> ColumnEncoding:
        """Join the bins of groups of columns."""
        edges = [part.edges for part in parts if part.edges is not None]
        sizes = np.concatenate([np.diff(part.offsets) for part in edges])
        joined = CodeValues(
            np.concatenate([part.bits for part in edges]),
            np.concatenate([[0], np.cumsum(sizes)]),
            halves=np.concatenate([part.halves for part in edges]),
        )
        return cls(columns, np.concatenate([part.n_codes for part in parts]), joined)

    def all_values(self, table: Table, codes: Array, threads: int) -> CodeValues:
        """Return the values of all codes: a forest has thresholds at nearly all of them."""
        sizes = np.where(np.array(self.columns.types) < ColumnType.ORDINAL, self.n_codes, 0)
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        wanted = np.concatenate([np.arange(size, dtype=np.uint32) for size in sizes])
        rows = native_table(table, self.columns, integers_only=True)
        return CodeValues(_native.tree_values(rows, codes, wanted, offsets, threads), offsets)

    def look_up(
        self, table: Table, codes: Array, columns: Array, wanted: Array, threads: int
    ) -> CodeValues:
        """Return the values of some codes: ``wanted[i]`` of column ``columns[i]``.

        They are looked up in the rows: the values of all codes would take as much memory as the
        table itself.
        """
        kept = (np.array(self.columns.types) < ColumnType.ORDINAL)[columns]
        pairs = np.unique(columns[kept].astype(np.int64) << 32 | wanted[kept].astype(np.int64))
        offsets = np.searchsorted(pairs >> 32, np.arange(len(self.n_codes) + 1))
        own = (pairs & 0xFFFFFFFF).astype(np.uint32)
        rows = native_table(table, self.columns, integers_only=True)
        bits = _native.tree_values(rows, codes, own, offsets, threads)
        return CodeValues(np.asarray(bits), offsets, own)

    @property
    def total_codes(self) -> int:
        """Number of codes of all columns, with missing: the cells of one node's histograms."""
        return int(self.n_codes.sum()) + len(self.n_codes)


def learn_bins(
    engine: Engine, rows: LabeledRows, max_bins: int, size: int, seed: int
) -> ColumnEncoding:
    """Return the bins of a sample of rows in memory; a sparse table becomes dense in groups.

    The groups of columns have the same sample, whose draws are keyed by row.
    """

    def bins_of(table: Table) -> ColumnEncoding:
        prepared = engine.prepared_rows(replace(rows, table=table))
        sample = engine.reduce(prepared, RowSample.of, size, seed)
        return ColumnEncoding.of_bins(sample, max_bins, engine.threads)

    if not isinstance(rows.table, SparseTable):
        return bins_of(rows.table)
    parts = [bins_of(group) for group in rows.table.column_groups(size)]
    return ColumnEncoding.join(parts, ColumnTypes.of(rows.table.schema))

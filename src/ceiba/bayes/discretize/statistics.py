"""Class weights of the values of numeric columns, as reductions over partitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.bayes.discretize.encoding import CategoryEncoding
from ceiba.data.table import Table
from ceiba.engine import Batch
from ceiba.stats.labeled import LabeledRows
from ceiba.tree.grow.encoding import ColumnTypes, column_arrays, observed_mask
from ceiba.tree.grow.targets import FixedPointScale


@dataclass(frozen=True, slots=True, eq=False)
class ValueGroups:
    """Class weights of groups of values of one column, ascending and disjoint.

    A group is one distinct value, or the values in a bin.

    Parameters
    ----------
    low, high : ndarray of shape (n_groups,)
        Smallest and largest value of each group, in the type of the column.
    counts : ndarray of int64 of shape (n_groups, n_classes)
        Weights of the rows of each group and class, in fixed-point units.
    """

    low: Array
    high: Array
    counts: Array

    @classmethod
    def of_ranks(cls, values: Array, ranks: Array, n: int, terms: ClassTerms) -> ValueGroups:
        """Count each of the ``n`` distinct values of rows, whose ranks are known."""
        distinct = np.empty(n, values.dtype)
        distinct[ranks] = values
        if values.dtype.kind == "f":
            distinct += 0.0  # -0.0 and 0.0 are one value: which is found depends on the rows
        return cls(distinct, distinct, terms.sums(ranks, n))

    @classmethod
    def of_bins(
        cls, values: Array, bins: Array, n: int, terms: ClassTerms
    ) -> tuple[Array, ValueGroups]:
        """Count the values in each of ``n`` bins; also return the bins that have values."""
        order = np.argsort(bins, kind="stable")
        filled, first = np.unique(bins[order], return_index=True)
        counts = terms.sums(bins, n)[filled]
        ordered = values[order]
        if not len(values):
            return filled, cls(ordered, ordered, counts)
        low, high = np.minimum.reduceat(ordered, first), np.maximum.reduceat(ordered, first)
        if values.dtype.kind == "f":
            low, high = low + 0.0, high + 0.0
        return filled, cls(low, high, counts)

    def merge_values(self, other: ValueGroups) -> ValueGroups:
        """Return the distinct values of both parts."""
        both = np.concatenate([self.low, other.low])
        values, where = np.unique(both, return_inverse=True)
        counts = np.zeros((len(values), self.counts.shape[1]), np.int64)
        counts[where[: len(self.low)]] += self.counts
        counts[where[len(self.low) :]] += other.counts
        return ValueGroups(values, values, counts)


@dataclass(frozen=True, slots=True, eq=False)
class ClassTerms:
    """Class and fixed-point weight of some rows; ``weight`` is None for unit weights."""

    labels: Array
    n_classes: int
    weight: Array | None

    @classmethod
    def of(cls, rows: LabeledRows, scale: FixedPointScale) -> ClassTerms:
        """Return the terms of labeled rows."""
        assert scale.classes is not None
        labels = rows.labels(scale.classes)
        return cls(labels, len(scale.classes), scale.fixed_weights(rows, labels))

    def take(self, known: Array) -> ClassTerms:
        """Return the terms of the rows where a mask is set."""
        if known.all():
            return self
        weight = None if self.weight is None else self.weight[known]
        return ClassTerms(self.labels[known], self.n_classes, weight)

    def sums(self, group: Array, n: int) -> Array:
        """Return the weights of ``n`` groups by class, as int64."""
        cell = group.astype(np.int64) * self.n_classes + self.labels
        # The sums are below 2^53, so that float64 holds them exactly.
        sums = np.bincount(cell, self.weight, minlength=n * self.n_classes)
        return sums.astype(np.int64).reshape(n, self.n_classes)


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """Class weights of all distinct values of some numeric columns.

    ``groups`` has an entry per column, None where there are more than ``max_values`` values. Rows
    without a value in a column do not count there.
    """

    groups: tuple[ValueGroups | None, ...]
    max_values: int | None

    @classmethod
    def of(
        cls,
        batch: Batch[LabeledRows],
        columns: Sequence[int],
        scale: FixedPointScale,
        max_values: int | None = None,
    ) -> ValueCounts:
        """Count the values of a batch."""
        terms = ClassTerms.of(batch.rows, scale)
        types, arrays, masks = _column_arrays(batch.rows.table, columns)
        if not len(batch.rows):
            empty = np.empty((0, terms.n_classes), np.int64)
            return cls(tuple(ValueGroups(a, a, empty) for a in arrays), max_values)
        table = _native.TreeTable(arrays, masks, types.native)
        ranks, n_values = _native.tree_rank(table, batch.threads)
        groups: list[ValueGroups | None] = []
        for kind, array, mask, rank, n in zip(
            types.types, arrays, masks, ranks, n_values.tolist(), strict=True
        ):
            if max_values is not None and n > max_values:
                groups.append(None)
                continue
            known = observed_mask(kind, array, mask)
            own = array if known.all() else array[known]
            rank = rank if len(own) == len(array) else rank[known]
            groups.append(ValueGroups.of_ranks(own, rank, n, terms.take(known)))
        return cls(tuple(groups), max_values)

    def merge(self, other: ValueCounts) -> ValueCounts:
        """Return the counts of both parts."""
        pairs = zip(self.groups, other.groups, strict=True)
        return ValueCounts(tuple(self._merge_groups(*pair) for pair in pairs), self.max_values)

    def _merge_groups(self, one: ValueGroups | None, two: ValueGroups | None) -> ValueGroups | None:
        if one is None or two is None:
            return None
        merged = one.merge_values(two)
        many = self.max_values is not None and len(merged.low) > self.max_values
        return None if many else merged


@dataclass(frozen=True, slots=True, eq=False)
class BinCounts:
    """Class weights of the bins of some numeric columns, with the range of values in each bin.

    ``bins`` are the indices of the bins that have values, ascending, per column.
    """

    bins: tuple[Array, ...]
    groups: tuple[ValueGroups, ...]

    @classmethod
    def of(
        cls, batch: Batch[LabeledRows], encoding: CategoryEncoding, scale: FixedPointScale
    ) -> BinCounts:
        """Count the values of a batch in the intervals of an encoding."""
        terms = ClassTerms.of(batch.rows, scale)
        codes = encoding.encode(batch.rows.table, batch.threads)
        types, arrays, masks = _column_arrays(batch.rows.table, encoding.columns.tolist())
        found = []
        for j, (kind, array, mask) in enumerate(zip(types.types, arrays, masks, strict=True)):
            known = observed_mask(kind, array, mask)
            n = int(encoding.n_categories[j])
            found.append(ValueGroups.of_bins(array[known], codes[known, j], n, terms.take(known)))
        return cls(tuple(bins for bins, _ in found), tuple(groups for _, groups in found))

    def merge(self, other: BinCounts) -> BinCounts:
        """Return the counts of both parts."""
        merged = [
            _merge_bins(*parts)
            for parts in zip(self.bins, self.groups, other.bins, other.groups, strict=True)
        ]
        return BinCounts(tuple(bins for bins, _ in merged), tuple(groups for _, groups in merged))


def _merge_bins(
    bins: Array, groups: ValueGroups, other_bins: Array, others: ValueGroups
) -> tuple[Array, ValueGroups]:
    both = np.concatenate([bins, other_bins])
    if not len(both):
        return bins, groups
    order = np.argsort(both, kind="stable")
    filled, first = np.unique(both[order], return_index=True)
    low = np.minimum.reduceat(np.concatenate([groups.low, others.low])[order], first)
    high = np.maximum.reduceat(np.concatenate([groups.high, others.high])[order], first)
    counts = np.add.reduceat(np.concatenate([groups.counts, others.counts])[order], first, axis=0)
    return filled, ValueGroups(low, high, counts)


def _column_arrays(
    table: Table, columns: Sequence[int]
) -> tuple[ColumnTypes, list[Array], list[Array | None]]:
    """Return types, values and missing masks of some columns."""
    if len(columns) < len(table.schema):
        table = table[[table.schema[j].name for j in columns]]
    types = ColumnTypes.of(table.schema)
    return types, *column_arrays(table, types, integers_only=True)

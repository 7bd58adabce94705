"""Equal rows as one row with the sum of their weights.

A candidate of the search has few features, so that few of its rows differ: fits on the distinct
rows are exact and take a fraction of the time. Where the rows are not in memory, their distinct
rows often are, and all candidates of a step are fitted after one pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Self

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.statistics import CodedRows
from ceiba.engine.contract import Batch

# Keys are mixed-radix numbers of the codes and the class.
_MAX_KEY = 2**62
# Up to so many possible keys per row, counting beats sorting.
_DENSE = 8


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRows:
    """Distinct rows of some columns and the class, for several sets of columns.

    Attributes
    ----------
    limit : int
        Maximum number of distinct rows of a set of columns.
    keys, weights : tuple of ndarray or None
        For each set the distinct rows as ascending numbers, and their weights; None where there
        are more than the limit.
    """

    limit: int
    keys: tuple[Array | None, ...]
    weights: tuple[Array | None, ...]

    @classmethod
    def of(
        cls,
        batch: Batch[CodedRows],
        column_sets: Sequence[tuple[int, ...]],
        sizes: Sequence[int],
        limit: int,
    ) -> DistinctRows:
        """Find the distinct rows of a batch."""
        found = [_distinct(batch.rows, columns, sizes, limit) for columns in column_sets]
        return cls(limit, tuple(keys for keys, _ in found), tuple(weight for _, weight in found))

    def merge(self, other: Self) -> DistinctRows:
        """Return the distinct rows of both parts."""
        mine, others = (
            zip(self.keys, self.weights, strict=True),
            zip(other.keys, other.weights, strict=True),
        )
        found = [_merged(*a, *b, self.limit) for a, b in zip(mine, others, strict=True)]
        return DistinctRows(
            self.limit, tuple(keys for keys, _ in found), tuple(weight for _, weight in found)
        )

    def rows(
        self, index: int, columns: tuple[int, ...], sizes: Sequence[int], n_classes: int
    ) -> CodedRows | None:
        """Return the distinct rows of a set of columns; None where there are too many."""
        keys, weight = self.keys[index], self.weights[index]
        if keys is None:
            return None
        shape = (*(sizes[j] for j in columns), n_classes)
        *codes, labels = np.unravel_index(keys, shape)
        dtype = np.uint8 if max(sizes, default=0) <= 256 else np.uint16
        matrix = np.empty((len(keys), len(codes)), dtype)
        for j, column in enumerate(codes):
            matrix[:, j] = column
        return CodedRows(matrix, labels.astype(np.int32), weight, n_classes)


def _distinct(
    rows: CodedRows, columns: tuple[int, ...], sizes: Sequence[int], limit: int
) -> tuple[Array | None, Array | None]:
    n_keys = prod(sizes[j] for j in columns) * rows.n_classes
    if n_keys > _MAX_KEY:
        return None, None
    assert rows.labels is not None
    key = np.zeros(len(rows), np.int64)
    for j in columns:
        key *= sizes[j]
        key += rows.codes[:, j]
    key *= rows.n_classes
    key += rows.labels
    if n_keys <= _DENSE * len(rows):
        counts = np.bincount(key, minlength=n_keys)
        keys = np.flatnonzero(counts)
        weight = counts if rows.weight is None else np.bincount(key, rows.weight, n_keys)
        weight = weight[keys]
    else:
        keys, index = np.unique(key, return_inverse=True)
        weight = np.bincount(index, rows.weight, len(keys))
    return (None, None) if len(keys) > limit else (keys, weight.astype(np.float64))


def _merged(
    keys: Array | None,
    weight: Array | None,
    other_keys: Array | None,
    other_weight: Array | None,
    limit: int,
) -> tuple[Array | None, Array | None]:
    if keys is None or weight is None or other_keys is None or other_weight is None:
        return None, None
    both, index = np.unique(np.concatenate([keys, other_keys]), return_inverse=True)
    if len(both) > limit:
        return None, None
    return both, np.bincount(index, np.concatenate([weight, other_weight]), len(both))

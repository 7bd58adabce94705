"""Neighbors among rows that stay in their partitions: files larger than memory, a Dask cluster.

Queries go to every partition, which returns the nearest of its rows; the lists are merged. A list
of k neighbors is a statistic (`NearestRows`): that of two parts follows from those of the parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.engine import Batch, Engine
from ceiba.neighbors.distance import Distance
from ceiba.neighbors.index import Algorithm, NeighborIndex, concatenate_found
from ceiba.neighbors.rows import NeighborRows, ToNeighborRows

# Queries that are searched at a time from which on a tree of a partition pays: building it takes
# as long as computing the distances of its rows to about so many queries.
_MIN_TREE_QUERIES = 200


@dataclass(frozen=True, slots=True, eq=False)
class NearestRows:
    """Statistic: the k nearest rows of each query, ascending by (distance, row).

    Parameters
    ----------
    distances : ndarray of shape (n_queries, k)
        Native ones; infinite where there are fewer rows.
    rows : ndarray of int64 of shape (n_queries, k)
        Numbers among all rows; -1 where there are fewer.
    n_distances : int
        Distances that were computed.
    """

    distances: Array
    rows: Array
    n_distances: int

    @classmethod
    def of(
        cls,
        batch: Batch[NeighborRows],
        indexer: PartitionIndexer,
        queries: Array,
        k: int,
        excluded: Array | None,
    ) -> NearestRows:
        """Search the rows of one partition."""
        own, excluded = indexer.build(batch, len(queries)), _local_numbers(batch, excluded)
        found = own.nearest(queries, k, excluded=excluded, threads=batch.threads)
        distances, rows, n_distances = found
        return cls(distances, np.where(rows >= 0, rows + batch.first_row, -1), n_distances)

    def merge(self, other: NearestRows) -> NearestRows:
        """Return the nearest rows of both parts."""
        distances = np.hstack([self.distances, other.distances])
        rows = np.hstack([self.rows, other.rows])
        # As unsigned numbers, in which -1 comes last.
        order = np.lexsort((rows.view(np.uint64), distances), axis=1)[:, : self.rows.shape[1]]
        take = np.take_along_axis
        total = self.n_distances + other.n_distances
        return NearestRows(take(distances, order, 1), take(rows, order, 1), total)


@dataclass(frozen=True, slots=True, eq=False)
class RowsWithin:
    """Statistic: the rows within a radius of each query."""

    starts: Array
    distances: Array
    rows: Array

    @classmethod
    def of(
        cls,
        batch: Batch[NeighborRows],
        indexer: PartitionIndexer,
        queries: Array,
        radius: float,
        excluded: Array | None,
    ) -> RowsWithin:
        """Search the rows of one partition."""
        own, excluded = indexer.build(batch, len(queries)), _local_numbers(batch, excluded)
        starts, distances, rows = own.within(
            queries, radius, excluded=excluded, threads=batch.threads
        )
        return cls(starts, distances, rows + batch.first_row)

    def merge(self, other: RowsWithin) -> RowsWithin:
        """Return the rows of both parts."""
        n = len(self.starts) - 1
        found = [
            (np.repeat(np.arange(n), np.diff(part.starts)), part.distances, part.rows)
            for part in (self, other)
        ]
        return RowsWithin(*concatenate_found(found, n))


@dataclass(frozen=True, slots=True, eq=False)
class PartitionIndexer:
    """How the rows of a partition are prepared for a search."""

    distance: Distance
    algorithm: Algorithm
    exponent: int

    def build(self, batch: Batch[NeighborRows], n_queries: int) -> NeighborIndex:
        """Return the index of the rows of a partition."""
        algorithm: Any = self.algorithm
        if not len(batch.rows.X):
            return NeighborIndex(
                self.distance, algorithm, batch.rows.X.shape[1], self.exponent, segments=()
            )
        if algorithm == "auto" and n_queries < _MIN_TREE_QUERIES:
            algorithm = "brute"
        return NeighborIndex.of(
            batch.rows.X, self.distance, algorithm, batch.threads, exponent=self.exponent
        )


@dataclass(frozen=True, eq=False)
class PartitionedIndex:
    """An index of rows that stay in their partitions; every search is a pass over them.

    Parameters
    ----------
    engine : Engine
    rows : object
        Numbered rows of the engine, prepared as `NeighborRows`.
    indexer : PartitionIndexer
    sizes : sequence of int
        Number of rows of each partition.
    """

    engine: Engine
    rows: Any
    indexer: PartitionIndexer
    sizes: Sequence[int]

    def __len__(self) -> int:
        return sum(self.sizes)

    def blocks(self) -> Iterator[tuple[Array, Array]]:
        """Yield the rows of each partition, and their numbers."""
        first = 0
        for i, partition in enumerate(self.rows.partitions):
            if i not in self.rows.empty:
                X = self.engine.predict(self.engine.rows([partition], ToNeighborRows()), matrix_of)
                yield X, np.arange(first, first + len(X))
                first += len(X)

    @property
    def report(self) -> str:
        """How the rows are searched."""
        return (
            f"The rows stay in {len(self.sizes)} partitions, whose nearest rows are merged "
            f"({self.engine.name} engine)."
        )

    @property
    def n_bytes(self) -> int:
        """Memory of the index: none is kept."""
        return 0

    def nearest(
        self, queries: Array, k: int, *, excluded: Array | None = None, threads: int = 1
    ) -> tuple[Array, Array, int]:
        """Return native distances and rows of the k nearest, as `NeighborIndex.nearest`."""
        found = self.engine.reduce(self.rows, NearestRows.of, self.indexer, queries, k, excluded)
        return found.distances, found.rows, found.n_distances

    def within(
        self, queries: Array, radius: float, *, excluded: Array | None = None, threads: int = 1
    ) -> tuple[Array, Array, Array]:
        """Return the rows within a radius, as `NeighborIndex.within`."""
        found = self.engine.reduce(
            self.rows, RowsWithin.of, self.indexer, queries, radius, excluded
        )
        return found.starts, found.distances, found.rows

    def distances_of(self, native: Array) -> Array:
        """Return native distances in the units of the rows."""
        indexer = self.indexer
        empty = NeighborIndex(indexer.distance, indexer.algorithm, 0, indexer.exponent, segments=())
        return empty.distances_of(native)


def matrix_of(batch: Batch[NeighborRows]) -> Array:
    """Return the matrix of a batch."""
    return batch.rows.X


def _local_numbers(batch: Batch[NeighborRows], excluded: Array | None) -> Array | None:
    """Return the numbers of excluded rows in a partition; -1 for those of others."""
    if excluded is None:
        return None
    own = excluded - batch.first_row
    return np.where((own >= 0) & (own < len(batch.rows.X)), own, -1)

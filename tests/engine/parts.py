"""Small partitions and statistics for the tests of the engines."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.data.schema import Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.engine import Batch


def empty_table(width: int = 1) -> Table:
    return Table(Schema.numeric(width), 0, np.empty((0, width)))


def chunk(values: Any) -> Chunk:
    block = np.asarray(values, float).reshape(len(values), 1)
    return Chunk(Table.of(block) if len(block) else empty_table())


@dataclass(frozen=True)
class Part:
    """A partition that calls ``make`` for its rows each time it is loaded."""

    name: str
    make: Callable[[], Any]

    def load(self) -> Chunk:
        return chunk(self.make())


def parts(blocks: list[Any]) -> list[Part]:
    return [Part(f"p{index}", lambda rows=rows: rows) for index, rows in enumerate(blocks)]


def column(chunk: Chunk) -> Any:
    """How these tests prepare a chunk: its first column."""
    return np.asarray(chunk.table.column(0))


@dataclass(frozen=True)
class Listing:
    """Every row with its global number, in order of merging: a merge that does not commute."""

    rows: tuple[tuple[int, float], ...]
    lengths: tuple[int, ...]

    @classmethod
    def of(cls, batch: Batch[Any], plus: float = 0.0) -> Listing:
        numbers = range(batch.first_row, batch.first_row + len(batch.rows))
        values = (np.asarray(batch.rows) + plus).tolist()
        return cls(tuple(zip(numbers, values, strict=True)), (len(values),))

    def merge(self, other: Listing) -> Listing:
        return Listing(self.rows + other.rows, self.lengths + other.lengths)

    @property
    def values(self) -> list[float]:
        return [value for _, value in self.rows]


@dataclass(frozen=True)
class WeightedSum:
    """Sum of the first column times the weights."""

    total: float

    @classmethod
    def of(cls, batch: Batch[Chunk]) -> WeightedSum:
        chunk = batch.rows
        assert chunk.weight is not None
        return cls(float(chunk.table.column(0) @ chunk.weight))

    def merge(self, other: WeightedSum) -> WeightedSum:
        return WeightedSum(self.total + other.total)


def whole(chunk: Chunk) -> Chunk:
    """A preparation that leaves the chunk as it is."""
    return chunk

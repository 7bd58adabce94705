"""Sources of rows that need not fit into memory: partitions that are loaded on demand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ceiba.data.schema import Schema
from ceiba.data.table import Table


@dataclass(frozen=True, slots=True)
class Chunk:
    """The rows of one partition: attributes, and target and weight where there are some.

    Target and weight are raw values: `Target.of` and ``check_sample_weight`` validate them.
    """

    table: Table
    target: Any = None
    weight: Any = None


def chunk_table(chunk: Chunk) -> Table:
    """Prepare a partition for predictions: its table alone."""
    return chunk.table


class Partition(Protocol):
    """A small, picklable descriptor without data, which loads its rows on demand."""

    @property
    def name(self) -> str:
        """Name in error messages, such as ``part-3.parquet, row group 7``."""
        ...

    def load(self) -> Chunk:
        """Read the rows. Two calls return equal rows."""
        ...


class Source(Protocol):
    """Partitions that share one schema (kinds, merged categories).

    A source whose chunks have a target has its name as ``target``.
    """

    @property
    def schema(self) -> Schema:
        """Schema of the attributes, without target and weight."""
        ...

    @property
    def partitions(self) -> Sequence[Partition]:
        """The partitions, in row order."""
        ...


@dataclass(frozen=True, slots=True)
class PartitionedSource:
    """A source of given partitions."""

    schema: Schema
    partitions: Sequence[Partition]

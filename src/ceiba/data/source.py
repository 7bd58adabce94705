"""A source of rows that need not fit memory: partitions that can be loaded, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ceiba.data.schema import Schema
from ceiba.data.table import Table


@dataclass(frozen=True, slots=True)
class Chunk:
    """The rows of one partition: attributes, and the target and weight where they were named.

    Target and weight are what the user or the file gave: `Target.of` and ``checked_weight`` take
    the next step.
    """

    table: Table
    target: Any = None
    weight: Any = None


class Partition(Protocol):
    """A descriptor that loads its rows whenever asked: small, picklable, free of data."""

    @property
    def name(self) -> str:
        """What an error message calls it, as ``part-3.parquet, row group 7``."""
        ...

    def load(self) -> Chunk:
        """Read the rows. Two calls give equal rows."""
        ...


class Source(Protocol):
    """Partitions and the one schema (kinds, merged levels) that all of them are read with.

    One whose chunks carry a target has its name as ``target``.
    """

    @property
    def schema(self) -> Schema:
        """Schema of the attributes: neither target nor weight."""
        ...

    @property
    def partitions(self) -> Sequence[Partition]:
        """The partitions, in row order."""
        ...


@dataclass(frozen=True, slots=True)
class InMemory:
    """Rows that are in memory already, as a source and its own single partition."""

    chunk: Chunk
    name: str = "in memory"

    @property
    def schema(self) -> Schema:
        """Schema of the table."""
        return self.chunk.table.schema

    @property
    def partitions(self) -> Sequence[Partition]:
        """Itself."""
        return (self,)

    def load(self) -> Chunk:
        """The rows, not copied."""
        return self.chunk

"""What a forest says of rows, as statistics: their merge puts the rows one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ceiba.ensemble.forest import Forest
from ceiba.stats.points import Array
from ceiba.stats.row_values import joined


@dataclass(frozen=True, slots=True, eq=False)
class ForestTold:
    """The mean of what the trees say of every row: class shares, or a number."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, forest: Forest, added: float) -> ForestTold:
        """Ask the forest about the tables of a batch."""
        return cls((forest.told(batch.rows, batch.threads, added),))

    def merge(self, other: ForestTold) -> ForestTold:
        """Both parts, in order."""
        return ForestTold(self.parts + other.parts)

    @property
    def values(self) -> Array:
        """What is said of all rows, in order."""
        return joined(self.parts)


@dataclass(frozen=True, slots=True, eq=False)
class ForestLeaves:
    """The leaf of every (row, tree)."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, forest: Forest) -> ForestLeaves:
        """Route the tables of a batch."""
        return cls((forest.apply(batch.rows, batch.threads),))

    def merge(self, other: ForestLeaves) -> ForestLeaves:
        """Both parts, in order."""
        return ForestLeaves(self.parts + other.parts)

    @property
    def numbers(self) -> Array:
        """Leaves of all rows, in order."""
        return joined(self.parts)

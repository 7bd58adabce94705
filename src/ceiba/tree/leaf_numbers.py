"""Leaves of rows, as a statistic: their merge puts the rows of the parts one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ceiba.stats.points import Array
from ceiba.stats.row_values import joined


@dataclass(frozen=True, slots=True, eq=False)
class LeafNumbers:
    """The leaf of every row; of a forest, that in each of its trees."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, tree: Any) -> LeafNumbers:
        """Route the tables of a batch through a tree or forest."""
        return cls((tree.apply(batch.rows, batch.threads),))

    def merge(self, other: LeafNumbers) -> LeafNumbers:
        """Both parts, in order."""
        return LeafNumbers(self.parts + other.parts)

    @property
    def numbers(self) -> Array:
        """Leaves of all rows, in order."""
        return joined(self.parts)


@dataclass(frozen=True, slots=True, eq=False)
class ToldValues:
    """What a tree or forest says of every row: class probabilities, or a number."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, tree: Any, *more: Any) -> ToldValues:
        """Ask a tree or forest about the tables of a batch; ``more`` is what it wants to know."""
        return cls((tree.told(batch.rows, batch.threads, *more),))

    def merge(self, other: ToldValues) -> ToldValues:
        """Both parts, in order."""
        return ToldValues(self.parts + other.parts)

    @property
    def values(self) -> Array:
        """What is said of all rows, in order."""
        return joined(self.parts)

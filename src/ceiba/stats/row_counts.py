"""How many rows each part has, those of weight zero included: numbers that a user knows rows by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ceiba.stats.points import Points


@dataclass(frozen=True, slots=True)
class RowCounts:
    """Rows of each part in order."""

    counts: tuple[int, ...]

    @classmethod
    def of(cls, batch: Any) -> RowCounts:
        """Of a batch of points."""
        points: Points = batch.rows
        return cls((len(points.X) if points.n_given is None else points.n_given,))

    def merge(self, other: RowCounts) -> RowCounts:
        """Of both parts."""
        return RowCounts(self.counts + other.counts)


def numbered_as_given(rows: Any, engine: Any) -> Any:
    """The rows with the numbers that they have among all rows, those of weight zero included."""
    return (
        rows if engine.name == "local" else rows.numbered(engine.reduce(rows, RowCounts.of).counts)
    )

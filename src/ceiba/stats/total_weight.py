"""The weight of all rows, as a whole number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ceiba.stats.fixed_point import FixedPoint


@dataclass(frozen=True, slots=True)
class TotalWeight:
    """The weight of some rows, in units of the fixed point: the same for any partitioning."""

    total: int

    @classmethod
    def of(cls, batch: Any, fixed: FixedPoint) -> TotalWeight:
        """Of a batch of labelled rows."""
        weight = fixed.fixed_weights(batch.rows)
        return cls(len(batch.rows) if weight is None else int(weight.sum()))

    def merge(self, other: TotalWeight) -> TotalWeight:
        """Of both parts."""
        return TotalWeight(self.total + other.total)

"""Weight of every class, in whole numbers: equal for any partitioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.stats.fixed_point import FixedPoint
from ceiba.stats.points import Array


@dataclass(frozen=True, slots=True, eq=False)
class ClassTotals:
    """Sums of the rows' weights by class, in units of a fixed point."""

    totals: Array

    @classmethod
    def of(cls, batch: Any, fixed: FixedPoint) -> ClassTotals:
        """Of labelled rows."""
        assert fixed.classes is not None
        totals = np.zeros(len(fixed.classes), np.int64)
        labels = batch.rows.labels(fixed.classes)
        weights = fixed.fixed_weights(batch.rows)
        np.add.at(totals, labels, 1 if weights is None else weights)
        return cls(totals)

    def merge(self, other: ClassTotals) -> ClassTotals:
        """Of both parts."""
        return ClassTotals(self.totals + other.totals)

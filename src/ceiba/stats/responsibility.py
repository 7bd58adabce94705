"""Responsibilities that no mixture computed: what a start begins with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.stats.centre_sums import nearest
from ceiba.stats.points import Array, Space
from ceiba.stats.race import Draw


@dataclass(frozen=True, slots=True)
class NearestCentre:
    """Each row belongs wholly to its nearest centre."""

    space: Space
    centres: Array

    def arguments(self, batch: Any) -> dict[str, Any]:
        """What crosses to the native kernel, for the rows of a batch."""
        return {"labels": nearest(batch, self.space, self.centres, last=True).labels}


@dataclass(frozen=True, slots=True)
class Drawn:
    """Shares are uniform numbers, brought to a sum of one; keyed by the global row."""

    draw: Draw

    def arguments(self, batch: Any) -> dict[str, Any]:
        """What crosses to the native kernel, for the rows of a batch."""
        return {"draw": (self.draw.seed, self.draw.stream, batch.first_row)}


@dataclass(frozen=True, slots=True)
class Shares:
    """Shares that somebody gives, a row of ``values`` for each row of the (one) batch."""

    values: Array

    def arguments(self, batch: Any) -> dict[str, Any]:
        """What crosses to the native kernel, for the rows of a batch."""
        kept = batch.rows.kept
        values = self.values if kept is None else self.values[kept]
        return {"shares": np.ascontiguousarray(values)}


Responsibility = NearestCentre | Drawn | Shares

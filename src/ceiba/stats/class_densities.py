"""Log density of every row under every class, as a statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.stats.assignment import joined
from ceiba.stats.gaussians import Gaussians
from ceiba.stats.points import Array
from ceiba.stats.posteriors import LogDensities


@dataclass(frozen=True, slots=True)
class ClassDensities:
    """Log density of every row under the mixture of every class."""

    parts: tuple[Array, ...]

    @classmethod
    def of(cls, batch: Any, models: tuple[Gaussians, ...]) -> ClassDensities:
        """Of the rows of a batch of points."""
        return cls((np.column_stack([LogDensities.of(batch, model).values for model in models]),))

    def merge(self, other: ClassDensities) -> ClassDensities:
        """Both parts, in order."""
        return ClassDensities(self.parts + other.parts)

    @property
    def values(self) -> Array:
        """Of all rows, in order: (n_rows, n_classes)."""
        return joined(self.parts)

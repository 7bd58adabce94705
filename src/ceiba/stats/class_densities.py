"""Log density of every row under every class, as a statistic."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from ceiba.stats.gaussians import Gaussians
from ceiba.stats.posteriors import LogDensities
from ceiba.stats.row_values import RowValues


class ClassDensities(RowValues):
    """Log density of every row under the mixture of every class."""

    __slots__ = ()

    @classmethod
    def of(cls, batch: Any, models: tuple[Gaussians, ...]) -> Self:
        """Of the rows of a batch of points."""
        return cls((np.column_stack([LogDensities.of(batch, model).values for model in models]),))

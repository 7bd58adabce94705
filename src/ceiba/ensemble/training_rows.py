"""The rows of one fit of a committee: target, weights, and which rows have any."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.data.target import Target, Task
from ceiba.ensemble.member_rows import MemberRows
from ceiba.stats.points import Array, checked_weight


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRows:
    """What a committee learns from.

    Parameters
    ----------
    rows : MemberRows
        The rows as given.
    target : Target
        Of all of them.
    weight : ndarray of float64 or None
        Their weights; None for 1 each.
    kept : ndarray or None
        Numbers of the rows of positive weight; None where all are.
    """

    rows: MemberRows
    target: Target
    weight: Array | None = None
    kept: Array | None = None

    @classmethod
    def of(cls, rows: MemberRows, y: Any, sample_weight: Any, task: Task) -> TrainingRows:
        """Check target and weights."""
        target = Target.of(y, len(rows), task=task)
        if sample_weight is None:
            return cls(rows, target)
        weight = checked_weight(sample_weight, len(rows))
        if not weight.any():
            raise ValueError("every row has weight zero: there is nothing to learn from")
        return cls(rows, target, weight, None if weight.all() else np.flatnonzero(weight))

    @property
    def labels(self) -> Array:
        """The class or number of every row, as members are given it."""
        target = self.target
        labels = target.values if target.classes is None else target.classes[target.values]
        return labels

    @property
    def classes(self) -> Array | None:
        """The classes that rows of positive weight have; None for numbers."""
        return self.target.classes if self.kept is None else self.target.take(self.kept).classes

    def weighing(self) -> TrainingRows:
        """The rows of positive weight alone."""
        if self.kept is None:
            return self
        assert self.weight is not None
        target = self.target.take(self.kept)
        return TrainingRows(self.rows.of_rows(self.kept), target, self.weight[self.kept])

    def weights_of(self, rows: Array) -> Array | None:
        """The weights of some rows; None for 1 each."""
        return None if self.weight is None else self.weight[rows]

    def placed(self, values: Array) -> Array:
        """Values of the rows of positive weight at their places among all; 0 elsewhere."""
        if self.kept is None:
            return values
        every = np.zeros(len(self.rows), values.dtype)
        every[self.kept] = values
        return every

"""The first pass of a supervised learner: classes, ranges of target and weights, rows."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.target import class_places, unite_classes
from ceiba.stats.rows import Labelled


@dataclass(frozen=True, slots=True, eq=False)
class TargetSurvey:
    """What must be known of the target and the weights before anything is counted.

    It holds nothing but counts, classes and extremes, so it is the same for any partitioning. A
    part without rows has empty ranges, from infinity to minus infinity.

    Parameters
    ----------
    rows : tuple of int
        Rows of each part in order, so that the parts of a whole can number theirs.
    classes : ndarray or None
        The classes, sorted, in the type in which they were given; None for regression.
    class_counts : ndarray of int64 or None
        Rows of each class; None for regression.
    weight_least, weight_most : float
        Range of the weights; 1 without weights.
    whole_weights : bool
        Whether all weights are whole numbers.
    target_least, target_most : float
        Range of the target; NaN for classification.
    """

    rows: tuple[int, ...]
    classes: Array | None
    class_counts: Array | None
    weight_least: float
    weight_most: float
    whole_weights: bool
    target_least: float
    target_most: float

    @classmethod
    def of(cls, batch: Any) -> TargetSurvey:
        """Survey labelled rows."""
        rows: Labelled = batch.rows
        n, weight, target = len(rows), rows.weight, rows.target
        least, most = (1.0, 1.0) if n and weight is None else _range(weight)
        whole = weight is None or bool((np.floor(weight) == weight).all())
        if target.classes is None:
            return cls((n,), None, None, least, most, whole, *_range(target.values))
        counts = np.bincount(target.values, minlength=len(target.classes))
        counts = counts.astype(np.int64, copy=False)
        return cls((n,), target.classes, counts, least, most, whole, nan, nan)

    def merge(self, other: TargetSurvey) -> TargetSurvey:
        """The survey of both parts' rows; text in one and numbers in the other are refused."""
        classes, counts = _merge_counts(self, other)
        return TargetSurvey(
            self.rows + other.rows,
            classes,
            counts,
            min(self.weight_least, other.weight_least),
            max(self.weight_most, other.weight_most),
            self.whole_weights and other.whole_weights,
            min(self.target_least, other.target_least),
            max(self.target_most, other.target_most),
        )

    @property
    def n_rows(self) -> int:
        """Rows of positive weight, in all parts."""
        return sum(self.rows)


def _range(values: Array | None) -> tuple[float, float]:
    if values is None or not len(values):
        return inf, -inf
    # Zero is added to make -0.0 a zero: which of the two comes first depends on the parts.
    return float(values.min()) + 0.0, float(values.max()) + 0.0


def _merge_counts(one: TargetSurvey, other: TargetSurvey) -> tuple[Array | None, Array | None]:
    if one.classes is None or other.classes is None:
        return None, None
    classes = unite_classes(one.classes, other.classes)
    counts = np.zeros(len(classes), np.int64)
    for part in (one, other):
        assert part.classes is not None
        assert part.class_counts is not None
        counts[class_places(part.classes, classes)] += part.class_counts
    return classes, counts

"""Rows with a target, and the first pass of a supervised learner over them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, nan

import numpy as np

from ceiba._typing import Array
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.data.target import Target, Task, class_indices, merge_classes
from ceiba.engine.contract import Batch
from ceiba.stats.points import check_sample_weight


@dataclass(frozen=True, slots=True, eq=False)
class Labeled:
    """Rows, their target and their weights.

    Parameters
    ----------
    table : Table
    target : Target
        Label codes with the classes of these rows, or numbers.
    weight : ndarray of float64 or None
        Positive weights; None for unit weights.
    kept : ndarray or None
        Original row numbers, if rows of weight zero were dropped.
    """

    table: Table
    target: Target
    weight: Array | None = None
    kept: Array | None = None

    def __len__(self) -> int:
        return len(self.target.values)

    def row_number(self, row: int) -> int:
        """Return the original number of a row, for messages."""
        return row if self.kept is None else int(self.kept[row])

    def labels(self, classes: Array) -> Array:
        """Return the index (int32) of each row's class in the ``classes`` of all parts.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba.data.table import Table
        >>> rows = Labeled(Table.of(np.eye(2)), Target.of(["yes", "no"], 2))
        >>> rows.labels(np.array(["maybe", "no", "yes"]))
        array([2, 1], dtype=int32)
        """
        own = self.target.classes
        if own is None:
            raise ValueError("y must be class labels, got numbers of a regression.")
        if classes is own:
            return self.target.values
        indices = class_indices(own, classes)
        if len(indices) == 0 or indices[-1] == len(indices) - 1:  # ascending, so the identity
            return self.target.values
        labels: Array = indices[self.target.values]
        return labels


@dataclass(frozen=True, slots=True)
class ToLabeled:
    """Prepare a partition as labeled rows: read the target and check the weights.

    Rows of weight zero are dropped, with the classes that no other row has.

    Parameters
    ----------
    task : "classification" or "regression"
    """

    task: Task

    def __call__(self, chunk: Chunk) -> Labeled:
        """Return the labeled rows of one chunk."""
        table = chunk.table
        target = Target.of(chunk.target, len(table), task=self.task)
        if chunk.weight is None:
            return Labeled(table, target)
        weight = check_sample_weight(chunk.weight, len(table))
        if weight.all():
            return Labeled(table, target, weight)
        kept = np.flatnonzero(weight)
        return Labeled(table.take(kept), target.take(kept), weight[kept], kept)


@dataclass(frozen=True, slots=True, eq=False)
class TargetSummary:
    """Classes, ranges and row counts, from the first pass of a supervised learner.

    They are the same for any partitioning. A part without rows has empty ranges, from infinity to
    minus infinity.

    Parameters
    ----------
    rows : tuple of int
        Number of rows of each partition, in order, for numbering rows globally.
    classes : ndarray or None
        Sorted class labels in their own dtype; None for regression.
    class_counts : ndarray of int64 or None
        Number of rows per class; None for regression.
    weight_min, weight_max : float
        Range of the weights; 1 without weights.
    integer_weights : bool
        Whether all weights are integers.
    target_min, target_max : float
        Range of the target; NaN for classification.
    """

    rows: tuple[int, ...]
    classes: Array | None
    class_counts: Array | None
    weight_min: float
    weight_max: float
    integer_weights: bool
    target_min: float
    target_max: float

    @classmethod
    def of(cls, batch: Batch[Labeled]) -> TargetSummary:
        """Summarize labeled rows."""
        rows = batch.rows
        n, weight, target = len(rows), rows.weight, rows.target
        low, high = (1.0, 1.0) if n and weight is None else _range(weight)
        integer = weight is None or bool((np.floor(weight) == weight).all())
        if target.classes is None:
            return cls((n,), None, None, low, high, integer, *_range(target.values))
        counts = np.bincount(target.values, minlength=len(target.classes))
        counts = counts.astype(np.int64, copy=False)
        return cls((n,), target.classes, counts, low, high, integer, nan, nan)

    def merge(self, other: TargetSummary) -> TargetSummary:
        """Return the summary of both parts; raise if labels are of different types."""
        classes, counts = _merge_counts(self, other)
        return TargetSummary(
            self.rows + other.rows,
            classes,
            counts,
            min(self.weight_min, other.weight_min),
            max(self.weight_max, other.weight_max),
            self.integer_weights and other.integer_weights,
            min(self.target_min, other.target_min),
            max(self.target_max, other.target_max),
        )

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight, in all parts."""
        return sum(self.rows)

    def require_rows(self) -> None:
        """Raise unless some row has a positive weight."""
        if self.n_rows == 0:
            raise ValueError("sample_weight must have at least one positive entry, got only zeros.")


def _range(values: Array | None) -> tuple[float, float]:
    if values is None or not len(values):
        return inf, -inf
    # Adding zero turns -0.0 into 0.0; which of the two comes first depends on the partitions.
    return float(values.min()) + 0.0, float(values.max()) + 0.0


def _merge_counts(one: TargetSummary, other: TargetSummary) -> tuple[Array | None, Array | None]:
    if one.classes is None or other.classes is None:
        return None, None
    classes = merge_classes(one.classes, other.classes)
    counts = np.zeros(len(classes), np.int64)
    for part in (one, other):
        assert part.classes is not None
        assert part.class_counts is not None
        counts[class_indices(part.classes, classes)] += part.class_counts
    return classes, counts

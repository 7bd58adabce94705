"""Rows with a target, their summary, and the accuracy of a classifier on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.data.target import Target, Task, class_indices, merge_classes
from ceiba.engine.contract import AdditiveStatistic, Batch
from ceiba.stats.points import check_sample_weight, zero_weights_error


@dataclass(frozen=True, slots=True, eq=False)
class LabeledRows:
    """Rows, their target and their weights.

    Parameters
    ----------
    table : Table
    target : Target
        Label codes with the classes of these rows and of those dropped, or numbers.
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

    def take(self, index: Array) -> LabeledRows:
        """Select rows by index; the classes stay those of all rows."""
        weight = None if self.weight is None else self.weight[index]
        kept = index if self.kept is None else self.kept[index]
        return LabeledRows(self.table.take(index), self.target.take(index), weight, kept)

    def row_number(self, row: int) -> int:
        """Return the original number of a row, for messages."""
        return row if self.kept is None else int(self.kept[row])

    def labels(self, classes: Array) -> Array:
        """Return the index (int32) of each row's class in the ``classes`` of all parts."""
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
class ToLabeledRows:
    """Prepare a partition as labeled rows: read the target of the task and check the weights.

    Rows of weight zero are dropped. Their classes are kept, so that a model has a probability for
    every class of y, 0 for one without weight.
    """

    task: Task

    def __call__(self, chunk: Chunk) -> LabeledRows:
        """Return the labeled rows of one chunk."""
        table = chunk.table
        target = Target.of(chunk.target, len(table), task=self.task)
        if chunk.weight is None:
            return LabeledRows(table, target)
        weight = check_sample_weight(chunk.weight, len(table))
        if weight.all():
            return LabeledRows(table, target, weight)
        kept = np.flatnonzero(weight)
        return LabeledRows(table.take(kept), target.take(kept), weight[kept], kept)


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
        Number of rows of positive weight per class; None for regression.
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
    def of(cls, batch: Batch[LabeledRows]) -> TargetSummary:
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
        if not self.n_rows:
            raise zero_weights_error()


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


@dataclass(frozen=True, slots=True)
class Accuracy(AdditiveStatistic):
    """Weight of all rows, and of those whose class is predicted correctly."""

    weight: float
    correct: float

    @classmethod
    def of(
        cls, batch: Batch[LabeledRows], classes: Array, predict: Callable[..., Array], *options: Any
    ) -> Accuracy:
        """Score labeled rows; a class that the model does not have counts as an error.

        ``predict(table, threads, *options)`` returns the index of each row's class in ``classes``.
        """
        rows = batch.rows
        if len(rows) == 0:
            return cls(0.0, 0.0)
        predicted = predict(rows.table, batch.threads, *options)
        correct = predicted == known_class_indices(rows, classes)
        if rows.weight is None:
            return cls(float(len(rows)), float(np.count_nonzero(correct)))
        # Both sums have the same order, with zeros for errors, so that the score never exceeds 1.
        return cls(float(rows.weight.sum()), float((rows.weight * correct).sum()))

    @property
    def score(self) -> float:
        """Weighted fraction of rows whose class is predicted correctly."""
        check_score_sums(self.weight, self.correct)
        return self.correct / self.weight


def known_class_indices(rows: LabeledRows, classes: Array) -> Array:
    """Return the index of each row's class in the model's classes; -1 if unknown."""
    own, known = rows.target.classes, classes.tolist()
    assert own is not None
    labels = own.tolist()
    if isinstance(labels[0], str) != isinstance(known[0], str):
        raise ValueError(
            f"y must have the type of the classes seen in fit (like {known[0]!r}), got labels like "
            f"{labels[0]!r}."
        )
    # A dict compares by Python's equality, which is exact for ints and floats of any size.
    index = {label: k for k, label in enumerate(known)}
    found: Array = np.array([index.get(label, -1) for label in labels])[rows.target.values]
    return found


def check_score_sums(weight: float, *sums: float) -> None:
    """Raise if no score can be computed from the sums."""
    if weight == 0:
        raise zero_weights_error()
    if not all(map(isfinite, (weight, *sums))):
        raise ValueError("The sums of weights or squares overflow: rescale y or sample_weight.")

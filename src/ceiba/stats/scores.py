"""Accuracy of a classifier as a statistic, so that the rows need not be in memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.engine.contract import Batch
from ceiba.stats.labeled import Labeled


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Weight of all rows, and of those whose class is predicted correctly."""

    weight: float
    correct: float

    @classmethod
    def of(
        cls, batch: Batch[Labeled], classes: Array, predict: Callable[[Table, int], Array]
    ) -> Accuracy:
        """Score labeled rows; a class that the model does not have counts as an error.

        ``predict(table, threads)`` returns the index of each row's class in ``classes``.
        """
        rows = batch.rows
        if len(rows) == 0:
            return cls(0.0, 0.0)
        correct = predict(rows.table, batch.threads) == class_indices_of(rows, classes)
        if rows.weight is None:
            return cls(float(len(rows)), float(np.count_nonzero(correct)))
        # Both sums have the same order, with zeros for errors, so that the score never exceeds 1.
        return cls(float(rows.weight.sum()), float((rows.weight * correct).sum()))

    def merge(self, other: Accuracy) -> Accuracy:
        """Return the sums of both parts."""
        return Accuracy(self.weight + other.weight, self.correct + other.correct)

    @property
    def score(self) -> float:
        """Weighted fraction of rows whose class is predicted correctly."""
        check_score_sums(self.weight, self.correct)
        return self.correct / self.weight


def class_indices_of(rows: Labeled, classes: Array) -> Array:
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
        raise ValueError("sample_weight must have at least one positive entry, got only zeros.")
    if not all(map(math.isfinite, (weight, *sums))):
        raise ValueError("The sums of weights or squares overflow: rescale y or sample_weight.")

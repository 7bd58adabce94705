"""How often a classifier is right, as a statistic: rows need not be in memory."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.stats.rows import Labelled


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Weight of all rows, and of those whose class is predicted."""

    weight: float
    right: float

    @classmethod
    def of(cls, batch: Any, classes: Array, predict: Callable[[Table, int], Array]) -> Accuracy:
        """Of labelled rows; a class that is not among the model's ``classes`` is wrong.

        ``predict(table, threads)`` gives the place of each row's class among them.
        """
        rows: Labelled = batch.rows
        if len(rows) == 0:
            return cls(0.0, 0.0)
        right = predict(rows.table, batch.threads) == places_of(rows, classes)
        if rows.weight is None:
            return cls(float(len(rows)), float(np.count_nonzero(right)))
        # Added up in the same order, zeros in place of the wrong: never more than the whole.
        return cls(float(rows.weight.sum()), float((rows.weight * right).sum()))

    def merge(self, other: Accuracy) -> Accuracy:
        """Of both parts."""
        return Accuracy(self.weight + other.weight, self.right + other.right)

    @property
    def score(self) -> float:
        """Share of the weight whose class is predicted."""
        check_sums(self.weight, self.right)
        return self.right / self.weight


def places_of(rows: Labelled, classes: Array) -> Array:
    """The place of every row's class among the model's; -1 for one that it does not know."""
    own, known = rows.target.classes, classes.tolist()
    assert own is not None
    labels = own.tolist()
    if isinstance(labels[0], str) != isinstance(known[0], str):
        raise ValueError(
            f"the target holds {labels[0]!r}, and the model's classes are like {known[0]!r}: give "
            "the target in the type that the model was fitted with"
        )
    # By Python's equality, which tells whole numbers and floats apart at any size.
    place = {label: k for k, label in enumerate(known)}
    found: Array = np.array([place.get(label, -1) for label in labels])[rows.target.values]
    return found


def check_sums(weight: float, *sums: float) -> None:
    """Refuse sums that no score can be taken of."""
    if weight == 0:
        raise ValueError("every row has weight zero: there is nothing to score")
    if not all(map(math.isfinite, (weight, *sums))):
        raise ValueError("the sums of weights or squares are too large: give smaller numbers")

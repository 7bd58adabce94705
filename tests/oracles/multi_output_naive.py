"""Splits of a tree with several targets, by brute force. Nothing of Ceiba is used here.

The error of some rows is the mean over the outputs of their variances; an output of classes has the
targets 0 and 1 for each of its classes, whose variances add up to the Gini impurity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np


def one_hot(labels: np.ndarray) -> np.ndarray:
    """Return the targets of an output of classes."""
    return (labels[:, None] == np.unique(labels)).astype(float)


@dataclass(frozen=True)
class Problem:
    """Columns (float, NaN missing; nominal ones are category indices), targets and weights.

    ``outputs`` are the targets of each output, of shape (n_rows, 1), or (n_rows, n_classes).
    """

    columns: list[np.ndarray]
    nominal: list[bool]
    outputs: list[np.ndarray]
    weights: np.ndarray
    min_samples_leaf: int = 1

    def means(self, rows: np.ndarray) -> list[np.ndarray]:
        """Return the mean of each output."""
        w = self.weights[rows]
        return [(w[:, None] * target[rows]).sum(axis=0) / w.sum() for target in self.outputs]

    def error(self, rows: np.ndarray) -> float:
        """Return the mean over the outputs of their variances, or Gini impurities."""
        w, total = self.weights[rows], 0.0
        for target, mean in zip(self.outputs, self.means(rows), strict=True):
            total += float((w[:, None] * (target[rows] - mean) ** 2).sum() / w.sum())
        return total / len(self.outputs)

    def is_pure(self, rows: np.ndarray) -> bool:
        """Return whether all rows have the same targets."""
        return all(np.ptp(target[rows], axis=0).max() == 0 for target in self.outputs)

    def gain(self, rows: np.ndarray, goes_left: np.ndarray) -> float:
        """Return the decrease of the error when some rows go left."""
        gain, total = self.error(rows), self.weights[rows].sum()
        for part in (rows[goes_left], rows[~goes_left]):
            gain -= self.error(part) * self.weights[part].sum() / total
        return gain

    def best_gain(self, rows: np.ndarray) -> float | None:
        """Return the largest gain of all splits in two; None if no split is allowed."""
        gains = [
            self.gain(rows, left)
            for j in range(len(self.columns))
            for left in self._splits(self.columns[j][rows], self.nominal[j])
            if min(left.sum(), (~left).sum()) >= self.min_samples_leaf
        ]
        return max(gains) if gains else None

    def _splits(self, values: np.ndarray, nominal: bool) -> Iterator[np.ndarray]:
        missing = np.isnan(values)
        known = np.unique(values[~missing])
        if nominal:
            # Missing values are one more category.
            items = [values == category for category in known] + [missing] * bool(missing.any())
            for size in range(1, len(items)):
                for chosen in combinations(items, size):
                    yield np.logical_or.reduce(chosen)
            return
        for threshold in known[:-1]:
            with np.errstate(invalid="ignore"):
                below = values <= threshold
            yield below
            if missing.any():
                yield below | missing
        if missing.any() and len(known):
            yield ~missing

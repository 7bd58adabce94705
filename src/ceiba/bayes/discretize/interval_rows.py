"""Training rows of every interval and category, representative values, and both as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.base.record import check_values
from ceiba.bayes.discretize.encoding import CategoryEncoding
from ceiba.bayes.discretize.statistics import BinCounts, ValueGroups
from ceiba.data.schema import Kind, Schema


@dataclass(frozen=True, eq=False)
class IntervalRows(Record):
    """Training rows of the categories of all columns.

    Parameters
    ----------
    offsets : ndarray of int64 of shape (n_columns + 1,)
        Index of the first category of each column, and the number of all.
    values : ndarray of float64 of shape (n_categories,)
        Representative value of each interval: the middle of its training values, or its lower
        threshold if it has none. For a nominal or ordinal column the code of the category.
    weights : ndarray of float64 of shape (n_categories, n_classes)
        Weight of the training rows of each category and class; one column without classes.
    """

    offsets: Annotated[Array, ArrayOf("int64", "n_offsets")]
    values: Annotated[Array, ArrayOf("float64", "n_categories")]
    weights: Annotated[Array, ArrayOf("float64", "n_categories", "n_classes")]

    @classmethod
    def of(cls, encoding: CategoryEncoding, counts: BinCounts, unit: float) -> IntervalRows:
        """Return the rows of the categories of an encoding of all columns."""
        offsets = np.cumsum([0, *encoding.n_categories], dtype=np.int64)
        n_classes = counts.groups[0].counts.shape[1]
        values, weights = [], np.zeros((offsets[-1], n_classes))
        for j, (bins, groups) in enumerate(zip(counts.bins, counts.groups, strict=True)):
            own = _lower_ends(encoding, j)
            own[bins] = _middles(groups)
            values.append(own)
            weights[offsets[j] + bins.astype(np.int64)] = groups.counts * unit
        return cls(offsets, np.concatenate(values), weights)

    def check(self) -> None:
        """Raise ValueError if the fields contradict each other."""
        offsets, n = self.offsets, len(self.values)
        if not len(offsets) or offsets[0] != 0 or (np.diff(offsets) < 0).any() or offsets[-1] != n:
            raise ValueError("offsets must be ascending from 0 to the number of categories.")
        check_values("weights", self.weights, self.weights >= 0, "not negative")

    def of_column(self, j: int) -> tuple[Array, Array]:
        """Return the values and weights of the categories of a column."""
        own = slice(self.offsets[j], self.offsets[j + 1])
        return self.values[own], self.weights[own]

    def fits(self, n_categories: Array) -> bool:
        """Return whether these are rows of columns with so many categories."""
        return np.array_equal(np.diff(self.offsets), n_categories)


def _middles(groups: ValueGroups) -> Array:
    low, high = groups.low.astype(np.float64), groups.high.astype(np.float64)
    with np.errstate(invalid="ignore"):
        middles = low / 2 + high / 2
    # Halves of the smallest floats are rounded; the middle of both infinities is none.
    return np.where((low <= middles) & (middles <= high), middles, high)


def _lower_ends(encoding: CategoryEncoding, j: int) -> Array:
    """Return the lower threshold of each interval; of the first a value just below the next."""
    column = encoding.schema[int(encoding.columns[j])]
    if column.kind is not Kind.NUMERIC:
        return np.arange(len(column.categories), dtype=np.float64)
    raw = encoding.thresholds(j)
    thresholds = (raw.view(np.int64) if column.temporal else raw).astype(np.float64)
    if not len(thresholds):
        return np.full(1, np.nan)
    with np.errstate(over="ignore"):  # below the smallest float is -inf
        first = thresholds[0] - 1 if column.temporal else np.nextafter(thresholds[0], -np.inf)
    return np.concatenate([[first], thresholds])


def summary_text(
    schema: Schema, encoding: CategoryEncoding, rows: IntervalRows, classes: Array | None
) -> str:
    """Return a block of lines for each column: intervals, weights and shares of the classes."""
    everything = encoding.with_constant()
    names = [] if classes is None else [str(c) for c in classes.tolist()]
    blocks = []
    for j, column in enumerate(schema):
        lines = [[column.name, "weight", *names]]
        for label, weight in zip(everything.category_labels(j), rows.of_column(j)[1], strict=True):
            lines.append([f"  {label}", *_row_texts(weight, len(names))])
        if j not in encoding.columns:
            lines[0][0] += " (dropped)"
        blocks.append(_aligned(lines))
    return "\n\n".join(blocks)


def _row_texts(weight: Any, n_classes: int) -> list[str]:
    total = float(weight.sum())
    shares = [f"{w / total:.3f}" if total else "-" for w in weight.tolist()] if n_classes else []
    return [f"{total:.6g}", *shares]


def _aligned(lines: list[list[str]]) -> str:
    """Return lines of texts in columns: the first to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join(
            [
                line[0].ljust(widths[0]),
                *(t.rjust(w) for t, w in zip(line[1:], widths[1:], strict=True)),
            ]
        )
        for line in lines
    )

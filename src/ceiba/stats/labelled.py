"""Rows with a target: what every supervised learner is given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.data.target import Target, Task, class_places
from ceiba.stats.points import Array, checked_weight


@dataclass(frozen=True, slots=True, eq=False)
class Labelled:
    """Rows, their target and their weights.

    Parameters
    ----------
    table : Table
    target : Target
        With the classes that these rows have, in codes of their own, or numbers.
    weight : ndarray of float64 or None
        Positive weights; None for 1 each.
    kept : ndarray or None
        Numbers of the rows, where some of weight zero were left out.
    """

    table: Table
    target: Target
    weight: Array | None = None
    kept: Array | None = None

    def __len__(self) -> int:
        return len(self.target.values)

    def row_number(self, row: int) -> int:
        """What a message calls a row: its number before any was left out."""
        return row if self.kept is None else int(self.kept[row])

    def labels(self, classes: Array) -> Array:
        """The class of every row, as its place (int32) in the ``classes`` of all parts.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba.data.table import Table
        >>> rows = Labelled(Table.of(np.eye(2)), Target.of(["yes", "no"], 2))
        >>> rows.labels(np.array(["maybe", "no", "yes"]))
        array([2, 1], dtype=int32)
        """
        own = self.target.classes
        if own is None:
            raise ValueError("the target holds numbers, which have no classes")
        if classes is own:
            return self.target.values
        places = class_places(own, classes)
        if len(places) == 0 or places[-1] == len(places) - 1:  # ascending: the first of all
            return self.target.values
        labels: Array = places[self.target.values]
        return labels


@dataclass(frozen=True, slots=True)
class ToLabelled:
    """Makes labelled rows of a partition: reads the target, checks the weights.

    Rows of weight zero vanish, with the classes that no other row has.

    Parameters
    ----------
    task : "classification" or "regression"
    """

    task: Task

    def __call__(self, chunk: Chunk) -> Labelled:
        """The labelled rows of one chunk."""
        table = chunk.table
        target = Target.of(chunk.target, len(table), task=self.task)
        if chunk.weight is None:
            return Labelled(table, target)
        weight = checked_weight(chunk.weight, len(table))
        if weight.all():
            return Labelled(table, target, weight)
        kept = np.flatnonzero(weight)
        return Labelled(table.take(kept), target.take(kept), weight[kept], kept)

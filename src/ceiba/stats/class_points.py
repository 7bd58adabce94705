"""The rows of one class as points."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ceiba.data.source import Chunk
from ceiba.stats.labelled import ToLabelled
from ceiba.stats.points import Array, Points, ToPoints


@dataclass(frozen=True, slots=True)
class ToClassPoints:
    """Makes points of a partition's rows of one class; rows of weight zero vanish.

    Parameters
    ----------
    classes : ndarray
        All classes.
    place : int
        Which of them is wanted.
    dtype : str, optional
        Type of the matrix; that of the columns if not given.
    """

    classes: Array
    place: int
    dtype: str | None = None

    def __call__(self, chunk: Chunk) -> Points:
        """The points of one chunk."""
        rows = ToLabelled("classification")(chunk)
        mine = np.flatnonzero(rows.labels(self.classes) == self.place)
        weight = None if rows.weight is None else rows.weight[mine]
        points = ToPoints(self.dtype)(Chunk(rows.table.take(mine), None, weight))
        kept = mine if rows.kept is None else rows.kept[mine]
        return replace(points, kept=kept, n_given=len(chunk.table))

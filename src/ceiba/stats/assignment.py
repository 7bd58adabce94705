"""Per-row results as statistics: their merge puts the rows of the parts one after the other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ceiba import _native
from ceiba.stats.centre_sums import nearest
from ceiba.stats.moments import Moments
from ceiba.stats.points import Array, Space, suits
from ceiba.stats.row_values import RowValues, joined


def placed(batch: Any, space: Space | None, centres: Array) -> tuple[Any, Space]:
    """The batch and the space to measure it in: found from its rows where none is given.

    float32 rows whose distances it cannot square are taken in float64.
    """
    if space is not None:
        return batch, space
    moments = Moments.of(batch)
    found = Space.around(moments, centres)
    points = batch.rows
    if points.X.dtype == np.float32 and not suits(moments.reaching(centres).spread, "float32"):
        batch = replace(batch, rows=replace(points, X=points.X.astype(np.float64)))
    return batch, found


@dataclass(frozen=True, slots=True)
class Assignment:
    """Nearest centre of every point, and the weighted sum of squared distances to it.

    The labels of the parts are joined when they are asked for: joining them at every merge would
    copy the first part as often as there are parts.
    """

    parts: tuple[Array, ...]
    inertia: float

    @classmethod
    def of(cls, batch: Any, space: Space | None, centres: Array) -> Assignment:
        """Assign the points of a batch."""
        batch, space = placed(batch, space, centres)
        found = nearest(batch, space, centres, inertia=True, last=True)
        return cls((found.labels,), found.inertia)

    def merge(self, other: Assignment) -> Assignment:
        """Both parts, in order."""
        return Assignment(self.parts + other.parts, self.inertia + other.inertia)

    @property
    def labels(self) -> Array:
        """Labels of all points, in order."""
        return joined(self.parts)


class Distances(RowValues):
    """Distance of every point to every centre; with gaps scaled up to all columns."""

    __slots__ = ()

    @classmethod
    def of(cls, batch: Any, space: Space | None, centres: Array) -> Self:
        """Measure the points of a batch."""
        dtype = batch.rows.X.dtype
        batch, space = placed(batch, space, centres)
        X = batch.rows.X
        out = np.empty((len(X), len(centres)), X.dtype)
        _native.squared_distances(X, space.offset, centres, space.gaps, out, batch.threads)
        return cls((np.sqrt(out, out=out).astype(dtype, copy=False),))


@dataclass(frozen=True, slots=True)
class Farthest:
    """The ``m`` points farthest from their nearest centre: where an empty cluster may start again.

    Ordered by squared distance, largest first, then by row.
    """

    squared: Array
    rows: Array
    labels: Array
    weights: Array
    points: Array
    m: int

    @classmethod
    def of(cls, batch: Any, space: Space, centres: Array, m: int) -> Farthest:
        """The farthest points of a batch."""
        X, weight = batch.rows.X, batch.rows.weight
        found = nearest(batch, space, centres, squared=True)
        assert found.squared is not None
        order = np.lexsort((np.arange(len(X)), -found.squared))[:m]
        return cls(
            found.squared[order],
            order + batch.first_row,
            found.labels[order],
            np.ones(len(order)) if weight is None else weight[order],
            X[order].astype(np.float64),
            m,
        )

    def merge(self, other: Farthest) -> Farthest:
        """The farthest of both parts."""
        joined = [
            np.concatenate([getattr(self, name), getattr(other, name)])
            for name in ("squared", "rows", "labels", "weights", "points")
        ]
        order = np.lexsort((joined[1], -joined[0]))[: self.m]
        squared, rows, labels, weights, points = (values[order] for values in joined)
        return Farthest(squared, rows, labels, weights, points, self.m)

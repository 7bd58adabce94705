"""Rows of each class, for mixtures that are fitted class by class."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.statistics import point_dtype
from ceiba.data.encoding import Encoding
from ceiba.data.source import Chunk, Source
from ceiba.mixture.config import MixtureData
from ceiba.stats import Moments, Points, TargetSummary, ToLabeledRows, ToPoints


@dataclass(frozen=True, slots=True)
class ToClassPoints:
    """Prepare the rows of one class as points; rows of weight zero are dropped."""

    classes: Array  # all classes
    class_index: int  # the class to keep
    dtype: str | None = None  # dtype of the matrix; by default that of the columns

    def __call__(self, chunk: Chunk) -> Points:
        """Return the points of one chunk."""
        rows = ToLabeledRows("classification")(chunk)
        own = np.flatnonzero(rows.labels(self.classes) == self.class_index)
        weight = None if rows.weight is None else rows.weight[own]
        points = ToPoints(self.dtype)(Chunk(rows.table.take(own), None, weight))
        kept = own if rows.kept is None else rows.kept[own]
        return replace(points, kept=kept, n_given=len(chunk.table))


@dataclass(frozen=True, slots=True)
class ClassData:
    """The classes and the rows of each, under the scale of all rows."""

    classes: Array
    parts: tuple[MixtureData, ...]

    @classmethod
    def of(cls, data: MixtureData, source: Source) -> ClassData:
        """Split the rows of a source by class."""
        engine = data.engine
        labeled = engine.rows(source.partitions, ToLabeledRows("classification"))
        classes = engine.reduce(labeled, TargetSummary.of).classes
        assert classes is not None
        dtype = point_dtype(data.moments, Encoding.of(data.schema))
        parts = []
        for index in range(len(classes)):
            rows = engine.rows(source.partitions, ToClassPoints(classes, index, dtype))
            moments = engine.reduce(rows, Moments.of)
            parts.append(data.group(rows.numbered(moments.rows), moments))
        return cls(classes, tuple(parts))

    def together(self, data: MixtureData) -> MixtureData:
        """Return all rows as one group per class."""
        groups = tuple(part.groups[0] for part in self.parts)
        weights = tuple(part.row_weights[0] for part in self.parts)
        return replace(data, groups=groups, row_weights=weights)

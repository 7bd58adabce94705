"""Rows of each class, for mixtures that are fitted class by class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.first_pass import point_dtype
from ceiba.data.encoding import Encoding
from ceiba.data.source import Chunk, Source
from ceiba.mixture.config import MixtureData
from ceiba.stats import Moments, Points, TargetSummary, ToLabeledRows, ToPoints
from ceiba.stats.scaling import PointScaling


@dataclass(frozen=True, slots=True)
class ToClassPoints:
    """Prepare the rows of one class as points; rows of weight zero are dropped."""

    classes: Array  # all classes
    class_index: int  # the class to keep
    dtype: str | None = None  # dtype of the matrix; by default that of the columns
    scaling: PointScaling | None = None  # units of the matrix; by default those of the columns

    def __call__(self, chunk: Chunk) -> Points:
        """Return the points of one chunk."""
        rows = ToLabeledRows("classification")(chunk)
        own = np.flatnonzero(rows.labels(self.classes) == self.class_index)
        weight = None if rows.weight is None else rows.weight[own]
        points = ToPoints(self.dtype, scaling=self.scaling)(
            Chunk(rows.table.take(own), None, weight)
        )
        kept = own if rows.kept is None else rows.kept[own]
        return replace(points, kept=kept, n_given=len(chunk.table))


@dataclass(frozen=True, slots=True)
class ClassData:
    """The classes and the rows of each, under the scale of all rows.

    A class whose rows all weigh zero is among ``all_classes`` only: no density can be fitted to it.
    """

    classes: Array
    parts: tuple[MixtureData, ...]  # one per entry of `classes`
    all_classes: Array

    @classmethod
    def of(cls, data: MixtureData, source: Source) -> ClassData:
        """Split the rows of a source by class."""
        engine = data.engine
        labeled = engine.rows(source.partitions, ToLabeledRows("classification"))
        summary = engine.reduce(labeled, TargetSummary.of)
        classes = summary.classes
        assert classes is not None
        assert summary.class_counts is not None
        dtype = point_dtype(data.moments, Encoding.of(data.schema))
        parts, learned = [], np.flatnonzero(summary.class_counts)
        for index in learned.tolist():
            prepare = ToClassPoints(classes, index, dtype, data.scaling)
            rows = engine.rows(source.partitions, prepare)
            moments = engine.reduce(rows, Moments.of)
            parts.append(data.group(rows.numbered(moments.rows), moments))
        return cls(classes[learned], tuple(parts), classes)

    def for_all_classes(self, values: Sequence[Any], absent: Any) -> list[Any]:
        """Return one value per class of ``all_classes``, ``absent`` for those without rows."""
        found = dict(zip(self.classes.tolist(), values, strict=True))
        return [found.get(label, absent) for label in self.all_classes.tolist()]

    def of_learned(self, values: Sequence[Any]) -> list[Any]:
        """Return the values of the classes with rows, from one per class of ``all_classes``."""
        learned = set(self.classes.tolist())
        pairs = zip(values, self.all_classes.tolist(), strict=True)
        return [value for value, label in pairs if label in learned]

    def together(self, data: MixtureData) -> MixtureData:
        """Return all rows as one group per class."""
        groups = tuple(part.groups[0] for part in self.parts)
        weights = tuple(part.row_weights[0] for part in self.parts)
        return replace(data, groups=groups, row_weights=weights)

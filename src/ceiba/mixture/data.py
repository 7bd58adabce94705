"""Rows of a mixture fit, in one group or one per class, with their moments and scale."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.statistics import point_dtype, summarize_points
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Kind, Schema
from ceiba.data.source import Chunk, Source
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.events import DegenerateColumnWarning
from ceiba.stats import Moments, Points, Space, TargetSummary, ToLabeled, ToPoints

# Squares of standard deviations below 1e-100, times any weight, would underflow.
_MIN_VARIANCE = 1e-200


@dataclass(frozen=True, slots=True)
class MixtureData:
    """Rows, in one group or in several, and the result of the first pass over them."""

    engine: Engine
    groups: tuple[Any, ...]  # the rows of each group
    moments: Moments
    space: Space
    # Scale of the data, (d,): the columns' variances; the mean variance for constant columns.
    variances: Array
    schema: Schema
    constant: Array  # shape (d,): mask of constant columns
    row_weights: tuple[float, ...]  # mean weight of a row, per group

    @classmethod
    def of(cls, engine: Engine, source: Source, reg_covar: float = 0.0) -> MixtureData:
        """Make the first pass over a source; raise for columns that no mixture can describe."""
        schema = source.schema
        _check_numeric(schema)
        rows, moments = summarize_points(engine, source)
        space = Space.of(moments)
        constant = moments.max == moments.min
        variances = _scale(moments, constant, schema, reg_covar)
        weights = (moments.total / moments.n_rows,)
        return cls(engine, (rows,), moments, space, variances, schema, constant, weights)

    @classmethod
    def of_batch(
        cls, engine: Engine, source: Source, variances: Array, mean: Array, constant: Array
    ) -> MixtureData:
        """Summarize a later batch under the scale of the first; columns may miss all values."""
        rows, moments = summarize_points(engine, source, check_values=False)
        offset = np.where(moments.weight > 0, moments.mean, mean)
        space = Space(offset, moments.n_missing > 0)
        weights = (moments.total / moments.n_rows,)
        return cls(engine, (rows,), moments, space, variances, source.schema, constant, weights)

    def group(self, rows: Any, moments: Moments) -> MixtureData:
        """Return some of the rows alone, under the scale of all rows."""
        weights = (moments.total / max(moments.n_rows, 1),)
        return replace(self, groups=(rows,), moments=moments, row_weights=weights)

    @property
    def n_rows(self) -> int:
        """Number of rows of positive weight."""
        return self.moments.n_rows

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return self.moments.total

    @property
    def mean(self) -> Array:
        """Mean of every column; where these rows have no value, the mean of all rows."""
        return np.where(self.moments.weight > 0, self.moments.mean, self.space.offset)

    @property
    def log_scale(self) -> float:
        """Amount by which unit variance of every column would raise the log-likelihood."""
        return float(self.moments.weight @ np.log(self.variances)) / 2

    def common_gaussians(self, k: int, full: bool) -> Gaussians:
        """Return ``k`` equal components with the mean and variances of all rows."""
        d = len(self.variances)
        covariance = np.diag(self.variances) if full else self.variances
        return Gaussians.of(
            np.full(k, 1.0 / k),
            np.broadcast_to(self.mean, (k, d)).copy(),
            np.broadcast_to(covariance, (k, *covariance.shape)).copy(),
        )


def _check_numeric(schema: Schema) -> None:
    """Raise for nominal columns."""
    nominal = [column.name for column in schema if column.kind is Kind.NOMINAL]
    if nominal:
        more = f" and {len(nominal) - 1} more" if len(nominal) > 1 else ""
        raise ValueError(
            f"X must be numeric, got nominal column {nominal[0]!r}{more}: drop it, or use "
            "LatentClassMixture, which models nominal columns."
        )


def _scale(moments: Moments, constant: Array, schema: Schema, reg_covar: float) -> Array:
    """Compute the variance of every column; a constant one gets the mean of the others."""
    variances = moments.variance.copy()
    tiny = ~constant & ~(variances > _MIN_VARIANCE)
    if tiny.any():
        name = Encoding.of(schema).names[int(np.argmax(tiny))]
        raise ValueError(f"The variance of column {name!r} underflows: rescale it.")
    if not constant.any():
        return variances
    if constant.all():
        if not reg_covar:
            raise ValueError(
                f"X must have rows that differ, got n_samples={moments.n_rows} equal rows: pass "
                "other rows, or set reg_covar > 0."
            )
        return np.full_like(variances, reg_covar)
    variances[constant] = variances[~constant].mean()
    if not reg_covar:
        names = Encoding.of(schema).names
        warn_user(
            f"constant columns: {', '.join(names[j] for j in np.flatnonzero(constant))}. Their "
            "variance is set by covariance_floor, and densities depend on it: drop them, or set "
            "reg_covar.",
            DegenerateColumnWarning,
        )
    return variances


@dataclass(frozen=True, slots=True)
class ToClassPoints:
    """Prepare the rows of one class as points; rows of weight zero are dropped."""

    classes: Array  # all classes
    class_index: int  # the class to keep
    dtype: str | None = None  # dtype of the matrix; by default that of the columns

    def __call__(self, chunk: Chunk) -> Points:
        """Return the points of one chunk."""
        rows = ToLabeled("classification")(chunk)
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
        labeled = engine.rows(source.partitions, ToLabeled("classification"))
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

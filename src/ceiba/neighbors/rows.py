"""Rows as the distances take them, and distances with numbers estimated from all rows.

Numbers stay as they are (times are days), nominal columns hold codes, ordinal ones ranks, and
missing values are NaN. Ranges, standard deviations, variances and covariances of the training rows
are estimated in one to three passes over the partitions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.data.categories import list_labels
from ceiba.data.identifiers import MAX_DISTINCT_ROWS
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.engine import Batch, Engine
from ceiba.engine.contract import AdditiveStatistic
from ceiba.neighbors.distance import (
    BOOLEAN_METRICS,
    COORDINATE_METRICS,
    SYNONYMS,
    Distance,
    make_distance,
    make_mixed_distance,
)
from ceiba.neighbors.index import largest_value, units_error
from ceiba.stats import LabeledRows, TargetSummary, ToLabeledRows
from ceiba.stats.points import Moments, Points

_MIXED = ("gower", "heom")
_DAY = 86_400e9  # nanoseconds
# Ranges and standard deviations that columns can be divided by.
_DIVISOR_RANGE = (1e-300, 1e308)


# Rows


@dataclass(frozen=True, slots=True, eq=False)
class NeighborRows:
    """Rows of a partition.

    Parameters
    ----------
    X : ndarray of float64 or float32, of shape (n_rows, n_columns)
    labeled : LabeledRows or None
        The rows with their target, of a supervised learner.
    """

    X: Array
    labeled: LabeledRows | None = None


@dataclass(frozen=True, slots=True)
class ToNeighborRows:
    """Prepare a partition: the rows as a matrix, and the target of a task."""

    task: Task | None = None

    def __call__(self, chunk: Chunk) -> NeighborRows:
        """Return the rows of one chunk."""
        if chunk.weight is not None:
            raise ValueError(
                "Learners of nearest neighbors have no sample weights: leave the weight column out "
                "of ceiba.scan(...)."
            )
        labeled = None if self.task is None else ToLabeledRows(self.task)(chunk)
        return NeighborRows(to_matrix(chunk.table), labeled)


def to_matrix(table: Table) -> Array:
    """Return the columns as a matrix of floats: numbers, codes and ranks; NaN is missing."""
    table.check_finite()
    if table.block is not None and table.block.dtype in (np.float32, np.float64):
        return np.ascontiguousarray(table.block)
    single = all(column.dtype == "float32" for column in table.schema)
    X = np.empty((len(table), len(table.schema)), np.float32 if single else np.float64)
    for j, column in enumerate(table.schema):
        X[:, j] = table.column(j) / _DAY if column.temporal else table.column(j)
        missing = table.missing_mask(j)
        if missing is not None:
            X[missing, j] = np.nan
    return X


def extend_categories(schema: Schema, n_rows: int, X: Any) -> Schema:
    """Return the schema of ``n_rows`` rows with the categories of further ones, after its own."""
    if all(column.kind is not Kind.NOMINAL for column in schema):
        return schema
    found = Table.of(X, warn=False).schema
    if len(found) != len(schema):
        return schema  # which raises when the rows are read
    order = found.names if not (schema.named and found.named) else schema.names
    by_name = dict(zip(found.names, found, strict=True))
    if set(order) - set(by_name):
        return schema
    pairs = zip(schema, (by_name[name] for name in order), strict=True)
    return replace(schema, columns=tuple(_with_categories(*pair, n_rows) for pair in pairs))


def _with_categories(column: Column, found: Column, n_rows: int) -> Column:
    both_nominal = column.kind is Kind.NOMINAL and found.kind is Kind.NOMINAL
    if not both_nominal or _is_identifier(column, n_rows):
        return column
    new = [label for label in found.categories if label not in set(column.categories)]
    return replace(column, categories=(*column.categories, *new)) if new else column


def _is_identifier(column: Column, n_rows: int) -> bool:
    """Return whether a column was taken for an identifier, or has no values in as many rows."""
    return column.kind is Kind.NOMINAL and not column.categories and n_rows > MAX_DISTINCT_ROWS


# Summaries


@dataclass(frozen=True, slots=True, eq=False)
class RowSummary:
    """Statistic of a first pass: moments of the columns, and the target of a task."""

    moments: Moments
    target: TargetSummary | None

    @classmethod
    def of(cls, batch: Batch[NeighborRows]) -> RowSummary:
        """Summarize the rows of one partition."""
        rows = batch.rows
        moments = Moments.of(Batch(Points(rows.X), threads=batch.threads))
        target = None if rows.labeled is None else TargetSummary.of(Batch(rows.labeled))
        return cls(moments, target)

    def merge(self, other: RowSummary) -> RowSummary:
        """Return the summary of both parts."""
        target = self.target
        if target is not None and other.target is not None:
            target = target.merge(other.target)
        return RowSummary(self.moments.merge(other.moments), target)


def scaled_moments(batch: Batch[NeighborRows], exponents: Array) -> Moments:
    """Return the moments of columns times powers of two, whose squares do not overflow."""
    return Moments.of(Batch(Points(np.ldexp(batch.rows.X, exponents)), threads=batch.threads))


@dataclass(frozen=True, slots=True, eq=False)
class CrossProducts(AdditiveStatistic):
    """Statistic of covariances: sums of products of centered columns."""

    sums: Array

    @classmethod
    def of(cls, batch: Batch[NeighborRows], exponents: Array, means: Array) -> CrossProducts:
        """Summarize the rows of one partition."""
        X = np.ldexp(batch.rows.X.astype(np.float64), exponents) - means
        return cls(X.T @ X)


# Distances


@dataclass(frozen=True, slots=True, eq=False)
class DistanceConfig:
    """Config of a distance, whose numbers `fit_distance` estimates from the rows."""

    metric: str | Callable[..., float]
    p: float
    params: Mapping[str, Any]
    scale: Literal["range", "std"] | None
    feature_weights: Any
    missing: Literal["auto", "partial", "mismatch", "error"]

    @property
    def name(self) -> str:
        """Name of the metric without synonyms; ``"function"`` for a function."""
        if callable(self.metric):
            return "function"
        name = self.metric.lower()
        return SYNONYMS.get(name, name)

    @property
    def allows_missing(self) -> bool:
        """Whether values may be missing."""
        return self.name in (*_MIXED, *COORDINATE_METRICS) and self.missing != "error"

    @property
    def is_learned(self) -> bool:
        """Whether the distance depends on the training rows."""
        estimated = self.name in ("seuclidean", "mahalanobis") and not self.params
        return self.scale is not None or self.name in _MIXED or estimated

    def check(self) -> None:
        """Raise `ParameterError` for settings that contradict each other."""
        name = self.name
        own_units = (*_MIXED, *BOOLEAN_METRICS, "haversine", "hamming", "seuclidean", "mahalanobis",
                     "function")  # fmt: skip
        if self.scale is not None and name in own_units:
            raise ParameterError(
                f"'scale' has no effect with metric={name!r}: leave it at its default None, got "
                f"{self.scale!r}."
            )
        if self.feature_weights is not None and name not in (*_MIXED, *COORDINATE_METRICS):
            raise ParameterError(
                "feature_weights require a metric that is a sum or maximum over the columns "
                f"({', '.join((*_MIXED, *COORDINATE_METRICS))}), got {name!r}."
            )
        if self.missing not in ("auto", "error") and name not in (*_MIXED, *COORDINATE_METRICS):
            raise ParameterError(
                f"missing={self.missing!r} requires a metric that is a sum or maximum over the "
                f"columns ({', '.join((*_MIXED, *COORDINATE_METRICS))}), got {name!r}."
            )
        if self.p != 2.0 and name not in ("minkowski", "function"):
            raise ParameterError(f"'p' has no effect with metric={name!r}, got {self.p!r}.")
        allowed = {"seuclidean": {"V"}, "mahalanobis": {"V", "VI"}}.get(name, set())
        unknown = sorted(set(self.params) - allowed)
        if unknown and name != "function":
            names = " or ".join(sorted(allowed)) or "'w', the same as feature_weights, alone"
            raise ParameterError(
                f"metric_params of metric={name!r} must be {names}, got {unknown[0]!r}."
            )


def fit_distance(
    config: DistanceConfig, schema: Schema, n_rows: int, engine: Engine, rows: Any, moments: Moments
) -> Distance:
    """Return the distance with the numbers that it needs of the rows.

    ``rows`` and their ``moments`` may be some of the ``n_rows`` rows, unless ``config.is_learned``.
    """
    nominal = np.array([column.kind is Kind.NOMINAL for column in schema])
    name, d = config.name, len(schema)
    if name in (*_MIXED, *COORDINATE_METRICS):
        distance = make_mixed_distance(
            name,
            nominal,
            _divisors(config, engine, rows, moments),
            _column_weights(config.feature_weights, schema, n_rows),
            p=config.p,
            missing="auto" if config.missing == "error" else config.missing,
        )
        if not config.is_learned and not distance.has_units:
            _check_underflow(distance, moments)
        if config.missing == "error":
            _check_complete(moments, "missing='error'")
            return replace(distance, missing="none")
        return distance
    if nominal.any():
        column = schema[int(np.argmax(nominal))].name
        raise ValueError(
            f"metric={name!r} requires numeric columns, got the nominal column {column!r}: use "
            "metric='gower' or 'heom', or encode it as numbers."
        )
    _check_complete(moments, f"metric={name!r}")
    if name == "haversine" and d != 2:
        raise ValueError(
            f"metric='haversine' requires two columns, latitude and longitude, got {d}."
        )
    if name == "function":
        function = _WithArguments(config.metric, dict(config.params))
        return make_distance(function if config.params else config.metric)
    params = dict(config.params)
    if name in ("seuclidean", "mahalanobis") and not params:
        return _standardized(name, engine, rows, moments)
    for key, value in params.items():
        _check_shape(key, value, (d,) if name == "seuclidean" else (d, d))
    factors = None if config.scale is None else 1 / _divisors(config, engine, rows, moments)
    return make_distance(name, config.p, factors=factors, **params)


@dataclass(frozen=True, slots=True)
class _WithArguments:
    """A distance function with its keyword arguments."""

    function: Any
    arguments: dict[str, Any]

    def __call__(self, x: Array, y: Array) -> float:
        return float(self.function(x, y, **self.arguments))


def _divisors(config: DistanceConfig, engine: Engine, rows: Any, moments: Moments) -> Array:
    """Return what each column is divided by; 1 for constant ones."""
    varying = moments.max > moments.min
    if config.scale == "std":
        exponents = _exponents(moments)
        scaled = engine.reduce(rows, scaled_moments, exponents)
        divisors = np.ldexp(np.sqrt(scaled.variance), -exponents)
    elif config.scale == "range" or config.name in _MIXED:
        with np.errstate(invalid="ignore", over="ignore"):
            divisors = moments.max - moments.min
    else:
        return np.ones(len(moments.max))
    divisors = np.where(varying & (divisors > 0), divisors, 1.0)
    low, high = _DIVISOR_RANGE
    wrong = ~((divisors >= low) & (divisors <= high))
    if wrong.any():
        j = int(np.argmax(wrong))
        raise ValueError(
            f"X must have columns whose values differ by {low:g} to {high:g}, to be divided by "
            f"that, got {divisors[j]:.3g} in column {j}: rescale it."
        )
    return divisors


def _standardized(name: str, engine: Engine, rows: Any, moments: Moments) -> Distance:
    """Return the distance of columns divided by their estimated (co)variances.

    These have n - 1 in the denominator, and are those of columns times powers of two, whose squares
    neither over- nor underflow.
    """
    exponents, n, d = _exponents(moments), moments.n_rows, len(moments.max)
    if n < 2:
        raise ValueError(
            f"metric={name!r} requires two rows to estimate V, got n_samples = 1: pass "
            "metric_params={'V': ...}."
        )
    scaled = engine.reduce(rows, scaled_moments, exponents)
    if name == "seuclidean":
        variances = scaled.squares / (n - 1)
        if not (variances > 0).all():
            raise ValueError(
                "metric='seuclidean' requires columns that vary, got constant column "
                f"{int(np.argmin(variances))}: leave it out, or pass metric_params={{'V': ...}}."
            )
        return Distance("euclidean", factors=np.ldexp(1 / np.sqrt(variances), exponents))
    if n <= d:
        raise ValueError(
            f"metric='mahalanobis' requires more rows than columns to estimate V, got {n} rows and "
            f"{d} columns: pass metric_params={{'V': ...}}."
        )
    covariances = engine.reduce(rows, CrossProducts.of, exponents, scaled.mean).sums / (n - 1)
    distance = make_distance(name, V=covariances)
    assert distance.whitening is not None
    return replace(distance, whitening=np.ldexp(distance.whitening, exponents[:, None]))


def _exponents(moments: Moments) -> Array:
    """Return powers of two that bring the largest value of each column near 1."""
    largest = np.maximum(np.abs(moments.min), np.abs(moments.max))
    largest = np.where(np.isfinite(largest), largest, 0.0)
    return np.where(largest > 0, -np.frexp(largest)[1], 0).astype(np.int64)


def _column_weights(given: Any, schema: Schema, n_rows: int) -> Array:
    """Return a weight for each column, in order; 0 for identifiers, which are left out."""
    used = np.array([not _is_identifier(column, n_rows) for column in schema], float)
    if not used.any():
        raise ValueError(
            "X has no column to compute distances with: identifiers are left out, and so are "
            f"columns without categories, got {list_labels(schema.names, 3)}."
        )
    return used if given is None else used * _feature_weights(given, schema)


def _feature_weights(given: Any, schema: Schema) -> Array:
    """Return the weight of each column as the user gave it."""
    if hasattr(given, "items"):  # a mapping, or a pandas Series
        given = dict(given.items())
        unknown = [name for name in given if name not in schema.names]
        if unknown:
            raise ValueError(
                f"feature_weights must be those of columns of X, got {unknown[0]!r}; the columns "
                f"are {', '.join(schema.names[:8])}."
            )
        values = [given.get(name, 1.0) for name in schema.names]
    else:
        values = given
    try:
        weights = np.asarray(values, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"feature_weights must be numbers, one for each column: {error}."
        ) from None
    if weights.shape != (len(schema),):
        raise ValueError(
            f"feature_weights must have {len(schema)} entries, one for each column, got shape "
            f"{weights.shape}."
        )
    if not ((weights >= 0) & np.isfinite(weights)).all() or not weights.any():
        raise ValueError(
            "feature_weights must be finite and at least 0, and one of them positive, got "
            f"{weights.tolist()[:8]}."
        )
    return weights


def _check_complete(moments: Moments, what: str) -> None:
    if moments.n_missing:
        raise ValueError(
            f"Input X contains NaN, which {what} does not accept: use metric='gower', 'heom' or "
            "'euclidean' with missing='auto', or impute the values."
        )


def _check_underflow(distance: Distance, moments: Moments) -> None:
    """Raise if the powers of all numbers vanish beside nominal columns."""
    corners = np.nan_to_num(np.vstack([moments.min, moments.max]), posinf=0.0, neginf=0.0)
    largest = largest_value(corners, distance)
    if 0 < largest < 1e-150 and distance.kind in ("euclidean", "minkowski"):
        raise units_error(largest, "underflow")


def _check_shape(name: str, value: Any, shape: tuple[int, ...]) -> None:
    if np.shape(value) != shape:
        raise ValueError(f"{name} must have shape {shape}, got {np.shape(value)}.")

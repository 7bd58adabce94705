"""Units of a fit: columns shifted, multiplied by powers of two, and divided by their spread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from typing import Any, Literal

import numpy as np

from ceiba._typing import Array
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Kind
from ceiba.data.source import Chunk, Partition
from ceiba.data.table import Table
from ceiba.data.warn import warn_user
from ceiba.engine.contract import Batch

Scale = Literal["range", "std"]

# Differences within a column whose squares, times weights, neither overflow nor underflow.
MIN_SPREAD, MAX_SPREAD = 1e-100, 1e100
# Values beyond 2^1000 in the units of a fit would leave no room for sums.
_MAX_VALUE_EXPONENT = 1000
# Integers below are floats exactly.
_EXACT_INTEGERS = 2.0**53
# Share of the variance from which one column decides nearly alone.
_DOMINANT_SHARE = 0.95


@dataclass(frozen=True, eq=False)
class PointScaling:
    """Units of a fit: ``(x - origin) * 2 ** exponent / divisor`` in every encoded column.

    Parameters
    ----------
    exponents : ndarray of int64 and shape (d,)
        Zero unless squared differences would overflow or underflow. A power of two rounds nothing.
    divisors : ndarray of float64 and shape (d,)
        Standard deviations or ranges, with ``scale``; else 1.
    origins : ndarray of int64 and shape (d,)
        Integers (modulo 2^64) subtracted from columns whose values float64 cannot distinguish.
    origin_values : ndarray of float64 and shape (d,)
        The origins as floats.
    scaled : bool
        Whether divisors were requested: distances are then in these units.
    """

    exponents: Array
    divisors: Array
    origins: Array
    origin_values: Array
    scaled: bool

    @classmethod
    def identity(cls, d: int) -> PointScaling:
        """Return the columns' own units."""
        zeros = np.zeros(d, np.int64)
        return cls(zeros, np.ones(d), zeros, np.zeros(d), False)

    @property
    def is_identity(self) -> bool:
        """Whether it changes nothing."""
        return not (self.scaled or self.exponents.any() or self.origins.any())

    def apply(self, table: Table, X: Array) -> Array:
        """Return the encoded matrix ``X`` of a table in the units of the fit."""
        if not self.origins.any():
            return self.to_units(X)
        X = X.astype(np.float64)
        offsets = Encoding.of(table.schema).offsets
        for j, (first, end) in enumerate(pairwise(offsets)):
            # A column without categories, such as an identifier, has no column in the matrix.
            if first < end and self.origins[first]:
                observed = ~np.isnan(X[:, first])
                X[observed, first] = self._subtract_origin(table.column(j)[observed], first)
        return self._multiply(X)

    def _subtract_origin(self, values: Array, j: int) -> Array:
        as_float: Array = values.astype(np.float64) - self.origin_values[j]
        if values.dtype.kind not in "iu":
            return as_float
        # Modulo 2^64 differences are exact; those that might exceed 2^63 need no exactness.
        exact = (values.astype(np.int64) - self.origins[j]).astype(np.float64)
        return np.asarray(np.where(np.abs(as_float) < 2.0**62, exact, as_float))

    def to_units(self, points: Array) -> Array:
        """Convert points, (n, d), from the columns' own units."""
        return self._multiply(points - self.origin_values if self.origins.any() else points)

    def _multiply(self, points: Array) -> Array:
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            if self.exponents.any():
                points = np.ldexp(points.astype(np.float64), self.exponents)
            scaled = points / self.divisors.astype(points.dtype) if self.scaled else points
        return np.asarray(scaled)

    def from_units(self, points: Array) -> Array:
        """Convert points, (n, d), to the columns' own units, as far as float64 holds them."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            own = np.ldexp(points * self.divisors, -self.exponents)
            return np.asarray(own + self.origin_values)

    @property
    def log_factors(self) -> Array:
        """Logarithm of what multiplies each column."""
        return np.asarray(self.exponents * log(2.0) - np.log(self.divisors))

    @property
    def distance_exponent(self) -> int:
        """Exponent of two by which distances are larger than in the columns' own units."""
        return 0 if self.scaled else int(self.exponents[0])

    def covariances_to_units(self, covariances: Array) -> Array:
        """Convert matrices, (k, d, d), or variances, (k, d), from the columns' own units."""
        return _multiply_pairs(covariances, self.exponents, 1.0 / self.divisors)

    def covariances_from_units(self, covariances: Array) -> Array:
        """Convert to the columns' own units: infinite or zero where float64 cannot hold them."""
        return _multiply_pairs(covariances, -self.exponents, self.divisors)

    def roots_to_units(self, roots: Array) -> Array:
        """Multiply the columns of precision factors, (k, d, d) or (k, d), as those of the rows."""
        with np.errstate(over="ignore", under="ignore"):
            return np.asarray(np.ldexp(roots / self.divisors, self.exponents))


def _multiply_pairs(covariances: Array, exponents: Array, factors: Array) -> Array:
    if covariances.ndim == 3:
        exponents = exponents[:, None] + exponents
        factors = factors[:, None] * factors
    else:
        exponents, factors = 2 * exponents, factors**2
    with np.errstate(over="ignore", under="ignore"):
        return np.asarray(np.ldexp(covariances * factors, exponents))


def distance_from_units(values: Any, scaling: PointScaling | None, power: int = 1) -> Any:
    """Convert distances (or squares of them, ``power=2``) to the columns' own units."""
    exponent = 0 if scaling is None else scaling.distance_exponent
    if not exponent:
        return values
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(values, -power * exponent)


def range_exponents(low: Array, high: Array, *, own: bool) -> Array:
    """Return exponents that bring the range of every column to where squares are exact.

    They are zero where the largest range (or with ``own``, every range) is ordinary. One exponent
    for all columns keeps their ratios; with ``own``, columns that would vanish beside others get
    exponents of their own.
    """
    varying = high > low
    # Halves: the difference of the largest and the smallest float64 overflows.
    halves = np.where(varying, np.maximum(0.5 * high - 0.5 * low, 5e-324), 0.0)
    exponents = np.zeros(len(low), np.int64)
    if not varying.any():
        return exponents
    spread = float(halves.max())
    if not 0.5 * MIN_SPREAD <= spread <= 0.5 * MAX_SPREAD:
        largest = int(np.frexp(np.maximum(np.abs(low), np.abs(high)))[1].max())
        exponents[:] = min(-int(np.frexp(spread)[1]), _MAX_VALUE_EXPONENT - largest)
    if not own or (np.ldexp(halves, exponents)[varying] >= 0.5 * MIN_SPREAD).all():
        return exponents
    extreme = varying & ~((halves >= 0.5 * MIN_SPREAD) & (halves <= 0.5 * MAX_SPREAD))
    return np.where(extreme, -np.frexp(halves)[1], 0).astype(np.int64)


def divisors_of(scale: Scale | None, moments: Any, encoding: Encoding) -> Array:
    """Return the standard deviation or range of every numeric column; 1 for the others.

    Indicators of nominal columns keep their units, in which a mismatch counts 1, as does a
    constant column.
    """
    if scale == "std":
        spread = np.sqrt(moments.variance)
    elif scale == "range":
        spread = moments.max - moments.min
    else:
        return np.ones(encoding.width)
    for column, first, end in zip(
        encoding.schema, encoding.offsets, encoding.offsets[1:], strict=False
    ):
        if column.kind is Kind.NOMINAL:
            spread[first:end] = 1.0
    return np.where((spread > 0) & (moments.max > moments.min), spread, 1.0)


class DominantColumnWarning(UserWarning):
    """One column has nearly all the variance, so that the others hardly affect distances."""


def warn_dominant_column(moments: Any, encoding: Encoding) -> None:
    """Warn of a column beside which distances hardly depend on the others.

    Of 36 tables (bundled, textbook, synthetic and external), the largest share of one column is at
    most 0.86 in 32, and from 0.983 (a weight in pounds) to 1.000 in four.
    """
    variances, offsets = moments.variance, encoding.offsets
    each = np.array([variances[a:b].sum() for a, b in pairwise(offsets)])
    if (each > 0).sum() < 2:
        return
    column = int(np.argmax(each))
    share = float(each[column] / each.sum())
    if share >= _DOMINANT_SHARE:
        percent = f"{100 * share:.3g}" if share < 0.9995 else "more than 99.9"
        warn_user(
            f"column {encoding.schema[column].name!r} has {percent} % of the variance, so that the "
            "other columns hardly affect the distances: set scale='std' or scale='range', or bring "
            "the columns to comparable units.",
            DominantColumnWarning,
        )


@dataclass(frozen=True, slots=True)
class IntegerRanges:
    """Smallest and largest value of some integer columns, as Python ints; None without values."""

    low: tuple[int | None, ...]
    high: tuple[int | None, ...]

    @classmethod
    def of(cls, batch: Batch[Chunk], columns: tuple[int, ...]) -> IntegerRanges:
        """Return the ranges in the columns' own dtype; rows of weight zero are left out."""
        chunk = batch.rows
        kept = None if chunk.weight is None else np.asarray(chunk.weight) != 0
        found = [_integer_range(chunk.table, j, kept) for j in columns]
        return cls(tuple(low for low, _ in found), tuple(high for _, high in found))

    def merge(self, other: IntegerRanges) -> IntegerRanges:
        """Return the ranges of both parts."""
        return IntegerRanges(_pick(min, self.low, other.low), _pick(max, self.high, other.high))


def _integer_range(table: Table, j: int, kept: Array | None) -> tuple[Any, Any]:
    values, missing = table.column(j), table.missing_mask(j)
    mask = np.ones(len(values), bool) if missing is None else ~missing
    values = values[mask if kept is None or kept.ndim == 0 else mask & kept]
    return (int(values.min()), int(values.max())) if len(values) else (None, None)


def _pick(choose: Any, one: tuple[Any, ...], two: tuple[Any, ...]) -> tuple[Any, ...]:
    pairs = zip(one, two, strict=True)
    return tuple(b if a is None else a if b is None else choose(a, b) for a, b in pairs)


def _as_loaded(chunk: Chunk) -> Chunk:
    """Prepare a partition: nothing is to be done."""
    return chunk


def integer_origins(
    engine: Any, partitions: Sequence[Partition], encoding: Encoding, moments: Any
) -> dict[int, int]:
    """Return the integer to subtract from each column that float64 cannot resolve.

    Keys are columns of the matrix. The exact range takes one more pass, only for integers beyond
    2^53 that are less than 2^53 apart.
    """
    schema, offsets = encoding.schema, encoding.offsets
    unresolved = {}
    for j, column in enumerate(schema):
        first = offsets[j]
        if column.kind is not Kind.NUMERIC or column.dtype not in ("int64", "uint64"):
            continue
        low, high = moments.min[first], moments.max[first]
        step = np.spacing(max(abs(low), abs(high))) if low <= high else 0.0
        if step > 1 and high - low < _EXACT_INTEGERS:
            unresolved[j] = first
    if not unresolved:
        return {}
    rows = engine.rows(partitions, _as_loaded)
    ranges = engine.reduce(rows, IntegerRanges.of, tuple(unresolved))
    return {
        first: low
        for first, low, high in zip(unresolved.values(), ranges.low, ranges.high, strict=True)
        if low is not None and low != high
    }


def with_origins(scaling: PointScaling, origins: dict[int, int]) -> PointScaling:
    """Return the scaling with integers subtracted from some columns."""
    wrapped, values = scaling.origins.copy(), scaling.origin_values.copy()
    for first, origin in origins.items():
        wrapped[first] = (origin + 2**63) % 2**64 - 2**63
        values[first] = float(origin)
    return replace(scaling, origins=wrapped, origin_values=values)

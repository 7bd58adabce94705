"""First pass over the rows of k-means and mixtures: their moments, dtype and units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.encoding import Encoding
from ceiba.data.source import Source
from ceiba.engine import Engine
from ceiba.stats import Moments, ToPoints
from ceiba.stats.points import squares_fit
from ceiba.stats.scaling import (
    PointScaling,
    Scale,
    divisors_of,
    integer_origins,
    range_exponents,
    with_origins,
)

# Function that extends the range of moments, in the units of a scaling.
Extend = Callable[[Moments, PointScaling], Moments]


def summarize_points(
    engine: Engine,
    source: Source,
    extend: Extend = lambda moments, scaling: moments,
    *,
    scale: Scale | None = None,
    own_exponents: bool = False,
) -> tuple[Any, Moments, PointScaling | None]:
    """Make the first pass: return the rows as numbered points, their moments and their units.

    Squared distances neither overflow nor underflow in the dtype and the units of the points, also
    to the points by which ``extend`` extends the range of the moments. ``scale`` divides numeric
    columns by their standard deviation or range; ``own_exponents`` allows a power of two per column
    where one for all is not enough. Raise for columns without any value.
    """
    partitions, encoding = source.partitions, Encoding.of(source.schema)
    rows, moments = _reduce_moments(engine, partitions, None)
    scaling = PointScaling.identity(encoding.width)
    origins = integer_origins(engine, partitions, encoding, moments)
    if origins:
        scaling = with_origins(scaling, origins)
        rows, moments = _reduce_moments(engine, partitions, scaling)
    whole = extend(moments, scaling)
    _check_columns(moments, encoding)
    own = own_exponents or scale is not None
    exponents = range_exponents(whole.min, whole.max, own=own)
    if exponents.any():
        scaling = replace(scaling, exponents=exponents)
        rows, moments = _reduce_moments(engine, partitions, scaling)
    if scale is not None:
        divisors = divisors_of(scale, moments, encoding)
        scaling = replace(scaling, divisors=divisors, scaled=True)
        moments = moments.divided(divisors)
        dtype = point_dtype(extend(moments, scaling), encoding)
        rows = engine.rows(partitions, ToPoints(dtype, scaling=scaling))
    elif scaling.is_identity and point_dtype(whole, encoding) is not None:
        rows, moments = _reduce_moments(engine, partitions, None, "float64")
    return rows.numbered(moments.rows), moments, None if scaling.is_identity else scaling


def summarize_batch(
    engine: Engine,
    source: Source,
    scaling: PointScaling | None,
    centers: Array | None = None,
) -> tuple[Any, Moments]:
    """Return a later batch of rows as numbered points in the units of the first, and its moments.

    Columns may miss all values. The dtype of the points can hold squared distances to ``centers``.
    """
    rows, moments = _reduce_moments(engine, source.partitions, scaling)
    whole = moments if centers is None else moments.extended_to(centers)
    if point_dtype(whole, Encoding.of(source.schema)) is not None:
        rows, moments = _reduce_moments(engine, source.partitions, scaling, "float64")
    return rows.numbered(moments.rows), moments


def _reduce_moments(
    engine: Engine, partitions: Any, scaling: PointScaling | None, dtype: str | None = None
) -> tuple[Any, Moments]:
    rows = engine.rows(partitions, ToPoints(dtype, scaling=scaling))
    moments = engine.reduce(rows, Moments.of)
    if moments.n_rows == 0:
        raise ValueError(
            "every row has weight zero: give at least one row a positive sample_weight."
        )
    return rows, moments


def point_dtype(moments: Moments, encoding: Encoding) -> str | None:
    """Return the dtype that points of these moments need; None where the columns' own does."""
    if encoding.dtype == "float64" or squares_fit(moments.spread, encoding.dtype):
        return None
    return "float64"


def _check_columns(moments: Moments, encoding: Encoding) -> None:
    if not moments.weight.all():
        name = encoding.names[int(np.argmin(moments.weight))]
        raise ValueError(f"column {name!r} has no value in any row: drop the column.")

"""First pass of a learner that measures distances: rows as points and their moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ceiba.data.encoding import Encoding
from ceiba.data.source import Source
from ceiba.engine import Engine
from ceiba.stats import Moments, ToPoints
from ceiba.stats.points import squares_fit


def summarize_points(
    engine: Engine,
    source: Source,
    extend: Callable[[Moments], Moments] = lambda moments: moments,
    *,
    check_values: bool = True,
) -> tuple[Any, Moments]:
    """Return the rows as numbered points, and their moments.

    Parameters
    ----------
    engine : Engine
    source : Source
    extend : callable
        Extends the range of the moments by other points that distances are taken to.
    check_values : bool
        Whether to raise for columns without any value, and for integers that floats cannot
        represent.

    Returns
    -------
    rows
        Points of a dtype in which squared distances neither overflow nor underflow.
    moments : Moments
    """
    partitions = source.partitions
    rows = engine.rows(partitions, ToPoints())
    moments = engine.reduce(rows, Moments.of)
    if moments.n_rows == 0:
        raise ValueError(
            "every row has weight zero: give at least one row a positive sample_weight."
        )
    encoding = Encoding.of(source.schema)
    dtype = point_dtype(extend(moments), encoding)
    if dtype is not None:
        rows = engine.rows(partitions, ToPoints(dtype))
        moments = engine.reduce(rows, Moments.of)
    if check_values:
        _check_columns(moments, encoding)
    return rows.numbered(moments.rows), moments


def point_dtype(moments: Moments, encoding: Encoding) -> str | None:
    """Return the dtype that points of these moments need; None where the columns' own does."""
    return None if squares_fit(moments.spread, encoding.dtype) else "float64"


def _check_columns(moments: Moments, encoding: Encoding) -> None:
    if not moments.weight.all():
        name = encoding.names[int(np.argmin(moments.weight))]
        raise ValueError(f"column {name!r} has no value in any row: drop the column.")
    encoding.check_resolution(moments.min, moments.max)

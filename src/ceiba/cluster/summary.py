"""The first pass of a learner that measures distances: how many rows, where they lie."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ceiba.data.encoding import Encoding
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.engine import Engine
from ceiba.stats import Moments, ToPoints
from ceiba.stats.rows import suits


def survey(
    engine: Engine,
    source: Source,
    reaching: Callable[[Moments], Moments] = lambda moments: moments,
) -> tuple[Any, Moments]:
    """The rows as points, numbered, and their moments.

    Parameters
    ----------
    reaching : callable
        The moments with a range that takes in what else distances are taken to.

    Returns
    -------
    rows
        Of a type that can hold the distances.
    moments : Moments
    """
    rows = engine.rows(source.partitions, ToPoints())
    moments = engine.reduce(rows, Moments.of)
    if moments.n_rows == 0:
        raise ValueError("every row has weight zero: there is nothing to learn from")
    dtype = point_type(reaching(moments), source.schema)
    if dtype is not None:
        rows = engine.rows(source.partitions, ToPoints(dtype))
        moments = engine.reduce(rows, Moments.of)
    return rows.numbered(moments.rows), moments


def point_type(moments: Moments, schema: Schema) -> str | None:
    """The type that points of these moments need; None where the columns' own will do."""
    return None if suits(moments.spread, Encoding.of(schema).dtype) else "float64"


def check_columns(moments: Moments, source: Source) -> None:
    """Refuse columns without any value, and whole numbers that floats cannot tell apart."""
    encoding = Encoding.of(source.schema)
    if not moments.weight.all():
        name = encoding.names[int(np.argmin(moments.weight))]
        raise ValueError(f"column {name!r} has no value in any row: leave it out")
    encoding.check_whole_numbers(moments.least, moments.most)

"""The kinds of rows that statistics summarize: how they are generated, sliced and repeated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.stats import Points, ToLabeledRows


@dataclass(frozen=True)
class RowKind:
    """One kind of rows.

    Parameters
    ----------
    rows : strategy
        Draws some rows.
    size : callable
        The number of rows.
    slice : callable
        The rows from one number up to another, which may be none.
    repeat : callable
        The rows, so many times over.
    ready : callable
        What a learner's ``prepare`` makes of rows: the batch that is summarized.
    """

    rows: st.SearchStrategy[Any]
    size: Callable[[Any], int]
    slice: Callable[[Any, int, int], Any]
    repeat: Callable[[Any, int], Any]
    ready: Callable[[Any], Any] = lambda rows: rows


# Ties, constant columns, whole numbers and any float of a common size.
VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3))
WEIGHTS = st.one_of(st.integers(1, 3).map(float), st.floats(0.01, 100.0))


# Points


@st.composite
def points(draw: st.DrawFn) -> Points:
    """Points with or without weights and missing values; every row has a value."""
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 5))
    X = draw(arrays(np.float64, (n, d), elements=VALUES))
    if d > 1 and draw(st.booleans()):
        X[draw(arrays(bool, (n, d))) & (np.arange(d) > 0)] = np.nan
    weights = draw(arrays(np.float64, n, elements=WEIGHTS)) if draw(st.booleans()) else None
    return Points(X, weights)


def _slice_points(rows: Points, begin: int, end: int) -> Points:
    weight = None if rows.weight is None else rows.weight[begin:end]
    return Points(rows.X[begin:end], weight)


def _repeat_points(rows: Points, times: int) -> Points:
    weight = None if rows.weight is None else np.tile(rows.weight, times)
    return Points(np.tile(rows.X, (times, 1)), weight)


POINTS = RowKind(points(), lambda rows: len(rows.X), _slice_points, _repeat_points)


# Labeled rows: drawn as chunks, so that slicing them is what partitions do to a target


@st.composite
def chunks(draw: st.DrawFn, targets: Callable[[int], st.SearchStrategy[Any]]) -> Chunk:
    """Two columns and a target; weights may be there and some of them zero."""
    n = draw(st.integers(1, 40))
    table = Table.of(draw(arrays(np.float64, (n, 2), elements=VALUES)))
    weight = None
    if draw(st.booleans()):
        weight = draw(arrays(np.float64, n, elements=st.one_of(st.just(0.0), WEIGHTS)))
    return Chunk(table, draw(targets(n)), weight)


def _classes(n: int) -> st.SearchStrategy[Any]:
    return st.one_of(
        arrays(np.int64, n, elements=st.integers(2**60, 2**60 + 4)),
        arrays(np.int8, n),
        arrays(np.bool_, n),
        arrays(np.float32, n, elements=st.sampled_from([-1.0, -0.0, 0.0, 2.0**30])),
        arrays("<U4", n, elements=st.sampled_from(["b", "a", "abcd", ""])),
        arrays(object, n, elements=st.sampled_from(["b", "a", "abcd", ""])),
    )


def _measures(n: int) -> st.SearchStrategy[Any]:
    zeros = st.sampled_from([0.0, -0.0])
    return st.one_of(
        arrays(np.float64, n, elements=st.one_of(zeros, st.floats(-1e300, 1e300))),
        arrays(np.int32, n),
    )


def _slice_chunk(rows: Chunk, begin: int, end: int) -> Chunk:
    weight = None if rows.weight is None else rows.weight[begin:end]
    return Chunk(rows.table.take(slice(begin, end)), rows.target[begin:end], weight)


def _repeat_chunk(rows: Chunk, times: int) -> Chunk:
    again = np.tile(np.arange(len(rows.table)), times)
    weight = None if rows.weight is None else rows.weight[again]
    return Chunk(rows.table.take(again), rows.target[again], weight)


def labeled(task: Any, targets: Callable[[int], st.SearchStrategy[Any]]) -> RowKind:
    """Rows with a target of some task."""
    return RowKind(
        chunks(targets),
        lambda rows: len(rows.table),
        _slice_chunk,
        _repeat_chunk,
        ToLabeledRows(task),
    )


CLASSIFIED = labeled("classification", _classes)
MEASURED = labeled("regression", _measures)


# Chunks of mixed columns, as a schema is inferred from them


@st.composite
def mixed_chunks(draw: st.DrawFn) -> Chunk:
    """A numeric and a nominal column, with missing values."""
    n = draw(st.integers(1, 20))
    numbers = draw(st.lists(st.one_of(st.none(), VALUES), min_size=n, max_size=n))
    words = draw(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=n, max_size=n))
    pairs = zip(numbers, words, strict=True)
    return Chunk(Table.of([{"number": a, "word": b} for a, b in pairs], kinds=MIXED_KINDS))


MIXED_KINDS = {"number": "numeric", "word": "nominal"}


def _slice_mixed(rows: Chunk, begin: int, end: int) -> Chunk:
    # Engines skip empty partitions; a row of missing values has no effect on a schema either.
    if begin == end:
        return Chunk(Table.of([{"number": None, "word": None}], kinds=MIXED_KINDS))
    # Categories are inferred again from the slice, as they are from a partition.
    taken = rows.table.take(slice(begin, end))
    return Chunk(Table.of(taken.to_pandas(), kinds=MIXED_KINDS))


def _repeat_mixed(rows: Chunk, times: int) -> Chunk:
    return Chunk(rows.table.take(np.tile(np.arange(len(rows.table)), times)))


MIXED_CHUNKS = RowKind(
    mixed_chunks(),
    lambda rows: len(rows.table),
    _slice_mixed,
    _repeat_mixed,
    attrgetter("table"),
)

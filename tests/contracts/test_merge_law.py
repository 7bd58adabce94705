"""The merge law: the statistic of all rows is the merged statistic of their parts."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from cases import STATISTICS, StatisticCase, assert_alike
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ceiba.engine import Batch
from ceiba.stats import Points

# Ties, constant columns, whole numbers and any float of a common size.
VALUES = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e3, 1e3))


@st.composite
def tables(draw: st.DrawFn, gaps: bool) -> Points:
    """Points with or without weights and gaps; every row has a value."""
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 5))
    X = draw(arrays(np.float64, (n, d), elements=VALUES))
    if gaps and d > 1 and draw(st.booleans()):
        X[draw(arrays(bool, (n, d))) & (np.arange(d) > 0)] = np.nan
    weight = st.one_of(st.integers(1, 3).map(float), st.floats(0.01, 100.0))
    weights = draw(arrays(np.float64, n, elements=weight)) if draw(st.booleans()) else None
    return Points(X, weights)


def part(points: Points, begin: int, end: int) -> Batch[Points]:
    weight = None if points.weight is None else points.weight[begin:end]
    return Batch(Points(points.X[begin:end], weight), begin)


def summaries(case: StatisticCase, points: Points, cuts: list[int]) -> list[Any]:
    model = case.model(points)
    return [case.summarise(part(points, a, b), *model) for a, b in pairwise(cuts)]


cases = pytest.mark.parametrize("case", STATISTICS, ids=lambda case: case.name)


@cases
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_parts_tell_what_the_whole_tells(case: StatisticCase, data: st.DataObject) -> None:
    points = data.draw(tables(case.gaps))
    n = len(points.X)
    # Equal cuts make parts without rows: rows of weight zero can leave such.
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    parts = summaries(case, points, [0, *cuts, n])
    (whole,) = summaries(case, points, [0, n])
    merged = reduce(lambda a, b: a.merge(b), parts)
    assert_alike(case.seen(merged), case.seen(whole))


@cases
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_merging_is_associative(case: StatisticCase, data: st.DataObject) -> None:
    points = data.draw(tables(case.gaps))
    n = len(points.X)
    cuts = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    a, b, c = summaries(case, points, [0, *cuts, n])
    assert_alike(case.seen(a.merge(b).merge(c)), case.seen(a.merge(b.merge(c))))


@cases
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_part_without_rows_changes_nothing(case: StatisticCase, data: st.DataObject) -> None:
    points = data.draw(tables(case.gaps))
    n = len(points.X)
    nothing, whole, nothing_more = summaries(case, points, [0, 0, n, n])
    assert_alike(case.seen(nothing.merge(whole)), case.seen(whole), close=0)
    assert_alike(case.seen(whole.merge(nothing_more)), case.seen(whole), close=0)


@cases
@settings(max_examples=15, deadline=None)
@given(data=st.data(), threads=st.integers(2, 3))
def test_threads_change_no_bit(case: StatisticCase, data: st.DataObject, threads: int) -> None:
    points = data.draw(tables(case.gaps))
    many = 300  # the same rows again and again, so that there is work for every thread
    weight = None if points.weight is None else np.tile(points.weight, many)
    points = Points(np.tile(points.X, (many, 1)), weight)
    model = case.model(points)
    one, more = (case.summarise(Batch(points, 0, t), *model) for t in (1, threads))
    assert_alike(more, one, close=0)

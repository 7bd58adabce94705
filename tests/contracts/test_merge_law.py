"""The merge law: the statistic of all rows is the merged statistic of their parts."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba.engine import Batch
from tests.contracts.cases import STATISTICS, StatisticCase, assert_alike


def summaries(case: StatisticCase, rows: Any, cuts: list[int]) -> list[Any]:
    kind = case.kind
    model = case.model(kind.ready(rows))
    parts = ((kind.ready(kind.cut(rows, a, b)), a) for a, b in pairwise(cuts))
    return [case.summarise(Batch(part, first), *model) for part, first in parts]


cases = pytest.mark.parametrize("case", STATISTICS, ids=lambda case: case.name)


@cases
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_parts_tell_what_the_whole_tells(case: StatisticCase, data: st.DataObject) -> None:
    rows = data.draw(case.kind.rows)
    n = case.kind.size(rows)
    # Equal cuts make parts without rows: rows of weight zero can leave such.
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    parts = summaries(case, rows, [0, *cuts, n])
    (whole,) = summaries(case, rows, [0, n])
    merged = reduce(lambda a, b: a.merge(b), parts)
    assert_alike(case.seen(merged), case.seen(whole), case.close)


@cases
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_merging_is_associative(case: StatisticCase, data: st.DataObject) -> None:
    rows = data.draw(case.kind.rows)
    n = case.kind.size(rows)
    cuts = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    a, b, c = summaries(case, rows, [0, *cuts, n])
    assert_alike(case.seen(a.merge(b).merge(c)), case.seen(a.merge(b.merge(c))), case.close)


@cases
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_a_part_without_rows_changes_nothing(case: StatisticCase, data: st.DataObject) -> None:
    rows = data.draw(case.kind.rows)
    n = case.kind.size(rows)
    nothing, whole, nothing_more = summaries(case, rows, [0, 0, n, n])
    assert_alike(case.seen(nothing.merge(whole)), case.seen(whole), close=0)
    assert_alike(case.seen(whole.merge(nothing_more)), case.seen(whole), close=0)


@cases
@settings(max_examples=15, deadline=None)
@given(data=st.data(), threads=st.integers(2, 3))
def test_threads_change_no_bit(case: StatisticCase, data: st.DataObject, threads: int) -> None:
    # The same rows again and again, so that there is work for every thread.
    rows = case.kind.ready(case.kind.repeat(data.draw(case.kind.rows), 300))
    model = case.model(rows)
    one, more = (case.summarise(Batch(rows, 0, t), *model) for t in (1, threads))
    assert_alike(more, one, close=0)

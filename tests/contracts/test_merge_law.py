"""The merge law: the statistic of all rows is the merged statistic of their parts."""

from __future__ import annotations

from functools import reduce
from importlib import import_module
from itertools import pairwise
from pkgutil import walk_packages
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ceiba
from ceiba.engine import Batch
from ceiba.engine.contract import RowResults, is_exact
from tests.budget import examples
from tests.contracts.cases import STATISTICS, StatisticCase, assert_alike


def summaries(case: StatisticCase, rows: Any, bounds: list[int]) -> list[Any]:
    kind = case.kind
    model = case.model(kind.ready(rows))
    parts = ((kind.ready(kind.slice(rows, a, b)), a) for a, b in pairwise(bounds))
    return [case.summarize(Batch(part, first), *model) for part, first in parts]


cases = pytest.mark.parametrize("case", STATISTICS, ids=lambda case: case.name)


@cases
@examples(30)
@given(data=st.data())
def test_merged_parts_equal_the_whole(case: StatisticCase, data: st.DataObject) -> None:
    rows = data.draw(case.kind.rows)
    n = case.kind.size(rows)
    # Equal bounds make parts without rows: rows of weight zero can leave such.
    bounds = sorted(data.draw(st.lists(st.integers(0, n), max_size=6)))
    parts = summaries(case, rows, [0, *bounds, n])
    (whole,) = summaries(case, rows, [0, n])
    merged = reduce(lambda a, b: a.merge(b), parts)
    assert_alike(case.seen(merged), case.seen(whole), case.close)


@cases
@examples(30)
@given(data=st.data())
def test_merging_is_associative(case: StatisticCase, data: st.DataObject) -> None:
    rows = data.draw(case.kind.rows)
    n = case.kind.size(rows)
    bounds = sorted(data.draw(st.tuples(st.integers(0, n), st.integers(0, n))))
    a, b, c = summaries(case, rows, [0, *bounds, n])
    assert_alike(case.seen(a.merge(b).merge(c)), case.seen(a.merge(b.merge(c))), case.close)


@cases
@examples(15)
@given(data=st.data())
def test_a_part_without_rows_changes_nothing(case: StatisticCase, data: st.DataObject) -> None:
    rows = data.draw(case.kind.rows)
    n = case.kind.size(rows)
    nothing, whole, nothing_more = summaries(case, rows, [0, 0, n, n])
    assert_alike(case.seen(nothing.merge(whole)), case.seen(whole), close=0)
    assert_alike(case.seen(whole.merge(nothing_more)), case.seen(whole), close=0)


@pytest.mark.parametrize(
    "case", [case for case in STATISTICS if is_exact(case.summarize)], ids=lambda case: case.name
)
@examples(15)
@given(data=st.data())
def test_exact_statistics_take_parts_in_any_order(case: StatisticCase, data: st.DataObject) -> None:
    rows = data.draw(case.kind.rows)
    n, kind = case.kind.size(rows), case.kind
    model = case.model(kind.ready(rows))
    bounds = [0, *sorted(data.draw(st.lists(st.integers(0, n), max_size=4))), n]
    parts = data.draw(st.permutations(list(pairwise(bounds))))
    batches = [Batch(kind.ready(kind.slice(rows, a, b)), a) for a, b in parts]
    total = case.summarize(batches[0], *model)
    for batch in batches[1:]:
        total.add(batch, *model)
    (whole,) = summaries(case, rows, [0, n])
    assert_alike(total, whole, close=0)


@cases
@examples(15)
@given(data=st.data(), threads=st.integers(2, 3))
def test_threads_change_no_bit(case: StatisticCase, data: st.DataObject, threads: int) -> None:
    # The same rows again and again, so that there is work for every thread.
    rows = case.kind.ready(case.kind.repeat(data.draw(case.kind.rows), 300))
    model = case.model(rows)
    one, more = (case.summarize(Batch(rows, 0, t), *model) for t in (1, threads))
    assert_alike(more, one, close=0)


def test_every_statistic_is_under_the_merge_law() -> None:
    """A class with ``of`` and ``merge`` is a statistic; its case begins with its name."""
    named = {case.name.split()[0] for case in STATISTICS}
    missing = [name for name in statistics() if name not in named]
    assert missing == []


def statistics() -> list[str]:
    """Return the names of all statistics of the package."""
    names = set()
    for info in walk_packages(ceiba.__path__, "ceiba."):
        if not info.name.startswith(("ceiba.compat", "ceiba.plots", "ceiba.data")):
            for name, thing in vars(import_module(info.name)).items():
                own = isinstance(thing, type) and thing.__module__ == info.name
                if own and {"of", "merge"} <= set(dir(thing)) and thing is not RowResults:
                    names.add(name)
    return sorted(names)

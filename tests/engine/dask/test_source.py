"""What partitions hold, found part by part."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba.data import categories as vocabulary
from ceiba.data.table import Table
from ceiba.engine import Batch
from ceiba.engine.dask import source as source_module
from ceiba.engine.dask.source import SchemaSummary


def found(*values: Any, **kinds: Any) -> SchemaSummary:
    return SchemaSummary.of(Batch(Table.of([{"a": v} for v in values], kinds=kinds)))


@given(st.lists(st.sampled_from(["x", "y", "z", None]), min_size=2), st.data())
def test_parts_tell_what_the_whole_tells(words: list[str | None], data: Any) -> None:
    end = data.draw(st.integers(1, len(words) - 1))
    assert found(*words[:end]).merge(found(*words[end:])) == found(*words)


@pytest.mark.parametrize(
    ("left", "right", "dtype"),
    [([1], [2], "int64"), ([1], [2.5], "float64"), ([None], [2], "int64"), ([1], [None], "int64")],
)
def test_number_types_are_widened(left: list[Any], right: list[Any], dtype: str) -> None:
    assert found(*left).merge(found(*right)).schema[0].dtype == dtype


def test_a_column_of_missing_values_takes_the_kind_of_the_others() -> None:
    for merged in (found(None).merge(found("x")), found("x").merge(found(None))):
        assert merged.schema == found("x").schema
        assert merged.all_missing == (False,)


def test_different_kinds_are_refused() -> None:
    with pytest.raises(
        ValueError, match="Column 'a' must have one kind, got numeric in one partition and nominal"
    ):
        found(1).merge(found("x"))


def test_times_and_numbers_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"Column 'a' must have one dtype, got datetime64\[ns\] in one partition"
    ):
        found(np.datetime64("2020-01-01")).merge(found(1))


def test_ordinal_numbers_are_united_in_order() -> None:
    merged = found(3, 1, a="ordinal").merge(found(2, a="ordinal"))
    assert merged.schema[0].categories == (1, 2, 3)


def test_ordinal_texts_must_agree() -> None:
    pd = pytest.importorskip("pandas")
    sizes = [
        Table.of(pd.DataFrame({"a": pd.Categorical(categories[:1], categories, ordered=True)}))
        for categories in (["S", "L"], ["L", "S"])
    ]
    one, other = (SchemaSummary.of(Batch(table)) for table in sizes)
    assert one.merge(one).schema == one.schema
    with pytest.raises(ValueError, match="ordinal column 'a' must have the same categories"):
        one.merge(other)


def test_too_many_labels_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert source_module.MAX_CATEGORIES == vocabulary.MAX_CATEGORIES == 100_000
    monkeypatch.setattr(source_module, "MAX_CATEGORIES", 3)
    with pytest.raises(ValueError, match="'a' must have at most 3 categories"):
        found("x", "y").merge(found("z", "w"))
    with pytest.raises(ValueError, match="identifier"):
        found("x", "y", "z", "w")

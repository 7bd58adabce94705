"""The shape in which statistics are merged depends on the number of partitions alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba.engine.merging import MAX_GROUPS, PartialMerge, merge_in_order


@dataclass(frozen=True)
class Shape:
    """The merges themselves: nested pairs of the indices of partitions."""

    pairs: Any

    def merge(self, other: Shape) -> Shape:
        return Shape((self.pairs, other.pairs))


def naive(indices: list[int], size: int) -> Any:
    """The shape in words: groups of neighbors from the left, then the groups from the left."""

    def fold(parts: list[Any]) -> Any:
        merged = parts[0]
        for part in parts[1:]:
            merged = (merged, part)
        return merged

    groups: dict[int, list[int]] = {}
    for index in indices:
        groups.setdefault(index // size, []).append(index)
    return fold([fold(group) for group in groups.values()])


@given(
    n=st.sampled_from([1, 2, MAX_GROUPS, MAX_GROUPS + 1, 130, 300]),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_order_and_any_parts_give_one_shape(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    filled = rng.random(n) < rng.choice([0.2, 1.0])
    filled[rng.integers(n)] = True
    parts: list[PartialMerge[Shape]] = [PartialMerge(n) for _ in range(4)]
    for index in rng.permutation(n).tolist():
        parts[rng.integers(4)].add(index, Shape(index) if filled[index] else None)
    for other in parts[1:]:
        parts[0].update(other)
    expected = naive(np.flatnonzero(filled).tolist(), -(-n // MAX_GROUPS))
    assert parts[0].result().pairs == expected
    assert parts[0].empty == set(np.flatnonzero(~filled).tolist())
    in_order = merge_in_order((Shape(i) if filled[i] else None for i in range(n)), n)
    assert in_order.pairs == expected


def test_few_statistics_are_left_in_order() -> None:
    """What is kept while partitions arrive in order: all groups before, and the current one."""
    merged: PartialMerge[Shape] = PartialMerge(1000)
    for index in range(1000):
        merged.add(index, Shape(index))
        assert len(merged) <= 2
    assert len(merged) == 1


def test_neighbors_merge_before_the_rest_arrives() -> None:
    merged: PartialMerge[Shape] = PartialMerge(640)  # groups of ten
    for index in range(20, 40):
        merged.add(index, Shape(index))
    assert len(merged) == 2


@pytest.mark.parametrize("n", [0, 3])
def test_no_rows_are_refused(n: int) -> None:
    with pytest.raises(ValueError, match="got partitions without rows only"):
        merge_in_order([None] * n, n)

"""Rows, their numbering, the merge_in_order and the naming of errors."""

from __future__ import annotations

import pytest

from ceiba.engine import PartitionError, Rows
from ceiba.engine.contract import name_partition
from ceiba.engine.merging import merge_in_order
from tests.engine.parts import Listing, column, parts


def test_numbering_follows_the_counts() -> None:
    rows = Rows(parts([[1.0, 2.0], [3.0], [4.0]]), column).numbered([2, 1, 1])
    assert rows.first_rows == (0, 2, 3)
    assert rows.summary(2, Listing.of) == Listing(((3, 4.0),), (1,))


def test_numbering_takes_the_counts_of_partitions_with_rows() -> None:
    rows = Rows(parts([[], [1.0, 2.0], [], [3.0]]), column)
    counts = merge_in_order((rows.summary(index, Listing.of) for index in range(4)), 4).lengths
    assert counts == (2, 1)
    assert rows.numbered(counts).first_rows == (0, 0, 2, 2)


def test_wrong_number_of_counts_is_refused() -> None:
    with pytest.raises(ValueError, match="each of the 2 partitions with rows, got 3"):
        Rows(parts([[1.0], [2.0]]), column).numbered([1, 1, 1])


def test_fold_merges_from_the_left_and_passes_over_nothing() -> None:
    a, b = Listing(((0, 1.0),), (1,)), Listing(((0, 2.0),), (1,))
    assert merge_in_order([None, a, None, b], 4).values == [1.0, 2.0]


def test_fold_of_no_rows_is_refused() -> None:
    with pytest.raises(ValueError, match="got partitions without rows only"):
        merge_in_order([None, None], 2)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("bad"), ValueError),
        (OSError("gone"), PartitionError),
        (PartitionError("partition b: gone"), PartitionError),
    ],
)
def test_an_error_has_the_name_of_its_partition(error: Exception, kind: type[Exception]) -> None:
    named = name_partition("b", error)
    assert type(named) is kind
    assert str(named).count("partition b: ") == 1

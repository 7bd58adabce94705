"""Merge the statistics of partitions in row order, in a shape that their number determines."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Generic, TypeVar

from ceiba.engine.contract import ExactStatistic, S

E = TypeVar("E", bound=ExactStatistic)

# Up to this number of partitions are merged one by one, from the left. More of them are merged in
# groups of neighbors first: a statistic that grows with its rows is then copied as often as its
# group has partitions, and not as often as there are partitions.
MAX_GROUPS = 64


class PartialMerge(Generic[S]):
    """Statistics of some partitions, merged as far as the fixed shape allows.

    Consecutive partitions form up to 64 groups of equal size. Each group is merged from the left,
    and so are the groups. The shape depends on nothing but the number of partitions, so the result
    is the same, bit for bit, in whatever order and in whatever parts the partitions arrive.

    Parameters
    ----------
    n_partitions : int
        Number of all partitions, with or without rows.

    Examples
    --------
    >>> from ceiba.engine.contract import RowResults
    >>> from ceiba.engine.merging import PartialMerge
    >>> first, rest = PartialMerge(3), PartialMerge(3)
    >>> rest.add(2, RowResults(("c",)))
    >>> rest.add(1, None)
    >>> first.add(0, RowResults(("a",)))
    >>> first.update(rest)
    >>> first.result().parts, first.empty
    (('a', 'c'), {1})
    """

    __slots__ = ("_group", "_runs", "empty", "n_partitions")

    def __init__(self, n_partitions: int) -> None:
        self.n_partitions = n_partitions
        self.empty: set[int] = set()
        self._group = max(1, -(-n_partitions // MAX_GROUPS))
        # The merged statistic of the partitions from ``start`` to ``stop``, by start.
        self._runs: dict[int, tuple[int, S | None]] = {}

    def __len__(self) -> int:
        """Return the number of statistics that could not be merged further."""
        return len(self._runs)

    def add(self, index: int, statistic: S | None) -> None:
        """Add the statistic of one partition; None if it has no rows."""
        if statistic is None:
            self.empty.add(index)
        self._insert(index, index + 1, statistic)

    def update(self, other: PartialMerge[S]) -> None:
        """Add the statistics of other partitions."""
        self.empty |= other.empty
        for start, (stop, statistic) in other._runs.items():
            self._insert(start, stop, statistic)

    def result(self) -> S:
        """Return the statistic of all partitions; raise if none has rows."""
        ((stop, statistic),) = self._runs.values()
        assert stop == self.n_partitions
        return require_statistic(statistic)

    def _insert(self, start: int, stop: int, statistic: S | None) -> None:
        self._runs[start] = stop, statistic
        first = start - start % self._group
        self._extend(first, self._group_end(first))
        # Whole groups follow one another from the first partition on.
        while 0 in self._runs:
            end = self._runs[0][0]
            following = self._runs.get(end)
            if end % self._group or following is None or following[0] != self._group_end(end):
                return
            self._extend(0, following[0])

    def _group_end(self, first: int) -> int:
        return min(first + self._group, self.n_partitions)

    def _extend(self, first: int, end: int) -> None:
        """Merge the run that starts at ``first`` with those that follow it, up to ``end``."""
        if first not in self._runs:
            return
        stop, merged = self._runs[first]
        while stop < end and stop in self._runs:
            stop, statistic = self._runs.pop(stop)
            if merged is None:
                merged = statistic
            elif statistic is not None:
                merged = merged.merge(statistic)
        self._runs[first] = stop, merged


class TotalMerge(Generic[E]):
    """Statistics of integers of some partitions, merged at once: their order does not matter.

    It is used like `PartialMerge`.
    """

    __slots__ = ("empty", "n_partitions", "total")

    def __init__(self, n_partitions: int) -> None:
        self.n_partitions = n_partitions
        self.empty: set[int] = set()
        self.total: E | None = None

    def __len__(self) -> int:
        """Return the number of statistics."""
        return 0 if self.total is None else 1

    def update(self, other: TotalMerge[E]) -> None:
        """Add the statistics of other partitions."""
        self.empty |= other.empty
        if self.total is None:
            self.total = other.total
        elif other.total is not None:
            self.total = self.total.merge(other.total)

    def result(self) -> E:
        """Return the statistic of all partitions; raise if none has rows."""
        return require_statistic(self.total)


def merge_in_order(statistics: Iterable[S | None], n_partitions: int) -> S:
    """Merge the statistics of all partitions, in order; None for a partition without rows."""
    merged: PartialMerge[S] = PartialMerge(n_partitions)
    for index, statistic in enumerate(statistics):
        merged.add(index, statistic)
    return merged.result() if len(merged) else require_statistic(None)


def require_statistic(statistic: S | None) -> S:
    """Return the statistic; raise if it is None because no partition has rows."""
    if statistic is None:
        raise ValueError("X must have at least one row, got partitions without rows only.")
    return statistic

"""The engine contract: reduce over partitions, map over tasks.

A learner is written once against these two verbs::

    statistic = engine.reduce(rows, Statistic.of, model)    # pure, per partition, merged in order
    model = statistic.solve(model)                           # pure in the merged statistic

and the engine decides where the partitions live.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

from ceiba.data.source import Chunk, Partition

P = TypeVar("P")
T = TypeVar("T")
R = TypeVar("R")


class Statistic(Protocol):
    """What a partition is summarised by. ``merge`` is associative: s(A).merge(s(B)) = s(A ∪ B)."""

    def merge(self, other: Self) -> Self:
        """The statistic of both parts' rows; ``self`` comes first in row order."""
        ...


S = TypeVar("S", bound=Statistic)


@dataclass(slots=True)
class Batch(Generic[P]):
    """One partition's rows as the learner prepared them, and where they stand.

    Parameters
    ----------
    rows : P
        What the learner's ``prepare`` made of the partition.
    first_row : int
        Global number of its first row: random draws are keyed by it, never by partition.
    threads : int
        How many threads the summary of this batch may use.
    scratch : dict
        Row state cached beside its partition (bounds, labels); a summary must give the same
        result, to rounding, without it.

    Attributes
    ----------
    keeps : bool
        Whether the scratch lives from one reduction to the next, as on the local engine.
    """

    keeps: ClassVar[bool] = False

    rows: P
    first_row: int = 0
    threads: int = 1
    scratch: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rows(Generic[P]):
    """Partitions, how to prepare them, and the global number of each one's first row.

    A partition without rows (common after a filter) is passed over by every reduction: a summary
    never sees it. Reductions note such places in ``empty``, so that `numbered` can be given the
    counts of the others alone.
    """

    partitions: Sequence[Partition]
    prepare: Callable[[Chunk], P]
    first_rows: tuple[int, ...] | None = None
    empty: set[int] = field(default_factory=set)

    def numbered(self, counts: Sequence[int]) -> Rows[P]:
        """The same rows with global numbers, from the row count of each partition with rows."""
        filled = [place for place in range(len(self.partitions)) if place not in self.empty]
        if len(counts) != len(filled):
            raise ValueError(f"{len(counts)} row counts for {len(filled)} partitions with rows")
        lengths = dict(zip(filled, counts, strict=True))
        every = (lengths.get(place, 0) for place in range(len(self.partitions)))
        return replace(self, first_rows=(0, *accumulate(every))[:-1])

    def forget(self) -> None:
        """Drop row state kept from earlier reductions: there is none where nothing is kept."""

    def first_row(self, place: int) -> int:
        """Global number of the first row of partition ``place``; 0 before they are numbered."""
        return 0 if self.first_rows is None else self.first_rows[place]

    def summary(self, place: int, summarise: Callable[..., S], *model: Any) -> S | None:
        """Load partition ``place`` and summarise it (None without rows); an error names it."""
        partition = self.partitions[place]
        try:
            chunk = partition.load()
            if len(chunk.table) == 0:
                self.empty.add(place)
                return None
            return summarise(Batch(self.prepare(chunk), self.first_row(place)), *model)
        except Exception as error:
            raise partition_error(partition.name, error) from error


def fold(statistics: Iterable[S | None]) -> S:
    """Merge from the left, in the order given; ``None`` stands for a partition without rows."""
    merged: S | None = None
    for statistic in statistics:
        if statistic is not None:
            merged = statistic if merged is None else merged.merge(statistic)
    if merged is None:
        raise ValueError("there are no rows: every partition is empty")
    return merged


class PartitionError(RuntimeError):
    """A partition could not be loaded or summarised; the message names it."""


def partition_error(name: str, error: Exception) -> Exception:
    """``error`` told with the partition's name; bad values stay a ValueError."""
    if isinstance(error, PartitionError):
        return error
    text = f"partition {name}: {error}"
    return ValueError(text) if isinstance(error, ValueError) else PartitionError(text)


class Engine(Protocol):
    """Where partitions live and tasks run."""

    @property
    def name(self) -> str:
        """``local``, ``chunks`` or ``dask``."""
        ...

    @property
    def threads(self) -> int:
        """Threads that work in this process may use."""
        ...

    def rows(self, partitions: Sequence[Partition], prepare: Callable[[Chunk], P]) -> Any:
        """Hold partitions ready for `reduce`."""
        ...

    def reduce(self, rows: Any, summarise: Callable[..., S], *model: Any) -> S:
        """Summarise every partition and merge the statistics in row order."""
        ...

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """``function`` of each task, in the tasks' order; tasks are independent."""
        ...

"""The engine contract: reduce over partitions, predict per row, map over tasks.

A learner calls these methods and runs on every engine::

    statistic = engine.reduce(rows, Statistic.of, model)    # pure, per partition, merged in order
    model = statistic.solve(model)                          # pure in the merged statistic
    output = engine.predict(rows, function, model)          # one result per row, in row order
    results = engine.map(function, tasks)                   # independent tasks

The engine determines where partitions are stored and where tasks run.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar

import numpy as np

from ceiba.data.source import Chunk, Partition

P = TypeVar("P")
T = TypeVar("T")
R = TypeVar("R")

_NOT_IN_MEMORY = "the rows are not in memory: check engine.in_memory first."


class Statistic(Protocol):
    """Sufficient statistic of some rows, with an associative ``merge``.

    If s(A) is the statistic of the rows A, then ``s(A).merge(s(B))`` is that of A and B.
    """

    def merge(self, other: Self) -> Self:
        """Return the statistic of both parts; the rows of ``self`` come first."""
        ...


S = TypeVar("S", bound=Statistic)


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveStatistic:
    """Statistic whose fields all add up: numbers, arrays, and tuples with an entry per part."""

    def merge(self, other: Self) -> Self:
        """Add every field of ``other``; tuples are concatenated."""
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return type(self)(*(one + two for one, two in pairs))


class ExactStatistic(ABC):
    """Statistic of integers, equal in every bit for any order and grouping of the rows.

    An engine may add the batches of a worker to one statistic instead of merging one per batch,
    which costs more than the rows of a small batch if the statistic is large.
    """

    __slots__ = ()

    @abstractmethod
    def add(self, batch: Batch[Any], *model: Any) -> None:
        """Add the rows of another batch in place, with the ``model`` of the first one."""

    @abstractmethod
    def merge(self, other: Self) -> Self:
        """Return the statistic of both parts."""


def is_exact(summarize: Callable[..., Any]) -> bool:
    """Return whether a function, such as ``Statistic.of``, makes exact statistics."""
    owner = getattr(summarize, "__self__", None)
    return isinstance(owner, type) and issubclass(owner, ExactStatistic)


@dataclass(slots=True)
class Batch(Generic[P]):
    """Rows of one partition, as the learner prepared them.

    Parameters
    ----------
    rows : P
        Result of the learner's ``prepare``.
    first_row : int
        Number of the first row among all rows. Random draws depend on row numbers, so that they
        are the same for any partitioning.
    threads : int
        Number of threads that the summary of this batch may use.
    scratch : dict
        Cache of row state, such as bounds of distances; without it the result of a summary must be
        the same, up to rounding. A batch that ``keeps_scratch`` from one reduction to the next is
        that of the local engine.
    """

    keeps_scratch: ClassVar[bool] = False

    rows: P
    first_row: int = 0
    threads: int = 1
    scratch: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Rows(Generic[P]):
    """Partitions that are loaded and prepared in every reduction.

    Partitions without rows (common after a filter) are not summarized. Reductions add their
    indices to ``empty``, so that `numbered` takes the row counts of the other partitions only.

    Parameters
    ----------
    partitions : sequence of Partition
    prepare : callable
        Converts a chunk to the form that the learner needs.
    first_rows : tuple of int or None
        Number of each partition's first row among all rows; None before `numbered`.
    empty : set of int
        Indices of the partitions without rows, as far as known.
    """

    partitions: Sequence[Partition]
    prepare: Callable[[Chunk], P]
    first_rows: tuple[int, ...] | None = None
    empty: set[int] = field(default_factory=set)

    def numbered(self, counts: Sequence[int]) -> Rows[P]:
        """Return the rows, numbered globally from the row count of each partition."""
        filled = [index for index in range(len(self.partitions)) if index not in self.empty]
        if len(counts) != len(filled):
            raise ValueError(
                f"counts must have one entry for each of the {len(filled)} partitions with rows, "
                f"got {len(counts)}."
            )
        lengths = dict(zip(filled, counts, strict=True))
        all_lengths = (lengths.get(index, 0) for index in range(len(self.partitions)))
        return replace(self, first_rows=(0, *accumulate(all_lengths))[:-1])

    def clear_scratch(self) -> None:
        """Do nothing: the row state of partitions that are reloaded is not kept."""

    def table(self) -> P:
        """Raise an error, because the rows are not in memory."""
        raise RuntimeError(_NOT_IN_MEMORY)

    def first_row(self, index: int) -> int:
        """Return the global number of the first row of a partition; 0 before `numbered`."""
        return 0 if self.first_rows is None else self.first_rows[index]

    def summary(self, index: int, summarize: Callable[..., S], *model: Any) -> S | None:
        """Load and summarize a partition, which errors name; return None if it has no rows."""
        partition = self.partitions[index]
        try:
            chunk = partition.load()
            if len(chunk.table) == 0:
                self.empty.add(index)
                return None
            return summarize(Batch(self.prepare(chunk), self.first_row(index)), *model)
        except Exception as error:
            raise name_partition(partition.name, error) from error


@dataclass(frozen=True, slots=True)
class RowResults(AdditiveStatistic):
    """Results per row as a statistic: parts that are concatenated after the last merge.

    Concatenating at every merge would copy the first part as often as there are parts.
    """

    parts: tuple[Any, ...]

    @classmethod
    def of(cls, batch: Batch[Any], function: Callable[..., Any], *model: Any) -> RowResults:
        """Compute the results of one batch."""
        return cls((function(batch, *model),))

    def concatenate(self) -> Any:
        """Return one array for all rows, or a tuple of arrays if parts are tuples."""
        if len(self.parts) == 1:
            return self.parts[0]
        if isinstance(self.parts[0], tuple):
            return tuple(np.concatenate(arrays) for arrays in zip(*self.parts, strict=True))
        return np.concatenate(self.parts)


class PartitionError(RuntimeError):
    """A partition could not be loaded or summarized; the message names it."""


def name_partition(name: str, error: Exception) -> Exception:
    """Return an error that names the partition; a ValueError remains one."""
    if isinstance(error, PartitionError):
        return error
    text = f"partition {name}: {error}"
    return ValueError(text) if isinstance(error, ValueError) else PartitionError(text)


class Engine(ABC):
    """Run reductions over partitions, predictions and independent tasks.

    Attributes
    ----------
    name : str
        ``local``, ``chunks`` or ``dask``.
    in_memory : bool
        Whether all rows are in this process, where ``rows.table()`` returns them.
    threads : int
        Number of threads that computations in this process may use.
    """

    name: str
    in_memory: bool = False
    threads: int

    def rows(self, partitions: Sequence[Partition], prepare: Callable[[Chunk], P]) -> Any:
        """Return the partitions as rows for `reduce` and `predict`."""
        return Rows(partitions, prepare)

    def prepared_rows(self, prepared: P) -> Any:
        """Return rows that the learner prepared itself, such as held-out rows.

        Other engines than an in-memory one raise an error.
        """
        raise RuntimeError(_NOT_IN_MEMORY)

    @abstractmethod
    def reduce(self, rows: Any, summarize: Callable[..., S], *model: Any) -> S:
        """Summarize every partition and merge the statistics in row order."""

    def predict(self, rows: Any, function: Callable[..., R], *model: Any) -> R:
        """Compute one result per row, in row order.

        ``function(batch, *model)`` returns an array with one entry per row of the batch, or a
        tuple of such arrays.
        """
        results: R = self.reduce(rows, RowResults.of, function, *model).concatenate()
        return results

    @abstractmethod
    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """Return the result of ``function`` for each task, in order."""

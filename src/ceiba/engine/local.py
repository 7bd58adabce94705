"""The local engine: one partition in memory, native threads, no merge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ceiba.data.source import Chunk, Partition
from ceiba.engine.contract import Batch, P, R, S, T
from ceiba.engine.threads import run_tasks


class LocalRows(Batch[P]):
    """The one batch itself: prepared once, its scratch kept until the fit ends."""

    __slots__ = ()
    keeps = True

    def forget(self) -> None:
        """Drop row state kept from earlier reductions, as before a run from another start."""
        self.scratch.clear()

    def numbered(self, counts: Sequence[int]) -> LocalRows[P]:
        """Rows of one partition are numbered from zero already."""
        return self


class LocalEngine:
    """Runs on an array or frame in memory; native kernels use ``threads`` threads.

    A reduction is one direct call: nothing is loaded, shipped or merged.
    """

    name = "local"

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def rows(self, partitions: Sequence[Partition], prepare: Callable[[Chunk], P]) -> LocalRows[P]:
        """Prepare the single partition, once."""
        (partition,) = partitions
        return LocalRows(prepare(partition.load()), 0, self.threads)

    def reduce(self, rows: LocalRows[P], summarise: Callable[..., S], *model: Any) -> S:
        """Summarise the one batch."""
        return summarise(rows, *model)

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """Run the tasks on up to ``threads`` threads, each task single-threaded inside."""
        return run_tasks(function, tasks, self.threads)

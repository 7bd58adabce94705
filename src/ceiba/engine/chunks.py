"""The chunks engine: partitions of files larger than memory, a few at a time."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Executor
from typing import Any

from ceiba.data.source import Chunk, Partition
from ceiba.engine.contract import Batch, P, R, Rows, S, T, fold
from ceiba.engine.threads import run_tasks, task_pool

# Summaries begun or waiting to be merged, for each thread: enough that a slow partition does not
# leave the other threads idle, few enough that statistics in waiting stay a bounded number.
_AHEAD = 2


class ChunksEngine:
    """Runs on the partitions of a scan: loaded, summarised and dropped, ``threads`` at a time.

    Readers and native kernels release the GIL, so partitions are spread over Python threads and
    each is summarised single-threaded. Statistics are merged in the order of the partitions,
    whatever the number of threads, and so the bits of the result do not depend on it.
    """

    name = "chunks"

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def rows(self, partitions: Sequence[Partition], prepare: Callable[[Chunk], P]) -> Rows[P]:
        """Hold the partitions; nothing is loaded yet."""
        return Rows(partitions, prepare)

    def reduce(self, rows: Rows[P], summarise: Callable[..., S], *model: Any) -> S:
        """Summarise every partition and merge in order; the first bad partition ends it."""
        stopped = threading.Event()

        def unless_stopped(batch: Batch[P]) -> S:
            if stopped.is_set():
                raise CancelledError
            return summarise(batch, *model)

        with task_pool(self.threads) as pool:
            try:
                return fold(self._summaries(pool, rows, unless_stopped))
            finally:
                stopped.set()  # what is being loaded at this moment is not summarised any more

    def _summaries(
        self, pool: Executor, rows: Rows[P], summarise: Callable[[Batch[P]], S]
    ) -> Iterator[S | None]:
        """Summaries in the order of the partitions, a bounded number of them begun ahead."""
        places = range(len(rows.partitions))
        ahead = _AHEAD * self.threads
        begun = deque(pool.submit(rows.summary, place, summarise) for place in places[:ahead])
        for place in places:
            statistic = begun.popleft().result()
            if place + ahead < len(places):
                begun.append(pool.submit(rows.summary, place + ahead, summarise))
            yield statistic

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """Run the tasks on up to ``threads`` threads, each task single-threaded inside."""
        return run_tasks(function, tasks, self.threads)

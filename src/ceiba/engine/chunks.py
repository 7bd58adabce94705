"""The chunks engine: load and summarize the partitions of large files in turn."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Executor
from typing import Any

from ceiba.engine.contract import Batch, Engine, P, R, Rows, S, T
from ceiba.engine.local import run_tasks, task_pool
from ceiba.engine.merging import merge_in_order

# Summaries per thread that are being computed or not merged yet: enough that a slow partition does
# not leave the other threads idle, few enough to bound the memory of the statistics.
_PENDING_PER_THREAD = 2


class ChunksEngine(Engine):
    """Run on the partitions of a scan, of which ``threads`` are in memory at a time.

    Readers and native kernels release the GIL, so partitions are spread over Python threads and
    each is summarized single-threaded. Statistics are merged in the order of the partitions, in a
    shape that their number determines: the result is the same, bit for bit, for any number of
    threads, and on a Dask cluster.
    """

    name = "chunks"

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def reduce(self, rows: Rows[P], summarize: Callable[..., S], *model: Any) -> S:
        """Summarize every partition and merge in order; stop at the first error."""
        stopped = threading.Event()

        def summarize_unless_stopped(batch: Batch[P]) -> S:
            if stopped.is_set():
                raise CancelledError
            return summarize(batch, *model)

        with task_pool(self.threads) as pool:
            try:
                summaries = self._summaries(pool, rows, summarize_unless_stopped)
                return merge_in_order(summaries, len(rows.partitions))
            finally:
                stopped.set()  # partitions that are still being loaded are not summarized

    def _summaries(
        self, pool: Executor, rows: Rows[P], summarize: Callable[[Batch[P]], S]
    ) -> Iterator[S | None]:
        """Yield summaries in the order of the partitions; few are computed ahead."""
        indices = range(len(rows.partitions))
        ahead = _PENDING_PER_THREAD * self.threads
        pending = deque(pool.submit(rows.summary, index, summarize) for index in indices[:ahead])
        for index in indices:
            statistic = pending.popleft().result()
            if index + ahead < len(indices):
                pending.append(pool.submit(rows.summary, index + ahead, summarize))
            yield statistic

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """Run the tasks on up to ``threads`` threads, each task single-threaded inside."""
        return run_tasks(function, tasks, self.threads)

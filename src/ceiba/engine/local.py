"""The local engine: one partition in memory, and the threads of this process."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ceiba import _native
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, Partition
from ceiba.engine.contract import Batch, Engine, P, R, S, T


@dataclass(frozen=True, slots=True)
class InMemorySource:
    """Rows in memory, as a source and its only partition."""

    chunk: Chunk
    name: str = "in memory"

    @property
    def schema(self) -> Schema:
        """Schema of the table."""
        return self.chunk.table.schema

    @property
    def partitions(self) -> Sequence[Partition]:
        """The source itself."""
        return (self,)

    def load(self) -> Chunk:
        """Return the rows without a copy."""
        return self.chunk


class LocalRows(Batch[P]):
    """All rows as one batch, prepared once, with the same scratch in all reductions."""

    __slots__ = ()
    keeps_scratch = True

    def clear_scratch(self) -> None:
        """Drop the row state, as before a run from another initialization."""
        self.scratch.clear()

    def table(self) -> P:
        """Return the prepared rows."""
        return self.rows

    def numbered(self, counts: Sequence[int]) -> LocalRows[P]:
        """Return the rows themselves, which are numbered from zero already."""
        return self


class LocalEngine(Engine):
    """Run on an array or frame in memory; native kernels use ``threads`` threads.

    A reduction is one direct call: nothing is loaded, transferred or merged.
    """

    name = "local"
    in_memory = True

    def __init__(self, threads: int) -> None:
        self.threads = threads

    def rows(self, partitions: Sequence[Partition], prepare: Callable[[Chunk], P]) -> LocalRows[P]:
        """Load and prepare the only partition."""
        (partition,) = partitions
        return LocalRows(prepare(partition.load()), 0, self.threads)

    def prepared_rows(self, prepared: P) -> LocalRows[P]:
        """Return rows that the learner prepared itself, such as held-out rows."""
        return LocalRows(prepared, 0, self.threads)

    def reduce(self, rows: LocalRows[P], summarize: Callable[..., S], *model: Any) -> S:
        """Summarize the one batch."""
        return summarize(rows, *model)

    def predict(self, rows: LocalRows[P], function: Callable[..., R], *model: Any) -> R:
        """Compute the results of the one batch."""
        return function(rows, *model)

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """Run the tasks on up to ``threads`` threads, each task single-threaded inside."""
        return run_tasks(function, tasks, self.threads)


# Whether this thread runs one of several parallel tasks.
_state = threading.local()


def effective_threads(n_jobs: int | None = None) -> int:
    """Return the number of threads for one fit: ``n_jobs``, up to the allowed number.

    ``None`` requests every core. The limits are the CPUs of this process, ``OMP_NUM_THREADS``,
    threadpoolctl and joblib's inner limits (through OpenMP's own maximum). Inside a task of an
    engine and in a forked child (where GNU OpenMP would hang) the result is 1.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs must be a nonzero int or None (all cores), got 0.")
    if _native.forked() or getattr(_state, "task", False):
        return 1
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    allowed = min(_native.max_threads(), cores)
    if n_jobs is None:
        return max(1, allowed)
    requested = n_jobs if n_jobs > 0 else cores + 1 + n_jobs
    return max(1, min(requested, allowed))


@contextmanager
def inside_task() -> Iterator[None]:
    """Mark a block as one of several parallel tasks: `effective_threads` is 1 in it."""
    before = getattr(_state, "task", False)
    _state.task = True
    try:
        yield
    finally:
        _state.task = before


@contextmanager
def task_pool(threads: int) -> Iterator[ThreadPoolExecutor]:
    """Open a thread pool for tasks that are single-threaded inside.

    On an error, tasks that have not started are cancelled and running ones are joined; on Ctrl-C
    none is joined, because a running task may take long to end.
    """
    pool = ThreadPoolExecutor(threads, initializer=setattr, initargs=(_state, "task", True))
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=isinstance(error, Exception), cancel_futures=True)
        raise
    pool.shutdown()


def run_tasks(function: Callable[[T], R], tasks: Iterable[T], threads: int) -> list[R]:
    """Return the results of all tasks, in order; an error cancels the waiting tasks.

    Of several errors the one of the first task is raised, whichever came first. There are fewer
    threads where the system refuses to start so many.
    """
    tasks = list(tasks)
    threads = min(threads, len(tasks))
    if threads > 1:
        threads = _native.startable_threads(threads)
    if threads <= 1:
        with inside_task():
            return [function(task) for task in tasks]
    with task_pool(threads) as pool:
        futures = [pool.submit(function, task) for task in tasks]
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        failed = [i for i, future in enumerate(futures) if future in done and future.exception()]
        for future in futures[failed[0] :] if failed else ():
            future.cancel()
        # Tasks before a failed one are running, and may fail as well.
        return [future.result() for future in futures]

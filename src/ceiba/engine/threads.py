"""How many threads this process may use, and tasks on a pool of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import contextmanager

from ceiba import _native
from ceiba.engine.contract import R, T

_inside = threading.local()


def effective_threads(n_jobs: int | None = None) -> int:
    """Threads for one fit: the least of what is asked, allowed and there.

    ``None`` asks for every core. Honoured: the CPUs of this process, ``OMP_NUM_THREADS``,
    threadpoolctl and joblib's inner limits (through OpenMP's own maximum). Inside a task of an
    engine and in a forked child (where GNU OpenMP would hang) the answer is 1.
    """
    if n_jobs == 0:
        raise ValueError("n_jobs=0 means nothing: give a number of threads, -1 or None for all")
    if _native.forked() or getattr(_inside, "task", False):
        return 1
    cores = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    allowed = min(_native.max_threads(), cores)
    if n_jobs is None:
        return max(1, allowed)
    asked = n_jobs if n_jobs > 0 else cores + 1 + n_jobs
    return max(1, min(asked, allowed))


@contextmanager
def inside_task() -> Iterator[None]:
    """Code in this block is one of many tasks side by side: `effective_threads` is 1 in it."""
    before = getattr(_inside, "task", False)
    _inside.task = True
    try:
        yield
    finally:
        _inside.task = before


@contextmanager
def task_pool(threads: int) -> Iterator[ThreadPoolExecutor]:
    """A pool of threads for tasks that are single-threaded inside.

    On an error what has not begun is cancelled and what runs is waited for; on Ctrl-C nothing is
    waited for, because a running task may take long to end.
    """
    pool = ThreadPoolExecutor(threads, initializer=setattr, initargs=(_inside, "task", True))
    try:
        yield pool
    except BaseException as error:
        pool.shutdown(wait=isinstance(error, Exception), cancel_futures=True)
        raise
    pool.shutdown()


def run_tasks(function: Callable[[T], R], tasks: Iterable[T], threads: int) -> list[R]:
    """Results in the tasks' order; the first error cancels what has not begun."""
    if threads == 1:
        with inside_task():
            return [function(task) for task in tasks]
    with task_pool(threads) as pool:
        futures = [pool.submit(function, task) for task in tasks]
        done, _ = wait(futures, return_when=FIRST_EXCEPTION)
        for future in futures:
            if future in done:
                future.result()  # the first error, in the order of the tasks, is raised here
        return [future.result() for future in futures]

"""Send values to the cluster, and collect the results of tasks in order within time limits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any
from uuid import uuid4

from ceiba.engine.dask.tasks import pack, unpack

# Seconds between two checks for workers and time limits while no task finishes.
_POLL_SECONDS = 0.5
# Dask warns of graphs of 10 MB. That is no more than a deep tree, which is sent once per pass.
_WARN_FROM = "distributed.admin.large-graph-warning-threshold"
# Settings are common to all threads: of two overlapping changes, the last would be restored to the
# first one.
_SETTINGS_LOCK = Lock()


class TaskError(Exception):
    """A task failed; ``index`` is its position."""

    def __init__(self, index: int, error: Exception) -> None:
        super().__init__(index, error)
        self.index, self.error = index, error


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """Seconds without a worker, or without a finished task, before a fit fails."""

    worker: float
    task: float

    @classmethod
    def of(cls, worker: float | str | None, task: float | str | None) -> TimeLimits:
        """Return the given limits, or dask's settings, or 60 seconds and one hour."""
        return cls(
            _seconds(worker, "ceiba.worker-timeout", "60s"),
            _seconds(task, "ceiba.partition-timeout", "1h"),
        )

    def check(
        self, without_worker: float, without_result: float, n_tasks: int, n_partitions: int
    ) -> None:
        """Raise TimeoutError if a limit has passed; ``n_partitions`` is 0 for other tasks."""
        unit, n = ("partition", n_partitions) if n_partitions else ("task", n_tasks)
        pending = f"{n} {unit}{'s' * (n != 1)} pending"
        if without_worker >= self.worker:
            raise TimeoutError(
                f"The Dask cluster has had no worker for {self.worker:g} seconds with {pending}: "
                "start workers and fit again, or raise the limit with "
                'dask.config.set({"ceiba.worker-timeout": "10 minutes"}).'
            )
        if without_result >= self.task:
            smaller = "make the partitions smaller, or " * (n_partitions > 0)
            raise TimeoutError(
                f"No {unit} has finished on the Dask cluster for {self.task:g} seconds with "
                f"{pending}: {smaller}raise the limit with "
                'dask.config.set({"ceiba.partition-timeout": "3 hours"}).'
            )


def _seconds(given: float | str | None, setting: str, default: str) -> float:
    import dask
    from dask.utils import parse_timedelta

    return float(parse_timedelta(dask.config.get(setting, default) if given is None else given))


def task_key(name: str) -> str:
    """Return a key of its own for each task, so that no result is used again."""
    return f"ceiba-{name}-{uuid4().hex}"


def submit_value(client: Any, value: Any) -> Any:
    """Send a value, such as a model of any size, to the cluster once; return its future."""
    import dask

    packed = pack(value)
    with _SETTINGS_LOCK, dask.config.set({_WARN_FROM: "1 GB"}):
        return client.submit(unpack, packed, key=task_key("value"))


@contextmanager
def cancelled_on_error(client: Any, *lists: list[Any]) -> Iterator[None]:
    """Cancel lists of futures if the block is left by an error, a time limit or Ctrl-C.

    Futures may be added to the lists inside the block.
    """
    try:
        yield
    except BaseException:
        futures = [future for futures in lists for future in futures]
        if futures and client.status == "running":
            client.cancel(futures)
        raise


def results_in_order(
    client: Any, futures: Sequence[Any], limits: TimeLimits, sizes: Sequence[int] | None = None
) -> Iterator[Any]:
    """Yield the results of futures in their order, each as soon as all before it have been."""
    early: dict[int, Any] = {}
    next_index = 0
    for index, result in as_finished(client, futures, limits, sizes, with_results=True):
        early[index] = result
        while next_index in early:
            yield early.pop(next_index)
            next_index += 1


def as_finished(
    client: Any,
    futures: Sequence[Any],
    limits: TimeLimits,
    sizes: Sequence[int] | None = None,
    *,
    with_results: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Yield the index of each future as it finishes, and its result or None.

    ``sizes`` are the numbers of partitions of the tasks, if they have any, for messages.
    """
    from distributed import as_completed

    pending = dict(enumerate(futures))
    indices = {future.key: index for index, future in pending.items()}
    completed = as_completed(
        pending.values(), loop=client.loop, with_results=with_results, raise_errors=False
    )
    last_result = last_worker = time.monotonic()
    while pending:
        with completed.thread_condition:
            ready = completed.thread_condition.wait_for(completed.has_ready, timeout=_POLL_SECONDS)
        if not ready:
            # ``completed`` never contains a task whose result was lost in transfer and which failed
            # when it was run again: its state has to be checked.
            _raise_failure(pending)
            if worker_threads(client, limits):
                last_worker = time.monotonic()
            now = time.monotonic()
            n_partitions = 0 if sizes is None else sum(sizes[index] for index in pending)
            limits.check(now - last_worker, now - last_result, len(pending), n_partitions)
            continue
        last_result = last_worker = time.monotonic()
        for item in completed.next_batch(block=False):
            future, result = item if with_results else (item, None)
            index = indices[future.key]
            _raise_failure({index: future})
            del pending[index]
            yield index, result


def _raise_failure(futures: dict[int, Any]) -> None:
    for index, future in futures.items():
        if future.status == "error":
            raise TaskError(index, future.exception())
        if future.status == "cancelled":
            raise TaskError(index, RuntimeError("the Dask cluster cancelled the task."))


def worker_threads(client: Any, limits: TimeLimits) -> dict[str, int]:
    """Return the number of threads of each worker; empty if the scheduler does not respond."""
    try:
        return dict(client.nthreads(callback_timeout=limits.worker))
    except (OSError, TimeoutError, RuntimeError):  # the latter from a client that is closing
        return {}

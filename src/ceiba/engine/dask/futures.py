"""Waiting for the cluster: results in order, within time limits, and nothing left running."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

# How often, in seconds, a wait without news looks for workers and at the clock.
_LOOK = 0.5


class TaskFailed(Exception):  # noqa: N818
    """Task number ``place`` ended with ``error``; whoever submitted it knows its name."""

    def __init__(self, place: int, error: Exception) -> None:
        super().__init__(place, error)
        self.place, self.error = place, error


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """How many seconds to wait for a worker to appear, and for the next task to finish."""

    worker: float
    task: float

    @classmethod
    def of(cls, worker: float | str | None, task: float | str | None) -> TimeLimits:
        """The limits given, else those of dask's configuration, else 60 seconds and an hour."""
        return cls(
            _seconds(worker, "ceiba.worker-timeout", "60s"),
            _seconds(task, "ceiba.partition-timeout", "1h"),
        )


def _seconds(given: float | str | None, setting: str, default: str) -> float:
    import dask
    from dask.utils import parse_timedelta

    return float(parse_timedelta(dask.config.get(setting, default) if given is None else given))


@contextmanager
def results_in_order(
    client: Any, futures: Sequence[Any], limits: TimeLimits
) -> Iterator[Iterator[Any]]:
    """The results of ``futures`` in their order, each handed over as soon as those before it are.

    Leaving the block early (an error, a time limit, Ctrl-C) takes all of them back.
    """
    pending = dict(enumerate(futures))
    try:
        yield _in_order(_as_finished(client, pending, limits))
    finally:
        if pending and client.status == "running":
            client.cancel(futures)


def _in_order(finished: Iterator[tuple[int, Any]]) -> Iterator[Any]:
    early: dict[int, Any] = {}
    following = 0
    for place, result in finished:
        early[place] = result
        while following in early:
            yield early.pop(following)
            following += 1


def _as_finished(
    client: Any, pending: dict[int, Any], limits: TimeLimits
) -> Iterator[tuple[int, Any]]:
    """Place and result of each task as it finishes, taken out of ``pending``."""
    from distributed import as_completed

    places = {future.key: place for place, future in pending.items()}
    waiting = as_completed(
        pending.values(), loop=client.loop, with_results=True, raise_errors=False
    )
    clock = _Clock(client, limits)
    while pending:
        with waiting.thread_condition:
            news = waiting.thread_condition.wait_for(waiting.has_ready, timeout=_LOOK)
        if not news:
            # A task whose result was lost on its way and which failed when it was run again
            # never shows up in ``waiting``: its state has to be looked at.
            _raise_failure(pending)
            clock.check(len(pending))
            continue
        clock.restart()
        for future, result in waiting.next_batch(block=False):
            place = places[future.key]
            _raise_failure({place: future})
            del pending[place]
            yield place, result


def _raise_failure(futures: dict[int, Any]) -> None:
    for place, future in futures.items():
        if future.status == "error":
            raise TaskFailed(place, future.exception())
        if future.status == "cancelled":
            raise TaskFailed(place, RuntimeError("the Dask cluster has cancelled the task"))


class _Clock:
    """How long nothing has finished, and how long no worker has been there."""

    def __init__(self, client: Any, limits: TimeLimits) -> None:
        self.client, self.limits = client, limits
        self.restart()

    def restart(self) -> None:
        """Something finished now."""
        self.finished = self.manned = time.monotonic()

    def check(self, pending: int) -> None:
        """Raise TimeoutError when a limit has passed."""
        if self._workers():
            self.manned = time.monotonic()
        now = time.monotonic()
        if now - self.manned >= self.limits.worker:
            raise TimeoutError(
                f"the Dask cluster has had no worker for {self.limits.worker:g} seconds and "
                f"{pending} tasks are waiting: start workers and fit again, or allow more time "
                'with dask.config.set({"ceiba.worker-timeout": "10 minutes"})'
            )
        if now - self.finished >= self.limits.task:
            raise TimeoutError(
                f"no partition has finished on the Dask cluster for {self.limits.task:g} seconds "
                f"and {pending} are waiting: make the partitions smaller, or allow more time with "
                'dask.config.set({"ceiba.partition-timeout": "3 hours"})'
            )

    def _workers(self) -> bool:
        try:
            return bool(self.client.nthreads(callback_timeout=self.limits.worker))
        except (OSError, TimeoutError):  # the scheduler itself does not answer
            return False

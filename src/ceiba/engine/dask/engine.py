"""The dask engine: one task a partition on the cluster that the user's client is connected to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, Partition
from ceiba.engine.contract import Batch, P, R, Rows, S, T, fold, partition_error
from ceiba.engine.dask.futures import TaskFailed, TimeLimits, results_in_order
from ceiba.engine.dask.schema import Survey
from ceiba.engine.dask.source import (
    DaskSource,
    Reader,
    check_alike,
    check_collection,
    dask_partitions,
    known_schema,
)
from ceiba.engine.threads import effective_threads, inside_task

# A task that raised is run again this often: reading from a shared store fails now and then.
_RETRIES = 2


class DaskEngine:
    """Runs on the partitions of a Dask collection, where they live.

    Only recipes, models and statistics travel; rows stay on the workers, and a partition whose
    worker is lost is computed again. Statistics are merged in the order of the partitions. A
    partition is computed anew in every reduction unless the user has persisted the collection.

    Parameters
    ----------
    client : distributed.Client, optional
        The client to use; the current one if not given.
    worker_timeout : float or str, optional
        How long the cluster may be without any worker before a fit gives up: seconds, or a text
        like ``"5 minutes"``. Otherwise dask's setting ``ceiba.worker-timeout``, or 60 seconds.
    partition_timeout : float or str, optional
        How long a fit waits for the next partition (or task of a `map`) to finish. Otherwise
        dask's setting ``ceiba.partition-timeout``, or one hour.
    """

    name = "dask"

    def __init__(
        self,
        client: Any = None,
        *,
        worker_timeout: float | str | None = None,
        partition_timeout: float | str | None = None,
    ) -> None:
        self.client = current_client() if client is None else client
        self.limits = TimeLimits.of(worker_timeout, partition_timeout)
        self.threads = effective_threads()

    def rows(self, partitions: Sequence[Partition], prepare: Callable[[Chunk], P]) -> Rows[P]:
        """Hold the partitions; nothing is computed yet."""
        return Rows(partitions, prepare)

    def reduce(self, rows: Rows[P], summarise: Callable[..., S], *model: Any) -> S:
        """Summarise every partition on the cluster and merge in order."""
        tasks = _tasks(rows, summarise, model)
        try:
            futures = self.client.compute(tasks, retries=_RETRIES, optimize_graph=False)
            with results_in_order(self.client, futures, self.limits) as statistics:
                merged: S = fold(_checked(statistics, rows))
                return merged
        except TaskFailed as failed:
            error = failed.error
            raise partition_error(rows.partitions[failed.place].name, error) from error

    def source(
        self,
        X: Any,
        sample_weight: Any = None,
        schema: Schema | None = None,
        kinds: Mapping[str, Any] | None = None,
        *,
        y: Any = None,
    ) -> DaskSource:
        """A Dask array or DataFrame as a source for this engine.

        Levels of text columns and of categories without known levels are found in a pass over the
        partitions, as are the kinds that ``kinds`` changes. Following a ``schema`` needs no pass.
        """
        check_collection(X)
        if schema is None and not kinds:
            schema = known_schema(X)
        if schema is None:
            found = self.rows(dask_partitions(X, Reader(None, kinds)), _as_read)
            schema = self.reduce(found, Survey.of).schema
        return DaskSource(schema, dask_partitions(X, Reader(schema), sample_weight, y))

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """Run the tasks on the cluster's workers, each task single-threaded inside."""
        futures = self.client.map(partial(_alone, function), list(tasks), pure=False)
        try:
            with results_in_order(self.client, futures, self.limits) as results:
                return list(results)
        except TaskFailed as failed:
            raise failed.error from None


def current_client() -> Any:
    """The Dask client that is current; without one, an error that says how to start it."""
    try:
        from distributed import get_client
    except ImportError:
        raise ImportError(
            'fitting a Dask collection needs distributed: pip install "ceiba[dask]"'
        ) from None
    try:
        client = get_client()
    except ValueError:
        raise RuntimeError(
            "there is no Dask cluster to run on: start one on this machine with "
            "`from distributed import Client; client = Client()` or connect to yours with "
            "Client(address), then fit again"
        ) from None
    if client.asynchronous:
        raise RuntimeError(
            "the current Dask client is asynchronous, and a fit waits for its results: "
            "make one with Client(address, asynchronous=False)"
        )
    return client


def _tasks(rows: Rows[P], summarise: Callable[..., S], model: tuple[Any, ...]) -> list[Any]:
    """One task a partition, under keys that no other reduction has: nothing stale is reused."""
    import dask

    partitions: Sequence[Any] = rows.partitions
    run, tasks = uuid4().hex, []
    for place, part in enumerate(partitions):
        # The model rides inside the task's function: as an argument dask would search it.
        summary = partial(
            _summary, part.reader, rows.prepare, rows.first_row(place), summarise, model
        )
        # Of tasks that are alike dask begins with the last by name: so they finish almost in the
        # order of the partitions, and few statistics wait to be merged.
        key = f"ceiba-summary-{run}-{len(partitions) - place:09d}"
        task = dask.delayed(summary, pure=False, traverse=False)
        tasks.append(task(part.recipe, part.weight, part.target, dask_key_name=key))
    return tasks


def _summary(
    reader: Reader,
    prepare: Callable[[Chunk], P],
    first_row: int,
    summarise: Callable[..., S],
    model: tuple[Any, ...],
    block: Any,
    weight: Any,
    target: Any,
) -> S | ValueError | None:
    """Runs on a worker: the statistic of one block, or None if it has no rows.

    Bad values are reported, not raised: they would be no better when the task is run again.
    """
    with inside_task():
        try:
            check_alike(block, weight, target)
            if len(block) == 0:
                return None
            return summarise(Batch(prepare(reader(block, weight, target)), first_row), *model)
        except ValueError as error:
            return error.with_traceback(None)


def _alone(function: Callable[[T], R], task: T) -> R:
    """Runs on a worker: one task of a `map`."""
    with inside_task():
        return function(task)


def _as_read(chunk: Chunk) -> Chunk:
    return chunk


def _checked(found: Iterable[Any], rows: Rows[P]) -> Iterator[Any]:
    """The statistics, with empty partitions noted and refused ones raised."""
    for place, statistic in enumerate(found):
        if isinstance(statistic, ValueError):
            raise partition_error(rows.partitions[place].name, statistic) from statistic
        if statistic is None:
            rows.empty.add(place)
        yield statistic

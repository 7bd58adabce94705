"""The dask engine: one task per partition, on the cluster of the current client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Any
from uuid import uuid4

from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, PartitionedSource
from ceiba.data.table import check_kinds_without_schema
from ceiba.engine.contract import Batch, Engine, P, R, Rows, S, T, merge_in_order, partition_error
from ceiba.engine.dask.futures import TaskError, TimeLimits, results_in_order
from ceiba.engine.dask.source import (
    BlockReader,
    SchemaSummary,
    check_collection,
    check_lengths,
    dask_partitions,
    declared_columns,
    known_schema,
)
from ceiba.engine.local import effective_threads, inside_task

# How often a task that raised is run again: reads from a shared store may fail temporarily.
_RETRIES = 2


class DaskEngine(Engine):
    """Run on the partitions of a Dask collection, on the workers that hold them.

    Only graphs, models and statistics are transferred; rows stay on the workers, and a partition
    whose worker is lost is computed again. Statistics are merged in the order of the partitions. A
    partition is computed anew in every reduction unless the user has persisted the collection.

    Parameters
    ----------
    client : distributed.Client, optional
        The client to use; the current one if not given.
    worker_timeout : float or str, optional
        How long the cluster may be without any worker before a fit fails: seconds, or a string
        like ``"5 minutes"``. Otherwise dask's setting ``ceiba.worker-timeout``, or 60 seconds.
    partition_timeout : float or str, optional
        Time limit for the next partition (or task of a `map`) to finish. Otherwise
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

    def reduce(self, rows: Rows[P], summarize: Callable[..., S], *model: Any) -> S:
        """Summarize every partition on the cluster and merge in order."""
        tasks = _tasks(rows, summarize, model)
        try:
            futures = self.client.compute(tasks, retries=_RETRIES, optimize_graph=False)
            with results_in_order(self.client, futures, self.limits) as statistics:
                merged: S = merge_in_order(_check_results(statistics, rows))
                return merged
        except TaskError as failed:
            error = failed.error
            raise partition_error(rows.partitions[failed.index].name, error) from error

    def source(
        self,
        X: Any,
        sample_weight: Any = None,
        schema: Schema | None = None,
        kinds: Mapping[str, Any] | None = None,
        *,
        y: Any = None,
    ) -> PartitionedSource:
        """Return a Dask array or DataFrame as a source for this engine.

        Categories of text columns and of categoricals without known categories are found in a
        pass over the partitions, and so are the kinds that ``kinds`` changes. With a ``schema``
        no pass is needed.
        """
        check_collection(X)
        check_kinds_without_schema(kinds, schema)
        if schema is None and not kinds:
            schema = known_schema(X)
        if schema is None:
            rows = self.rows(dask_partitions(X, BlockReader(None, kinds)), attrgetter("table"))
            summary = self.reduce(rows, SchemaSummary.of)
            schema = summary.without_identifiers({*declared_columns(X), *(kinds or {})})
        return PartitionedSource(schema, dask_partitions(X, BlockReader(schema), sample_weight, y))

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """Run the tasks on the cluster's workers, each task single-threaded inside."""
        futures = self.client.map(partial(_run_single_threaded, function), list(tasks), pure=False)
        try:
            with results_in_order(self.client, futures, self.limits) as results:
                return list(results)
        except TaskError as failed:
            raise failed.error from None


def current_client() -> Any:
    """Return the current Dask client; without one, raise an error with instructions."""
    try:
        from distributed import get_client
    except ImportError:
        raise ImportError(
            'Fitting a Dask collection requires distributed: pip install "ceiba[dask]".'
        ) from None
    try:
        client = get_client()
    except ValueError:
        raise RuntimeError(
            "No Dask client is active: start a cluster on this machine with "
            "`from distributed import Client; client = Client()` or connect to yours with "
            "Client(address), then fit again."
        ) from None
    if client.asynchronous:
        raise RuntimeError(
            "The current Dask client is asynchronous, which fit does not support: create one with "
            "Client(address, asynchronous=False)."
        )
    return client


def _tasks(rows: Rows[P], summarize: Callable[..., S], model: tuple[Any, ...]) -> list[Any]:
    """Return one task per partition, with unique keys: no old result is reused."""
    import dask

    partitions: Sequence[Any] = rows.partitions
    run, tasks = uuid4().hex, []
    for index, part in enumerate(partitions):
        # The model is part of the function, because dask would traverse it as an argument.
        summary = partial(
            _summary, part.reader, rows.prepare, rows.first_row(index), summarize, model
        )
        # Among equal tasks dask starts with the last key, so counting down makes them finish
        # almost in the order of the partitions, and few statistics are held before merging.
        key = f"ceiba-summary-{run}-{len(partitions) - index:09d}"
        task = dask.delayed(summary, pure=False, traverse=False)
        tasks.append(task(part.graph, part.weight, part.target, dask_key_name=key))
    return tasks


def _summary(
    reader: BlockReader,
    prepare: Callable[[Chunk], P],
    first_row: int,
    summarize: Callable[..., S],
    model: tuple[Any, ...],
    block: Any,
    weight: Any,
    target: Any,
) -> S | ValueError | None:
    """Compute the statistic of one block on a worker; None if it has no rows."""
    with inside_task():
        try:
            check_lengths(block, weight, target)
            if len(block) == 0:
                return None
            return summarize(Batch(prepare(reader(block, weight, target)), first_row), *model)
        except ValueError as error:
            return error.with_traceback(None)  # not raised: another run would not help


def _run_single_threaded(function: Callable[[T], R], task: T) -> R:
    """Run one task of a `map` on a worker."""
    with inside_task():
        return function(task)


def _check_results(results: Iterable[Any], rows: Rows[P]) -> Iterator[Any]:
    """Yield the statistics; record empty partitions and raise returned errors."""
    for index, statistic in enumerate(results):
        if isinstance(statistic, ValueError):
            raise partition_error(rows.partitions[index].name, statistic) from statistic
        if statistic is None:
            rows.empty.add(index)
        yield statistic

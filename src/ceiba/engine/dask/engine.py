"""The dask engine: passes over partitions on the cluster of the current client."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ceiba.data.schema import Schema
from ceiba.data.source import PartitionedSource
from ceiba.data.table import check_kinds_without_schema
from ceiba.engine.contract import Engine, P, R, RowResults, Rows, S, T, is_exact
from ceiba.engine.dask.futures import (
    TaskError,
    TimeLimits,
    cancelled_on_error,
    results_in_order,
    submit_value,
    worker_threads,
)
from ceiba.engine.dask.passes import PartitionTasks
from ceiba.engine.dask.source import (
    BlockReader,
    SchemaSummary,
    check_collection,
    dask_partitions,
    declared_columns,
    schema_from_dtypes,
)
from ceiba.engine.dask.tasks import (
    PartitionFunction,
    add_up,
    collect,
    merge_in_row_order,
    run_single_threaded,
)
from ceiba.engine.local import effective_threads
from ceiba.engine.merging import require_statistic


class DaskEngine(Engine):
    """Run on the partitions of a Dask collection, on the workers that have them.

    Only graphs, models and statistics are transferred; rows stay on the workers, and a partition
    whose worker is lost is computed again. A task runs several partitions, so that the cost of a
    pass hardly depends on their number. Statistics are merged on the workers, in the order of the
    partitions and in a shape that their number determines. A partition is computed anew in every
    reduction unless the user has persisted the collection.

    Parameters
    ----------
    client : distributed.Client, optional
        The client to use; the current one if not given.
    worker_timeout : float or str, optional
        How long the cluster may be without any worker before a fit fails: seconds, or a string
        like ``"5 minutes"``. Otherwise dask's setting ``ceiba.worker-timeout``, or 60 seconds.
    partition_timeout : float or str, optional
        Time limit for the next task to finish, which may run several partitions. Otherwise
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
        self._last_tasks: PartitionTasks | None = None

    def reduce(self, rows: Rows[P], summarize: Callable[..., S], *model: Any) -> S:
        """Summarize every partition on the cluster and merge there, in order."""
        tasks, exact = self._tasks(rows), is_exact(summarize)
        pass_function = PartitionFunction(rows.prepare, summarize, model, len(rows.partitions))
        with tasks.open_pass(
            pass_function, rows, add_up if exact else merge_in_row_order
        ) as futures:
            merged = tasks.merge(futures, by_worker=exact)
        rows.empty.update(merged.empty)
        result: S = merged.result()
        return result

    def predict(self, rows: Rows[P], function: Callable[..., R], *model: Any) -> R:
        """Compute one result per row on the cluster, in row order."""
        pass_function = PartitionFunction(rows.prepare, function, model, len(rows.partitions))
        tasks = self._tasks(rows)
        with tasks.open_pass(pass_function, rows, collect) as futures:
            collected = results_in_order(self.client, futures, self.limits, tasks.bundle_sizes)
            results = dict(pair for pairs in collected for pair in pairs)
        rows.empty.update(index for index, result in results.items() if result is None)
        parts = (results[index] for index in range(len(results)))
        joined = RowResults(tuple(part for part in parts if part is not None))
        predicted: R = require_statistic(joined if joined.parts else None).concatenate()
        return predicted

    def _tasks(self, rows: Rows[Any]) -> PartitionTasks:
        """Return the tasks of the partitions; new ones if the workers have changed."""
        threads, last = worker_threads(self.client, self.limits), self._last_tasks
        if (
            last is None
            or last.partitions is not rows.partitions
            or last.threads != threads
            or last.is_cancelled
        ):
            partitions: Sequence[Any] = rows.partitions
            last = PartitionTasks(self.client, self.limits, partitions, threads)
            self._last_tasks = last
        return last

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
            schema = schema_from_dtypes(X)
        if schema is None:
            rows = self.rows(dask_partitions(X, BlockReader(None, kinds)), attrgetter("table"))
            summary = self.reduce(rows, SchemaSummary.of)
            schema = summary.fitted_schema({*declared_columns(X), *(kinds or {})})
        return PartitionedSource(schema, dask_partitions(X, BlockReader(schema), sample_weight, y))

    def map(self, function: Callable[[T], R], tasks: Iterable[T]) -> list[R]:
        """Run the tasks on the cluster's workers, each task single-threaded inside."""
        sent = submit_value(self.client, function)
        futures = self.client.map(run_single_threaded, list(tasks), function=sent, pure=False)
        try:
            with cancelled_on_error(self.client, futures, [sent]):
                return list(results_in_order(self.client, futures, self.limits))
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

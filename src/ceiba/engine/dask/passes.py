"""Passes over the partitions of a Dask collection: their tasks, from the client's side."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from ceiba.engine.contract import Rows, name_partition
from ceiba.engine.dask.futures import (
    TaskError,
    TimeLimits,
    as_finished,
    cancelled_on_error,
    results_in_order,
    submit_value,
    task_key,
)
from ceiba.engine.dask.placement import Bundle, balanced_bundles, local_bundles, locate_inputs
from ceiba.engine.dask.source import DaskPartition
from ceiba.engine.dask.tasks import (
    RETRIES,
    CachedPartition,
    PartitionFunction,
    PartitionTaskError,
    UnpackError,
    cache_partitions,
    merge_parts,
    pack,
    run_partitions,
    unpack,
)

# Statistics that one task merges: few enough that they fit into the memory of its worker.
_FAN_IN = 8


class PartitionTasks:
    """Partitions as tasks of a cluster: which run together, and where.

    Persisted partitions run where they are, in bundles of one worker; if they are small, their
    rows are copied once, in bundles of neighbors. Other partitions are computed inside the task of
    their bundle, one after another, and on any worker. Where partitions share tasks of the user's
    graph, each has a task of its own.

    Parameters
    ----------
    client : distributed.Client
    limits : TimeLimits
    partitions : sequence of DaskPartition
    threads : mapping from the addresses of workers to their numbers of threads
    """

    def __init__(
        self,
        client: Any,
        limits: TimeLimits,
        partitions: Sequence[DaskPartition],
        threads: Mapping[str, int],
    ) -> None:
        self.client, self.limits = client, limits
        self.partitions, self.threads = partitions, threads
        self.bundles = self._make_bundles()
        # Blocks are sent once, before the first pass; those of copied bundles as computed rows.
        blocks = [self._blocks(bundle) for bundle in self.bundles]
        self._cached = self._submit_bundles("cache", cache_partitions, blocks)

    @property
    def is_cancelled(self) -> bool:
        """Whether the cached partitions were cancelled, as after a failed pass."""
        return any(future.cancelled() for future in self._cached)

    @property
    def bundle_sizes(self) -> list[int]:
        """Number of partitions of each task."""
        return [len(bundle.indices) for bundle in self.bundles]

    def _make_bundles(self) -> list[Bundle]:
        n_partitions = len(self.partitions)
        if any(part.block is None for part in self.partitions):
            return [Bundle((index,)) for index in range(n_partitions)]
        if not all(part.inputs for part in self.partitions):
            return balanced_bundles(n_partitions, self.threads)
        self._wait_for_persisted()
        workers, sizes = locate_inputs(self.client, [part.inputs for part in self.partitions])
        may_copy = all(part.task_block.only_selects for part in self.partitions)
        return local_bundles(workers, sizes, self.threads, may_copy=may_copy)

    def _wait_for_persisted(self) -> None:
        """Wait until persisted partitions are computed; an error names the partition."""
        # Several partitions may start from one value, such as a persisted mean.
        first_uses = {f.key: (part, f) for part in self.partitions[::-1] for f in part.inputs}
        pairs = [pair for pair in first_uses.values() if pair[1].status != "finished"]
        try:
            futures = [future for _, future in pairs]
            for _ in as_finished(self.client, futures, self.limits, [1] * len(futures)):
                pass
        except TaskError as failed:
            error = failed.error
            raise name_partition(pairs[failed.index][0].name, error) from error

    def _blocks(self, bundle: Bundle) -> tuple[Any, ...]:
        """Return the arguments of `cache_partitions`."""
        parts = [
            CachedPartition(index, self.partitions[index].reader, self.partitions[index].task_block)
            for index in bundle.indices
        ]
        return pack(parts), self._persisted(bundle) if bundle.copied else None

    def _persisted(self, bundle: Bundle) -> list[list[Any]]:
        return [list(self.partitions[index].inputs) for index in bundle.indices]

    @contextmanager
    def open_pass(
        self, function: PartitionFunction, rows: Rows[Any], combine: Callable[..., Any]
    ) -> Iterator[list[Any]]:
        """Open one pass: yield one future per bundle; an error of theirs names the partition.

        An error, a time limit or Ctrl-C cancels them, those that are added to the list, and the
        cached partitions: a later pass needs new tasks.
        """
        futures: list[Any] = []
        sent = submit_value(self.client, function)
        try:
            with cancelled_on_error(self.client, [sent], self._cached, futures):
                futures += self._submit_pass(sent, rows, combine)
                yield futures
        except TaskError as failed:
            error, cause = self._named(failed)
            raise error from cause

    def _submit_pass(self, sent: Any, rows: Rows[Any], combine: Callable[..., Any]) -> list[Any]:
        """Return the futures of a pass, one per bundle."""
        computed: list[Any] = []
        with cancelled_on_error(self.client, computed):
            first_rows = [tuple(map(rows.first_row, b.indices)) for b in self.bundles]
            pairs = zip(self._cached, first_rows, self._inputs(computed), strict=True)
            arguments = [(sent, *pair, combine) for pair in pairs]
            return self._submit_bundles("summary", run_partitions, arguments)

    def _inputs(self, computed: list[Any]) -> list[list[list[Any]] | None]:
        """Return the inputs of each bundle in a pass; None if it has its rows or needs none.

        Partitions that share tasks are computed in every pass, as futures that are added to
        ``computed``. No one may keep these: a worker frees the rows of a partition once it is
        summarized, and computes them again if its statistic is lost.
        """
        if any(part.block is None for part in self.partitions):
            delayed = [
                [value for value in part.delayed if value is not None] for part in self.partitions
            ]
            flat = [value for values in delayed for value in values]
            computed += self.client.compute(flat, retries=RETRIES, optimize_graph=False)
            futures = iter(computed)
            return [[[next(futures) for _ in parts]] for parts in delayed]
        persisted = any(part.inputs for part in self.partitions)
        return [
            self._persisted(bundle) if persisted and not bundle.copied else None
            for bundle in self.bundles
        ]

    def merge(self, futures: list[Any], *, by_worker: bool) -> Any:
        """Merge the statistics of a pass on the workers and return the one that is left.

        ``by_worker`` merges those of a worker first; otherwise those of neighboring partitions.
        """
        unmerged = list(range(len(futures)))
        if by_worker:
            unmerged.sort(key=lambda index: (self.bundles[index].worker or "", index))
        merged_by: dict[int, list[int]] = {}
        while len(unmerged) > 1:
            groups = [unmerged[i : i + _FAN_IN] for i in range(0, len(unmerged), _FAN_IN)]
            unmerged = []
            for group in groups:
                merged_by[len(futures)] = group
                unmerged.append(len(futures))
                futures.append(self._submit("merge", merge_parts, [futures[i] for i in group]))
        sizes = self.bundle_sizes + [0] * len(merged_by)
        for index, _ in as_finished(self.client, futures, self.limits, sizes):
            for part in merged_by.get(index, ()):
                futures[part].release()  # so that its worker frees the statistic
        (merged,) = results_in_order(self.client, [futures[-1]], self.limits)
        return unpack(merged) if isinstance(merged, bytes) else merged

    def _submit(self, name: str, function: Callable[..., Any], *args: Any) -> Any:
        return self.client.submit(function, *args, key=task_key(name))

    def _submit_bundles(
        self, name: str, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]
    ) -> list[Any]:
        """Return the futures of a task per bundle; those of a worker are submitted together."""
        by_worker: dict[str | None, list[int]] = defaultdict(list)
        for number, bundle in enumerate(self.bundles):
            by_worker[bundle.worker].append(number)
        futures: dict[int, Any] = {}
        for worker, numbers in by_worker.items():
            # A lost worker is replaced by another one.
            where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
            columns = zip(*(arguments[number] for number in numbers), strict=True)
            keys = [task_key(name) for _ in numbers]
            submitted = self.client.map(function, *map(list, columns), key=keys, **where)
            futures.update(zip(numbers, submitted, strict=True))
        return [futures[number] for number in range(len(self.bundles))]

    def _named(self, failed: TaskError) -> tuple[Exception, Exception]:
        """Return the error of a task with the name of its partition, and its cause."""
        error = failed.error
        if isinstance(error, PartitionTaskError):
            if error.index is None:
                return error.error, error
            return name_partition(self.partitions[error.index].name, error.error), error.error
        if isinstance(error, UnpackError) or failed.index >= len(self.bundles):
            return error, failed
        indices = self.bundles[failed.index].indices
        first, last = (self.partitions[index].name for index in (indices[0], indices[-1]))
        # Dask reports the task of a killed worker, not the partition that was running.
        name = first if len(indices) == 1 else f"{first}, or another one up to {last}"
        return name_partition(name, error), error

"""Group partitions into tasks, a few per thread of each worker."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

# A task costs the scheduler about a millisecond in every pass, and a statistic on its worker. Two
# tasks per thread are enough to keep the threads busy.
TASKS_PER_THREAD = 2
# Time limits, retries and the balance of the load work task by task, so tasks stay short.
_MAX_PARTITIONS = 32
_MAX_BYTES = 512_000_000
# Small partitions are copied once, neighbors to the same worker. Finding and converting each of
# them in every pass, and merging their statistics across workers, would take longer than the passes
# themselves. The copies of a worker take no more than ``_MAX_COPIES``.
_SMALL_BYTES = 1_000_000
_MAX_COPIES = 256_000_000


@dataclass(frozen=True, slots=True)
class Bundle:
    """Partitions, in order, that one task of every pass runs, and the worker it should run on.

    ``copied`` if the worker copies their rows before the first pass.
    """

    indices: tuple[int, ...]
    worker: str | None = None
    copied: bool = False


def balanced_bundles(
    n_partitions: int, threads: Mapping[str, int], *, copied: bool = False
) -> list[Bundle]:
    """Return bundles of consecutive partitions, which any worker can load.

    Each worker gets consecutive bundles, in proportion to its threads.
    """
    slots = [worker for worker, n in threads.items() for _ in range(n)]
    size = _bundle_size(n_partitions, len(slots))
    groups = _groups(range(n_partitions), size if copied else min(size, _MAX_PARTITIONS))
    if not slots:
        return [Bundle(group, None, copied) for group in groups]
    return [
        Bundle(group, slots[index * len(slots) // len(groups)], copied)
        for index, group in enumerate(groups)
    ]


def local_bundles(
    workers: Sequence[str | None],
    n_bytes: Sequence[int],
    threads: Mapping[str, int],
    *,
    may_copy: bool = True,
) -> list[Bundle]:
    """Return bundles of persisted partitions, given the worker and the size of each of them.

    With ``may_copy``, partitions of this size may be copied: no task makes larger ones of them.
    """
    small = max(n_bytes) <= _SMALL_BYTES and sum(n_bytes) <= _MAX_COPIES * len(threads)
    if small and may_copy:
        return balanced_bundles(len(n_bytes), threads, copied=True)
    by_worker: dict[str | None, list[int]] = defaultdict(list)
    for index, worker in enumerate(workers):
        by_worker[worker].append(index)
    bundles = []
    for worker, indices in by_worker.items():
        largest = max(1, *(n_bytes[index] for index in indices))
        # Values that are still being computed may end on any worker.
        n_threads = sum(threads.values()) if worker is None else threads.get(worker, 1)
        size = _bundle_size(len(indices), n_threads)
        groups = _groups(indices, min(size, _MAX_PARTITIONS, _MAX_BYTES // largest))
        bundles += [Bundle(group, worker) for group in groups]
    return sorted(bundles, key=lambda bundle: bundle.indices)


def _bundle_size(n_partitions: int, n_threads: int) -> int:
    return -(-n_partitions // (TASKS_PER_THREAD * max(1, n_threads)))


def _groups(indices: Sequence[int], size: int) -> list[tuple[int, ...]]:
    rest = iter(indices)
    return list(iter(lambda: tuple(islice(rest, max(1, size))), ()))


def locate_inputs(
    client: Any, inputs: Sequence[Sequence[Any]]
) -> tuple[list[str | None], list[int]]:
    """Return where the persisted inputs of each partition are, and the sum of their sizes.

    This is the worker that has the largest of them; None if no worker has it.
    """
    keys = [[future.key for future in futures] for futures in inputs]
    where = client.who_has([future for futures in inputs for future in futures])
    try:
        known = client.nbytes([key for group in keys for key in group], summary=False)
    except KeyError:
        # The scheduler does not have all of them yet, or not any more; sizes only balance tasks.
        known = {}
    loads: dict[str, int] = defaultdict(int)
    workers: list[str | None] = []
    n_bytes: list[int] = []
    for group in keys:
        sizes = {key: int(known.get(key, _MAX_BYTES)) for key in group}
        largest = max(sizes, key=lambda key: (sizes[key], str(key)))
        # Of several copies, the one on the worker with the fewest partitions so far.
        worker = min(where.get(largest, ()), key=loads.__getitem__, default=None)
        if worker is not None:
            loads[worker] += 1
        workers.append(worker)
        n_bytes.append(sum(sizes.values()))
    return workers, n_bytes

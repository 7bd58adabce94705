"""Two Dask workers on this machine, and tables persisted on them in many partitions."""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest import mock

import numpy as np

N_COLUMNS, N_CLUSTERS, N_ITERATIONS, DEPTH, MAX_BINS = 28, 8, 20, 8, 255
N_WORKERS = 2


@cache
def client() -> Any:
    """Start two workers of one thread and return their client; they end with this process."""
    from distributed import Client, LocalCluster

    cluster = LocalCluster(
        n_workers=N_WORKERS,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        silence_logs=logging.CRITICAL,
    )
    return Client(cluster)


def table(seed: int, n_rows: int) -> tuple[Any, Any]:
    """Return rows of normal columns and two classes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, N_COLUMNS))
    signal = X[:, :4].sum(axis=1) + rng.standard_normal(n_rows)
    return X, (signal > 0).astype(np.int64)


def persisted(X: Any, y: Any, n_partitions: int) -> tuple[Any, Any]:
    """Return rows and classes as Dask arrays, in the memory of the workers."""
    import dask.array as da
    from distributed import wait

    size = -(-len(X) // n_partitions)
    arrays = da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)
    kept = client().persist(list(arrays))
    wait(kept)
    return kept[0], kept[1]


def fit_tree(X: Any, y: Any) -> Any:
    """Grow a tree of depth 8 whose rows stay on the workers."""
    import ceiba
    from ceiba.tree.grow import grower

    with mock.patch.object(grower, "GATHER_BYTES", 0):
        return ceiba.DecisionTreeClassifier(max_bins=MAX_BINS, max_depth=DEPTH).fit(X, y)


def fit_kmeans(X: Any, y: Any = None) -> Any:
    """Run a fixed number of iterations of k-means."""
    import ceiba

    return ceiba.KMeans(N_CLUSTERS, max_iter=N_ITERATIONS, tol=0.0).fit(X)


FITS: dict[str, Callable[[Any, Any], Any]] = {"tree": fit_tree, "kmeans": fit_kmeans}


@dataclass
class Traffic:
    """What a fit did: passes, tasks, bytes that the client received, CPU seconds of workers."""

    model: Any = None
    passes: int = 0
    tasks: int = 0
    received: int = 0
    cpu: float = 0.0


@contextmanager
def counted() -> Iterator[Traffic]:
    """Count what the Dask engine does inside the block."""
    from distributed import Client

    from ceiba.engine.dask import engine, passes

    traffic = Traffic()
    submit, results, reduce = Client.submit, passes.results_in_order, engine.DaskEngine.reduce
    map_tasks = Client.map

    def count_task(*args: Any, **options: Any) -> Any:
        traffic.tasks += 1
        return submit(*args, **options)

    def count_tasks_of_map(client: Any, function: Any, *iterables: Any, **options: Any) -> Any:
        traffic.tasks += len(iterables[0])
        return map_tasks(client, function, *iterables, **options)

    def count_bytes(*args: Any) -> Iterator[Any]:
        for result in results(*args):
            traffic.received += len(pickle.dumps(result))
            yield result

    def count_pass(*args: Any) -> Any:
        traffic.passes += 1
        return reduce(*args)

    before = cpu_seconds()
    with (
        mock.patch.object(Client, "submit", count_task),
        mock.patch.object(Client, "map", count_tasks_of_map),
        mock.patch.object(passes, "results_in_order", count_bytes),
        mock.patch.object(engine.DaskEngine, "reduce", count_pass),
    ):
        yield traffic
    traffic.cpu = cpu_seconds() - before


def cpu_seconds() -> float:
    """Return the processor time of all workers."""
    return float(sum(client().run(time.process_time).values()))

"""Fits on two Dask workers: the same rows in 64 and in 1,024 partitions.

The peer is Ceiba itself with fewer partitions. The bytes that the client receives must be the same,
apart from the row counts of the first pass, two or three bytes per partition.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.cluster import data
from benchmarks.workload import Check, Implementation, Metrics, Workload

PARTITIONS = (1024, 64, 4)


def make_data(seed: int, n_rows: int) -> dict[str, Any]:
    """Return the persisted table, by number of partitions."""
    X, y = data.table(seed, n_rows)
    return {"persisted": {n: data.persisted(X, y, n) for n in PARTITIONS}}


def fit(learner: str, n_partitions: int, tables: dict[int, Any]) -> data.Traffic:
    """Fit one of the tables."""
    with data.client().as_current(), data.counted() as traffic:
        traffic.model = data.FITS[learner](*tables[n_partitions])
    return traffic


def score(traffic: data.Traffic, _: Any) -> Metrics:
    """Return the size or the inertia of the model, and what the fit did."""
    model = traffic.model
    return {
        "model": float(model.tree_.n_nodes if hasattr(model, "tree_") else model.inertia_),
        "passes": float(traffic.passes),
        "tasks": float(traffic.tasks),
        "received": float(traffic.received),
        "worker cpu": traffic.cpu,
    }


def workload(learner: str, title: str) -> Workload:
    """Return the workload of one learner."""
    first, *others = (
        Implementation(
            f"ceiba, {n:,} partitions",
            partial(fit, learner, n),
            "persisted",
            ours=n == PARTITIONS[0],
            module="distributed",
        )
        for n in PARTITIONS
    )
    return Workload(
        name=f"dask-{learner}",
        title=f"{title}, {data.N_COLUMNS} columns, two workers, persisted",
        make_data=make_data,
        implementations=(first, *others),
        quality=score,
        checks=(Check("model", 1e-9), Check("passes", 0.0), Check("received", 0.1)),
        n_rows=400_000,
        quick_n_rows=8_192,
    )


WORKLOADS = (
    workload("tree", "a tree of depth 8, rows not gathered"),
    workload("kmeans", "k-means, 8 centers, 20 iterations"),
)

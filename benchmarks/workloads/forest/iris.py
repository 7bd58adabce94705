"""Overhead of a call of a forest: a hundred trees on iris."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks.forest import peers as forest_peers
from benchmarks.forest import quality
from benchmarks.forest.peers import N_TREES, Fit, FittedForest, Peer
from benchmarks.tree.data import Array, Sample, iris
from benchmarks.workload import Implementation, Metrics, Workload

N_ROWS = 150
METHODS = ("predict", "predict_proba")
# Of the training rows, forests misclassify none or one.
CHECKS = (quality.at_least("accuracy", 0.01),)


@dataclass(frozen=True)
class SingleRows:
    """Tables of one row, their classes, and the fitted forests by label."""

    rows: list[Array]
    y: Array
    models: dict[str, Any]


def peers() -> dict[str, Peer]:
    """Return the peers; scikit-learn also with one thread, its default, as more may be slower."""
    return {
        "ceiba": forest_peers.ceiba("classification"),
        "scikit-learn": forest_peers.sklearn("classification"),
        "scikit-learn, one thread": forest_peers.sklearn("classification", n_jobs=None),
        "scikit-learn-intelex": forest_peers.intelex("classification"),
    }


def single_rows(n_calls: int) -> Callable[[int, int], dict[str, SingleRows]]:
    """Return the data of single-row prediction: the rows of iris, cycled, for any seed."""

    def make_data(seed: int, n_rows: int) -> dict[str, SingleRows]:
        sample = iris()
        models = {k: peer.fit(sample).model for k, peer in peers().items() if peer.is_installed()}
        rows = list(islice(cycle(np.split(sample.X, len(sample.X))), n_calls))
        return dict.fromkeys(METHODS, SingleRows(rows, np.resize(sample.y, n_calls), models))

    return make_data


def fit_repeatedly(fit: Fit, n_calls: int) -> Callable[[Sample], list[FittedForest]]:
    """Return a run of many fits."""
    return lambda sample: [fit(sample) for _ in range(n_calls)]


def predict_each(label: str, method: str) -> Callable[[SingleRows], list[Array]]:
    """Return a run of one call per row."""

    def run(data: SingleRows) -> list[Array]:
        predict = getattr(data.models[label], method)
        return [predict(row) for row in data.rows]

    return run


def fit_quality(forests: list[FittedForest], sample: Sample) -> Metrics:
    """Return accuracy on the training rows and nodes per tree of the last forest."""
    last = forests[-1]
    metrics = quality.score_classes(last.predict(sample.X), sample)
    return {**metrics, "nodes": last.nodes_per_tree()}


def predict_quality(predictions: list[Array], data: SingleRows) -> Metrics:
    """Score the predictions of all calls."""
    return quality.score_classes(np.concatenate(predictions), Sample(None, data.y))


def fit_workload(n_calls: int = 10) -> Workload:
    """Return the workload of a whole fit."""
    return Workload(
        name="forest-iris-fit",
        title=f"iris, forest of {N_TREES} trees of full depth, whole call",
        make_data=lambda seed, n_rows: {"float64": iris()},
        implementations=tuple(
            Implementation(
                label, fit_repeatedly(peer.fit, n_calls), "float64", label == "ceiba", peer.module
            )
            for label, peer in peers().items()
        ),
        quality=fit_quality,
        checks=CHECKS,
        n_rows=N_ROWS,
        quick_n_rows=N_ROWS,
        n_calls=n_calls,
    )


def predict_workload(n_calls: int = 150) -> Workload:
    """Return the workload of a whole prediction of one row."""
    return Workload(
        name="forest-iris-row",
        title=f"iris, prediction of one row by {N_TREES} trees, whole call",
        make_data=single_rows(n_calls),
        implementations=tuple(
            Implementation(
                label, predict_each(label, method), method, label == "ceiba", peer.module
            )
            for method in METHODS
            for label, peer in peers().items()
        ),
        quality=predict_quality,
        checks=CHECKS,
        n_rows=N_ROWS,
        quick_n_rows=N_ROWS,
        n_calls=n_calls,
    )


WORKLOADS = (fit_workload(), predict_workload())

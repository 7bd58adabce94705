"""Overhead of a call of a tree: iris."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks.tree import peers
from benchmarks.tree import quality as tree_quality
from benchmarks.tree.data import Array, Sample, iris
from benchmarks.tree.peers import Fit, FittedTree
from benchmarks.workload import Check, Implementation, Metrics, Workload

N_ROWS = 150
METHODS = ("predict", "predict_proba")
PEERS = {
    "ceiba": peers.ceiba("classification"),
    "scikit-learn": peers.sklearn("classification"),
}


@dataclass(frozen=True)
class SingleRows:
    """Tables of one row, their classes, and the fitted trees by label."""

    rows: list[Array]
    y: Array
    models: dict[str, Any]


def single_rows(n_calls: int) -> Callable[[int, int], dict[str, SingleRows]]:
    """Return the data of single-row prediction: the rows of iris, cycled, for any seed."""

    def make_data(seed: int, n_rows: int) -> dict[str, SingleRows]:
        sample = iris()
        models = {label: peer.fit(sample).model for label, peer in PEERS.items()}
        rows = list(islice(cycle(np.split(sample.X, len(sample.X))), n_calls))
        return dict.fromkeys(METHODS, SingleRows(rows, np.resize(sample.y, n_calls), models))

    return make_data


def fit_repeatedly(fit: Fit, n_calls: int) -> Callable[[Sample], list[FittedTree]]:
    """Return a run of many fits."""
    return lambda sample: [fit(sample) for _ in range(n_calls)]


def predict_each(label: str, method: str) -> Callable[[SingleRows], list[Array]]:
    """Return a run of one call per row."""

    def run(data: SingleRows) -> list[Array]:
        predict = getattr(data.models[label], method)
        return [predict(row) for row in data.rows]

    return run


def fit_quality(trees: list[FittedTree], sample: Sample) -> Metrics:
    """Return accuracy on the training rows and leaves of the last tree."""
    last = trees[-1]
    metrics = tree_quality.score_classes(last.model.predict(sample.X), sample)
    return {"accuracy": metrics["accuracy"], "leaves": float(last.n_leaves())}


def predict_quality(predictions: list[Array], data: SingleRows) -> Metrics:
    """Score the predictions of all calls."""
    return tree_quality.score_classes(np.concatenate(predictions), data)


def fit_workload(n_calls: int = 100) -> Workload:
    """Return the workload of a whole fit."""
    return Workload(
        name="tree-iris-fit",
        title="iris, exact tree of full depth, whole call",
        make_data=lambda seed, n_rows: {"float64": iris()},
        implementations=tuple(
            Implementation(
                label, fit_repeatedly(peer.fit, n_calls), "float64", label == "ceiba", peer.module
            )
            for label, peer in PEERS.items()
        ),
        quality=fit_quality,
        # Not the leaves: iris has many ties, which each library breaks in its own way.
        checks=(Check("accuracy", 1e-12),),
        n_rows=N_ROWS,
        quick_n_rows=N_ROWS,
        n_calls=n_calls,
    )


def predict_workload(n_calls: int = 1_000) -> Workload:
    """Return the workload of a whole prediction of one row."""
    return Workload(
        name="tree-iris-row",
        title="iris, prediction of one row by a tree of full depth, whole call",
        make_data=single_rows(n_calls),
        implementations=tuple(
            Implementation(
                label, predict_each(label, method), method, label == "ceiba", peer.module
            )
            for method in METHODS
            for label, peer in PEERS.items()
        ),
        quality=predict_quality,
        checks=(Check("accuracy", 1e-12), Check("true_class", 1e-12)),
        n_rows=N_ROWS,
        quick_n_rows=N_ROWS,
        n_calls=n_calls,
    )


WORKLOADS = (fit_workload(), predict_workload())

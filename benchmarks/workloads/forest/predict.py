"""Prediction with a grown forest: many test rows per call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.forest import peers as forest_peers
from benchmarks.forest import quality
from benchmarks.forest.data import FAMILY, TITLE, normal_table
from benchmarks.forest.peers import N_TREES, FittedForest, Peer
from benchmarks.memory import release_free_memory
from benchmarks.tree.data import N_COLUMNS, Array, Sample, SplitSample, Task
from benchmarks.workload import Implementation, Metrics, Workload
from benchmarks.workloads.forest.fit import N_ROWS, QUICK_N_ROWS, peers

METHODS = {"classification": ("predict", "predict_proba"), "regression": ("predict",)}


@dataclass(frozen=True)
class PredictionData:
    """Test rows with their true targets, and the fitted forests by label."""

    test: Sample
    forests: Mapping[str, FittedForest]


def data_maker(
    task: Task, make_sample: Callable[[int, int], SplitSample], by_label: Mapping[str, Peer]
) -> Callable[[int, int], dict[str, PredictionData]]:
    """Return a function that grows the forests, outside the timed part; one group per method."""

    def make_data(seed: int, n_rows: int) -> dict[str, PredictionData]:
        sample = make_sample(seed, n_rows)
        forests = {k: peer.fit(sample) for k, peer in by_label.items() if peer.is_installed()}
        release_free_memory()
        return dict.fromkeys(METHODS[task], PredictionData(sample.test, forests))

    return make_data


def predict(label: str, method: str, task: Task) -> Callable[[PredictionData], Array]:
    """Return a run of one call for all rows."""

    def run(data: PredictionData) -> Array:
        forest = data.forests[label]
        labels = task == "classification" and method == "predict"
        predictions: Array = (forest.model.predict if labels else forest.predict)(data.test.X)
        return predictions

    return run


def implementations(
    task: Task, by_label: Mapping[str, Peer], without_labels: tuple[str, ...]
) -> tuple[Implementation, ...]:
    """Return all peers in all groups, except those that predict only probabilities."""
    return tuple(
        Implementation(
            label, predict(label, method, task), method, label.startswith("ceiba"), peer.module
        )
        for method in METHODS[task]
        for label, peer in by_label.items()
        if task == "regression" or method == "predict_proba" or label not in without_labels
    )


def score(task: Task) -> Callable[[Any, PredictionData], Metrics]:
    """Return the quality function of predictions."""
    return lambda predictions, data: quality.SCORE_PREDICTIONS[task](predictions, data.test)


def as_float32(sample: SplitSample) -> SplitSample:
    """Return a sample with columns of float32."""
    X, test = sample.X.astype(np.float32), sample.test
    return SplitSample(X, sample.y, Sample(test.X.astype(np.float32), test.y))


def workload(
    task: Task, name: str, convert: Callable[[SplitSample], SplitSample] = lambda sample: sample
) -> Workload:
    """Return the workload of half as many rows as the forest was grown from."""
    by_label = {label: peer for group in peers(task).values() for label, peer in group.items()}
    by_label["treelite"] = forest_peers.treelite(task)
    return Workload(
        name=f"{FAMILY[task]}-{name}",
        title=f"{TITLE[task]}, {N_COLUMNS} normal columns, prediction by {N_TREES} trees",
        make_data=data_maker(task, lambda seed, n: convert(normal_table(task, seed, n)), by_label),
        implementations=implementations(task, by_label, without_labels=("ydf", "treelite")),
        quality=score(task),
        checks=quality.LOOSE_CHECKS[task],
        quick_checks=quality.QUICK_CHECKS[task],
        n_rows=N_ROWS,
        quick_n_rows=QUICK_N_ROWS,
    )


WORKLOADS = (
    workload("classification", "predict"),
    workload("classification", "predict-float32", as_float32),
    workload("regression", "predict"),
)

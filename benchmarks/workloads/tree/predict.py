"""Prediction with a grown tree: many rows per call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks.memory import release_free_memory
from benchmarks.tree import quality
from benchmarks.tree.data import FAMILY, N_COLUMNS, TITLE, Array, Task, normal_table
from benchmarks.tree.peers import Peer
from benchmarks.workload import Check, Implementation, Workload
from benchmarks.workloads.tree.fit import DEPTH, exact_peers

METHODS = {"classification": ("predict", "predict_proba"), "regression": ("predict",)}
# Training rows per row of the prediction.
TRAINING_FACTOR = 5
QUALITY = {"classification": quality.score_classes, "regression": quality.score_numbers}
EQUAL = {
    "classification": (Check("accuracy", 2e-3), Check("true_class", 2e-3)),
    "regression": (Check("r2", 2e-3),),
}


@dataclass(frozen=True)
class PredictionData:
    """Rows, their true targets, and the fitted trees by label."""

    X: Array
    y: Array
    models: Mapping[str, Any]


def data_maker(
    task: Task, peers: Mapping[str, Peer]
) -> Callable[[int, int], dict[str, PredictionData]]:
    """Return a function that grows the trees, outside the timed part; one group per method.

    The rows are the first training rows: on new rows the predictions would differ wherever a tie
    was broken differently, and the checks would have to be weaker.
    """

    def make_data(seed: int, n_rows: int) -> dict[str, PredictionData]:
        sample = normal_table(task, seed, TRAINING_FACTOR * n_rows)
        models = {k: peer.fit(sample).model for k, peer in peers.items() if peer.is_installed()}
        release_free_memory()
        data = PredictionData(sample.X[:n_rows], sample.y[:n_rows], models)
        return dict.fromkeys(METHODS[task], data)

    return make_data


def predict(label: str, method: str) -> Callable[[PredictionData], Array]:
    """Return a run of one call for all rows."""

    def run(data: PredictionData) -> Array:
        predictions: Array = getattr(data.models[label], method)(data.X)
        return predictions

    return run


def workload(task: Task, depth: int | None) -> Workload:
    """Return the workload of 100,000 rows and a tree grown from half a million."""
    name, text = (f"depth{depth}", f"depth {depth}") if depth else ("full", "full depth")
    peers = exact_peers(task, depth)
    return Workload(
        name=f"{FAMILY[task]}-predict-{name}",
        title=f"{TITLE[task]}, {N_COLUMNS} normal columns, prediction by a tree of {text}",
        make_data=data_maker(task, peers),
        implementations=tuple(
            Implementation(label, predict(label, method), method, label == "ceiba", peer.module)
            for method in METHODS[task]
            for label, peer in peers.items()
        ),
        quality=QUALITY[task],
        checks=EQUAL[task],
        n_rows=100_000,
        quick_n_rows=5_000,
    )


WORKLOADS = (
    workload("classification", DEPTH),
    workload("classification", None),
    workload("regression", DEPTH),
    workload("regression", None),
)

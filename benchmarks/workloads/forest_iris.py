"""What a forest costs when there is next to nothing to do: a hundred trees on iris."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks import forest_judge, forest_peers
from benchmarks.forest_peers import TREES, Fit, Forest, Peer
from benchmarks.tree_data import Array, Sample, iris
from benchmarks.workload import Contestant, Numbers, Workload

ROWS = 150
METHODS = ("predict", "predict_proba")
# Of the rows that they were grown from forests get all right, or all but one.
CHECKS = (forest_judge.no_less("accuracy", 0.01),)


@dataclass(frozen=True)
class Flowers:
    """Single rows as tables of one row, their classes, and everyone's forest by label."""

    rows: list[Array]
    y: Array
    models: dict[str, Any]


def peers() -> dict[str, Peer]:
    """scikit-learn's forest uses one thread unless it is told; here more may be slower."""
    return {
        "ceiba": forest_peers.ceiba("classes"),
        "scikit-learn": forest_peers.sklearn("classes"),
        "scikit-learn, one thread": forest_peers.sklearn("classes", n_jobs=None),
        "scikit-learn-intelex": forest_peers.intelex("classes"),
    }


def flowers(calls: int) -> Callable[[int, int], dict[str, Flowers]]:
    """Data of single-row prediction, whatever the seed: the flowers over and over."""

    def data(seed: int, rows: int) -> dict[str, Flowers]:
        table = iris()
        models = {k: peer.fit(table).model for k, peer in peers().items() if peer.installed()}
        singles = list(islice(cycle(np.split(table.X, len(table.X))), calls))
        found = Flowers(singles, np.resize(table.y, calls), models)
        return dict.fromkeys(METHODS, found)

    return data


def grow_often(fit: Fit, calls: int) -> Callable[[Sample], list[Forest]]:
    """Many whole fits in one run."""
    return lambda table: [fit(table) for _ in range(calls)]


def ask_often(label: str, method: str) -> Callable[[Flowers], list[Array]]:
    """A call for every row."""

    def run(asked: Flowers) -> list[Array]:
        ask = getattr(asked.models[label], method)
        return [ask(row) for row in asked.rows]

    return run


def grown_quality(forests: list[Forest], table: Sample) -> Numbers:
    """Of the last forest: its accuracy on the rows that it was grown from, and its nodes."""
    last = forests[-1]
    right = forest_judge.answered_classes(last.answer(table.X), table)
    return {**right, "nodes": last.nodes()}


def asked_quality(answers: list[Array], asked: Flowers) -> Numbers:
    """The answers to all the calls, one under another."""
    return forest_judge.answered_classes(np.concatenate(answers), Sample(None, asked.y))


def fitting(calls: int = 10) -> Workload:
    """Everything that a fit costs."""
    return Workload(
        name="forest-iris-fit",
        title=f"iris, forest of {TREES} trees of full depth, whole call",
        data=lambda seed, rows: {"float64": iris()},
        contestants=tuple(
            Contestant(label, grow_often(peer.fit, calls), "float64", label == "ceiba", peer.needs)
            for label, peer in peers().items()
        ),
        quality=grown_quality,
        checks=CHECKS,
        rows=ROWS,
        quick_rows=ROWS,
        calls=calls,
    )


def single_rows(calls: int = 150) -> Workload:
    """Everything that one answer costs."""
    return Workload(
        name="forest-iris-row",
        title=f"iris, one row asked of {TREES} trees, whole call",
        data=flowers(calls),
        contestants=tuple(
            Contestant(label, ask_often(label, method), method, label == "ceiba", peer.needs)
            for method in METHODS
            for label, peer in peers().items()
        ),
        quality=asked_quality,
        checks=CHECKS,
        rows=ROWS,
        quick_rows=ROWS,
        calls=calls,
    )


WORKLOADS = (fitting(), single_rows())

"""What a call costs when there is next to nothing to do: iris."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import cycle, islice
from typing import Any

import numpy as np

from benchmarks import tree_judge, tree_peers
from benchmarks.tree_data import Array, Sample, iris
from benchmarks.tree_peers import Fit, Grown
from benchmarks.workload import Check, Contestant, Numbers, Workload

ROWS = 150
METHODS = ("predict", "predict_proba")
PEERS = {"ceiba": tree_peers.ceiba("classes"), "scikit-learn": tree_peers.sklearn("classes")}


@dataclass(frozen=True)
class Flowers:
    """Single rows as tables of one row, their classes, and everyone's fitted tree by label."""

    rows: list[Array]
    y: Array
    models: dict[str, Any]


def flowers(calls: int) -> Callable[[int, int], dict[str, Flowers]]:
    """Data of single-row prediction, whatever the seed: the flowers over and over."""

    def data(seed: int, rows: int) -> dict[str, Flowers]:
        table = iris()
        models = {label: peer.fit(table).model for label, peer in PEERS.items()}
        singles = list(islice(cycle(np.split(table.X, len(table.X))), calls))
        found = Flowers(singles, np.resize(table.y, calls), models)
        return dict.fromkeys(METHODS, found)

    return data


def grow_often(fit: Fit, calls: int) -> Callable[[Sample], list[Grown]]:
    """Many whole fits in one run."""
    return lambda table: [fit(table) for _ in range(calls)]


def ask_often(label: str, method: str) -> Callable[[Flowers], list[Array]]:
    """A call for every row."""

    def run(asked: Flowers) -> list[Array]:
        ask = getattr(asked.models[label], method)
        return [ask(row) for row in asked.rows]

    return run


def grown_quality(trees: list[Grown], table: Sample) -> Numbers:
    """Of the last tree: its labels for the rows that it was grown from, and its leaves."""
    last = trees[-1]
    right = tree_judge.of_answers(last.model.predict(table.X), table)
    return {"accuracy": right["accuracy"], "leaves": float(last.leaves())}


def asked_quality(answers: list[Array], asked: Flowers) -> Numbers:
    """The answers to all the calls, one under another."""
    return tree_judge.of_answers(np.concatenate(answers), asked)


def fitting(calls: int = 100) -> Workload:
    """Everything that a fit costs."""
    return Workload(
        name="tree-iris-fit",
        title="iris, exact tree of full depth, whole call",
        data=lambda seed, rows: {"float64": iris()},
        contestants=tuple(
            Contestant(label, grow_often(peer.fit, calls), "float64", label == "ceiba", peer.needs)
            for label, peer in PEERS.items()
        ),
        quality=grown_quality,
        # Not the leaves: iris is full of ties, which everyone breaks otherwise.
        checks=(Check("accuracy", 1e-12),),
        rows=ROWS,
        quick_rows=ROWS,
        calls=calls,
    )


def single_rows(calls: int = 1_000) -> Workload:
    """Everything that one answer costs."""
    return Workload(
        name="tree-iris-row",
        title="iris, one row asked of a tree of full depth, whole call",
        data=flowers(calls),
        contestants=tuple(
            Contestant(label, ask_often(label, method), method, label == "ceiba", peer.needs)
            for method in METHODS
            for label, peer in PEERS.items()
        ),
        quality=asked_quality,
        checks=(Check("accuracy", 1e-12), Check("true_class", 1e-12)),
        rows=ROWS,
        quick_rows=ROWS,
        calls=calls,
    )


WORKLOADS = (fitting(), single_rows())

"""Asking a tree that is already grown: many rows at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks import tree_judge
from benchmarks.memory import give_back
from benchmarks.tree_data import COLUMNS, FAMILY, TITLE, Array, Task, normal
from benchmarks.tree_peers import Peer
from benchmarks.workload import Check, Contestant, Workload
from benchmarks.workloads.tree import DEPTH, exact_peers

METHODS = {"classes": ("predict", "predict_proba"), "numbers": ("predict",)}
# A tree is grown from this many times the rows that it is asked about.
TRAINING = 5
QUALITY = {"classes": tree_judge.of_answers, "numbers": tree_judge.of_answered_numbers}
SAME = {
    "classes": (Check("accuracy", 2e-3), Check("true_class", 2e-3)),
    "numbers": (Check("r2", 2e-3),),
}


@dataclass(frozen=True)
class Asked:
    """Rows, their true targets, and everyone's fitted tree by label."""

    X: Array
    y: Array
    models: Mapping[str, Any]


def asked(task: Task, peers: Mapping[str, Peer]) -> Callable[[int, int], dict[str, Asked]]:
    """Data of a workload: trees are grown here, outside the timed part; a group a method.

    The rows asked are the first ones that the trees were grown from: rows that are new would be
    answered otherwise wherever a tie was broken otherwise, and the judge could ask for less.
    """

    def data(seed: int, rows: int) -> dict[str, Asked]:
        sample = normal(task, seed, TRAINING * rows)
        models = {k: peer.fit(sample).model for k, peer in peers.items() if peer.installed()}
        give_back()
        return dict.fromkeys(METHODS[task], Asked(sample.X[:rows], sample.y[:rows], models))

    return data


def ask(label: str, method: str) -> Callable[[Asked], Array]:
    """One call for all rows."""

    def run(question: Asked) -> Array:
        answers: Array = getattr(question.models[label], method)(question.X)
        return answers

    return run


def predicting(task: Task, depth: int | None) -> Workload:
    """A hundred thousand rows, a tree grown from half a million."""
    name, kind = (f"depth{depth}", f"depth {depth}") if depth else ("full", "full depth")
    peers = exact_peers(task, depth)
    return Workload(
        name=f"{FAMILY[task]}-predict-{name}",
        title=f"{TITLE[task]}, {COLUMNS} normal columns, rows asked of a tree of {kind}",
        data=asked(task, peers),
        contestants=tuple(
            Contestant(label, ask(label, method), method, label == "ceiba", peer.needs)
            for method in METHODS[task]
            for label, peer in peers.items()
        ),
        quality=QUALITY[task],
        checks=SAME[task],
        rows=100_000,
        quick_rows=5_000,
    )


WORKLOADS = (
    predicting("classes", DEPTH),
    predicting("classes", None),
    predicting("numbers", DEPTH),
    predicting("numbers", None),
)

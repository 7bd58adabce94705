"""Asking a forest that is already grown: many new rows at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from benchmarks import forest_judge
from benchmarks.forest_data import FAMILY, TITLE, normal
from benchmarks.forest_peers import TREES, Forest, Peer
from benchmarks.memory import give_back
from benchmarks.tree_data import COLUMNS, Array, Parted, Sample, Task
from benchmarks.workload import Contestant, Workload
from benchmarks.workloads.forest import QUICK_ROWS, ROWS, peers

METHODS = {"classes": ("predict", "predict_proba"), "numbers": ("predict",)}


@dataclass(frozen=True)
class Asked:
    """New rows, their true targets, and everyone's forest by label."""

    new: Sample
    forests: Mapping[str, Forest]


def asked(
    task: Task, sample: Callable[[int, int], Parted], peers: Mapping[str, Peer]
) -> Callable[[int, int], dict[str, Asked]]:
    """Data of a workload: forests are grown here, outside the timed part; a group a method."""

    def data(seed: int, rows: int) -> dict[str, Asked]:
        table = sample(seed, rows)
        forests = {label: peer.fit(table) for label, peer in peers.items() if peer.installed()}
        give_back()
        return dict.fromkeys(METHODS[task], Asked(table.new, forests))

    return data


def ask(label: str, method: str, task: Task) -> Callable[[Asked], Array]:
    """One call for all rows."""

    def run(question: Asked) -> Array:
        forest = question.forests[label]
        by_label = task == "classes" and method == "predict"
        answers: Array = (forest.model.predict if by_label else forest.answer)(question.new.X)
        return answers

    return run


def contestants(
    task: Task, peers: Mapping[str, Peer], only_shares: tuple[str, ...]
) -> tuple[Contestant, ...]:
    """Everyone in every group but those who tell no labels."""
    return tuple(
        Contestant(label, ask(label, method, task), method, label.startswith("ceiba"), peer.needs)
        for method in METHODS[task]
        for label, peer in peers.items()
        if task == "numbers" or method == "predict_proba" or label not in only_shares
    )


def answered(task: Task) -> Callable[[Any, Asked], dict[str, float]]:
    """Quality of the answers."""
    return lambda answers, question: forest_judge.ANSWERED[task](answers, question.new)


def predicting(task: Task) -> Workload:
    """Half as many rows as the forest was grown from."""
    known = {label: peer for group in peers(task).values() for label, peer in group.items()}
    return Workload(
        name=f"{FAMILY[task]}-predict",
        title=f"{TITLE[task]}, {COLUMNS} normal columns, {TREES} trees asked about new rows",
        data=asked(task, lambda seed, rows: normal(task, seed, rows), known),
        contestants=contestants(task, known, only_shares=("ydf",)),
        quality=answered(task),
        checks=forest_judge.LOOSE_CHECKS[task],
        quick_checks=forest_judge.QUICK_CHECKS[task],
        rows=ROWS,
        quick_rows=QUICK_ROWS,
    )


WORKLOADS = (predicting("classes"), predicting("numbers"))

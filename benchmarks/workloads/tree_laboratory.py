"""The whole pruning laboratory, and what growing its first tree costs.

Nobody else has one: the line beside ours is ours again, growing once from the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks import tree_peers
from benchmarks.tree_data import FAMILY, TITLE, Parted, Task, normal, parted
from benchmarks.tree_peers import ENDING, Grown
from benchmarks.workload import Check, Contestant, Numbers, Workload

COLUMNS = 10
HELD_OUT, GIVEN = "a quarter held out", "validation rows given"
# The laboratory grows from three quarters of the rows where it holds out the others.
SAME = (Check("leaves", {HELD_OUT: 0.3, GIVEN: 1e-12}),)


def laboratory(task: Task, group: str) -> Callable[[Parted], Any]:
    """One call; new rows are the validation rows where some are given."""

    def run(sample: Parted) -> Any:
        model = getattr(import_module("ceiba"), f"DecisionTree{ENDING[task]}")()
        validation = (sample.new.X, sample.new.y) if group == GIVEN else ()
        prune = import_module("ceiba.tree").pruning_laboratory
        return prune(model, sample.X, sample.y, *validation)

    return run


def quality(result: Any, sample: Parted) -> Numbers:
    """Leaves of the tree before any pruning, and the ways in which it was pruned."""
    if isinstance(result, Grown):
        return {"leaves": float(result.leaves())}
    return {"leaves": float(result["unpruned"].n_leaves), "ways": float(len(result) - 1)}


def data(task: Task) -> Callable[[int, int], dict[str, Parted]]:
    """Rows, and a quarter as many new ones."""

    def make(seed: int, rows: int) -> dict[str, Parted]:
        sample = parted(normal(task, seed, rows + rows // 4, COLUMNS), rows)
        return dict.fromkeys((HELD_OUT, GIVEN), sample)

    return make


def laboratories(task: Task) -> Workload:
    """Every way to prune, each judged by cross-validation with choices made within."""
    grow = tree_peers.ceiba(task).fit
    contestants = (
        (
            Contestant("ceiba", laboratory(task, group), group, ours=True, needs="ceiba"),
            Contestant("ceiba growing once", grow, group, needs="ceiba"),
        )
        for group in (HELD_OUT, GIVEN)
    )
    return Workload(
        name=f"{FAMILY[task]}-laboratory",
        title=f"{TITLE[task]}, {COLUMNS} normal columns, pruning laboratory on full trees",
        data=data(task),
        contestants=tuple(each for pair in contestants for each in pair),
        quality=quality,
        checks=SAME,
        rows=20_000,
        quick_rows=500,
    )


WORKLOADS = (laboratories("classes"), laboratories("numbers"))

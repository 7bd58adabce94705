"""`compare_pruning` as a whole, and the cost of growing its first tree.

No other library has it. The peer is ours again, growing one tree from the same rows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from benchmarks.tree import peers
from benchmarks.tree.data import FAMILY, TITLE, SplitSample, Task, normal_table, split_rows
from benchmarks.tree.peers import SUFFIX, FittedTree
from benchmarks.workload import Check, Implementation, Metrics, Workload

N_COLUMNS = 10
HELD_OUT, GIVEN = "a quarter held out", "validation rows given"
# Where a quarter of the rows is held out, the tree is grown from the other three quarters.
EQUAL = (Check("leaves", {HELD_OUT: 0.3, GIVEN: 1e-12}),)


def compare(task: Task, group: str) -> Callable[[SplitSample], Any]:
    """Return a run of one call; the test rows are the validation rows where they are given."""

    def run(sample: SplitSample) -> Any:
        model = getattr(import_module("ceiba"), f"DecisionTree{SUFFIX[task]}")()
        validation = (sample.test.X, sample.test.y) if group == GIVEN else ()
        compare_pruning = import_module("ceiba.tree").compare_pruning
        return compare_pruning(model, sample.X, sample.y, *validation)

    return run


def quality(result: Any, sample: SplitSample) -> Metrics:
    """Return the leaves of the tree before pruning, and the number of pruning methods."""
    if isinstance(result, FittedTree):
        return {"leaves": float(result.n_leaves())}
    return {"leaves": float(result["unpruned"].n_leaves), "methods": float(len(result) - 1)}


def data_maker(task: Task) -> Callable[[int, int], dict[str, SplitSample]]:
    """Return a function that makes rows, and a quarter as many test rows."""

    def make_data(seed: int, n_rows: int) -> dict[str, SplitSample]:
        sample = normal_table(task, seed, n_rows + n_rows // 4, N_COLUMNS)
        return dict.fromkeys((HELD_OUT, GIVEN), split_rows(sample, n_rows))

    return make_data


def workload(task: Task) -> Workload:
    """Return the workload of all pruning methods, each with nested cross-validation."""
    fit = peers.ceiba(task).fit
    pairs = (
        (
            Implementation("ceiba", compare(task, group), group, ours=True, module="ceiba"),
            Implementation("ceiba, one tree", fit, group, module="ceiba"),
        )
        for group in (HELD_OUT, GIVEN)
    )
    return Workload(
        name=f"{FAMILY[task]}-compare-pruning",
        title=f"{TITLE[task]}, {N_COLUMNS} normal columns, compare_pruning on full trees",
        make_data=data_maker(task),
        implementations=tuple(each for pair in pairs for each in pair),
        quality=quality,
        checks=EQUAL,
        n_rows=20_000,
        quick_n_rows=500,
    )


WORKLOADS = (workload("classification"), workload("regression"))

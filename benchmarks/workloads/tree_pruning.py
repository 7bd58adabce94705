"""Cost complexity beside scikit-learn: the nested path of a tree, and the tree for one alpha."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks import tree_judge, tree_peers
from benchmarks.tree_data import FAMILY, TITLE, Array, Sample, Task, normal
from benchmarks.tree_peers import ENDING
from benchmarks.workload import Check, Contestant, Numbers, Workload

COLUMNS = 10
ROWS, QUICK_ROWS = 20_000, 2_000
GROWN, WHOLE = "grown before", "growing included"
MODULES = {"ceiba": "ceiba", "scikit-learn": "sklearn.tree"}
SETTINGS: dict[str, dict[str, Any]] = {"ceiba": {}, "scikit-learn": {"random_state": 0}}
QUALITY = {"classes": tree_judge.of_classes, "numbers": tree_judge.of_numbers}
# Prices of a leaf: one to fit with, and those at which paths are compared.
ALPHA = {"classes": 5e-4, "numbers": 1e-3}
PRICES = np.geomspace(1e-5, 1e-1, 200)
# Alphas that differ by less, as a share of the last, are one level for the judge.
ALIKE = 1e-9

# Classes tie often in small nodes, and scikit-learn breaks ties at random; numbers do not.
SAME_PATH = {
    "classes": (Check("last_alpha", 1e-9), Check("mean_risk", 0.01)),
    "numbers": (Check("last_alpha", 1e-9), Check("mean_risk", 1e-9), Check("levels", 1e-3)),
}
SAME_TREE = {
    "classes": (Check("accuracy", 0.005), Check("leaves", 0.03)),
    "numbers": (Check("r2", 1e-9), Check("leaves", 1e-12)),
}


class Path(NamedTuple):
    """Prices at which the best tree changes, and the risk of its leaves from there on."""

    alphas: Array
    risks: Array


def table(task: Task, seed: int, rows: int) -> Sample:
    """Normal columns of four decimals, which float32 tells apart as float64 does."""
    sample = normal(task, seed, rows, COLUMNS)
    return Sample(sample.X.round(4), sample.y)


# The path ----------------------------------------------------------------------------------------


def path_of_ceiba(model: Any) -> Path:
    """Of a grown tree."""
    vars(model.tree_).pop("_complexity_paths", None)  # a tree keeps its path: made anew each time
    found = import_module("ceiba.tree.prune.path").complexity_path(model.tree_)
    return Path(found.alphas, found.risks)


def path_of_sklearn(model: Any) -> Path:
    """What its ``cost_complexity_pruning_path`` does after growing; not public on its own."""
    found = import_module("sklearn.tree._tree").ccp_pruning_path(model.tree_)
    return Path(found["ccp_alphas"], found["impurities"])


PATH_OF = {"ceiba": path_of_ceiba, "scikit-learn": path_of_sklearn}


def estimator(label: str, task: Task, **more: Any) -> Any:
    """A tree of full depth, not grown yet."""
    made = getattr(import_module(MODULES[label]), f"DecisionTree{ENDING[task]}")
    return made(**SETTINGS[label], **more)


def from_grown(label: str) -> Callable[[dict[str, Any]], Path]:
    """The path alone."""
    return lambda models: PATH_OF[label](models[label])


def from_rows(label: str, task: Task) -> Callable[[Sample], Path]:
    """The public call, which grows a tree first."""

    def run(sample: Sample) -> Path:
        found = estimator(label, task).cost_complexity_pruning_path(sample.X, sample.y)
        return Path(found.ccp_alphas, found.impurities)

    return run


def path_data(task: Task) -> Callable[[int, int], dict[str, Any]]:
    """The rows, and everyone's tree grown from them."""

    def data(seed: int, rows: int) -> dict[str, Any]:
        sample = table(task, seed, rows)
        grown = {label: estimator(label, task).fit(sample.X, sample.y) for label in MODULES}
        return {GROWN: grown, WHOLE: sample}

    return data


def path_quality(path: Path, data: Any) -> Numbers:
    """Levels, the price that leaves the root alone, and the mean risk of the best trees."""
    level = np.searchsorted(path.alphas, PRICES, side="right") - 1
    apart = np.diff(path.alphas) > ALIKE * path.alphas[-1]
    return {
        "levels": 1.0 + float(apart.sum()),
        "last_alpha": float(path.alphas[-1]),
        "mean_risk": float(path.risks[level].mean()),
    }


def paths(task: Task) -> Workload:
    """From the grown tree to its root."""
    runs: dict[str, dict[str, Callable[[Any], Path]]] = {
        GROWN: {label: from_grown(label) for label in MODULES},
        WHOLE: {label: from_rows(label, task) for label in MODULES},
    }
    return Workload(
        name=f"{FAMILY[task]}-pruning-path",
        title=f"{TITLE[task]}, {COLUMNS} normal columns, cost-complexity path of the full tree",
        data=path_data(task),
        contestants=tuple(
            Contestant(label, run, group, label == "ceiba", MODULES[label].partition(".")[0])
            for group, by_label in runs.items()
            for label, run in by_label.items()
        ),
        quality=path_quality,
        checks=SAME_PATH[task],
        rows=ROWS,
        quick_rows=QUICK_ROWS,
    )


# One tree of it ----------------------------------------------------------------------------------


def pruned(task: Task) -> Workload:
    """Growing and pruning for one alpha."""
    peers = {
        "ceiba": tree_peers.ceiba(task, ccp_alpha=ALPHA[task]),
        "scikit-learn": tree_peers.sklearn(task, ccp_alpha=ALPHA[task]),
    }
    work = f"full tree pruned for {ALPHA[task]:g} a leaf"
    return Workload(
        name=f"{FAMILY[task]}-pruning-alpha",
        title=f"{TITLE[task]}, {COLUMNS} normal columns, {work}",
        data=lambda seed, rows: {"float64": table(task, seed, rows)},
        contestants=tree_peers.contestants("float64", peers),
        quality=QUALITY[task],
        checks=SAME_TREE[task],
        rows=ROWS,
        quick_rows=QUICK_ROWS,
    )


WORKLOADS = (paths("classes"), paths("numbers"), pruned("classes"), pruned("numbers"))

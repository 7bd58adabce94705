"""Cost-complexity pruning: the pruning path of a tree, and the tree for one alpha."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.tree import peers, quality
from benchmarks.tree.data import FAMILY, TITLE, Array, Sample, Task, normal_table
from benchmarks.tree.peers import SUFFIX
from benchmarks.workload import Check, Implementation, Metrics, Workload

N_COLUMNS = 10
N_ROWS, QUICK_N_ROWS = 20_000, 2_000
GROWN, WHOLE = "tree given", "growing included"
MODULES = {"ceiba": "ceiba", "scikit-learn": "sklearn.tree"}
PARAMETERS: dict[str, dict[str, Any]] = {"ceiba": {}, "scikit-learn": {"random_state": 0}}
QUALITY = {"classification": quality.score_classifier, "regression": quality.score_regressor}
# The alpha of a fit, and those at which paths are compared.
ALPHA = {"classification": 5e-4, "regression": 1e-3}
ALPHAS = np.geomspace(1e-5, 1e-1, 200)
# Alphas that differ by less than this fraction of the last one count as one pruning step.
TOLERANCE = 1e-9

# Classes tie often in small nodes, and scikit-learn breaks ties at random; numbers do not tie.
EQUAL_PATH = {
    "classification": (Check("last_alpha", 1e-9), Check("mean_risk", 0.01)),
    "regression": (Check("last_alpha", 1e-9), Check("mean_risk", 1e-9), Check("steps", 1e-3)),
}
EQUAL_TREE = {
    "classification": (Check("accuracy", 0.005), Check("leaves", 0.03)),
    "regression": (Check("r2", 1e-9), Check("leaves", 1e-12)),
}


class Path(NamedTuple):
    """Alphas at which the best subtree changes, and its risk from there on."""

    alphas: Array
    risks: Array


def make_table(task: Task, seed: int, n_rows: int) -> Sample:
    """Make normal columns of four decimals, which are distinct in float32 as in float64."""
    sample = normal_table(task, seed, n_rows, N_COLUMNS)
    return Sample(sample.X.round(4), sample.y)


# The path ----------------------------------------------------------------------------------------


def path_of_ceiba(model: Any) -> Path:
    """Compute the path of a grown tree."""
    vars(model.tree_).pop("_complexity_paths", None)  # the tree caches its path
    path = import_module("ceiba.tree.prune.path").cost_complexity_path(model.tree_)
    return Path(path.alphas, path.risks)


def path_of_sklearn(model: Any) -> Path:
    """Compute the path of a grown tree by the private part of scikit-learn's public method."""
    path = import_module("sklearn.tree._tree").ccp_pruning_path(model.tree_)
    return Path(path["ccp_alphas"], path["impurities"])


PATH_OF = {"ceiba": path_of_ceiba, "scikit-learn": path_of_sklearn}


def estimator(label: str, task: Task, **parameters: Any) -> Any:
    """Return an unfitted tree of full depth."""
    tree_class = getattr(import_module(MODULES[label]), f"DecisionTree{SUFFIX[task]}")
    return tree_class(**PARAMETERS[label], **parameters)


def path_from_tree(label: str) -> Callable[[dict[str, Any]], Path]:
    """Return a run of the path alone."""
    return lambda models: PATH_OF[label](models[label])


def path_from_rows(label: str, task: Task) -> Callable[[Sample], Path]:
    """Return a run of the public method, which grows a tree first."""

    def run(sample: Sample) -> Path:
        path = estimator(label, task).cost_complexity_pruning_path(sample.X, sample.y)
        return Path(path.ccp_alphas, path.impurities)

    return run


def path_data(task: Task) -> Callable[[int, int], dict[str, Any]]:
    """Return a function that makes the rows and grows a tree per library."""

    def make_data(seed: int, n_rows: int) -> dict[str, Any]:
        sample = make_table(task, seed, n_rows)
        models = {label: estimator(label, task).fit(sample.X, sample.y) for label in MODULES}
        return {GROWN: models, WHOLE: sample}

    return make_data


def path_quality(path: Path, data: Any) -> Metrics:
    """Return the pruning steps, the alpha that leaves the root, and the mean risk over alphas."""
    step = np.searchsorted(path.alphas, ALPHAS, side="right") - 1
    distinct = np.diff(path.alphas) > TOLERANCE * path.alphas[-1]
    return {
        "steps": 1.0 + float(distinct.sum()),
        "last_alpha": float(path.alphas[-1]),
        "mean_risk": float(path.risks[step].mean()),
    }


def path_workload(task: Task) -> Workload:
    """Return the workload of the path from the full tree to its root."""
    runs: dict[str, dict[str, Callable[[Any], Path]]] = {
        GROWN: {label: path_from_tree(label) for label in MODULES},
        WHOLE: {label: path_from_rows(label, task) for label in MODULES},
    }
    return Workload(
        name=f"{FAMILY[task]}-pruning-path",
        title=f"{TITLE[task]}, {N_COLUMNS} normal columns, cost-complexity path of the full tree",
        make_data=path_data(task),
        implementations=tuple(
            Implementation(label, run, group, label == "ceiba", MODULES[label].partition(".")[0])
            for group, by_label in runs.items()
            for label, run in by_label.items()
        ),
        quality=path_quality,
        checks=EQUAL_PATH[task],
        n_rows=N_ROWS,
        quick_n_rows=QUICK_N_ROWS,
    )


# The tree for one alpha --------------------------------------------------------------------------


def alpha_workload(task: Task) -> Workload:
    """Return the workload of growing and pruning for one alpha."""
    alpha = ALPHA[task]
    by_label = {
        "ceiba": peers.ceiba(task, ccp_alpha=alpha),
        "scikit-learn": peers.sklearn(task, ccp_alpha=alpha),
    }
    return Workload(
        name=f"{FAMILY[task]}-pruning-alpha",
        title=f"{TITLE[task]}, {N_COLUMNS} normal columns, full tree pruned by alpha = {alpha:g}",
        make_data=lambda seed, n_rows: {"float64": make_table(task, seed, n_rows)},
        implementations=peers.implementations("float64", by_label),
        quality=QUALITY[task],
        checks=EQUAL_TREE[task],
        n_rows=N_ROWS,
        quick_n_rows=QUICK_N_ROWS,
    )


WORKLOADS = (
    path_workload("classification"),
    path_workload("regression"),
    alpha_workload("classification"),
    alpha_workload("regression"),
)

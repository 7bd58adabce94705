"""Growing a forest of full trees: scikit-learn, scikit-learn-intelex and ydf.

The forest modes of XGBoost and LightGBM take minutes for a hundred such trees: they have workloads
of their own, with fewer trees for all.
"""

from __future__ import annotations

from benchmarks.forest import peers as forest_peers
from benchmarks.forest import quality
from benchmarks.forest.data import FAMILY, TITLE, normal_table
from benchmarks.forest.peers import N_TREES, Peer
from benchmarks.tree.data import N_COLUMNS, Task
from benchmarks.workload import Check, Workload

# As good as exact thresholds, or as the bins of a peer, which are coarser in the tails.
EXACT, COARSE = "exact", "255 bins"
N_ROWS, QUICK_N_ROWS = 100_000, 1_000
FEW_TREES = 10
# Forests of so few trees differ more from seed to seed than large ones do.
FEW_CHECKS = {
    "classification": (quality.at_least("accuracy", 0.02),),
    "regression": (quality.at_least("r2", 0.05),),
}
FEW_QUICK_CHECKS = {
    "classification": (quality.at_least("accuracy", 0.05),),
    "regression": (quality.at_least("r2", 0.15),),
}


def peers(task: Task) -> dict[str, dict[str, Peer]]:
    """Return the peers that grow a hundred trees within a minute, by group."""
    exact = {
        **forest_peers.default_and_exact(task),
        "scikit-learn": forest_peers.sklearn(task),
        "ydf": forest_peers.ydf(task),
    }
    coarse = {
        "ceiba": forest_peers.ceiba(task),
        "scikit-learn-intelex": forest_peers.intelex(task),
    }
    return {EXACT: exact, COARSE: coarse}


def slow_peers(task: Task) -> dict[str, dict[str, Peer]]:
    """Return the boosters that grow forests, with ours and scikit-learn's."""
    by_label = {
        **forest_peers.default_and_exact(task, FEW_TREES),
        "scikit-learn": forest_peers.sklearn(task, FEW_TREES),
        "XGBoost": forest_peers.xgboost(task, FEW_TREES),
        "LightGBM": forest_peers.lightgbm(task, FEW_TREES),
    }
    return {"float64": by_label}


def fit_workload(
    task: Task,
    name: str,
    n_trees: int,
    groups: dict[str, dict[str, Peer]],
    checks: tuple[Check, ...],
    quick_checks: tuple[Check, ...],
) -> Workload:
    """Return the workload of one fit on a hundred thousand rows."""
    return Workload(
        name=name,
        title=f"{TITLE[task]}, {N_COLUMNS} normal columns, forest of {n_trees} trees of full depth",
        make_data=lambda seed, n_rows: dict.fromkeys(groups, normal_table(task, seed, n_rows)),
        implementations=tuple(
            each
            for group, by_label in groups.items()
            for each in forest_peers.implementations(group, by_label)
        ),
        quality=quality.SCORE_MODEL[task],
        checks=checks,
        quick_checks=quick_checks,
        n_rows=N_ROWS,
        quick_n_rows=QUICK_N_ROWS,
    )


def large_forest(task: Task) -> Workload:
    """Return the workload of a hundred trees."""
    checks, quick_checks = quality.CHECKS[task], quality.QUICK_CHECKS[task]
    return fit_workload(task, f"{FAMILY[task]}-fit", N_TREES, peers(task), checks, quick_checks)


def small_forest(task: Task) -> Workload:
    """Return the workload of a few trees."""
    name = f"forest-slow-{task}"
    checks, quick_checks = FEW_CHECKS[task], FEW_QUICK_CHECKS[task]
    return fit_workload(task, name, FEW_TREES, slow_peers(task), checks, quick_checks)


WORKLOADS = (
    large_forest("classification"),
    small_forest("classification"),
    large_forest("regression"),
    small_forest("regression"),
)

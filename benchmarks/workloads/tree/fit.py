"""Growing a tree: scikit-learn, scikit-learn-intelex, LightGBM and XGBoost.

Exact and binned, for classification and for regression.
"""

from __future__ import annotations

from benchmarks.tree import peers, quality
from benchmarks.tree.data import FAMILY, N_COLUMNS, TITLE, Task, normal_table
from benchmarks.tree.peers import MAX_BINS, Peer
from benchmarks.workload import Check, Workload

GROUP = "float64"
DEPTH = 8
QUALITY = {"classification": quality.score_classifier, "regression": quality.score_regressor}
# scikit-learn rounds to float32 and breaks ties at random; ties are frequent in small nodes.
EQUAL = {
    "classification": (Check("accuracy", 1e-3), Check("leaves", 0.03)),
    "regression": (Check("r2", 1e-3), Check("leaves", 0.03)),
}
# Each library has its own rule for bin edges.
NOT_WORSE = {
    "classification": (Check("accuracy", 0.005, "at least"),),
    "regression": (Check("r2", 0.02, "at least"),),
}
# With few rows it is chance whose bin edges fit better: with 50,000 rows, the accuracies of two
# rules for bin edges differed by 0.2 points from sample to sample, and not in the mean of eight.
QUICK_NOT_WORSE = {**NOT_WORSE, "classification": (Check("accuracy", 0.01, "at least"),)}


def exact_peers(task: Task, depth: int | None) -> dict[str, Peer]:
    """Return the peers that search every midpoint."""
    return {
        "ceiba": peers.ceiba(task, max_depth=depth),
        "scikit-learn": peers.sklearn(task, max_depth=depth),
        "scikit-learn-intelex": peers.intelex(task, max_depth=depth),
    }


def binned_peers(task: Task, depth: int) -> dict[str, Peer]:
    """Return the peers that bin first; boosters grow one tree."""
    return {
        "ceiba": peers.ceiba(task, max_depth=depth, max_bins=MAX_BINS),
        **peers.lightgbm_layouts(task, depth),
        "HistGradientBoosting": peers.hist_boosting(task, max_depth=depth),
        "XGBoost": peers.xgboost(task, max_depth=depth),
        "scikit-learn-intelex": peers.intelex(task, max_bins=MAX_BINS, max_depth=depth),
    }


def fit_workload(
    task: Task,
    name: str,
    description: str,
    peers_by_label: dict[str, Peer],
    checks: tuple[Check, ...],
    quick_n_rows: int,
    quick_checks: tuple[Check, ...] | None = None,
) -> Workload:
    """Return the workload of one fit on half a million rows."""
    return Workload(
        name=f"{FAMILY[task]}-{name}",
        title=f"{TITLE[task]}, {N_COLUMNS} normal columns, {description}",
        make_data=lambda seed, n_rows: {GROUP: normal_table(task, seed, n_rows)},
        implementations=peers.implementations(GROUP, peers_by_label),
        quality=QUALITY[task],
        checks=checks,
        quick_checks=quick_checks,
        n_rows=500_000,
        quick_n_rows=quick_n_rows,
    )


def exact(task: Task, depth: int | None) -> Workload:
    """Return a workload in which every midpoint is a candidate."""
    name, text = (f"depth{depth}", f"depth {depth}") if depth else ("full", "full depth")
    every = exact_peers(task, depth)
    return fit_workload(task, f"exact-{name}", f"exact tree of {text}", every, EQUAL[task], 20_000)


def binned(task: Task, depth: int) -> Workload:
    """Return a workload with at most 255 bins per column, binning included."""
    name = f"binned-depth{depth}"
    text = f"tree of depth {depth} on {MAX_BINS} bins, binning included"
    every = binned_peers(task, depth)
    return fit_workload(task, name, text, every, NOT_WORSE[task], 50_000, QUICK_NOT_WORSE[task])


WORKLOADS = (
    exact("classification", DEPTH),
    exact("classification", None),
    binned("classification", DEPTH),
    exact("regression", DEPTH),
    exact("regression", None),
    binned("regression", DEPTH),
)

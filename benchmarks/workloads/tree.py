"""Growing a tree, beside scikit-learn, scikit-learn-intelex, LightGBM and XGBoost.

Exact and binned, for classes and for numbers.
"""

from __future__ import annotations

from benchmarks import tree_judge, tree_peers
from benchmarks.tree_data import COLUMNS, FAMILY, TITLE, Task, normal
from benchmarks.tree_peers import BINS, Peer
from benchmarks.workload import Check, Workload

GROUP = "float64"
DEPTH = 8
QUALITY = {"classes": tree_judge.of_classes, "numbers": tree_judge.of_numbers}
# scikit-learn rounds to float32 and breaks ties at random; small nodes are full of ties.
SAME = {
    "classes": (Check("accuracy", 1e-3), Check("leaves", 0.03)),
    "numbers": (Check("r2", 1e-3), Check("leaves", 0.03)),
}
# Everyone puts the edges of bins elsewhere.
NO_WORSE = {
    "classes": (Check("accuracy", 0.005, "no less"),),
    "numbers": (Check("r2", 0.02, "no less"),),
}
# On few rows it is chance whose edges suit them: of 50,000, trees of two rules for bins told 0.2
# points more or less from sample to sample, and the same in the mean of eight.
QUICK_NO_WORSE = {**NO_WORSE, "classes": (Check("accuracy", 0.01, "no less"),)}


def exact_peers(task: Task, depth: int | None) -> dict[str, Peer]:
    """Everyone who looks at every midpoint."""
    return {
        "ceiba": tree_peers.ceiba(task, max_depth=depth),
        "scikit-learn": tree_peers.sklearn(task, max_depth=depth),
        "scikit-learn-intelex": tree_peers.intelex(task, max_depth=depth),
    }


def binned_peers(task: Task, depth: int) -> dict[str, Peer]:
    """Everyone who bins first; boosters grow one tree."""
    return {
        "ceiba": tree_peers.ceiba(task, max_depth=depth, max_bins=BINS),
        **tree_peers.lightgbms(task, depth),
        "HistGradientBoosting": tree_peers.hist_boosting(task, max_depth=depth),
        "XGBoost": tree_peers.xgboost(task, max_depth=depth),
        "scikit-learn-intelex": tree_peers.intelex(task, bins=BINS, max_depth=depth),
    }


def growing(
    task: Task,
    name: str,
    kind: str,
    peers: dict[str, Peer],
    checks: tuple[Check, ...],
    quick_rows: int,
    quick_checks: tuple[Check, ...] | None = None,
) -> Workload:
    """One fit on half a million rows."""
    return Workload(
        name=f"{FAMILY[task]}-{name}",
        title=f"{TITLE[task]}, {COLUMNS} normal columns, {kind}",
        data=lambda seed, rows: {GROUP: normal(task, seed, rows)},
        contestants=tree_peers.contestants(GROUP, peers),
        quality=QUALITY[task],
        checks=checks,
        quick_checks=quick_checks,
        rows=500_000,
        quick_rows=quick_rows,
    )


def exact(task: Task, depth: int | None) -> Workload:
    """Every midpoint is a candidate."""
    name, kind = (f"depth{depth}", f"depth {depth}") if depth else ("full", "full depth")
    peers = exact_peers(task, depth)
    return growing(task, f"exact-{name}", f"exact tree of {kind}", peers, SAME[task], 20_000)


def binned(task: Task, depth: int) -> Workload:
    """At most 255 bins a column, binning included."""
    name, kind = f"binned-depth{depth}", f"tree of depth {depth} on {BINS} bins, binning included"
    peers = binned_peers(task, depth)
    return growing(task, name, kind, peers, NO_WORSE[task], 50_000, QUICK_NO_WORSE[task])


WORKLOADS = (
    exact("classes", DEPTH),
    exact("classes", None),
    binned("classes", DEPTH),
    exact("numbers", DEPTH),
    exact("numbers", None),
    binned("numbers", DEPTH),
)

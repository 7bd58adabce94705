"""Growing a forest of full trees, beside scikit-learn, scikit-learn-intelex and ydf.

The forest modes of XGBoost and LightGBM take minutes for a hundred such trees: they have workloads
of their own, with fewer trees for everyone.
"""

from __future__ import annotations

from benchmarks import forest_judge, forest_peers
from benchmarks.forest_data import FAMILY, TITLE, normal
from benchmarks.forest_peers import TREES, Peer
from benchmarks.peers import BINS
from benchmarks.tree_data import COLUMNS, Task
from benchmarks.workload import Check, Workload

# As good as exact thresholds, or as the bins of a peer, which are coarser in the tails.
EXACT, COARSE = "exact", "255 bins"
ROWS, QUICK_ROWS = 100_000, 1_000
FEW_TREES = 10
# Forests of so few trees differ more from seed to seed than large ones do.
FEW_CHECKS = {
    "classes": (forest_judge.no_less("accuracy", 0.02),),
    "numbers": (forest_judge.no_less("r2", 0.05),),
}
FEW_QUICK_CHECKS = {
    "classes": (forest_judge.no_less("accuracy", 0.05),),
    "numbers": (forest_judge.no_less("r2", 0.15),),
}


def peers(task: Task) -> dict[str, dict[str, Peer]]:
    """Everyone who grows a hundred trees within a minute, by group."""
    exact = {
        **forest_peers.both(task),
        "scikit-learn": forest_peers.sklearn(task),
        "ydf": forest_peers.ydf(task),
    }
    coarse = {
        "ceiba in 255 bins": forest_peers.ceiba(task, max_bins=BINS),
        "scikit-learn-intelex": forest_peers.intelex(task),
    }
    return {EXACT: exact, COARSE: coarse}


def slow_peers(task: Task) -> dict[str, dict[str, Peer]]:
    """Boosters that grow forests, and who they are compared with."""
    everyone = {
        **forest_peers.both(task, FEW_TREES),
        "scikit-learn": forest_peers.sklearn(task, FEW_TREES),
        "XGBoost": forest_peers.xgboost(task, FEW_TREES),
        "LightGBM": forest_peers.lightgbm(task, FEW_TREES),
    }
    return {"float64": everyone}


def growing(
    task: Task,
    name: str,
    trees: int,
    peers: dict[str, dict[str, Peer]],
    checks: tuple[Check, ...],
    quick_checks: tuple[Check, ...],
) -> Workload:
    """One fit on a hundred thousand rows."""
    return Workload(
        name=name,
        title=f"{TITLE[task]}, {COLUMNS} normal columns, forest of {trees} trees of full depth",
        data=lambda seed, rows: dict.fromkeys(peers, normal(task, seed, rows)),
        contestants=tuple(
            contestant
            for group, members in peers.items()
            for contestant in forest_peers.contestants(group, members)
        ),
        quality=forest_judge.QUALITY[task],
        checks=checks,
        quick_checks=quick_checks,
        rows=ROWS,
        quick_rows=QUICK_ROWS,
    )


def hundred(task: Task) -> Workload:
    """A forest as people grow it."""
    checks, quick_checks = forest_judge.CHECKS[task], forest_judge.QUICK_CHECKS[task]
    return growing(task, f"{FAMILY[task]}-fit", TREES, peers(task), checks, quick_checks)


def few(task: Task) -> Workload:
    """A forest of a few trees."""
    name = f"forest-slow-{task}"
    checks, quick_checks = FEW_CHECKS[task], FEW_QUICK_CHECKS[task]
    return growing(task, name, FEW_TREES, slow_peers(task), checks, quick_checks)


WORKLOADS = (hundred("classes"), few("classes"), hundred("numbers"), few("numbers"))

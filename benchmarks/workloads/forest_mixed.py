"""A forest on a real table: nominal and ordinal columns, gaps, a pandas frame as it comes."""

from __future__ import annotations

from benchmarks import forest_judge, forest_peers
from benchmarks.forest_data import census
from benchmarks.forest_judge import no_less
from benchmarks.forest_peers import TREES, Peer
from benchmarks.workload import Check, Workload
from benchmarks.workloads import forest_predict
from benchmarks.workloads.forest import FEW_TREES, QUICK_ROWS, ROWS

GROUP = "frame"
TITLE = "two classes, 14 nominal and 12 ordered columns, 5 % gaps"
CHECKS = (no_less("accuracy", forest_judge.POINTS), no_less("auc", 0.01))
QUICK_CHECKS = (no_less("accuracy", forest_judge.QUICK_POINTS), no_less("auc", 0.05))
# A few trees leave more to chance.
FEW_CHECKS = (no_less("accuracy", 0.01), no_less("auc", 0.03))
FEW_QUICK_CHECKS = (no_less("accuracy", 0.04), no_less("auc", 0.1))


def peers() -> dict[str, Peer]:
    """One who takes nominal columns and gaps as they are, and the ritual of one who does not."""
    return {
        **forest_peers.both("classes"),
        "ydf": forest_peers.ydf("classes"),
        "scikit-learn on ordinal codes": forest_peers.ordinal_codes(),
    }


def slow_peers() -> dict[str, Peer]:
    """LightGBM takes minutes for a hundred trees."""
    return {
        **forest_peers.both("classes", FEW_TREES),
        "ydf": forest_peers.ydf("classes", FEW_TREES),
        "LightGBM": forest_peers.lightgbm("classes", FEW_TREES),
    }


def growing(
    name: str,
    trees: int,
    peers: dict[str, Peer],
    checks: tuple[Check, ...],
    quick_checks: tuple[Check, ...],
) -> Workload:
    """One fit."""
    return Workload(
        name=name,
        title=f"{TITLE}, forest of {trees} trees of full depth",
        data=lambda seed, rows: {GROUP: census(seed, rows)},
        contestants=forest_peers.contestants(GROUP, peers),
        quality=forest_judge.of_rare,
        checks=checks,
        quick_checks=quick_checks,
        rows=ROWS,
        quick_rows=QUICK_ROWS,
    )


def predicting() -> Workload:
    """Half as many rows as the forest was grown from."""
    known = {**peers(), "LightGBM": forest_peers.lightgbm("classes")}
    return Workload(
        name="forest-mixed-predict",
        title=f"{TITLE}, {TREES} trees asked about new rows",
        data=forest_predict.asked("classes", census, known),
        contestants=forest_predict.contestants("classes", known, only_shares=("ydf", "LightGBM")),
        quality=forest_predict.answered("classes"),
        checks=forest_judge.CHECKS["classes"],
        quick_checks=forest_judge.QUICK_CHECKS["classes"],
        rows=ROWS,
        quick_rows=QUICK_ROWS,
    )


WORKLOADS = (
    growing("forest-mixed-fit", TREES, peers(), CHECKS, QUICK_CHECKS),
    growing("forest-slow-mixed", FEW_TREES, slow_peers(), FEW_CHECKS, FEW_QUICK_CHECKS),
    predicting(),
)

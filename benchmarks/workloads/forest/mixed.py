"""Forests on a pandas frame with nominal and ordinal columns and missing values."""

from __future__ import annotations

from benchmarks.forest import peers as forest_peers
from benchmarks.forest import quality
from benchmarks.forest.data import census_table
from benchmarks.forest.peers import N_TREES, Peer
from benchmarks.forest.quality import at_least
from benchmarks.workload import Check, Workload
from benchmarks.workloads.forest import predict
from benchmarks.workloads.forest.fit import FEW_TREES, N_ROWS, QUICK_N_ROWS

GROUP = "frame"
TITLE = "two classes, 14 nominal and 12 ordered columns, 5 % missing"
CHECKS = (at_least("accuracy", quality.POINTS), at_least("auc", 0.01))
QUICK_CHECKS = (at_least("accuracy", quality.QUICK_POINTS), at_least("auc", 0.05))
# A few trees leave more to chance.
FEW_CHECKS = (at_least("accuracy", 0.01), at_least("auc", 0.03))
FEW_QUICK_CHECKS = (at_least("accuracy", 0.04), at_least("auc", 0.1))


def peers() -> dict[str, Peer]:
    """Return a peer with native nominal columns, and one that requires preprocessing."""
    return {
        **forest_peers.default_and_exact("classification"),
        "ydf": forest_peers.ydf("classification"),
        "scikit-learn on ordinal codes": forest_peers.ordinal_codes(),
    }


def slow_peers() -> dict[str, Peer]:
    """Return the peers of a few trees: LightGBM takes minutes for a hundred."""
    return {
        **forest_peers.default_and_exact("classification", FEW_TREES),
        "ydf": forest_peers.ydf("classification", FEW_TREES),
        "LightGBM": forest_peers.lightgbm("classification", FEW_TREES),
    }


def fit_workload(
    name: str,
    n_trees: int,
    by_label: dict[str, Peer],
    checks: tuple[Check, ...],
    quick_checks: tuple[Check, ...],
) -> Workload:
    """Return the workload of one fit."""
    return Workload(
        name=name,
        title=f"{TITLE}, forest of {n_trees} trees of full depth",
        make_data=lambda seed, n_rows: {GROUP: census_table(seed, n_rows)},
        implementations=forest_peers.implementations(GROUP, by_label),
        quality=quality.score_imbalanced,
        checks=checks,
        quick_checks=quick_checks,
        n_rows=N_ROWS,
        quick_n_rows=QUICK_N_ROWS,
    )


def predict_workload() -> Workload:
    """Return the workload of half as many rows as the forest was grown from."""
    by_label = {**peers(), "LightGBM": forest_peers.lightgbm("classification")}
    without_labels = ("ydf", "LightGBM")
    return Workload(
        name="forest-mixed-predict",
        title=f"{TITLE}, prediction by {N_TREES} trees",
        make_data=predict.data_maker("classification", census_table, by_label),
        implementations=predict.implementations("classification", by_label, without_labels),
        quality=predict.score("classification"),
        checks=quality.CHECKS["classification"],
        quick_checks=quality.QUICK_CHECKS["classification"],
        n_rows=N_ROWS,
        quick_n_rows=QUICK_N_ROWS,
    )


WORKLOADS = (
    fit_workload("forest-mixed-fit", N_TREES, peers(), CHECKS, QUICK_CHECKS),
    fit_workload("forest-slow-mixed", FEW_TREES, slow_peers(), FEW_CHECKS, FEW_QUICK_CHECKS),
    predict_workload(),
)

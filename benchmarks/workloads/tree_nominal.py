"""A tree on a real table: nominal columns, gaps, a pandas frame as it comes."""

from __future__ import annotations

from benchmarks import tree_judge, tree_peers
from benchmarks.tree_data import mixed
from benchmarks.tree_peers import BINS
from benchmarks.workload import Check, Workload

DEPTH = 8

BINNED = {
    "ceiba": tree_peers.ceiba("classes", max_depth=DEPTH, max_bins=BINS),
    "HistGradientBoosting": tree_peers.hist_boosting(
        "classes", max_depth=DEPTH, categorical_features="from_dtype"
    ),
    **tree_peers.lightgbms("classes", DEPTH),
    "XGBoost": tree_peers.xgboost("classes", max_depth=DEPTH),
}
EXACT = {
    "ceiba": tree_peers.ceiba("classes", max_depth=DEPTH),
    "scikit-learn on ordinal codes": tree_peers.ordinal_codes(max_depth=DEPTH),
}

WORKLOADS = (
    Workload(
        name="tree-nominal",
        title=f"two classes, 10 nominal and 10 numeric columns, 5 % gaps, tree of depth {DEPTH}",
        data=lambda seed, rows: dict.fromkeys(("binned", "exact"), mixed(seed, rows)),
        contestants=(
            *tree_peers.contestants("binned", BINNED),
            *tree_peers.contestants("exact", EXACT),
        ),
        quality=tree_judge.of_classes,
        checks=(Check("accuracy", 0.005, "no less"), Check("log_loss", 0.01, "no more")),
        rows=200_000,
        quick_rows=20_000,
    ),
)

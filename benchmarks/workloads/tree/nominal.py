"""Growing a tree from a pandas frame with nominal columns and missing values."""

from __future__ import annotations

from benchmarks.tree import peers, quality
from benchmarks.tree.data import mixed_table
from benchmarks.tree.peers import MAX_BINS
from benchmarks.workload import Check, Workload

DEPTH = 8

BINNED = {
    "ceiba": peers.ceiba("classification", max_depth=DEPTH, max_bins=MAX_BINS),
    "HistGradientBoosting": peers.hist_boosting(
        "classification", max_depth=DEPTH, categorical_features="from_dtype"
    ),
    **peers.lightgbm_layouts("classification", DEPTH),
    "XGBoost": peers.xgboost("classification", max_depth=DEPTH),
}
EXACT = {
    "ceiba": peers.ceiba("classification", max_depth=DEPTH),
    "scikit-learn on ordinal codes": peers.ordinal_codes(max_depth=DEPTH),
}

WORKLOADS = (
    Workload(
        name="tree-nominal",
        title=f"two classes, 10 nominal and 10 numeric columns, 5 % missing, depth {DEPTH}",
        make_data=lambda seed, n_rows: dict.fromkeys(
            ("binned", "exact"), mixed_table(seed, n_rows)
        ),
        implementations=(
            *peers.implementations("binned", BINNED),
            *peers.implementations("exact", EXACT),
        ),
        quality=quality.score_classifier,
        checks=(Check("accuracy", 0.005, "at least"), Check("log_loss", 0.01, "at most")),
        n_rows=200_000,
        quick_n_rows=20_000,
    ),
)

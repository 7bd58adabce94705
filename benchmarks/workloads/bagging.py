"""Bagging of full trees: each library's own trees, and scikit-learn's in both."""

from __future__ import annotations

from benchmarks.ensemble import peers
from benchmarks.ensemble.peers import TOP_LEVEL, Fit, FittedEnsemble
from benchmarks.forest import quality as forest_quality
from benchmarks.forest.data import TITLE, normal_table
from benchmarks.tree.data import N_COLUMNS, SplitSample
from benchmarks.workload import Implementation, Metrics, Workload

N_ESTIMATORS = 50
OWN, SAME = "own trees", "scikit-learn's trees"


def fits(trees_of: str) -> dict[str, Fit]:
    """Return ours, and scikit-learn's on processes, joblib's default, and on threads."""
    processes, threads = (
        peers.bagging("scikit-learn", "scikit-learn", N_ESTIMATORS, backend)
        for backend in (None, "threading")
    )
    return {
        "ceiba": peers.bagging("ceiba", trees_of, N_ESTIMATORS),
        "scikit-learn": processes,
        "scikit-learn, threads": threads,
    }


GROUPS = {OWN: fits("ceiba"), SAME: fits("scikit-learn")}


def make_data(seed: int, n_rows: int) -> dict[str, SplitSample]:
    """Make the same rows for both groups."""
    return dict.fromkeys(GROUPS, normal_table("classification", seed, n_rows))


def quality(ensemble: FittedEnsemble, sample: SplitSample) -> Metrics:
    """Return the accuracy on test rows."""
    return forest_quality.score_classes(ensemble.predict(sample.test.X), sample.test)


WORKLOADS = (
    Workload(
        name="bagging-trees",
        title=(
            f"{TITLE['classification']}, {N_COLUMNS} normal columns, "
            f"bagging of {N_ESTIMATORS} full trees"
        ),
        make_data=make_data,
        implementations=tuple(
            Implementation(
                label,
                fit,
                group,
                ours=label == "ceiba",
                module=TOP_LEVEL[label.partition(",")[0]],
            )
            for group, by_label in GROUPS.items()
            for label, fit in by_label.items()
        ),
        quality=quality,
        # With 50 trees of 20,000 rows, accuracies differ more from seed to seed.
        checks=(forest_quality.at_least("accuracy", 0.01),),
        quick_checks=(forest_quality.at_least("accuracy", 0.04),),
        n_rows=20_000,
        quick_n_rows=500,
    ),
)

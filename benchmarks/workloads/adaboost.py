"""AdaBoost of stumps."""

from __future__ import annotations

from benchmarks.ensemble import peers
from benchmarks.ensemble.peers import TOP_LEVEL, FittedEnsemble
from benchmarks.forest import quality as forest_quality
from benchmarks.forest.data import n_test_rows
from benchmarks.tree.data import N_COLUMNS, SplitSample, normal_table, split_rows
from benchmarks.tree.peers import MAX_BINS
from benchmarks.workload import Check, Implementation, Metrics, Workload

GROUP = "float64"
N_ESTIMATORS = 100
FITS = {
    "ceiba": peers.adaboost("ceiba", N_ESTIMATORS),
    "ceiba binned": peers.adaboost("ceiba", N_ESTIMATORS, max_bins=MAX_BINS),
    "scikit-learn": peers.adaboost("scikit-learn", N_ESTIMATORS),
}


def make_data(seed: int, n_rows: int) -> dict[str, SplitSample]:
    """Make training rows and test rows."""
    sample = normal_table("classification", seed, n_rows + n_test_rows(n_rows))
    return {GROUP: split_rows(sample, n_rows)}


def quality(ensemble: FittedEnsemble, sample: SplitSample) -> Metrics:
    """Return the accuracy on test rows, and the number of stumps."""
    metrics = forest_quality.score_classes(ensemble.predict(sample.test.X), sample.test)
    return {**metrics, "stumps": float(len(ensemble.model.estimators_))}


WORKLOADS = (
    Workload(
        name="adaboost-stumps",
        title=f"two classes, {N_COLUMNS} normal columns, AdaBoost of {N_ESTIMATORS} stumps",
        make_data=make_data,
        implementations=tuple(
            Implementation(
                label,
                fit,
                GROUP,
                ours=label.startswith("ceiba"),
                module=TOP_LEVEL[label.partition(" ")[0]],
            )
            for label, fit in FITS.items()
        ),
        quality=quality,
        # Nothing is drawn: exact stumps differ only where values are equal in float32.
        checks=(*forest_quality.CHECKS["classification"], Check("stumps", 0.0)),
        quick_checks=(*forest_quality.QUICK_CHECKS["classification"], Check("stumps", 0.0)),
        n_rows=100_000,
        quick_n_rows=1_000,
    ),
)

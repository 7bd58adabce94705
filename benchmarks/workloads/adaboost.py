"""AdaBoost of stumps, beside scikit-learn."""

from __future__ import annotations

from benchmarks import boost_peers, forest_judge
from benchmarks.boost_peers import Committee
from benchmarks.forest_data import new_rows
from benchmarks.tree_data import COLUMNS, Parted, normal, parted
from benchmarks.tree_peers import BINS
from benchmarks.workload import Check, Contestant, Numbers, Workload

GROUP = "float64"
ROUNDS = 100
FITS = {
    "ceiba": boost_peers.adaboost("ceiba", ROUNDS),
    "ceiba binned": boost_peers.adaboost("ceiba", ROUNDS, max_bins=BINS),
    "scikit-learn": boost_peers.adaboost("scikit-learn", ROUNDS),
}


def data(seed: int, rows: int) -> dict[str, Parted]:
    """Rows to boost on, and new ones."""
    return {GROUP: parted(normal("classes", seed, rows + new_rows(rows)), rows)}


def quality(committee: Committee, sample: Parted) -> Numbers:
    """Accuracy on new rows, and the stumps that the committee has."""
    right = forest_judge.answered_classes(committee.answer(sample.new.X), sample.new)
    return {**right, "stumps": float(len(committee.model.estimators_))}


WORKLOADS = (
    Workload(
        name="adaboost-stumps",
        title=f"two classes, {COLUMNS} normal columns, AdaBoost of {ROUNDS} stumps",
        data=data,
        contestants=tuple(
            Contestant(
                label,
                fit,
                GROUP,
                ours=label.startswith("ceiba"),
                needs=boost_peers.NEEDS[label.partition(" ")[0]],
            )
            for label, fit in FITS.items()
        ),
        quality=quality,
        # Nothing is drawn: exact stumps differ only where float32 joins values.
        checks=(*forest_judge.CHECKS["classes"], Check("stumps", 0.0)),
        quick_checks=(*forest_judge.QUICK_CHECKS["classes"], Check("stumps", 0.0)),
        rows=100_000,
        quick_rows=1_000,
    ),
)

"""Bagging of full trees, beside scikit-learn: of everyone's own, and of the same ones."""

from __future__ import annotations

from benchmarks import boost_peers, forest_judge
from benchmarks.boost_peers import NEEDS, Committee, Fit
from benchmarks.forest_data import TITLE, normal
from benchmarks.tree_data import COLUMNS, Parted
from benchmarks.workload import Contestant, Numbers, Workload

MEMBERS = 50
OWN, SAME = "own trees", "scikit-learn's trees"


def fits(trees_of: str) -> dict[str, Fit]:
    """Ours, and scikit-learn's on processes, which joblib prefers, and on threads."""
    theirs = [
        boost_peers.bagging("scikit-learn", "scikit-learn", MEMBERS, backend)
        for backend in (None, "threading")
    ]
    return {
        "ceiba": boost_peers.bagging("ceiba", trees_of, MEMBERS),
        "scikit-learn": theirs[0],
        "scikit-learn, threads": theirs[1],
    }


GROUPS = {OWN: fits("ceiba"), SAME: fits("scikit-learn")}


def data(seed: int, rows: int) -> dict[str, Parted]:
    """The same rows for both groups."""
    return dict.fromkeys(GROUPS, normal("classes", seed, rows))


def quality(committee: Committee, sample: Parted) -> Numbers:
    """Accuracy on new rows."""
    return forest_judge.answered_classes(committee.answer(sample.new.X), sample.new)


WORKLOADS = (
    Workload(
        name="bagging-trees",
        title=f"{TITLE['classes']}, {COLUMNS} normal columns, bagging of {MEMBERS} full trees",
        data=data,
        contestants=tuple(
            Contestant(
                label,
                fit,
                group,
                ours=label == "ceiba",
                needs=NEEDS[label.partition(",")[0]],
            )
            for group, known in GROUPS.items()
            for label, fit in known.items()
        ),
        quality=quality,
        # Fifty trees of 20,000 rows: both libraries' accuracies differ more from seed to seed.
        checks=(forest_judge.no_less("accuracy", 0.01),),
        quick_checks=(forest_judge.no_less("accuracy", 0.04),),
        rows=20_000,
        quick_rows=500,
    ),
)

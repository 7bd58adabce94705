"""Growing with gaps as courses teach it: surrogates, fractional rows, C4.5 as a whole.

Nobody else in Python does: the reference is our own tree that learns where gaps go, and
scikit-learn's exact tree, which learns it too, stands beside it.
"""

from __future__ import annotations

from typing import Any

from benchmarks import tree_judge, tree_peers
from benchmarks.tree_data import Parted, parted, related
from benchmarks.tree_peers import Grown, Peer
from benchmarks.workload import Check, Numbers, Workload

WAYS: dict[str, dict[str, Any]] = {
    "surrogate": {"missing": "surrogate"},
    "fractional": {"missing": "fractional"},
    "c45": {"algorithm": "c45"},
}


def peers(way: str) -> dict[str, Peer]:
    """Ours in its way, ours as it is without being told, and scikit-learn's."""
    return {
        "ceiba": tree_peers.ceiba("classes", **WAYS[way]),
        "ceiba learned": tree_peers.ceiba("classes", missing="learned"),
        "scikit-learn": tree_peers.sklearn("classes"),
    }


def quality(tree: Grown, sample: Parted) -> Numbers:
    """Accuracy on new rows, which have gaps too, and leaves."""
    told = tree_judge.of_classes(tree, sample.new)
    return {"accuracy": told["accuracy"], "leaves": told["leaves"]}


WORKLOADS = (
    Workload(
        name="tree-lecture-gaps",
        title="two classes, 10 numeric columns, 5 % gaps, trees of full depth",
        data=lambda seed, rows: dict.fromkeys(WAYS, parted(related(seed, 2 * rows), rows)),
        contestants=tuple(each for way in WAYS for each in tree_peers.contestants(way, peers(way))),
        quality=quality,
        # Other trees on purpose. From sample to sample of the quick size their accuracies differ by
        # 1.4 % (one standard deviation), about as often up as down.
        checks=(Check("accuracy", 0.05, "no less"),),
        rows=20_000,
        quick_rows=5_000,
    ),
)

"""Growing with missing values: surrogate splits, fractional rows, and the C4.5 preset.

No other Python library has them. The reference is our own tree that learns the branch of missing
values, and scikit-learn's exact tree, which does the same, is listed too.
"""

from __future__ import annotations

from typing import Any

from benchmarks.tree import peers as tree_peers
from benchmarks.tree import quality as tree_quality
from benchmarks.tree.data import SplitSample, correlated_table, split_rows
from benchmarks.tree.peers import FittedTree, Peer
from benchmarks.workload import Check, Metrics, Workload

METHODS: dict[str, dict[str, Any]] = {
    "surrogate": {"missing": "surrogate"},
    "fractional": {"missing": "fractional"},
    "c45": {"algorithm": "c45"},
}


def peers(method: str) -> dict[str, Peer]:
    """Return ours by this method, ours by its default, and scikit-learn's."""
    return {
        "ceiba": tree_peers.ceiba("classification", **METHODS[method]),
        "ceiba learned": tree_peers.ceiba("classification", missing="learned"),
        "scikit-learn": tree_peers.sklearn("classification"),
    }


def quality(tree: FittedTree, sample: SplitSample) -> Metrics:
    """Return accuracy on the test rows, which have missing values too, and the leaves."""
    metrics = tree_quality.score_classifier(tree, sample.test)
    return {"accuracy": metrics["accuracy"], "leaves": metrics["leaves"]}


def make_data(seed: int, n_rows: int) -> dict[str, SplitSample]:
    """Return the same rows for all methods."""
    return dict.fromkeys(METHODS, split_rows(correlated_table(seed, 2 * n_rows), n_rows))


WORKLOADS = (
    Workload(
        name="tree-missing",
        title="two classes, 10 numeric columns, 5 % missing, trees of full depth",
        make_data=make_data,
        implementations=tuple(
            each for method in METHODS for each in tree_peers.implementations(method, peers(method))
        ),
        quality=quality,
        # Different trees on purpose. From sample to sample of the quick size their accuracies
        # differ by 1.4 % (one standard deviation), about as often up as down.
        checks=(Check("accuracy", 0.05, "at least"),),
        n_rows=20_000,
        quick_n_rows=5_000,
    ),
)

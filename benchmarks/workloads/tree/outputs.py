"""Growing trees and forests of several targets: scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.machine import n_threads
from benchmarks.tree import peers
from benchmarks.tree.data import Array, Sample, signal
from benchmarks.tree.peers import FittedTree, Peer
from benchmarks.workload import Check, Metrics, Workload

DEPTH, N_OUTPUTS, N_TREES = 10, 5, 20
TREE: dict[str, Any] = {"max_depth": DEPTH}
FOREST: dict[str, Any] = {
    "n_estimators": N_TREES, "max_features": "sqrt", "random_state": 0, "n_jobs": n_threads()
}  # fmt: skip


def many_targets(seed: int, n_rows: int) -> Sample:
    """Make 12 normal columns, whose first and last ones carry the signals of five targets."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_rows, 12)).astype(np.float32).astype(np.float64)
    signals = [signal(np.roll(X, k, axis=1)) for k in range(N_OUTPUTS)]
    return Sample(X, np.column_stack(signals) + rng.standard_normal((n_rows, N_OUTPUTS)))


def mean_r2(tree: FittedTree, sample: Sample) -> Metrics:
    """Compute the mean over the targets of r², and the leaves."""
    errors: Array = ((tree.predict(sample.X) - sample.y) ** 2).mean(axis=0)
    return {"r2": float(np.mean(1 - errors / sample.y.var(axis=0))), "leaves": tree.n_leaves()}


def count_forest_leaves(forest: Any) -> int:
    """Count the leaves of all trees."""
    return sum(int(tree.get_n_leaves()) for tree in forest.estimators_)


def forest_peer(package: str, module: str, **parameters: Any) -> Peer:
    """Return a forest with scikit-learn's interface."""
    settings = {**FOREST, **parameters}
    fit = peers.estimator(module, "RandomForest", "regression", count_forest_leaves, **settings)
    return Peer(fit, package)


TREES = {
    "ceiba": peers.ceiba("regression", **TREE),
    "ceiba, 255 bins": peers.ceiba("regression", max_bins=peers.MAX_BINS, **TREE),
    "scikit-learn": peers.sklearn("regression", **TREE),
}
FORESTS = {
    "ceiba": forest_peer("ceiba", "ceiba", max_bins=None),
    "ceiba, 255 bins": forest_peer("ceiba", "ceiba", max_bins=peers.MAX_BINS),
    "scikit-learn": forest_peer("sklearn", "sklearn.ensemble"),
}

WORKLOADS = (
    Workload(
        name="tree-outputs",
        title=f"regression of {N_OUTPUTS} targets, 12 normal columns, one tree of depth {DEPTH} "
        f"and {N_TREES} full trees",
        make_data=lambda seed, n_rows: dict.fromkeys(
            ("tree", "forest"), many_targets(seed, n_rows)
        ),
        implementations=(
            *peers.implementations("tree", TREES),
            *peers.implementations("forest", FORESTS),
        ),
        quality=mean_r2,
        checks=(Check("r2", 0.02, "at least"), Check("leaves", 0.05)),
        n_rows=50_000,
        quick_n_rows=2_000,
    ),
)

"""Indices of nearest neighbors of Ceiba and other libraries, and the rows that they search."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.workload import Implementation, Metrics

Array = np.ndarray[Any, Any]
N_NEIGHBORS = 10
N_CLUSTERS = 100
# Columns from which trees of other libraries visit nearly all uniform rows.
MANY_COLUMNS = 16


@dataclass(frozen=True, eq=False)
class Problem:
    """Rows and queries; indices are made before the clock runs."""

    X: Array
    queries: Array

    @cached_property
    def indices(self) -> dict[str, Any]:
        """Indices that were made so far, by library."""
        return {}

    def index(self, label: str, build: Callable[[Array], Any]) -> Any:
        """Return the index of a library, built once."""
        if label not in self.indices:
            self.indices[label] = build(self.X)
        return self.indices[label]


def make(kind: str, n_columns: int, dtype: str) -> Callable[[int, int], Problem]:
    """Return a maker of uniform rows, or of rows in clusters; a twentieth of them are queries."""

    def make_problem(seed: int, n_rows: int) -> Problem:
        rng = np.random.default_rng(seed)
        total = n_rows + n_rows // 20
        if kind == "uniform":
            X = rng.random((total, n_columns))
        else:
            centers = rng.normal(0, 10, (N_CLUSTERS, n_columns))
            X = centers[rng.integers(0, N_CLUSTERS, total)] + rng.normal(size=(total, n_columns))
        X = X.astype(dtype)
        return Problem(X[:n_rows].copy(), X[n_rows:].copy())

    return make_problem


def threads() -> int:
    """Return the number of threads of all libraries."""
    return int(os.environ.get("OMP_NUM_THREADS", len(os.sched_getaffinity(0))))


class Peer(NamedTuple):
    """How a library builds and searches an index, and its top-level module."""

    build: Callable[[Array], Any]
    search: Callable[[Any, Array], Array]
    module: str


def _ceiba_build(X: Array) -> Any:
    from ceiba import NearestNeighbors

    return NearestNeighbors(n_jobs=threads()).fit(X)


def _sklearn_build(algorithm: str, module: str = "sklearn") -> Callable[[Array], Any]:
    def build(X: Array) -> Any:
        learners = import_module(f"{module}.neighbors")
        return learners.NearestNeighbors(algorithm=algorithm, n_jobs=threads()).fit(X)

    return build


def _search(index: Any, queries: Array) -> Array:
    distances: Array = index.kneighbors(queries, N_NEIGHBORS)[0]
    return distances


def _scipy_build(X: Array) -> Any:
    from scipy.spatial import cKDTree

    return cKDTree(X)


def _scipy_search(index: Any, queries: Array) -> Array:
    distances: Array = index.query(queries, N_NEIGHBORS, workers=threads())[0]
    return distances


def _pykdtree_build(X: Array) -> Any:
    from pykdtree.kdtree import KDTree

    return KDTree(X)


def _pykdtree_search(index: Any, queries: Array) -> Array:
    distances: Array = index.query(queries, N_NEIGHBORS)[0]
    return distances


def _faiss_build(X: Array) -> Any:
    import faiss

    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X)
    return index


def _faiss_search(index: Any, queries: Array) -> Array:
    squares = index.search(queries, N_NEIGHBORS)[0]
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


OURS = {"ceiba": Peer(_ceiba_build, _search, "ceiba")}
TREES = {
    "SciPy cKDTree": Peer(_scipy_build, _scipy_search, "scipy"),
    "pykdtree": Peer(_pykdtree_build, _pykdtree_search, "pykdtree"),
    "scikit-learn kd_tree": Peer(_sklearn_build("kd_tree"), _search, "sklearn"),
    "scikit-learn ball_tree": Peer(_sklearn_build("ball_tree"), _search, "sklearn"),
    "intelex kd_tree": Peer(_sklearn_build("kd_tree", "sklearnex"), _search, "sklearnex"),
}
BRUTE = {
    "scikit-learn brute": Peer(_sklearn_build("brute"), _search, "sklearn"),
    "intelex brute": Peer(_sklearn_build("brute", "sklearnex"), _search, "sklearnex"),
}
FAISS = {"faiss flat": Peer(_faiss_build, _faiss_search, "faiss")}


def peers_of(kind: str, n_columns: int, dtype: str) -> dict[str, Peer]:
    """Return the libraries that can finish: trees not for many columns, faiss for float32."""
    found = dict(OURS)
    if n_columns < MANY_COLUMNS or (kind == "clusters" and n_columns == MANY_COLUMNS):
        found |= TREES
    if n_columns >= MANY_COLUMNS:
        found |= BRUTE
        found |= FAISS if dtype == "float32" else {}
    return found


def searches(group: str, peers: dict[str, Peer]) -> tuple[Implementation, ...]:
    """Return a group in which all search their own index."""

    def runner(label: str, peer: Peer) -> Callable[[Problem], Array]:
        return lambda problem: peer.search(problem.index(label, peer.build), problem.queries)

    return _implementations(group, peers, runner)


def builds(group: str, peers: dict[str, Peer]) -> tuple[Implementation, ...]:
    """Return a group in which all build an index, and search a hundred queries."""

    def runner(label: str, peer: Peer) -> Callable[[Problem], Array]:
        return lambda problem: peer.search(peer.build(problem.X), problem.queries[:100])

    return _implementations(group, peers, runner)


def _implementations(
    group: str, peers: dict[str, Peer], runner: Callable[[str, Peer], Callable[[Problem], Array]]
) -> tuple[Implementation, ...]:
    return tuple(
        Implementation(label, runner(label, peer), group, peer.module == "ceiba", peer.module)
        for label, peer in peers.items()
    )


def score_distances(distances: Array, problem: Problem) -> Metrics:
    """Return the mean distances to the first and the last neighbor of the first queries."""
    first = np.asarray(distances[:100], np.float64)
    return {"nearest": float(first[:, 0].mean()), "farthest": float(first[:, -1].mean())}

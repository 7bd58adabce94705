"""Libraries that fit k-means: ours, scikit-learn, scikit-learn-intelex and faiss."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.kmeans.data import Array, Problem
from benchmarks.machine import n_threads
from benchmarks.workload import Implementation

N_ITERATIONS = 30


class Fit(NamedTuple):
    """The result of a fit."""

    centers: Array
    labels: Array
    inertia: float
    n_iterations: int


FitRows = Callable[..., Fit]
Run = Callable[[Problem], Any]


def estimator(module: str, **parameters: Any) -> FitRows:
    """Return ``fit(X, init=..., ...)`` of a k-means with scikit-learn's interface."""

    def fit(X: Array, **more: Any) -> Fit:
        model = import_module(module).KMeans(n_init=1, **parameters, **more).fit(X)
        return Fit(model.cluster_centers_, model.labels_, model.inertia_, model.n_iter_)

    return fit


def intelex(**parameters: Any) -> FitRows:
    """Return scikit-learn-intelex, whose threads are not OpenMP's and have to be set."""
    return estimator("sklearnex.cluster", n_jobs=n_threads(), **parameters)


def faiss_fit(problem: Problem) -> Fit:
    """Run exactly ``N_ITERATIONS`` on all rows from the given centers, then assign labels."""
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(n_threads())
    (n_rows, n_columns), n_clusters = problem.X.shape, len(problem.centers)
    clustering = faiss.Clustering(n_columns, n_clusters)
    clustering.niter = N_ITERATIONS
    # By default it would use a sample of 256 rows per center.
    clustering.max_points_per_centroid = n_rows
    faiss.copy_array_to_vector(problem.centers.ravel(), clustering.centroids)
    index = faiss.IndexFlatL2(n_columns)
    clustering.train(problem.X, index)
    distances, labels = index.search(problem.X, 1)
    centers = faiss.vector_to_array(clustering.centroids).reshape(n_clusters, n_columns)
    inertia = float(distances.sum(dtype=np.float64))
    return Fit(centers, labels[:, 0], inertia, clustering.iteration_stats.size())


def sklearn_seeding(problem: Problem) -> Fit:
    """Run scikit-learn's seeding function alone, which returns only centers."""
    kmeans_plusplus = import_module("sklearn.cluster").kmeans_plusplus
    centers, _ = kmeans_plusplus(problem.X, len(problem.centers), random_state=0)
    return Fit(centers, np.empty(0, np.int32), np.nan, 0)


def sklearn_interface() -> dict[str, tuple[FitRows, str]]:
    """Return fit function and top-level module of all with scikit-learn's interface."""
    return {
        "ceiba": (estimator("ceiba"), "ceiba"),
        "scikit-learn lloyd": (estimator("sklearn.cluster", algorithm="lloyd"), "sklearn"),
        "scikit-learn elkan": (estimator("sklearn.cluster", algorithm="elkan"), "sklearn"),
        "scikit-learn-intelex": (intelex(), "sklearnex"),
    }


def implementations(group: str, make_run: Callable[[FitRows], Run]) -> tuple[Implementation, ...]:
    """Return the four of a group; ``make_run`` gets the fit function."""
    return tuple(
        Implementation(label, make_run(fit), group, ours=label == "ceiba", module=module)
        for label, (fit, module) in sklearn_interface().items()
    )


def from_centers(fit: FitRows, **parameters: Any) -> Run:
    """Return a run from the given centers."""

    def run(problem: Problem) -> Fit:
        init = problem.centers
        return fit(problem.X, n_clusters=len(init), init=init, **parameters)

    return run


def from_plusplus(fit: FitRows, seed: int = 0, **parameters: Any) -> Run:
    """Return a run from k-means++."""

    def run(problem: Problem) -> Fit:
        init = {"n_clusters": len(problem.centers), "init": "k-means++", "random_state": seed}
        return fit(problem.X, **init, **parameters)

    return run


def in_sequence(runs: list[Run]) -> Run:
    """Return a run of many calls."""
    return lambda problem: [run(problem) for run in runs]

"""k-means beside scikit-learn, scikit-learn-intelex and faiss.

Long fits from given centres (the kernel), short ones with everything a call costs (the
overhead), and seeding alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.machine import threads
from benchmarks.workload import Check, Contestant, Numbers, Workload

Array = NDArray[Any]
Maker = Callable[[int, int, int, int], Array]
Fitting = Callable[..., "Fit"]
Run = Callable[["Start"], Any]

K, COLUMNS, ITERATIONS = 32, 16, 30
SAME = {"float64": 1e-9, "float32": 1e-4}


@dataclass(frozen=True)
class Start:
    """Rows, and the centres that everyone begins with."""

    X: Array
    centres: Array


class Fit(NamedTuple):
    """What every contestant gives in the end."""

    centres: Array
    labels: Array
    inertia: float
    iterations: int


# Data ------------------------------------------------------------------------------------------


def groups(seed: int, rows: int, columns: int, k: int) -> Array:
    """Overlapping Gaussian groups: centres in a box of ten, standard deviation three."""
    random = np.random.default_rng(seed)
    centres = random.uniform(-5, 5, (k, columns))
    return centres[random.integers(k, size=rows)] + 3 * random.standard_normal((rows, columns))


def noise(seed: int, rows: int, columns: int, k: int) -> Array:
    """No structure at all: the worst that bounds can meet."""
    return np.random.default_rng(seed).standard_normal((rows, columns))


def iris(seed: int, rows: int, columns: int, k: int) -> Array:
    """The 150 flowers, whatever the seed."""
    X: Array = import_module("sklearn.datasets").load_iris().data
    return X


def started(
    make: Maker, columns: int, k: int, dtypes: tuple[str, ...]
) -> Callable[[int, int], Mapping[str, Start]]:
    """Data of a workload: one group a dtype, the same k random rows as first centres."""

    def data(seed: int, rows: int) -> dict[str, Start]:
        X = make(seed, rows, columns, k)
        centres = X[np.random.default_rng(seed + 1).choice(len(X), k, replace=False)]
        return {dtype: Start(X.astype(dtype), centres.astype(dtype)) for dtype in dtypes}

    return data


# Contestants -----------------------------------------------------------------------------------


def estimator(module: str, **settings: Any) -> Fitting:
    """A k-means with scikit-learn's interface, fitted once: ``fit(X, init=..., ...)``."""

    def fit(X: Array, **more: Any) -> Fit:
        found = import_module(module).KMeans(n_init=1, **settings, **more).fit(X)
        return Fit(found.cluster_centers_, found.labels_, found.inertia_, found.n_iter_)

    return fit


def intelex(**settings: Any) -> Fitting:
    """scikit-learn-intelex, whose threads are not OpenMP's and so are told."""
    return estimator("sklearnex.cluster", n_jobs=threads(), **settings)


def faiss_fit(start: Start) -> Fit:
    """Exactly ``ITERATIONS`` steps on all rows from the given centres, then the labels."""
    faiss = import_module("faiss")
    faiss.omp_set_num_threads(threads())
    (rows, columns), k = start.X.shape, len(start.centres)
    clustering = faiss.Clustering(columns, k)
    clustering.niter = ITERATIONS
    # Else it would learn from a sample of 256 rows a centre.
    clustering.max_points_per_centroid = rows
    faiss.copy_array_to_vector(start.centres.ravel(), clustering.centroids)
    index = faiss.IndexFlatL2(columns)
    clustering.train(start.X, index)
    distances, labels = index.search(start.X, 1)
    centres = faiss.vector_to_array(clustering.centroids).reshape(k, columns)
    inertia = float(distances.sum(dtype=np.float64))
    return Fit(centres, labels[:, 0], inertia, clustering.iteration_stats.size())


def plusplus(start: Start) -> Fit:
    """scikit-learn's seeding function alone; it gives centres, the rest is left to `quality`."""
    seed = import_module("sklearn.cluster").kmeans_plusplus
    centres, _ = seed(start.X, len(start.centres), random_state=0)
    return Fit(centres, np.empty(0, np.int32), np.nan, 0)


def fitters() -> dict[str, tuple[Fitting, str]]:
    """Everyone with scikit-learn's interface: how to fit, and the module it needs."""
    return {
        "ceiba": (estimator("ceiba"), "ceiba"),
        "scikit-learn lloyd": (estimator("sklearn.cluster", algorithm="lloyd"), "sklearn"),
        "scikit-learn elkan": (estimator("sklearn.cluster", algorithm="elkan"), "sklearn"),
        "scikit-learn-intelex": (intelex(), "sklearnex"),
    }


def contestants(group: str, run: Callable[[Fitting], Run]) -> tuple[Contestant, ...]:
    """The four of a group, each doing what ``run`` makes of its fit."""
    return tuple(
        Contestant(label, run(fit), group, ours=label == "ceiba", needs=needs)
        for label, (fit, needs) in fitters().items()
    )


def from_centres(fit: Fitting, **settings: Any) -> Run:
    """Fit from the given centres."""
    return lambda start: fit(start.X, n_clusters=len(start.centres), init=start.centres, **settings)


def from_seed(fit: Fitting, seed: int = 0, **settings: Any) -> Run:
    """Fit from k-means++."""
    return lambda start: fit(
        start.X, n_clusters=len(start.centres), init="k-means++", random_state=seed, **settings
    )


def in_turn(runs: list[Run]) -> Run:
    """Many calls in one run."""
    return lambda start: [run(start) for run in runs]


# Quality ---------------------------------------------------------------------------------------


def cost(start: Start, centres: Array, labels: Array) -> float:
    """Sum of squared distances to the labelled centres, by float64: one judge for everyone."""
    total, centres = 0.0, centres.astype(np.float64)
    for first in range(0, len(start.X), 65_536):
        part = slice(first, first + 65_536)
        gaps = start.X[part] - centres[labels[part]]
        total += float(np.vdot(gaps, gaps))
    return total


def quality(fit: Fit, start: Start) -> Numbers:
    """The cost of its labels and centres, what it reports itself, and its iterations."""
    return {
        "inertia": cost(start, fit.centres, fit.labels),
        "reported": float(fit.inertia),
        "iterations": float(fit.iterations),
    }


def mean_quality(fits: list[Fit], start: Start) -> Numbers:
    """Means over the calls of a run."""
    told = [quality(fit, start) for fit in fits]
    return {name: float(np.mean([each[name] for each in told])) for name in told[0]}


def seed_quality(fit: Fit, start: Start) -> Numbers:
    """Inertia one step after the seeding; bare centres are given that step here."""
    nearest = import_module("sklearn.metrics").pairwise_distances_argmin
    centres, labels = fit.centres, fit.labels
    if not len(labels):
        labels = nearest(start.X, centres)
        sums = [np.bincount(labels, column, len(centres)) for column in start.X.T]
        counts = np.bincount(labels, minlength=len(centres))
        centres = np.stack(sums, axis=1) / counts[:, None]
        labels = nearest(start.X, centres.astype(start.X.dtype))
    return {"inertia": cost(start, centres, labels)}


# Workloads -------------------------------------------------------------------------------------


def long_fit(name: str, make: Maker, title: str) -> Workload:
    """Thirty iterations on half a million rows, in both precisions."""
    every = [
        each
        for dtype in SAME
        for each in contestants(dtype, lambda fit: from_centres(fit, max_iter=ITERATIONS, tol=0.0))
    ]
    return Workload(
        name=name,
        title=f"{title}, {COLUMNS} columns, k = {K}, {ITERATIONS} iterations from given centres",
        data=started(make, COLUMNS, K, tuple(SAME)),
        contestants=(*every, Contestant("faiss", faiss_fit, "float32", needs="faiss")),
        quality=quality,
        checks=(Check("inertia", SAME), Check("reported", SAME), Check("iterations", 0.0)),
        rows=500_000,
        quick_rows=20_000,
    )


def short_given(name: str, make: Maker, rows: int, k: int, calls: int = 100) -> Workload:
    """A whole call on a small table, from given centres to convergence."""
    return Workload(
        name=name,
        title=f"4 columns, k = {k}, whole call from given centres",
        data=started(make, 4, k, ("float64",)),
        contestants=contestants("float64", lambda fit: in_turn([from_centres(fit)] * calls)),
        quality=mean_quality,
        checks=(Check("inertia", SAME), Check("reported", SAME), Check("iterations", 0.0)),
        rows=rows,
        quick_rows=rows,
        calls=calls,
    )


def short_seeded(name: str, make: Maker, rows: int, k: int, calls: int = 100) -> Workload:
    """A whole call on a small table with k-means++, over many seeds."""
    return Workload(
        name=name,
        title=f"4 columns, k = {k}, whole call with k-means++, one start",
        data=started(make, 4, k, ("float64",)),
        contestants=contestants(
            "float64", lambda fit: in_turn([from_seed(fit, seed) for seed in range(calls)])
        ),
        quality=mean_quality,
        # Random numbers differ, so only the mean over the seeds can be asked for.
        checks=(Check("inertia", 0.05, "no more"),),
        rows=rows,
        quick_rows=rows,
        calls=calls,
    )


def seeding() -> Workload:
    """k-means++ on half a million rows; with one step, since only scikit-learn shows it bare."""
    fits = contestants("float64", lambda fit: from_seed(fit, max_iter=1))
    return Workload(
        name="kmeans-seeding",
        title=f"overlapping groups, {COLUMNS} columns, k = {K}, k-means++ and one iteration",
        data=started(groups, COLUMNS, K, ("float64",)),
        contestants=(*fits, Contestant("scikit-learn, no iteration", plusplus, "float64")),
        quality=seed_quality,
        checks=(Check("inertia", 0.1, "no more"),),
        rows=500_000,
        quick_rows=20_000,
    )


WORKLOADS = (
    long_fit("kmeans-groups", groups, "overlapping Gaussian groups"),
    long_fit("kmeans-noise", noise, "structureless normal"),
    short_given("kmeans-small-given", groups, 1_000, 8),
    short_seeded("kmeans-small-seeded", groups, 1_000, 8),
    short_given("kmeans-iris-given", iris, 150, 3),
    short_seeded("kmeans-iris-seeded", iris, 150, 3),
    seeding(),
)

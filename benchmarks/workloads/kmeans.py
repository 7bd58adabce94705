"""K-means: scikit-learn, scikit-learn-intelex and faiss.

Long fits from given centers (the kernel), whole calls on small tables (the overhead), and seeding
alone.
"""

from __future__ import annotations

from benchmarks.kmeans import peers, quality
from benchmarks.kmeans.data import MakeTable, blobs, data_maker, iris, noise
from benchmarks.kmeans.peers import (
    faiss_fit,
    from_centers,
    from_plusplus,
    implementations,
    in_sequence,
    sklearn_seeding,
)
from benchmarks.workload import Check, Implementation, Workload

N_CLUSTERS, N_COLUMNS = 32, 16
TOLERANCE = {"float64": 1e-9, "float32": 1e-4}
EQUAL = (Check("inertia", TOLERANCE), Check("reported", TOLERANCE), Check("iterations", 0.0))


def long_fit(name: str, make_table: MakeTable, title: str) -> Workload:
    """Return the workload of thirty iterations on half a million rows, in both precisions."""
    n_iterations = peers.N_ITERATIONS
    every = [
        each
        for dtype in TOLERANCE
        for each in implementations(
            dtype, lambda fit: from_centers(fit, max_iter=n_iterations, tol=0.0)
        )
    ]
    size = f"{N_COLUMNS} columns, k = {N_CLUSTERS}"
    return Workload(
        name=name,
        title=f"{title}, {size}, {n_iterations} iterations from given centers",
        make_data=data_maker(make_table, N_COLUMNS, N_CLUSTERS, tuple(TOLERANCE)),
        implementations=(*every, Implementation("faiss", faiss_fit, "float32", module="faiss")),
        quality=quality.score_fit,
        checks=EQUAL,
        n_rows=500_000,
        quick_n_rows=20_000,
    )


def small_given(
    name: str, make_table: MakeTable, n_rows: int, n_clusters: int, n_calls: int = 100
) -> Workload:
    """Return the workload of a whole call on a small table, from given centers."""
    return Workload(
        name=name,
        title=f"4 columns, k = {n_clusters}, whole call from given centers",
        make_data=data_maker(make_table, 4, n_clusters, ("float64",)),
        implementations=implementations(
            "float64", lambda fit: in_sequence([from_centers(fit)] * n_calls)
        ),
        quality=quality.score_fits,
        checks=EQUAL,
        n_rows=n_rows,
        quick_n_rows=n_rows,
        n_calls=n_calls,
    )


def small_seeded(
    name: str, make_table: MakeTable, n_rows: int, n_clusters: int, n_calls: int = 100
) -> Workload:
    """Return the workload of a whole call on a small table with k-means++, over seeds."""
    return Workload(
        name=name,
        title=f"4 columns, k = {n_clusters}, whole call with k-means++, one initialization",
        make_data=data_maker(make_table, 4, n_clusters, ("float64",)),
        implementations=implementations(
            "float64",
            lambda fit: in_sequence([from_plusplus(fit, seed) for seed in range(n_calls)]),
        ),
        quality=quality.score_fits,
        # Random numbers differ, so only the mean over the seeds is comparable.
        checks=(Check("inertia", 0.05, "at most"),),
        n_rows=n_rows,
        quick_n_rows=n_rows,
        n_calls=n_calls,
    )


def seeding() -> Workload:
    """Return the workload of k-means++; plus one iteration, as only scikit-learn exposes it."""
    fits = implementations("float64", lambda fit: from_plusplus(fit, max_iter=1))
    alone = Implementation("scikit-learn, no iteration", sklearn_seeding, "float64")
    return Workload(
        name="kmeans-seeding",
        title=f"overlapping blobs, {N_COLUMNS} columns, k = {N_CLUSTERS}, "
        "k-means++ and one iteration",
        make_data=data_maker(blobs, N_COLUMNS, N_CLUSTERS, ("float64",)),
        implementations=(*fits, alone),
        quality=quality.score_seeding,
        checks=(Check("inertia", 0.1, "at most"),),
        n_rows=500_000,
        quick_n_rows=20_000,
    )


WORKLOADS = (
    long_fit("kmeans-blobs", blobs, "overlapping Gaussian blobs"),
    long_fit("kmeans-noise", noise, "structureless normal"),
    small_given("kmeans-small-given", blobs, 1_000, 8),
    small_seeded("kmeans-small-seeded", blobs, 1_000, 8),
    small_given("kmeans-iris-given", iris, 150, 3),
    small_seeded("kmeans-iris-seeded", iris, 150, 3),
    seeding(),
)

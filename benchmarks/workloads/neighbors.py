"""Nearest neighbors: 10,000 queries among 200,000 rows, and building an index.

Uniform rows and rows in a hundred clusters, in float64 and float32.
"""

from __future__ import annotations

from benchmarks.neighbors import peers, tables
from benchmarks.workload import Check, Workload

# float32 products of other libraries have four digits.
EQUAL = (Check("nearest", 1e-3), Check("farthest", 1e-3))
DTYPES = ("float64", "float32")


def search(kind: str, n_columns: int) -> Workload:
    """Return the workload of searches."""
    makers = {dtype: peers.make(kind, n_columns, dtype) for dtype in DTYPES}
    return Workload(
        name=f"neighbors-{kind}-{n_columns}",
        title=f"{n_columns} columns, {kind}: ten neighbors of a twentieth as many queries",
        make_data=lambda seed, n: {dtype: make(seed, n) for dtype, make in makers.items()},
        implementations=tuple(
            each
            for dtype in DTYPES
            for each in peers.searches(dtype, peers.peers_of(kind, n_columns, dtype))
        ),
        quality=peers.score_distances,
        checks=EQUAL,
        n_rows=200_000,
        quick_n_rows=4_000,
    )


def build(n_columns: int) -> Workload:
    """Return the workload of building an index."""
    make = peers.make("uniform", n_columns, "float64")
    return Workload(
        name=f"neighbors-build-{n_columns}",
        title=f"{n_columns} columns, uniform: build an index, and search for 100 queries",
        make_data=lambda seed, n: {"float64": make(seed, n)},
        implementations=peers.builds("float64", peers.peers_of("uniform", n_columns, "float64")),
        quality=peers.score_distances,
        checks=EQUAL,
        n_rows=200_000,
        quick_n_rows=4_000,
    )


TABLES = (
    Workload(
        name="neighbors-mixed",
        title="12 columns of numbers and categories, Gower's distance: ten neighbors",
        make_data=lambda seed, n: {"gower": tables.make_mixed(seed, n)},
        implementations=tables.MIXED,
        quality=tables.score_mixed,
        # The matrix of gower is in float32.
        checks=(Check("nearest", 1e-5), Check("farthest", 1e-5)),
        n_rows=50_000,
        quick_n_rows=1_000,
    ),
    Workload(
        name="neighbors-sphere",
        title="haversine: ten neighbors of a twentieth as many queries",
        make_data=lambda seed, n: {"haversine": tables.make_sphere(seed, n)},
        implementations=tables.SPHERE,
        quality=tables.score_mixed,
        checks=(Check("nearest", 1e-9), Check("farthest", 1e-9)),
        n_rows=200_000,
        quick_n_rows=2_000,
    ),
    Workload(
        name="neighbors-iris",
        title="iris: predictions of one row and of all",
        make_data=lambda seed, n: dict.fromkeys(
            ("one row", "150 rows", "fit and one row"), tables.make_iris(seed, n)
        ),
        implementations=tables.IRIS,
        quality=tables.score_iris,
        checks=(Check("accuracy", 1e-12),),
        n_rows=150,
        quick_n_rows=150,
    ),
    Workload(
        name="neighbors-growing",
        title="4 columns: a hundredth of the rows added one by one, or the model built ten times",
        make_data=lambda seed, n: {"added rows": tables.make_growing(seed, n)},
        implementations=tables.GROWING,
        quality=tables.score_growing,
        checks=(Check("vote", 1e-12),),
        n_rows=100_000,
        quick_n_rows=1_000,
    ),
)
WORKLOADS = (
    *(search(kind, d) for d in (4, 16, 64) for kind in ("uniform", "clusters")),
    build(4),
    *TABLES,
)

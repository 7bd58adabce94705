"""Nearest neighbors: 10,000 queries among 200,000 rows, and building an index.

Uniform rows and rows in a hundred clusters, in float64 and float32.
"""

from __future__ import annotations

from benchmarks.neighbors import peers
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


WORKLOADS = (
    *(search(kind, d) for d in (4, 16, 64) for kind in ("uniform", "clusters")),
    build(4),
)

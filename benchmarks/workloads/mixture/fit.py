"""Gaussian mixtures: scikit-learn and oneDAL.

A fixed number of EM iterations from given parameters (the kernel), whole fits of a small table (the
overhead), and tables with missing values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from benchmarks.mixture import quality
from benchmarks.mixture.data import (
    MISSING_FRACTION,
    GroupSpec,
    Shape,
    clusters,
    data_maker,
    iris,
)
from benchmarks.mixture.peers import (
    N_ITERATIONS,
    all_libraries,
    from_default,
    from_given,
    in_sequence,
    sklearn_interface,
    with_mean_imputation,
)
from benchmarks.workload import Check, Implementation, Workload

TOLERANCE = {"float64": 1e-9, "float32": 1e-5}
GIVEN = f"{N_ITERATIONS} iterations from given parameters"
MEDIUM = Shape(n_columns=16, n_components=8, n_rows=200_000, quick_n_rows=5_000)
NARROW = Shape(n_columns=4, n_components=3, n_rows=1_000_000, quick_n_rows=20_000)
WIDE = Shape(n_columns=100, n_components=5, n_rows=20_000, quick_n_rows=4_000)
MISSING = Shape(n_columns=10, n_components=4, n_rows=100_000, quick_n_rows=4_000)
IRIS = Shape(n_columns=4, n_components=3, n_rows=150, quick_n_rows=150)
PER_COMPONENT = {kind: GroupSpec(kind) for kind in ("full", "diag", "spherical")}


def long_fit(name: str, shape: Shape, groups: Mapping[str, GroupSpec]) -> Workload:
    """Return the workload of a fixed number of iterations from given parameters."""
    types = ", ".join(dict.fromkeys(spec.covariance_type for spec in groups.values()))
    tolerance = {group: TOLERANCE[spec.dtype] for group, spec in groups.items()}
    return Workload(
        name=name,
        title=f"{shape.n_columns} columns, {shape.n_components} components ({types}), {GIVEN}",
        make_data=data_maker(clusters, shape, groups),
        implementations=tuple(
            each
            for group, spec in groups.items()
            for each in all_libraries(group, spec.covariance_type)
        ),
        quality=quality.score_fit,
        checks=(Check("log_likelihood", tolerance), Check("iterations", 0.0)),
        n_rows=shape.n_rows,
        quick_n_rows=shape.quick_n_rows,
    )


def missing_values(shape: Shape) -> Workload:
    """Return the workload of exact EM with missing values; the peer imputes means."""
    groups = {kind: GroupSpec(kind) for kind in ("full", "diag")}
    ours = Implementation("ceiba", from_given("ceiba"), "", ours=True, module="ceiba")
    peer = Implementation("scikit-learn, mean imputation", with_mean_imputation, "")
    size = f"{shape.n_columns} columns, {MISSING_FRACTION:.0%} missing"
    return Workload(
        name="mixture-missing",
        title=f"{size}, {shape.n_components} components, {GIVEN}",
        make_data=data_maker(clusters, shape, groups, missing=True),
        implementations=tuple(
            replace(each, group=group) for group in groups for each in (ours, peer)
        ),
        quality=quality.score_fit,
        # Exact EM maximizes just this likelihood, so imputation can only be worse.
        checks=(Check("log_likelihood", 0.0, "at least"), Check("iterations", 0.0)),
        n_rows=shape.n_rows,
        quick_n_rows=shape.quick_n_rows,
    )


def iris_given(n_calls: int = 100) -> Workload:
    """Return the workload of a whole call on a small table, from given parameters."""
    return Workload(
        name="mixture-iris-given",
        title=f"iris, 3 components (full), {GIVEN}, whole call",
        make_data=data_maker(iris, IRIS, {"float64": GroupSpec("full")}),
        implementations=tuple(
            replace(each, run=in_sequence([each.run] * n_calls))
            for each in all_libraries("float64", "full")
        ),
        quality=quality.score_fits,
        checks=(Check("log_likelihood", TOLERANCE), Check("iterations", 0.0)),
        n_rows=IRIS.n_rows,
        quick_n_rows=IRIS.quick_n_rows,
        n_calls=n_calls,
    )


def iris_default(n_calls: int = 100) -> Workload:
    """Return the workload of a whole call with each library's defaults, over seeds."""
    return Workload(
        name="mixture-iris-default",
        title="iris, 3 components (full), whole call with the library's defaults",
        make_data=data_maker(iris, IRIS, {"float64": GroupSpec("full")}),
        implementations=sklearn_interface(
            "float64",
            lambda label: in_sequence([from_default(label, seed) for seed in range(n_calls)]),
        ),
        quality=quality.score_fits,
        # Random numbers and stopping rules differ: only the mean is comparable, one-sided.
        checks=(Check("log_likelihood", 1e-3, "at least"),),
        n_rows=IRIS.n_rows,
        quick_n_rows=IRIS.quick_n_rows,
        n_calls=n_calls,
    )


WORKLOADS = (
    long_fit("mixture-full", MEDIUM, {dtype: GroupSpec("full", dtype) for dtype in TOLERANCE}),
    long_fit("mixture-diag", MEDIUM, {"float64": GroupSpec("diag")}),
    long_fit("mixture-spherical", MEDIUM, {"float64": GroupSpec("spherical")}),
    long_fit("mixture-tied", MEDIUM, {"float64": GroupSpec("tied")}),
    long_fit("mixture-narrow", NARROW, PER_COMPONENT),
    long_fit("mixture-wide", WIDE, PER_COMPONENT),
    missing_values(MISSING),
    iris_given(),
    iris_default(),
)

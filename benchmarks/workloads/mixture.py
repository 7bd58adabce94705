"""Gaussian mixtures beside scikit-learn and oneDAL.

A fixed number of EM steps from given parameters (the kernel), whole fits of a small table (the
overhead), and tables with gaps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from benchmarks import mixture_judge
from benchmarks.mixture_data import GAPS, Kind, Shape, groups, iris, started
from benchmarks.mixture_peers import (
    ITERATIONS,
    both_libraries,
    everyone,
    from_kmeans,
    from_start,
    in_turn,
    with_means_for_gaps,
)
from benchmarks.workload import Check, Contestant, Workload

SAME = {"float64": 1e-9, "float32": 1e-5}
GIVEN = f"{ITERATIONS} iterations from given parameters"
MIDDLE = Shape(columns=16, k=8, rows=200_000, quick_rows=5_000)
NARROW = Shape(columns=4, k=3, rows=1_000_000, quick_rows=20_000)
WIDE = Shape(columns=100, k=5, rows=20_000, quick_rows=4_000)
HOLED = Shape(columns=10, k=4, rows=100_000, quick_rows=4_000)
FLOWERS = Shape(columns=4, k=3, rows=150, quick_rows=150)
FREE = {form: Kind(form) for form in ("full", "diag", "spherical")}


def long_fit(name: str, shape: Shape, kinds: Mapping[str, Kind]) -> Workload:
    """A fixed number of steps from given parameters."""
    forms = ", ".join(dict.fromkeys(form for form, _ in kinds.values()))
    same = {group: SAME[dtype] for group, (_, dtype) in kinds.items()}
    return Workload(
        name=name,
        title=f"{shape.columns} columns, {shape.k} components ({forms}), {GIVEN}",
        data=started(groups, shape, kinds),
        contestants=tuple(
            each for group, (form, _) in kinds.items() for each in everyone(group, form)
        ),
        quality=mixture_judge.of_fit,
        checks=(Check("log_likelihood", same), Check("iterations", 0.0)),
        rows=shape.rows,
        quick_rows=shape.quick_rows,
    )


def with_gaps(shape: Shape) -> Workload:
    """Exact EM on a table with gaps. Nobody else does it: the peer learns from filled rows."""
    kinds = {form: Kind(form) for form in ("full", "diag")}
    ours = Contestant("ceiba", from_start("ceiba"), "", ours=True, needs="ceiba")
    peer = Contestant("scikit-learn, means for gaps", with_means_for_gaps, "")
    return Workload(
        name="mixture-gaps",
        title=f"{shape.columns} columns, {GAPS:.0%} gaps, {shape.k} components, {GIVEN}",
        data=started(groups, shape, kinds, gaps=True),
        contestants=tuple(replace(each, group=group) for group in kinds for each in (ours, peer)),
        quality=mixture_judge.of_fit,
        # What exact EM raises is just this likelihood, so filling can only do worse.
        checks=(Check("log_likelihood", 0.0, "no less"), Check("iterations", 0.0)),
        rows=shape.rows,
        quick_rows=shape.quick_rows,
    )


def iris_given(calls: int = 100) -> Workload:
    """A whole call on a small table, from given parameters."""
    return Workload(
        name="mixture-iris-given",
        title=f"iris, 3 components (full), {GIVEN}, whole call",
        data=started(iris, FLOWERS, {"float64": Kind("full")}),
        contestants=tuple(
            replace(each, run=in_turn([each.run] * calls)) for each in everyone("float64", "full")
        ),
        quality=mixture_judge.of_fits,
        checks=(Check("log_likelihood", SAME), Check("iterations", 0.0)),
        rows=FLOWERS.rows,
        quick_rows=FLOWERS.quick_rows,
        calls=calls,
    )


def iris_default(calls: int = 100) -> Workload:
    """A whole call on a small table with everyone's defaults, k-means included, over seeds."""
    return Workload(
        name="mixture-iris-default",
        title="iris, 3 components (full), whole call with the library's defaults",
        data=started(iris, FLOWERS, {"float64": Kind("full")}),
        contestants=both_libraries(
            "float64",
            lambda label: in_turn([from_kmeans(label, seed) for seed in range(calls)]),
        ),
        quality=mixture_judge.of_fits,
        # Random numbers and stopping rules differ: only the mean can be asked for, and no less.
        checks=(Check("log_likelihood", 1e-3, "no less"),),
        rows=FLOWERS.rows,
        quick_rows=FLOWERS.quick_rows,
        calls=calls,
    )


WORKLOADS = (
    long_fit("mixture-full", MIDDLE, {dtype: Kind("full", dtype) for dtype in SAME}),
    long_fit("mixture-diag", MIDDLE, {"float64": Kind("diag")}),
    long_fit("mixture-spherical", MIDDLE, {"float64": Kind("spherical")}),
    long_fit("mixture-tied", MIDDLE, {"float64": Kind("tied")}),
    long_fit("mixture-narrow", NARROW, FREE),
    long_fit("mixture-wide", WIDE, FREE),
    with_gaps(HOLED),
    iris_given(),
    iris_default(),
)

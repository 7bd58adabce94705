"""Measure how growing a tree scales with rows and with columns, next to n log n.

``python -m benchmarks.tree.scaling`` times ours on logarithmic grids, prints the slopes and writes
``tree-scaling.json`` and a log-log figure, ``tree-scaling.png``, to the results.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from benchmarks import report
from benchmarks.machine import set_threads
from benchmarks.scaling import end_cells, fit_slope, grid, make_figure, measure_scaling, style_panel
from benchmarks.script import make_scaling_parser, n_scaling_rounds
from benchmarks.tree import peers
from benchmarks.tree.data import FAMILY, N_COLUMNS, Array, Sample, Task, normal_table

Axis = Literal["rows", "columns"]
TREES: dict[str, dict[str, int]] = {
    "exact, full depth": {},
    "exact, depth 8": {"max_depth": 8},
    "binned, depth 8": {"max_depth": 8, "max_bins": peers.MAX_BINS},
}
# Rows are sorted; columns are searched one after another.
EXPECTED = {"rows": "n log n", "columns": "p"}


@dataclass(frozen=True)
class Grids:
    """Both grids (first, last, number of points), and the size that stays fixed in the other."""

    rows: tuple[int, int, int]
    columns: tuple[int, int, int]
    fixed_rows: int
    fixed_columns: int = N_COLUMNS


FULL = Grids(rows=(10_000, 1_000_000, 7), columns=(7, 112, 5), fixed_rows=100_000)
QUICK = Grids(rows=(1_000, 8_000, 4), columns=(7, 28, 3), fixed_rows=2_000)


@dataclass(frozen=True)
class Curve:
    """Times of one tree along one axis, their slope, and the expected slope on the same grid."""

    label: str
    axis: Axis
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    slope: float
    expected_slope: float


def expected_growth(axis: Axis, sizes: Sequence[int]) -> Array:
    """Return the expected time per size, up to a factor."""
    n = np.asarray(sizes, float)
    return n * np.log(n) if axis == "rows" else n


def measure_curve(tree: str, axis: Axis, grids: Grids, task: Task, seed: int, rounds: int) -> Curve:
    """Time one tree on the grid of one axis."""
    sizes = grid(*getattr(grids, axis))
    fit = peers.ceiba(task, **TREES[tree]).fit
    measured = measure_scaling(fit, sample_maker(axis, grids, task, seed), sizes, rounds=rounds)
    expected = fit_slope(sizes, expected_growth(axis, sizes).tolist())
    return Curve(tree, axis, sizes, measured.seconds, measured.slope, expected)


def sample_maker(axis: Axis, grids: Grids, task: Task, seed: int) -> Callable[[int], Sample]:
    """Return a function that makes data of a given size along one axis."""
    if axis == "rows":
        return lambda n_rows: normal_table(task, seed, n_rows, grids.fixed_columns)
    return lambda n_columns: normal_table(task, seed, grids.fixed_rows, n_columns)


# Table and figure ------------------------------------------------------------------------------


def table(curves: Sequence[Curve]) -> str:
    """Return one line per curve: its ends, its slope and the expected one."""
    head = ["tree", "axis", "from", "to", "first", "last", "slope", "expected", "expected slope"]
    return "\n".join(report.align([head, *(cells(curve) for curve in curves)]))


def cells(curve: Curve) -> list[str]:
    """Return one line of the table."""
    return [*end_cells(curve), EXPECTED[curve.axis], f"{curve.expected_slope:.2f}"]


def draw(curves: Sequence[Curve], path: Path) -> None:
    """Draw one log-log panel per axis; dashed lines show the expected growth."""
    figure = make_figure(10, 4.5)
    for panel, axis in zip(figure.subplots(1, 2), get_args(Axis), strict=True):
        of_axis = [curve for curve in curves if curve.axis == axis]
        for index, curve in enumerate(of_axis):
            draw_curve(panel, curve, f"C{index}")
        panel.plot([], [], "--", color="grey", label=EXPECTED[axis])
        style_panel(panel, of_axis[0].sizes, axis, "time", "s")
        panel.legend(frameon=False)
    figure.savefig(path, dpi=120)


def draw_curve(panel: Any, curve: Curve, color: str) -> None:
    """Draw the measured points and the expected growth through their mean."""
    label = f"{curve.label}: slope {curve.slope:.2f}"
    panel.plot(curve.sizes, curve.seconds, "o-", color=color, label=label)
    shape = expected_growth(curve.axis, curve.sizes)
    factor = np.exp(np.mean(np.log(curve.seconds) - np.log(shape)))
    panel.plot(curve.sizes, factor * shape, "--", color=color, alpha=0.5)


# Command ---------------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = make_scaling_parser("benchmarks.tree.scaling", __doc__)
    parser.add_argument("--task", choices=get_args(Task), default="classification")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the numbers and draw the figure."""
    args = make_parser().parse_args(arguments)
    # Early enough: ceiba is loaded by its first fit, and nothing threaded of NumPy is used.
    set_threads(args.threads)
    grids, rounds = QUICK if args.quick else FULL, n_scaling_rounds(args)
    curves = [
        measure_curve(tree, axis, grids, args.task, args.seed, rounds)
        for axis in get_args(Axis)
        for tree in TREES
    ]
    print(table(curves), flush=True)
    name = f"{FAMILY[args.task]}-scaling{'-quick' if args.quick else ''}"
    settings = {"task": args.task, "seed": args.seed, "n_rounds": rounds}
    path = report.write(name, {**settings, "curves": [asdict(curve) for curve in curves]})
    draw(curves, path.with_suffix(".png"))
    print(f"\nwritten: benchmarks/results/{name}.json and {name}.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

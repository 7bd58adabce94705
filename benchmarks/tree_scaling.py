"""How growing a tree scales: seconds against rows and against columns, next to n log n.

``python -m benchmarks.tree_scaling`` times ours on logarithmic grids, prints the slopes and
leaves ``tree-scaling.json`` and a log-log picture, ``tree-scaling.png``, among the results.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from benchmarks import report, tree_peers
from benchmarks.machine import fix_threads
from benchmarks.scaling import grid, scaling, slope
from benchmarks.tree_data import COLUMNS, FAMILY, Array, Sample, Task, normal

Axis = Literal["rows", "columns"]
TREES: dict[str, dict[str, int]] = {
    "exact, full depth": {},
    "exact, depth 8": {"max_depth": 8},
    "binned, depth 8": {"max_depth": 8, "max_bins": tree_peers.BINS},
}
# Rows have to be sorted; columns are looked at one after another.
LAW = {"rows": "n log n", "columns": "p"}


@dataclass(frozen=True)
class Grids:
    """Both grids (first, last, points), and the one size while the other grows."""

    rows: tuple[int, int, int]
    columns: tuple[int, int, int]
    fixed_rows: int
    fixed_columns: int = COLUMNS


FULL = Grids(rows=(10_000, 1_000_000, 7), columns=(7, 112, 5), fixed_rows=100_000)
QUICK = Grids(rows=(1_000, 8_000, 4), columns=(7, 28, 3), fixed_rows=2_000)


@dataclass(frozen=True)
class Curve:
    """One tree along one axis, and the slope that the law has on the same grid."""

    tree: str
    axis: Axis
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    slope: float
    expected: float


def law(axis: Axis, sizes: Sequence[int]) -> Array:
    """The growth that is compared with, up to a factor."""
    n = np.asarray(sizes, float)
    return n * np.log(n) if axis == "rows" else n


def curve(tree: str, axis: Axis, grids: Grids, task: Task, seed: int, rounds: int) -> Curve:
    """Time one tree on the grid of one axis."""
    sizes = grid(*getattr(grids, axis))
    grow = tree_peers.ceiba(task, **TREES[tree]).fit
    found = scaling(grow, samples(axis, grids, task, seed), sizes, rounds=rounds)
    expected = slope(sizes, law(axis, sizes).tolist())
    return Curve(tree, axis, sizes, found.seconds, found.slope, expected)


def samples(axis: Axis, grids: Grids, task: Task, seed: int) -> Callable[[int], Sample]:
    """Data of any size along one axis."""
    if axis == "rows":
        return lambda rows: normal(task, seed, rows, grids.fixed_columns)
    return lambda columns: normal(task, seed, grids.fixed_rows, columns)


# Table and picture -----------------------------------------------------------------------------


def table(curves: Sequence[Curve]) -> str:
    """A line a curve: its ends, its slope, and that of its law on the same grid."""
    head = ["tree", "against", "from", "to", "first", "last", "slope", "law", "slope of the law"]
    return "\n".join(report.aligned([head, *(cells(each) for each in curves)]))


def cells(found: Curve) -> list[str]:
    """One line of the table."""
    return [
        found.tree,
        found.axis,
        f"{found.sizes[0]:,}",
        f"{found.sizes[-1]:,}",
        report.duration(found.seconds[0]),
        report.duration(found.seconds[-1]),
        f"{found.slope:.2f}",
        LAW[found.axis],
        f"{found.expected:.2f}",
    ]


def draw(curves: Sequence[Curve], path: Path) -> None:
    """Log-log, a panel an axis; a law is a dashed line as high as its curve in the mean."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import EngFormatter, NullFormatter
    except ImportError as error:
        raise ImportError('the picture needs matplotlib: pip install "ceiba[app]"') from error
    figure = Figure(figsize=(10, 4.5), layout="constrained")
    for panel, axis in zip(figure.subplots(1, 2), get_args(Axis), strict=True):
        mine = [each for each in curves if each.axis == axis]
        for place, each in enumerate(mine):
            draw_curve(panel, each, f"C{place}")
        panel.plot([], [], "--", color="grey", label=LAW[axis])
        panel.set(xscale="log", yscale="log", xlabel=axis, ylabel="time", xticks=mine[0].sizes)
        panel.xaxis.set_major_formatter(EngFormatter(places=0))
        panel.xaxis.set_minor_formatter(NullFormatter())
        panel.yaxis.set_major_formatter(EngFormatter("s"))
        panel.yaxis.set_minor_formatter(NullFormatter())
        panel.grid(which="both", alpha=0.2)
        panel.legend(frameon=False)
    figure.savefig(path, dpi=120)


def draw_curve(panel: Any, found: Curve, colour: str) -> None:
    """The measured points and their law."""
    label = f"{found.tree}: slope {found.slope:.2f}"
    panel.plot(found.sizes, found.seconds, "o-", color=colour, label=label)
    shape = law(found.axis, found.sizes)
    factor = np.exp(np.mean(np.log(found.seconds) - np.log(shape)))
    panel.plot(found.sizes, factor * shape, "--", color=colour, alpha=0.5)


# Command ---------------------------------------------------------------------------------------


def make_parser() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.tree_scaling", description=__doc__)
    add = parser.add_argument
    add("--task", choices=get_args(Task), default="classes", help="what is learnt")
    add("--quick", action="store_true", help="small grids, one round: does it run at all?")
    add("--rounds", type=int, help="timed rounds a point (default 3)")
    add("--seed", type=int, default=0, help="seed of the data (default 0)")
    add("--threads", type=int, help="default: OMP_NUM_THREADS or every core")
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the numbers, draw."""
    asked = make_parser().parse_args(arguments)
    # In time: ceiba is loaded by its first fit, and of NumPy nothing threaded is used.
    fix_threads(asked.threads)
    grids, rounds = (QUICK, asked.rounds or 1) if asked.quick else (FULL, asked.rounds or 3)
    curves = [
        curve(tree, axis, grids, asked.task, asked.seed, rounds)
        for axis in get_args(Axis)
        for tree in TREES
    ]
    print(table(curves), flush=True)
    name = f"{FAMILY[asked.task]}-scaling{'-quick' if asked.quick else ''}"
    told = {"task": asked.task, "seed": asked.seed, "rounds": rounds}
    written = report.write(name, {**told, "curves": [asdict(each) for each in curves]})
    draw(curves, written.with_suffix(".png"))
    print(f"\nwritten: benchmarks/results/{name}.json and {name}.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

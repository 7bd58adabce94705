"""Measure how gradient boosting scales with rows, columns, leaves and classes, next to its peers.

``python -m benchmarks.boosting.scaling`` times fits on logarithmic grids with the settings of
`benchmarks.boosting.peers`, measures the peak memory of each in a fresh process, prints the slopes
and writes ``boosting-scaling.json`` and a log-log figure, ``boosting-scaling.png``, to the results.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args

import numpy as np

from benchmarks import report
from benchmarks.boosting import peers
from benchmarks.boosting.peers import FittedBooster, Peer
from benchmarks.machine import set_threads
from benchmarks.memory import measure, peak_bytes, reset_peak
from benchmarks.scaling import (
    Curve,
    curve_table,
    draw_axis,
    grid,
    make_figure,
    measure_scaling,
)
from benchmarks.script import make_scaling_parser, n_scaling_rounds
from benchmarks.tree.data import Sample, normal_table

Axis = Literal["rows", "columns", "leaves", "classes"]
# Peers by label, from the number of trees and of leaves.
PEERS: dict[str, Callable[[int, int], Peer]] = {
    "ceiba": lambda n_trees, n_leaves: peers.ceiba("classification", n_trees, n_leaves),
    "LightGBM": lambda n_trees, n_leaves: peers.lightgbm("classification", n_trees, n_leaves),
    "XGBoost": lambda n_trees, n_leaves: peers.xgboost("classification", n_trees, n_leaves),
    "HistGradientBoosting": lambda n_trees, n_leaves: peers.hist_gradient_boosting(
        "classification", n_trees, n_leaves
    ),
}


@dataclass(frozen=True)
class Shape:
    """The size of a fit along every axis, and its number of rounds."""

    rows: int
    columns: int
    leaves: int
    classes: int
    rounds: int

    def at(self, axis: Axis, size: int) -> Shape:
        """Return the same shape with another size along one axis."""
        return Shape(**{**asdict(self), axis: size})


@dataclass(frozen=True)
class Grids:
    """The grid of every axis (first, last, number of points), and the shape they depart from."""

    rows: tuple[int, int, int]
    columns: tuple[int, int, int]
    leaves: tuple[int, int, int]
    classes: tuple[int, int, int]
    shape: Shape


FULL = Grids(
    rows=(10_000, 1_000_000, 5),
    columns=(7, 112, 5),
    leaves=(7, 511, 4),
    classes=(2, 16, 4),
    shape=Shape(rows=100_000, columns=28, leaves=63, classes=2, rounds=20),
)
QUICK = Grids(
    rows=(500, 2_000, 2),
    columns=(7, 14, 2),
    leaves=(4, 8, 2),
    classes=(2, 4, 2),
    shape=Shape(rows=500, columns=7, leaves=4, classes=2, rounds=2),
)


def make_sample(shape: Shape, seed: int) -> Sample:
    """Return normal columns and classes of equal size by the order of a noisy signal."""
    table = normal_table("regression", seed, shape.rows, shape.columns)
    edges = np.quantile(table.y, np.arange(1, shape.classes) / shape.classes)
    return Sample(table.X, np.digitize(table.y, edges))


def fit(label: str, shape: Shape, sample: Sample) -> FittedBooster:
    """Fit one library."""
    return PEERS[label](shape.rounds, shape.leaves).fit(sample)


def measure_curve(label: str, axis: Axis, grids: Grids, seed: int, rounds: int) -> Curve:
    """Time one library on the grid of one axis, and measure its memory."""
    sizes = grid(*getattr(grids, axis))
    shapes = {size: grids.shape.at(axis, size) for size in sizes}
    measured = measure_scaling(
        lambda data: fit(label, *data),
        lambda size: (shapes[size], make_sample(shapes[size], seed)),
        sizes,
        rounds=rounds,
    )
    memory = tuple(peak_memory(label, shapes[size], seed) for size in sizes)
    return Curve(label, axis, sizes, measured.seconds, measured.slope, memory)


def peak_memory(label: str, shape: Shape, seed: int) -> int:
    """Return by how many bytes a fit raises the resident size above that with its data."""
    arguments = {"label": label, "shape": asdict(shape), "seed": seed}
    return int(measure("benchmarks.boosting.scaling:measured_fit", arguments).result["bytes"])


def measured_fit(label: str, shape: dict[str, int], seed: int) -> dict[str, int]:
    """Fit once to a small table, which imports the library, and then measure the memory."""
    warnings.simplefilter("ignore")
    fit(label, QUICK.shape, make_sample(QUICK.shape, seed))
    own = Shape(**shape)
    sample = make_sample(own, seed)
    before = reset_peak()
    fit(label, own, sample)
    return {"bytes": max(peak_bytes() - before, 0)}


# Figure ---------------------------------------------------------------------------------------


def draw(curves: Sequence[Curve], shape: Shape, path: Path) -> None:
    """Draw log-log panels of time and memory for each axis; dashed lines are other libraries."""
    figure = make_figure(15, 7.5)
    panels = figure.subplots(2, len(get_args(Axis)))
    colors = {label: f"C{index}" for index, label in enumerate(PEERS)}
    for column, axis in enumerate(get_args(Axis)):
        of_axis = [curve for curve in curves if curve.axis == axis]
        draw_axis(panels[:, column], of_axis, colors)
    figure.suptitle(
        f"{shape.rounds} rounds; where not varied {shape.rows:,} rows, {shape.columns} columns, "
        f"{shape.leaves} leaves, {shape.classes} classes"
    )
    handles, names = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=len(names), frameon=False)
    figure.savefig(path, dpi=120)


# Command --------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the numbers and draw the figure."""
    args = make_scaling_parser("benchmarks.boosting.scaling", __doc__).parse_args(arguments)
    # Early enough: ceiba is loaded by its first fit, and nothing threaded of NumPy is used.
    set_threads(args.threads)
    warnings.simplefilter("ignore")
    grids, rounds = QUICK if args.quick else FULL, n_scaling_rounds(args)
    installed = [label for label, make in PEERS.items() if find_spec(make(1, 2).module)]
    curves = [
        measure_curve(label, axis, grids, args.seed, rounds)
        for axis in get_args(Axis)
        for label in installed
    ]
    print(curve_table("library", curves), flush=True)
    name = f"boosting-scaling{'-quick' if args.quick else ''}"
    settings = {"seed": args.seed, "n_rounds": rounds, "shape": asdict(grids.shape)}
    path = report.write(name, {**settings, "curves": [asdict(curve) for curve in curves]})
    draw(curves, grids.shape, path.with_suffix(".png"))
    print(f"\nwritten: benchmarks/results/{name}.json and {name}.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

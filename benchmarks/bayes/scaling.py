"""Measure how fits of network classifiers scale with rows and columns, next to other libraries.

``python -m benchmarks.bayes.scaling`` times fits on logarithmic grids, measures the peak memory of
each in a fresh process, prints the slopes and writes ``bayes-scaling.json`` and a log-log figure,
``bayes-scaling.png``, to the results.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, get_args

from benchmarks import report
from benchmarks.bayes import peers
from benchmarks.bayes.data import Problem, nominal
from benchmarks.bayes.peers import RIDGE, Peer, ceiba_peer, matrix, one_hot, texts
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

Axis = Literal["rows", "columns"]
N_CATEGORIES, N_CLASSES = 10, 5


@dataclass(frozen=True)
class Fit:
    """A learner of a library, and the number of values (rows x columns) that it fits in seconds."""

    task: str
    library: str
    peer: Peer
    max_values: float = float("inf")

    @property
    def label(self) -> str:
        """Name in table and figure."""
        return f"{self.library}: {self.task}"


FITS = (
    Fit("naive Bayes", "ceiba", ceiba_peer("NaiveBayesClassifier")),
    Fit("naive Bayes", "CategoricalNB", Peer(peers.categorical_nb, matrix)),
    Fit("TAN", "ceiba", ceiba_peer("TANClassifier")),
    Fit("TAN", "pyAgrum", Peer(peers.pyagrum_tan, texts, "pyagrum"), 2.1e6),
    Fit(
        "discriminative training",
        "ceiba",
        ceiba_peer("NaiveBayesClassifier", training="tm", penalty=RIDGE),
    ),
    Fit(
        "discriminative training",
        "LogisticRegression",
        Peer(peers.logistic_regression, one_hot),
        7e6,
    ),
)


@dataclass(frozen=True)
class Grids:
    """Both grids (first, last, number of points), and the size that stays fixed in the other."""

    rows: tuple[int, int, int]
    columns: tuple[int, int, int]
    fixed_rows: int
    fixed_columns: int = 20

    def shape(self, axis: Axis, size: int) -> tuple[int, int]:
        """Return rows and columns of a size along an axis."""
        return (size, self.fixed_columns) if axis == "rows" else (self.fixed_rows, size)


FULL = Grids(rows=(10_000, 1_000_000, 5), columns=(5, 80, 5), fixed_rows=50_000)
QUICK = Grids(rows=(500, 2_000, 2), columns=(4, 8, 2), fixed_rows=500, fixed_columns=4)


def make_problem(shape: Sequence[int], seed: int) -> Problem:
    """Return a nominal table of some rows and columns."""
    n_rows, n_columns = shape
    return nominal(n_columns, N_CATEGORIES, N_CLASSES)(seed, n_rows)


def measure_curve(fit: Fit, axis: Axis, grids: Grids, seed: int, rounds: int) -> Curve:
    """Time one learner on the grid of one axis, and measure its memory."""
    shapes = {size: grids.shape(axis, size) for size in grid(*getattr(grids, axis))}
    sizes = tuple(n for n, (rows, columns) in shapes.items() if rows * columns <= fit.max_values)
    measured = measure_scaling(
        fit.peer.fit, lambda size: make_problem(shapes[size], seed), sizes, rounds=rounds
    )
    memory = tuple(peak_memory(FITS.index(fit), shapes[size], seed) for size in sizes)
    return Curve(fit.label, axis, sizes, measured.seconds, measured.slope, memory)


def peak_memory(index: int, shape: Sequence[int], seed: int) -> int:
    """Return by how many bytes a fit raises the resident size above that with its data."""
    arguments = {"index": index, "shape": list(shape), "seed": seed}
    return int(measure("benchmarks.bayes.scaling:measured_fit", arguments).result["bytes"])


def measured_fit(index: int, shape: Sequence[int], seed: int) -> dict[str, int]:
    """Fit once to a small table, which imports the library, and then measure the memory."""
    warnings.simplefilter("ignore")
    peer = FITS[index].peer
    peer.fit(make_problem((200, 3), seed))
    problem = make_problem(shape, seed)
    peer.rows(problem)
    before = reset_peak()
    model = peer.fit(problem)
    return {"bytes": max(peak_bytes() - before, 0) if model is not None else 0}


# Figure ---------------------------------------------------------------------------------------


def draw(curves: Sequence[Curve], grids: Grids, path: Path) -> None:
    """Draw log-log panels of time and memory for each axis; dashed lines are other libraries."""
    figure = make_figure(11, 8)
    panels = figure.subplots(2, 2)
    tasks = list(dict.fromkeys(fit.task for fit in FITS))
    colors = {fit.label: f"C{tasks.index(fit.task)}" for fit in FITS}
    for column, axis in enumerate(get_args(Axis)):
        of_axis = [curve for curve in curves if curve.axis == axis]
        draw_axis(panels[:, column], of_axis, colors)
    panels[0, 0].set_title(f"{grids.fixed_columns} columns")
    panels[0, 1].set_title(f"{grids.fixed_rows:,} rows")
    # Beside the curves, which fill the panels.
    handles, labels = panels[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=3, frameon=False)
    figure.savefig(path, dpi=120)


# Command --------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print the table, write the numbers and draw the figure."""
    args = make_scaling_parser("benchmarks.bayes.scaling", __doc__).parse_args(arguments)
    # Early enough: ceiba is loaded by its first fit, and nothing threaded of NumPy is used.
    set_threads(args.threads)
    warnings.simplefilter("ignore")
    grids, rounds = QUICK if args.quick else FULL, n_scaling_rounds(args)
    installed = [fit for fit in FITS if find_spec(fit.peer.module) is not None]
    curves = [
        measure_curve(fit, axis, grids, args.seed, rounds)
        for axis in get_args(Axis)
        for fit in installed
    ]
    print(curve_table("learner", curves), flush=True)
    name = f"bayes-scaling{'-quick' if args.quick else ''}"
    settings = {"seed": args.seed, "n_rounds": rounds}
    path = report.write(name, {**settings, "curves": [asdict(curve) for curve in curves]})
    draw(curves, grids, path.with_suffix(".png"))
    print(f"\nwritten: benchmarks/results/{name}.json and {name}.png")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Time a function on a logarithmic grid of sizes and fit the slope in log-log scale.

Scripts that also measure the memory of each fit have a `Curve` per learner and axis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.harness import time_call


@dataclass(frozen=True)
class Scaling:
    """Minimum seconds per size, and the exponent b of seconds = a · size^b."""

    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    slope: float


@dataclass(frozen=True)
class Curve:
    """Times and peak memory of a learner along an axis, and the slope of the times."""

    label: str
    axis: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    slope: float
    peak_bytes: tuple[int, ...]


def grid(first: int, last: int, n_points: int) -> tuple[int, ...]:
    """Return integers evenly spaced by ratio, both ends included, without duplicates."""
    values = np.geomspace(first, last, n_points).round().astype(int)
    return tuple(dict.fromkeys(values.tolist()))


def measure_scaling(
    run: Callable[[Any], Any],
    make_data: Callable[[int], Any],
    sizes: Sequence[int],
    *,
    rounds: int = 3,
) -> Scaling:
    """Time ``run(make_data(size))`` for every size: rows or columns, as ``make_data`` defines.

    Examples
    --------
    >>> from benchmarks.scaling import grid, measure_scaling
    >>> result = measure_scaling(sorted, lambda n: list(range(n))[::-1], grid(10_000, 100_000, 3))
    >>> result.sizes
    (10000, 31623, 100000)
    """
    seconds = tuple(_min_seconds(run, make_data(size), rounds) for size in sizes)
    return Scaling(tuple(sizes), seconds, fit_slope(sizes, seconds))


def fit_slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Fit the slope of log seconds over log size by least squares."""
    if len(set(sizes)) < 2:
        raise ValueError(f"A slope requires at least two different sizes, got {sizes!r}.")
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def curve_table(kind: str, curves: Sequence[Curve]) -> str:
    """Return one line per curve: its ends, its slope and the memory at the end."""
    head = [kind, "axis", "from", "to", "first", "last", "slope", "memory"]
    lines = [[*end_cells(curve), f"{curve.peak_bytes[-1] / 2**20:.1f} MB"] for curve in curves]
    return "\n".join(report.align([head, *lines]))


def end_cells(curve: Any) -> list[str]:
    """Return label, axis, ends and slope of a curve."""
    return [
        curve.label,
        curve.axis,
        f"{curve.sizes[0]:,}",
        f"{curve.sizes[-1]:,}",
        report.format_duration(curve.seconds[0]),
        report.format_duration(curve.seconds[-1]),
        f"{curve.slope:.2f}",
    ]


def draw_axis(panels: Sequence[Any], curves: Sequence[Curve], colors: Mapping[str, str]) -> None:
    """Draw time and memory of the curves of one axis; dashed lines are other libraries."""
    time, memory = panels
    for curve in curves:
        style: dict[str, Any] = {"color": colors[curve.label], "marker": "o"}
        style["linestyle"] = "-" if curve.label.startswith("ceiba") else "--"
        time.plot(curve.sizes, curve.seconds, label=curve.label, **style)
        # Less than a page cannot be drawn on a logarithmic axis.
        memory.plot(curve.sizes, [max(amount, 4096) for amount in curve.peak_bytes], **style)
    sizes = max((curve.sizes for curve in curves), key=len)
    style_panel(time, sizes, curves[0].axis, "time of a fit", "s")
    style_panel(memory, sizes, curves[0].axis, "memory above the data", "B")


def style_panel(panel: Any, sizes: Sequence[int], xlabel: str, ylabel: str, unit: str) -> None:
    """Set logarithmic axes with plain numbers and units."""
    from matplotlib.ticker import EngFormatter, NullFormatter

    panel.set(xscale="log", yscale="log", xlabel=xlabel, ylabel=ylabel, xticks=sizes)
    panel.xaxis.set_major_formatter(EngFormatter("", 0))
    panel.xaxis.set_minor_formatter(NullFormatter())
    panel.yaxis.set_major_formatter(EngFormatter(unit))
    panel.yaxis.set_minor_formatter(NullFormatter())
    panel.grid(which="both", alpha=0.2)


def make_figure(width: float, height: float) -> Any:
    """Return an empty figure; raise with what to install without matplotlib."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError('The figure requires matplotlib: pip install "ceiba[plots]".') from error
    return Figure(figsize=(width, height), layout="constrained")


def _min_seconds(run: Callable[[Any], Any], data: Any, rounds: int) -> float:
    run(data)
    return min(time_call(run, data)[0] for _ in range(rounds))

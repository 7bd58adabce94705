"""Draw a score against the values of a parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.experiments import Cell, Summary, Sweep, summarize
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.experiments.results import (
    check_score,
    legend_below,
    legend_height,
    name_text,
    score_text,
)
from ceiba.plots.models import model_error

_MAX_COLUMNS = 3
_MAX_TITLE = 18  # characters of the name of a dataset, beside the best value
_MAX_TICKS = 9  # values that have a tick each
_MIN_RANGE = 4.0  # of the largest and the smallest value on a log axis


@dataclass(frozen=True, eq=False)
class _Axis:
    """The values of the first parameter on the x axis."""

    labels: list[str]
    positions: Array
    is_numeric: bool
    is_log: bool

    @classmethod
    def of(cls, values: Sequence[Any]) -> _Axis:
        """Make the axis of different values: numbers in order, others as they come."""
        if all(_is_number(value) for value in values):
            positions = np.array(values, float)
            labels = [style.number_text(value, 6) for value in positions]
            return cls(labels, positions, True, _is_geometric(np.sort(positions)))
        labels = [style.shorten(value, 14) for value in values]
        return cls(labels, np.arange(len(values), dtype=float), False, False)


@documented
def sweep_curve(sweep: Sweep, score: str | None = None, *, figure: Any = None) -> Any:
    """Draw a score against the first parameter of a sweep, with intervals.

    Bands are the intervals of `ceiba.experiments.summarize`. There is a line for each combination
    of the other parameters, and a panel for each dataset. Numbers are on a numeric axis, which is
    logarithmic if they are more evenly spaced so. Other values are categories, with vertical lines
    as intervals. A ring marks the best mean of a panel, a cross at the bottom a value without one.

    Parameters
    ----------
    sweep : Sweep
        Result of `ceiba.experiments.sweep`.
    score : str, optional
        A name of `ceiba.experiments.SCORES`; by default accuracy, or R² of a regression.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, plots
    >>> from ceiba.experiments import sweep
    >>> depths = sweep(DecisionTreeClassifier(), "max_depth", [1, 2, 3, 4], "iris")
    >>> picture = plots.sweep_curve(depths)
    >>> picture.axes[0].get_xlabel()
    'max_depth'
    """
    if not isinstance(sweep, Sweep):
        raise model_error("sweep", "a Sweep, the result of sweep", sweep)
    chosen = check_score(sweep.comparison, score)
    summary = summarize(sweep.comparison, chosen.name)
    values, curves = _curves(sweep.settings)
    axis = _Axis.of(values)
    names = {key: _curve_name(sweep.parameters[1:], key) for key in curves}
    # Side by side, intervals of several curves at a category can be distinguished.
    shifts = np.zeros(len(curves))
    if not axis.is_numeric and len(curves) > 1:
        shifts = np.linspace(-0.15, 0.15, len(curves))
    if figure is None:
        figure = _new_figure(len(summary.datasets), list(names.values()))
    axes = style.panel_grid(figure, len(summary.datasets), _MAX_COLUMNS, (0, 0))
    for index, (ax, row) in enumerate(zip(axes, summary.cells, strict=True)):
        for number, positions in enumerate(curves.values()):
            cells = [(i, row[j]) for i, j in positions]
            _draw_curve(ax, number, axis, cells, shifts[number])
        _draw_best(ax, summary, row, curves.values(), axis, shifts)
        style.style_axes(ax, x=name_text(sweep.parameters[0]), y=_y_text(summary), grid="y")
        style.set_title(ax, name_text(summary.datasets[index], _MAX_TITLE), parse_math=False)
        _set_ticks(ax, axis)
        style.plain_numbers(ax)
    _label_panels(axes)
    if len(curves) > 1:
        handles = [_handle(number, name) for number, name in enumerate(names.values())]
        legend_below(axes[0].figure, handles)
    return axes[0].figure


def _is_number(value: Any) -> bool:
    if not isinstance(value, Real) or isinstance(value, bool | np.bool_):
        return False
    return math.isfinite(value)


def _curves(
    settings: Sequence[Sequence[Any]],
) -> tuple[list[Any], dict[tuple[str, ...], list[tuple[int, int]]]]:
    """Return the values of the first parameter, and their (index, setting) by the others."""
    keys = [repr(setting[0]) for setting in settings]
    different = list(dict.fromkeys(keys))
    values = [settings[keys.index(key)][0] for key in different]
    curves: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for j, setting in enumerate(settings):
        others = tuple(repr(value) for value in setting[1:])
        curves.setdefault(others, []).append((different.index(keys[j]), j))
    return values, curves


def _curve_name(parameters: Sequence[str], values: Sequence[str]) -> str:
    pairs = zip(parameters, values, strict=True)
    return style.shorten(", ".join(f"{name}={value}" for name, value in pairs), 60)


def _is_geometric(values: Array) -> bool:
    """Return whether sorted values are more evenly spaced on a log axis than on a linear one."""
    if len(values) < 3 or values[0] <= 0 or values[-1] < _MIN_RANGE * values[0]:
        return False
    steps, log_steps = np.diff(values), np.diff(np.log(values))
    return bool(log_steps.std() / log_steps.mean() < steps.std() / steps.mean() - 1e-9)


def _draw_curve(
    ax: Any, number: int, axis: _Axis, cells: Sequence[tuple[int, Cell]], shift: float
) -> None:
    """Draw the means and intervals of a curve; it is interrupted where there is no mean."""
    if axis.is_numeric:
        cells = sorted(cells, key=lambda cell: axis.positions[cell[0]])
    x = axis.positions[[index for index, _ in cells]]
    mean = np.array([np.nan if cell.mean is None else cell.mean for _, cell in cells])
    ends = [(np.nan,) * 2 if cell.interval is None else (cell.interval.lower, cell.interval.upper)
            for _, cell in cells]  # fmt: skip
    low, high = np.array(ends).T
    color = style.color_of(number)
    if axis.is_numeric:
        ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0, gid="band")
        alone = _alone(low)
    else:
        x = x + shift
        alone = np.isfinite(low)
    look: dict[str, Any] = {"color": color, "linewidth": 1.3, "alpha": 0.55, "gid": "interval"}
    ax.vlines(x[alone], low[alone], high[alone], **look)
    ax.plot(
        x, mean, color=color, linewidth=1.6, marker=style.MARKERS[number % len(style.MARKERS)],
        markersize=4, zorder=3, gid="curve",
    )  # fmt: skip
    failed = x[np.isnan(mean)]
    if len(failed):
        ax.plot(
            failed, np.full(len(failed), 0.025 + 0.03 * number), "x", color=color, markersize=5,
            transform=ax.get_xaxis_transform(), clip_on=False, gid="failed",
        )  # fmt: skip


def _alone(values: Array) -> Array:
    """Return which numbers have none beside them, so that they have no band."""
    known = np.isfinite(values)
    padded = np.concatenate([[False], known, [False]])
    alone: Array = known & ~padded[:-2] & ~padded[2:]
    return alone


def _draw_best(
    ax: Any, summary: Summary, row: Sequence[Cell], curves: Any, axis: _Axis, shifts: Array
) -> None:
    """Put a ring around the best mean, and write it above the panel."""
    if summary.score.greater_is_better is None:
        return
    sign = 1 if summary.score.greater_is_better else -1
    found = [
        (sign * row[j].mean, -number, -index)
        for number, positions in enumerate(curves)
        for index, j in positions
        if row[j].mean is not None
    ]
    if not found:
        return
    mean, number, index = max(found)
    ax.plot(
        axis.positions[-index] + shifts[-number], sign * mean, "o", markersize=10, zorder=4,
        markerfacecolor="none", markeredgecolor=style.color_of(-number), markeredgewidth=1.3,
        gid="best",
    )  # fmt: skip
    style.set_note(ax, f"best {style.number_text(sign * mean, 3)} at {axis.labels[-index]}")


def _set_ticks(ax: Any, axis: _Axis) -> None:
    """Set a tick for each of a few values, and for each category."""
    from matplotlib.ticker import NullLocator

    if axis.is_log:
        ax.set_xscale("log")
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(lambda value, _: style.number_text(value, 3))
    if not axis.is_numeric or len(axis.positions) <= _MAX_TICKS:
        is_long = sum(len(label) + 2 for label in axis.labels) > 36
        turned = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if is_long else {}
        ax.set_xticks(axis.positions, axis.labels, **turned)
    elif not axis.is_log:
        ax.locator_params(axis="x", integer=bool((axis.positions % 1 == 0).all()))
    if not axis.is_numeric:
        ax.set_xlim(-0.35, len(axis.labels) - 0.65)


def _label_panels(axes: Sequence[Any]) -> None:
    """Keep the label of the y axis at the first panel of each row."""
    columns = axes[0].get_subplotspec().get_gridspec().ncols
    for index, ax in enumerate(axes):
        if index % columns:
            ax.set_ylabel("")
        if index + columns < len(axes):
            ax.set_xlabel("")


def _y_text(summary: Summary) -> str:
    found = [cell.interval for row in summary.cells for cell in row if cell.interval is not None]
    text = score_text(summary.score)
    return f"{text}, {found[0].confidence_level:.0%} intervals" if found else text


def _new_figure(n_panels: int, names: Sequence[str]) -> Any:
    """Make a figure of equal panels, with space for the legend."""
    rows = -(-n_panels // _MAX_COLUMNS)
    columns = -(-n_panels // rows)
    width, height = (6.4, 4.2) if n_panels == 1 else (3.5 * columns, 2.9 * rows)
    return style.new_figure(width, height + legend_height(names if len(names) > 1 else [], width))


def _handle(number: int, name: str) -> Any:
    from matplotlib.lines import Line2D

    marker = style.MARKERS[number % len(style.MARKERS)]
    return Line2D([], [], color=style.color_of(number), marker=marker, markersize=4, label=name)

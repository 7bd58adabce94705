"""Draw the means of a summary with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba.experiments import Cell, Summary
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.experiments.results import (
    legend_below,
    legend_height,
    name_text,
    names_width,
    score_text,
)
from ceiba.plots.models import model_error

_MAX_COLUMNS = 3
_PANEL_WIDTH = 2.5  # inches
_MAX_TITLE = 24  # characters of the name of a dataset
_LINE_HEIGHT = 0.23  # inches per learner
_CONTROL_LINE: dict[str, Any] = {
    "color": style.MUTED,
    "linewidth": 0.9,
    "linestyle": (0, (4, 2)),
}
_MARK: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 5, "color": style.INK}
_MARKS = {"•": _MARK, "○": _MARK | {"markerfacecolor": "white"}}
_GROUP_SPACE = 1.0  # between the datasets of grouped lines, in lines


@documented
def score_intervals(summary: Summary, *, grouped: bool = False, figure: Any = None) -> Any:
    """Draw the mean score of each learner with its confidence interval.

    Points are means over the folds, and lines their intervals. A thin vertical line is the mean of
    the control; full and open circles at the right mark learners that are better than it.
    A learner without a mean has its reason in words.

    Parameters
    ----------
    summary : Summary
        Result of `ceiba.experiments.summarize`.
    grouped : bool
        Draw one panel with a group of lines for each dataset, instead of a panel for each; for few
        learners on many datasets.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, NaiveBayesClassifier, plots
    >>> from ceiba.experiments import compare, summarize
    >>> learners = {"tree": DecisionTreeClassifier(), "naive Bayes": NaiveBayesClassifier()}
    >>> results = compare(learners, ["iris", "wine"], protocol="5-fold")
    >>> picture = plots.score_intervals(summarize(results, control="tree"))
    >>> [ax.get_title(loc="left") for ax in picture.axes]
    ['iris', 'wine']
    """
    if not isinstance(summary, Summary):
        raise model_error("summary", "a Summary, the result of summarize", summary)
    n_learners = len(summary.learners)
    colors = [style.color_of(j) if grouped else _color(summary, j) for j in range(n_learners)]
    handles = []
    if grouped:
        pairs = zip(summary.learners, colors, strict=True)
        handles = [_handle(name, color) for name, color in pairs]
    if summary.control is not None:
        handles += _control_handles(summary)
    draw = _draw_group if grouped else _draw_panels
    ax = draw(summary, colors, figure, [handle.get_label() for handle in handles])
    if handles:
        legend_below(ax.figure, handles)
    return ax.figure


def _draw_panels(
    summary: Summary, colors: Sequence[str], figure: Any, legend: Sequence[str]
) -> Any:
    """Draw a panel for each dataset, with a line for each learner; return the first."""
    n_panels, n_learners = len(summary.datasets), len(summary.learners)
    n_columns = -(-n_panels // -(-n_panels // _MAX_COLUMNS))
    names = [name_text(name) for name in summary.learners]
    if figure is None:
        width = _PANEL_WIDTH * max(n_columns, 1.6) + names_width(names)
        height = (_LINE_HEIGHT * n_learners + 0.75) * -(-n_panels // n_columns)
        figure = style.new_figure(width, height + legend_height(legend, width))
    axes = style.panel_grid(figure, n_panels, _MAX_COLUMNS, (0, 0))
    for index, (ax, row) in enumerate(zip(axes, summary.cells, strict=True)):
        _draw_cells(ax, range(n_learners), row, colors)
        _draw_control(ax, summary, row, -0.5, n_learners - 0.5)
        is_lowest = index + n_columns >= n_panels
        style.style_axes(ax, x=_axis_text(summary) if is_lowest else "", grid="x")
        style.set_title(ax, name_text(summary.datasets[index], _MAX_TITLE), parse_math=False)
        style.label_bars(ax, names)
        ax.tick_params(labelleft=index % n_columns == 0)
    return axes[0]


def _draw_group(summary: Summary, colors: Sequence[str], figure: Any, legend: Sequence[str]) -> Any:
    """Draw one panel with a group of lines for each dataset; return it."""
    n_learners, names = len(summary.learners), [name_text(name) for name in summary.datasets]
    step = n_learners + _GROUP_SPACE
    if figure is None:
        width, height = 5.6 + names_width(names), 0.16 * step * len(names) + 0.7
        figure = style.new_figure(width, height + legend_height(legend, width))
    (ax,) = style.panel_grid(figure, 1, 1, (0, 0))
    for group, row in enumerate(summary.cells):
        first = group * step
        _draw_cells(ax, first + np.arange(n_learners), row, colors)
        _draw_control(ax, summary, row, first - 0.5, first + n_learners - 0.5)
        if group:
            middle = first - (1 + _GROUP_SPACE) / 2
            ax.axhline(middle, color=style.GRID, linewidth=0.8, zorder=0.5)
    style.style_axes(ax, x=_axis_text(summary), grid="x")
    style.label_bars(ax, names)
    ax.set_yticks(step * np.arange(len(names)) + (n_learners - 1) / 2, names)
    ax.set_ylim(step * len(names) - 0.5 - _GROUP_SPACE, -0.5)
    return ax


def _draw_cells(ax: Any, lines: Any, row: Sequence[Cell], colors: Sequence[str]) -> None:
    """Draw the point, interval and mark of each learner; failures in words."""
    look: dict[str, Any] = {"fontsize": style.TICK_SIZE, "va": "center", "annotation_clip": False}
    for y, cell, color in zip(lines, row, colors, strict=True):
        if cell.mean is None:
            text = "failed" if cell.text(0) == "failed" else "undefined"
            ax.annotate(
                text, (0, y), (4, 0), xycoords=("axes fraction", "data"), style="italic",
                textcoords="offset points", color=style.MUTED, gid="failed", **look,
            )  # fmt: skip
            continue
        if cell.interval is not None:
            ends = [cell.interval.lower, cell.interval.upper]
            ax.plot(ends, [y, y], color=color, linewidth=1.6, alpha=0.75, zorder=2, gid="interval")
        ax.plot(cell.mean, y, "o", color=color, markersize=5, zorder=3, gid="mean")
        if cell.mark:
            ax.plot(
                1.025, y, transform=ax.get_yaxis_transform(), clip_on=False, gid="mark",
                **_MARKS[cell.mark],
            )  # fmt: skip
    if not ax.lines:  # all learners failed
        ax.set_xticks([])


def _draw_control(ax: Any, summary: Summary, row: Sequence[Cell], top: float, end: float) -> None:
    """Draw the mean of the control as a thin line across all learners of a dataset."""
    if summary.control is None:
        return
    mean = row[summary.learners.index(summary.control)].mean
    if mean is not None:
        ax.plot([mean, mean], [top, end], zorder=1, gid="control", **_CONTROL_LINE)


def _control_handles(summary: Summary) -> list[Any]:
    """Return the entries of the legend for the control and the marks of tests that occur."""
    from matplotlib.lines import Line2D

    control = name_text(str(summary.control))
    found = {cell.mark for row in summary.cells for cell in row}
    handles = [Line2D([], [], label=f"mean of {control}", **_CONTROL_LINE)]
    for mark, look in _MARKS.items():
        if mark in found:
            limit = "0.05" if mark == "•" else "0.1"
            handles.append(Line2D([], [], label=f"better than {control}, p ≤ {limit}", **look))
    return handles


def _color(summary: Summary, index: int) -> str:
    return style.MUTED if summary.learners[index] == summary.control else style.PALETTE[0]


def _axis_text(summary: Summary) -> str:
    """Return the score with the confidence level of its intervals."""
    found = [cell.interval for row in summary.cells for cell in row if cell.interval is not None]
    text = score_text(summary.score)
    return f"{text} ({found[0].confidence_level:.0%} intervals)" if found else text


def _handle(name: str, color: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=color, marker="o", markersize=5, label=name_text(name))

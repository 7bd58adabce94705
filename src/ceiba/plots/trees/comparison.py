"""Draw tables that compare trees: presets, and pruning methods."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.inference import Interval
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import model_error
from ceiba.tree.compare.presets import PresetTable
from ceiba.tree.compare.pruning import PruningTable

# Attribute of a row -> title of its panel, number format, color of its bars.
_PRESET_PANELS = {
    "n_leaves": ("leaves", ",d", style.PALETTE[5]),
    "depth": ("depth", ",d", style.PALETTE[2]),
    "error": ("training error", ".3f", style.PALETTE[1]),
}
_PRESETS = {"hunt": "Hunt", "id3": "ID3", "c45": "C4.5", "cart": "CART"}
_MAX_CONDITION = 36  # characters
# Option in the name of a pruning method -> words for its label.
_OPTIONS = {
    "min": "minimum error", "one_se": "one standard error",
    "impurity": "risk: impurity", "error": "risk: error",
}  # fmt: skip
# Error of a pruning method -> its color and marker.
_ERRORS = {
    "training": (style.MUTED, "o"),
    "validation": (style.PALETTE[1], "s"),
    "cross_validated": (style.PALETTE[0], "D"),
}


@documented
def presets(table: PresetTable, *, figure: Any = None) -> Any:
    """Draw leaves, depth and training error of the trees of several presets.

    Below the name of each preset is the first split of its tree, with the condition of the first
    branch. A hollow bar shows the number of leaves before pruning.

    Parameters
    ----------
    table : PresetTable
        Result of `ceiba.tree.compare_presets`.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import datasets, plots
    >>> from ceiba.tree import compare_presets
    >>> weather = datasets.load("weather_nominal")
    >>> picture = plots.presets(compare_presets(weather.table, weather.y))
    >>> [ax.get_xlabel() for ax in picture.axes]
    ['leaves', 'depth', 'training error']
    """
    if not isinstance(table, PresetTable):
        raise model_error("table", "the result of ceiba.tree.compare_presets", table)
    n = len(table.rows)
    figure = figure or style.new_figure(8.4, 0.62 * n + 1.2)
    axes = figure.subplots(1, len(_PRESET_PANELS), sharey=True)
    for ax, (name, (title, form, color)) in zip(axes, _PRESET_PANELS.items(), strict=True):
        values = [getattr(row, name) for row in table.rows]
        unpruned = [row.grown_leaves for row in table.rows] if name == "n_leaves" else values
        _draw_preset_bars(ax, values, unpruned, form, color)
        head = "Presets on one table" if ax is axes[0] else ""
        style.style_axes(ax, title=head, x=title, grid="x")
        ax.tick_params(axis="y", length=0)
    _label_presets(axes[0], table)
    return figure


def _label_presets(ax: Any, table: PresetTable) -> None:
    """Write the names of the presets, and smaller below them their first conditions."""
    n = len(table.rows)
    ax.set_yticks(range(n), [f"{_PRESETS.get(row.name, row.name)}\n" for row in table.rows])
    ax.set_ylim(n - 0.5, -0.5)
    look: dict[str, Any] = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    look |= {"ha": "right", "va": "top", "fontsize": style.TICK_SIZE - 0.5, "color": style.MUTED}
    for line, row in enumerate(table.rows):
        text = f"first split: {_short_condition(row.root)}"
        ax.annotate(text, (0, line), (-7, -1), **look, parse_math=False, annotation_clip=False)


def _short_condition(text: str) -> str:
    """Return a condition of limited length that keeps its end, the value."""
    if len(text) <= _MAX_CONDITION:
        return text
    half = _MAX_CONDITION // 2
    return f"{text[:half].rstrip()}…{text[-half:].lstrip()}"


def _draw_preset_bars(
    ax: Any, values: list[float], unpruned: list[float], form: str, color: str
) -> None:
    """Draw a bar with its number per preset, and a hollow bar if pruning changed it."""
    lines = range(len(values))
    ax.barh(lines, values, height=0.6, color=color)
    look = {"facecolor": "none", "edgecolor": style.MUTED, "linestyle": "--"}
    hollow = ax.barh(lines, unpruned, height=0.6, **look)
    labels = []
    for bar, value, before in zip(hollow, values, unpruned, strict=True):
        bar.set_visible(before != value)
        labels.append(format(value, form) + (f" of {before:,}" if before != value else ""))
    ax.bar_label(hollow, labels, padding=3, fontsize=style.TICK_SIZE, color=style.INK)
    ax.set_xlim(0, 1.4 * max(unpruned) or 1.0)  # leaves space for the labels
    ax.locator_params(axis="x", nbins=4, integer=form == ",d")


@documented
def pruning_table(table: PruningTable, *, figure: Any = None) -> Any:
    """Draw the errors of several pruning methods with their intervals, and the leaves.

    The notes below the panels state how the numbers were computed.

    Parameters
    ----------
    table : PruningTable
        Result of `ceiba.tree.compare_pruning`.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> from ceiba.tree import compare_pruning
    >>> iris = datasets.load("iris")
    >>> table = compare_pruning(DecisionTreeClassifier(), iris.table, iris.y, folds=3)
    >>> picture = plots.pruning_table(table)
    >>> [ax.get_xlabel() for ax in picture.axes]
    ['error', 'leaves']
    """
    if not isinstance(table, PruningTable):
        raise model_error("table", "the result of ceiba.tree.compare_pruning", table)
    figure = figure or style.new_figure(9.6, 0.55 * len(table) + 0.18 * len(table.notes) + 1.5)
    errors, leaves = figure.subplots(1, 2, sharey=True, width_ratios=(2.2, 1.0))
    for shift, name in zip((-0.22, 0.0, 0.22), _ERRORS, strict=True):
        _draw_intervals(errors, [getattr(row, name) for row in table], name, shift)
    _draw_leaves(leaves, table)
    style.style_axes(errors, title="Pruning methods on one tree", x=table.measure, grid="x")
    style.style_axes(leaves, x="leaves", grid="x")
    errors.set_yticks(range(len(table)), [_method_label(row.name) for row in table])
    errors.set_ylim(len(table) - 0.5, -0.5)
    errors.set_xlim(left=0)
    for ax in (errors, leaves):
        ax.tick_params(axis="y", length=0)
    handles, labels = errors.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper right", ncols=len(labels), **style.LEGEND)
    figure.supxlabel(
        "\n".join(table.notes), x=0.01, ha="left", fontsize=style.TICK_SIZE, color=style.MUTED
    )
    return figure


def _method_label(name: str) -> str:
    """Return a method's name with its options in words, on a second line."""
    method, *options = name.split(", ")
    words = ", ".join(_OPTIONS.get(option, option) for option in options)
    return f"{method}\n{words}" if words else method


def _draw_intervals(ax: Any, intervals: list[Interval], name: str, shift: float) -> None:
    color, marker = _ERRORS[name]
    estimates = np.array([interval.estimate for interval in intervals])
    below = estimates - [interval.lower for interval in intervals]
    above = [interval.upper for interval in intervals] - estimates
    ax.errorbar(
        estimates, np.arange(len(intervals)) + shift, xerr=np.maximum([below, above], 0.0),
        fmt=marker, color=color, elinewidth=1.4, capsize=2.5, markersize=5, clip_on=False,
        label=name.replace("_", "-"),
    )  # fmt: skip


def _draw_leaves(ax: Any, table: PruningTable) -> None:
    """Draw the number of leaves as bars, labeled with the number and the depth."""
    n_leaves = [row.n_leaves for row in table]
    bars = ax.barh(range(len(table)), n_leaves, height=0.62, color=style.PALETTE[5])
    labels = [f"{row.n_leaves:,}  (depth {row.depth})" for row in table]
    ax.bar_label(bars, labels, padding=3, fontsize=style.TICK_SIZE, color=style.INK)
    ax.set_xlim(0, 1.7 * max(n_leaves))  # leaves space for the labels

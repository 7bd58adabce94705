"""Pruning on paper: the path of cost complexity, and the laboratory's table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.style import ACCENT, INK, LABEL_SIZE, MUTED, PALETTE, TICK_SIZE, new_figure, tidy
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.cross_validation import AlphaChoice, Rule
from ceiba.tree.prune.path import ComplexityPath, complexity_path

if TYPE_CHECKING:
    from ceiba.inference import Interval
    from ceiba.tree.compare.pruning import PruningTable

__all__ = ["pruning_path", "pruning_table"]

_COLOURS: dict[Rule, str] = {"min": PALETTE[2], "one_se": ACCENT}
_MOST_BARS = 60  # more of them run into each other: a band is drawn instead
_RINGS: dict[Rule, int] = {"min": 10, "one_se": 15}  # both are seen where the trees are one
_RULES: dict[Rule, str] = {"min": "least error", "one_se": "one standard error"}
# Errors of a row of the laboratory: colour and marker.
_ERRORS = {
    "training": (MUTED, "o"),
    "validation": (PALETTE[1], "s"),
    "cross_validated": (PALETTE[0], "D"),
}


def pruning_path(
    path: ComplexityPath | Any, choice: AlphaChoice | None = None, *, figure: Any = None
) -> Any:
    """Draw the sequence of cost complexity: leaves, risk and error against the price of a leaf.

    Every level of the path is a level line from its alpha to the next one's, on a logarithmic axis;
    the left end stands for 0. With a choice by cross-validation, each level's error stands in the
    middle of its line with a bar (of many levels a band) of one standard error to both sides; the
    tree of least error and the smallest within one standard error of it are marked, and the one
    chosen is in bold.

    Parameters
    ----------
    path : ComplexityPath or fitted tree
        Of a tree that was pruned by cost complexity its own choice is drawn, or its level marked.
    choice : AlphaChoice, optional
        What cross-validation found of the same path.
    figure : Figure or SubFigure, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        Panels of leaves, of the training rows' risk and, with a choice, of the cross-validated
        error; the latter two are one where the risk is that error as well.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(pruning="cost_complexity", prune_risk="error")
    >>> picture = plots.pruning_path(model.fit(iris.table, iris.y))
    >>> [ax.get_ylabel() for ax in picture.axes]
    ['leaves', 'error']

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
    """
    shown = _Shown.of(path, choice)
    path, choice, ends = shown.path, shown.choice, _ends(shown.path)
    apart = choice is not None and shown.measure == "impurity"
    heights = [1.0, 1.0, 1.3] if apart else [1.0, 1.3]
    if figure is None:
        figure = new_figure(7.2, 2.1 * sum(heights) + 0.8 * (shown.level is not None))
    axes = figure.subplots(len(heights), 1, sharex=True, height_ratios=heights)
    _draw_levels(axes[0], ends, path.n_leaves, "leaves")
    axes[0].set_yscale("log")
    _whole_numbers(axes[0], path.n_leaves)
    _draw_levels(axes[1], ends, path.risks, f"training {shown.measure}")
    if choice is not None:
        _draw_errors(axes[-1], ends, choice, "cross-validated error" if apart else shown.measure)
        for rule, words in _RULES.items():
            level, ring = choice.by(rule).level, _RINGS[rule]
            _mark(axes, ends, path, level, choice.errors[level], _COLOURS[rule], words, ring)
    elif shown.level is not None:
        value = path.risks[shown.level]
        _mark(axes, ends, path, shown.level, value, ACCENT, "this tree", _RINGS["min"])
    _dress(axes, ends, f"Cost complexity, {path.n_levels} levels")
    if shown.level is not None:
        _legend(figure, axes[-1], choice)
    return figure


@dataclass(frozen=True, slots=True, eq=False)
class _Shown:
    """What is to be drawn: a path, what cross-validation found, which level a tree has.

    ``measure`` is what the path's risks are: "error", "impurity" or "squared error".
    """

    path: ComplexityPath
    choice: AlphaChoice | None
    level: int | None
    measure: str

    @classmethod
    def of(cls, given: Any, choice: AlphaChoice | None) -> _Shown:
        """A path as it is; of a fitted tree its own, with its choice unless one is given."""
        if isinstance(given, ComplexityPath):
            path, level, measure = given, None, given.risk
        else:
            path, own, level = _path_of(given)
            choice = own if choice is None else choice
            squared = getattr(given, "criterion", None) == "squared_error"
            measure = "squared error" if squared else path.risk
        if choice is not None and not np.array_equal(choice.alphas, path.alphas):
            raise ValueError("the choice is of another path: its alphas differ")
        return cls(path, choice, level if choice is None else choice.level, measure)


def _path_of(model: Any) -> tuple[ComplexityPath, AlphaChoice | None, int | None]:
    """The path of a fitted tree, the choice that it was pruned by, and its level."""
    if not isinstance(getattr(model, "grown_tree_", None), Tree):
        raise TypeError(
            f"a path of cost complexity is a fitted tree's, not that of {type(model).__name__}: "
            "give the tree, or what ceiba.tree.complexity_path returned"
        )
    told = model.pruning_.options if hasattr(model, "pruning_") else {}
    # Levels are counted on what the estimator's collapsing leaves, as `pruned` does.
    path = complexity_path(
        model.pruned("none").tree_, told.get("risk", getattr(model, "prune_risk", "impurity"))
    )
    if "errors" not in told:
        return path, None, told.get("level")
    choice = AlphaChoice.of(
        path, told["errors"], told["standard_errors"], told["rule"], told["folds"]
    )
    return path, choice, choice.level


def _ends(path: ComplexityPath) -> Array:
    """Where the levels begin on paper, and the last one's end; those at 0 begin at the left."""
    above = path.alphas[path.alphas > 0]
    if not len(above):
        raise ValueError("the path has no level above alpha = 0: there is nothing to draw")
    room = max(2.0, float(above[-1] / above[0]) ** 0.1)
    ends = np.append(path.alphas, above[-1] * room)
    begun: Array = np.maximum(ends, above[0] / room)
    return begun


def _middles(ends: Array) -> Array:
    """The middle of each level's line, on paper."""
    middles: Array = np.sqrt(ends[:-1]) * np.sqrt(ends[1:])
    return middles


def _draw_levels(ax: Any, ends: Array, values: Array, name: str) -> None:
    ax.stairs(values, ends, baseline=None, color=PALETTE[0], linewidth=2.0, label="training")
    ax.set_ylabel(name)


def _whole_numbers(ax: Any, n_leaves: Array) -> None:
    """Ticks that say the leaves as plain numbers, some of those that occur."""
    from matplotlib.ticker import FixedLocator, NullLocator

    wanted = np.geomspace(1, n_leaves[0], 5)
    ticks = {int(n_leaves[np.abs(np.log(n_leaves / want)).argmin()]) for want in wanted}
    ax.yaxis.set_major_locator(FixedLocator(sorted(ticks)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")


def _draw_errors(ax: Any, ends: Array, choice: AlphaChoice, name: str) -> None:
    """Each level's error with its standard error, and what is within one of the least."""
    seen = np.diff(ends) > 0  # of levels at one alpha only the last is ever the best
    x, errors, deviations = _middles(ends)[seen], choice.errors[seen], choice.standard_errors[seen]
    line = {"color": PALETTE[1], "linewidth": 1.4, "zorder": 3,
            "label": f"cross-validated, {choice.folds} folds"}  # fmt: skip
    if len(x) <= _MOST_BARS:
        ax.errorbar(
            x, errors, deviations, fmt="-o", ecolor=MUTED, elinewidth=1.0, capsize=2.5,
            markersize=4.5, **line,
        )  # fmt: skip
    else:
        ax.fill_between(
            x, errors - deviations, errors + deviations, color=PALETTE[1], alpha=0.25, linewidth=0
        )
        ax.plot(x, errors, **line)
    best = choice.by("min").level
    bound = choice.errors[best] + choice.standard_errors[best]
    ax.axhline(bound, color=MUTED, linestyle=":", linewidth=1.2, label="least + one standard error")
    ax.set_ylabel(name)


def _mark(
    axes: Any,
    ends: Array,
    path: ComplexityPath,
    level: int,
    value: float,
    colour: str,
    words: str,
    ring: int,
) -> None:
    """Mark a level: a line through all panels, and a ring at its value in the last."""
    x, n = _middles(ends)[level], int(path.n_leaves[level])
    for ax in axes:
        ax.axvline(x, color=colour, linewidth=1.2, alpha=0.6, zorder=1)
    axes[-1].plot(
        x, value, "o", markersize=ring, markerfacecolor="none", markeredgecolor=colour,
        markeredgewidth=2, zorder=4, label=f"{words}: {n:,} {'leaf' if n == 1 else 'leaves'}",
    )  # fmt: skip


def _dress(axes: Any, ends: Array, title: str) -> None:
    for ax in axes:
        x = "α, price of a leaf (log scale; the left end is 0)" if ax is axes[-1] else ""
        tidy(ax, title=title if ax is axes[0] else "", x=x, y=ax.get_ylabel(), grid="y")
    axes[-1].set_xscale("log")
    axes[-1].set_xlim(ends[0], ends[-1])


def _legend(figure: Any, ax: Any, choice: AlphaChoice | None) -> None:
    """Beneath the panels, where it hides nothing; what was chosen is in bold."""
    legend = figure.legend(
        *ax.get_legend_handles_labels(), loc="outside lower center", ncols=2,
        fontsize=LABEL_SIZE, labelcolor=INK, frameon=False,
    )  # fmt: skip
    for text in legend.get_texts():
        if choice is not None and text.get_text().startswith(_RULES[choice.rule]):
            text.set_weight("bold")


def pruning_table(table: PruningTable, *, figure: Any = None) -> Any:
    """Draw the pruning laboratory: errors of every way to prune with their intervals, and leaves.

    Parameters
    ----------
    table : PruningTable
        What `ceiba.tree.pruning_laboratory` returned.
    figure : Figure or SubFigure, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        A panel of errors and one of leaves, with a line for each way to prune; beneath them stands
        how the figures were made.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> from ceiba.tree import pruning_laboratory
    >>> iris = datasets.load("iris")
    >>> table = pruning_laboratory(DecisionTreeClassifier(), iris.table, iris.y, folds=3)
    >>> picture = plots.pruning_table(table)
    >>> [ax.get_xlabel() for ax in picture.axes]
    ['error', 'leaves']
    """
    if figure is None:
        figure = new_figure(9.6, 0.55 * len(table) + 0.18 * len(table.notes) + 1.5)
    errors, leaves = figure.subplots(1, 2, sharey=True, width_ratios=(2.2, 1.0))
    for shift, name in zip((-0.22, 0.0, 0.22), _ERRORS, strict=True):
        _draw_intervals(errors, [getattr(row, name) for row in table], name, shift)
    _draw_leaves(leaves, table)
    tidy(errors, title="One tree, pruned in every way", x=table.measure, grid="x")
    tidy(leaves, x="leaves", grid="x")
    errors.set_yticks(range(len(table)), [row.name for row in table])
    errors.set_ylim(len(table) - 0.5, -0.5)
    errors.set_xlim(left=0)
    for ax in (errors, leaves):
        ax.tick_params(axis="y", length=0)
    figure.legend(
        *errors.get_legend_handles_labels(), loc="outside upper right", ncols=len(_ERRORS),
        fontsize=LABEL_SIZE, labelcolor=INK, frameon=False,
    )  # fmt: skip
    figure.supxlabel("\n".join(table.notes), x=0.01, ha="left", fontsize=TICK_SIZE, color=MUTED)
    return figure


def _draw_intervals(ax: Any, intervals: list[Interval], name: str, shift: float) -> None:
    """One kind of error of all ways, each with its interval, beside the other kinds."""
    colour, marker = _ERRORS[name]
    middles = np.array([interval.estimate for interval in intervals])
    below = middles - [interval.lower for interval in intervals]
    above = [interval.upper for interval in intervals] - middles
    ax.errorbar(
        middles, np.arange(len(intervals)) + shift, xerr=np.maximum([below, above], 0.0),
        fmt=marker, color=colour, elinewidth=1.4, capsize=2.5, markersize=5, clip_on=False,
        label=name.replace("_", "-"),
    )  # fmt: skip


def _draw_leaves(ax: Any, table: PruningTable) -> None:
    """Bars as long as the trees have leaves, with the number and the depth written at them."""
    n_leaves = [row.n_leaves for row in table]
    bars = ax.barh(range(len(table)), n_leaves, height=0.62, color=PALETTE[5])
    words = [f"{row.n_leaves:,}  (depth {row.depth})" for row in table]
    ax.bar_label(bars, words, padding=3, fontsize=TICK_SIZE, color=INK)
    ax.set_xlim(0, 1.7 * max(n_leaves))  # room for the words

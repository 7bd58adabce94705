"""Draw scores of learners against the time of their fits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.experiments import Comparison, Score
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.experiments.labels import add_labels
from ceiba.plots.experiments.results import (
    check_comparison,
    check_score,
    learner_names,
    name_text,
    score_text,
)

_MIN_SECONDS = 1e-6  # a clock can give 0, which a log axis lacks
_MAX_COLUMNS = 2
_MAX_NOTE = 36  # characters


@dataclass(frozen=True, eq=False)
class _Points:
    """Seconds and scores of the learners of a panel."""

    title: str
    names: list[str]
    seconds: Array
    scores: Array
    missing: list[str]  # learners without a score


@documented
def time_scores(
    comparison: Comparison,
    score: str | None = None,
    *,
    per_dataset: bool = False,
    figure: Any = None,
) -> Any:
    """Draw the score of each learner against its seconds to fit.

    Learners on the Pareto front are colored and joined by a line: no other learner is both faster
    and better. Seconds are the mean over folds, on a logarithmic axis. Times depend on the machine,
    and on what else it was computing.

    Parameters
    ----------
    comparison : Comparison
    score : str, optional
        A name of `ceiba.experiments.SCORES`; by default accuracy, or R² of a regression.
    per_dataset : bool
        Draw a panel for each dataset. By default there is one for all of them, with the mean score
        and the geometric mean of the seconds over datasets; learners without a score on one of the
        datasets are left out and listed.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, NaiveBayesClassifier, plots
    >>> from ceiba.experiments import compare
    >>> learners = {"tree": DecisionTreeClassifier(), "naive Bayes": NaiveBayesClassifier()}
    >>> results = compare(learners, ["iris", "wine"], protocol="5-fold")
    >>> picture = plots.time_scores(results)
    >>> picture.axes[0].get_xlabel(), picture.axes[0].get_xscale()
    ('seconds to fit', 'log')
    """
    chosen = check_score(check_comparison(comparison), score)
    tables = [table.name for table in comparison.datasets]
    parts = [[table] for table in tables] if per_dataset else [tables]
    panels = [_points(comparison, chosen, part) for part in parts]
    if not any(panel.names for panel in panels):
        raise ValueError(
            f"comparison must have a learner with {chosen.name} on every dataset, got none: see "
            "comparison.failures, or summarize."
        )
    more = 0.1 * max(0, len(comparison.learners) - 8)  # inches for the labels of many learners
    size = (6.8, 4.6 + more) if len(panels) == 1 else (4.8, 3.5 + more)
    axes = style.panel_grid(figure, len(panels), _MAX_COLUMNS, size)
    fronts = [_draw_panel(ax, panel, chosen) for ax, panel in zip(axes, panels, strict=True)]
    # The layout of the figure gives the axes their size, for which labels are arranged.
    axes[0].figure.canvas.figure.draw_without_rendering()
    for ax, panel, is_front in zip(axes, panels, fronts, strict=True):
        colors = [style.INK if front else style.MUTED for front in is_front]
        positions = np.column_stack([panel.seconds, panel.scores])
        front = ax.lines[0].get_path().vertices
        add_labels(ax, positions, [name_text(name) for name in panel.names], colors, _steps(front))
    return axes[0].figure


def _points(comparison: Comparison, score: Score, tables: list[str]) -> _Points:
    """Return the means of the learners that have a score on every dataset."""
    names, seconds, scores, missing = [], [], [], []
    for name in learner_names(comparison):
        means = [comparison.mean(score.name, table, name) for table in tables]
        known = [mean for mean in means if mean is not None]
        if len(known) < len(means):
            missing.append(name)
            continue
        times = [
            np.mean([fold.result.fit_seconds for fold in comparison.of(table, name)])
            for table in tables
        ]
        names.append(name)
        scores.append(float(np.mean(known)))
        seconds.append(float(np.exp(np.mean(np.log(np.maximum(times, _MIN_SECONDS))))))
    title = tables[0] if len(tables) == 1 else f"means over {len(tables)} datasets"
    return _Points(title, names, np.array(seconds), np.array(scores), missing)


def _pareto_front(seconds: Array, scores: Array, greater_is_better: bool) -> Array:
    """Return the indices of the learners on the front, the fastest first."""
    values = scores if greater_is_better else -scores
    order = np.lexsort([-values, seconds])
    best = np.maximum.accumulate(np.append(-np.inf, values[order]))[:-1]
    front: Array = order[values[order] > best]
    return front


def _draw_panel(ax: Any, panel: _Points, score: Score) -> Array:
    """Draw the points and the front; return which points are on it."""
    front = _pareto_front(panel.seconds, panel.scores, score.check_direction())
    is_front = np.isin(np.arange(len(panel.names)), front)
    ax.plot(
        panel.seconds[front], panel.scores[front], color=style.PALETTE[0], linewidth=1.2,
        drawstyle="steps-post", alpha=0.6, zorder=2, gid="front",
    )  # fmt: skip
    for mask, color, gid in (
        (is_front, style.PALETTE[0], "best"),
        (~is_front, style.MUTED, "others"),
    ):
        ax.plot(
            panel.seconds[mask], panel.scores[mask], "o", color=color, markersize=6, zorder=3,
            gid=gid,
        )  # fmt: skip
    style.style_axes(ax, x="seconds to fit", y=score_text(score), grid="both")
    style.set_title(ax, name_text(panel.title, 24), parse_math=False)
    if panel.missing:
        text = style.shorten("no score: " + ", ".join(panel.missing), _MAX_NOTE)
        style.set_note(ax, text, fontsize=style.TICK_SIZE, parse_math=False)
    _set_limits(ax, panel)
    return is_front


def _steps(front: Array) -> Array:
    """Return all corners of the line of steps through the front."""
    corners = np.repeat(front, 2, axis=0)[1:]
    corners[1::2, 1] = front[:-1, 1]
    return corners


def _set_limits(ax: Any, panel: _Points) -> None:
    """Set a log axis of at least a factor of ten, with space for labels."""
    from matplotlib.ticker import LogLocator, NullLocator

    ax.set_xscale("log")
    if not panel.names:
        return
    low, high = panel.seconds.min() / 1.8, panel.seconds.max() * 2.5
    widening = max(1.0, 10 * low / high) ** 0.5
    ax.set_xlim(low / widening, high * widening)
    decades = np.log10(high / low)
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if decades < 2.5 else (1,)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(lambda value, _: style.number_text(value, 3))
    spread = float(np.ptp(panel.scores)) or abs(float(panel.scores[0])) * 0.1 or 0.1
    ax.set_ylim(panel.scores.min() - 0.18 * spread, panel.scores.max() + 0.18 * spread)

"""Draw the average ranks of learners over datasets: the critical-difference diagram."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ceiba.experiments import Comparison, Ranking, rank_learners
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.experiments.results import (
    check_comparison,
    check_score,
    name_text,
    names_width,
)

_ALPHA = 0.05  # of the critical difference of a ranking
# Heights in lines of text: bars of groups below the axis, then the names of the learners.
_FIRST_BAR, _BAR_STEP, _LINE_STEP = 0.45, 0.4, 1.0
_CD_HEIGHT = -2.0


@documented
def rank_diagram(comparison: Comparison, score: str | None = None, *, ax: Any = None) -> Any:
    """Draw a critical-difference diagram: average ranks of learners over datasets.

    The best learners are at the right. A thick bar joins learners whose average ranks differ by
    less than the critical difference (CD) of Nemenyi's test, which is the length of the line above
    the axis, at 5 %. The note has the p-value of Friedman's test of equal ranks: if it is above
    5 %, the ranks show no difference at all. `ceiba.experiments.rank_learners` has the numbers.

    Parameters
    ----------
    comparison : Comparison
        At least two learners on at least two datasets, without failures.
    score : str, optional
        A name of `ceiba.experiments.SCORES`; by default accuracy, or R² of a regression.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, KNeighborsClassifier, NaiveBayesClassifier, plots
    >>> from ceiba.experiments import compare
    >>> learners = {
    ...     "tree": DecisionTreeClassifier(),
    ...     "naive Bayes": NaiveBayesClassifier(),
    ...     "neighbors": KNeighborsClassifier(),
    ... }
    >>> results = compare(learners, ["iris", "wine", "glass"], protocol="3-fold")
    >>> picture = plots.rank_diagram(results)
    >>> picture.axes[0].get_title(loc="left")
    'Average ranks by accuracy'

    References
    ----------
    Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of
    Machine Learning Research 7.
    """
    chosen = check_score(check_comparison(comparison), score)
    ranking = rank_learners(comparison, chosen.name)
    ranks = dict(zip(ranking.learners, ranking.ranks, strict=True))
    lanes = _lanes([(ranks[group[0]], ranks[group[-1]]) for group in ranking.groups])
    top = _FIRST_BAR + _BAR_STEP * len(lanes) + 0.35
    bottom = top + _LINE_STEP * (-(-len(ranks) // 2) - 1) + 1.7
    ax = ax or style.new_axes(_width(ranking.learners), 0.23 * (bottom - _CD_HEIGHT) + 0.55)
    _draw_axis(ax, len(ranks), ranking.critical_difference)
    _draw_bars(ax, lanes)
    _draw_learners(ax, list(ranks.items()), top)
    ax.set_ylim(bottom, _CD_HEIGHT - 0.3)
    ax.text(
        0.5, 0, _note(ranking), ha="center", va="bottom", transform=ax.transAxes,
        fontsize=style.LABEL_SIZE, color=style.MUTED, gid="note",
    )  # fmt: skip
    style.set_title(ax, f"Average ranks by {_lower(chosen.label)}")
    return ax.figure


def _width(names: Sequence[str]) -> float:
    """Return the width of a figure with names at both sides, in inches."""
    longest = names_width([name_text(name) for name in names], style.LABEL_SIZE)
    return 3.9 + 0.12 * len(names) + 2 * longest


def _lanes(groups: Sequence[tuple[float, float]]) -> list[list[tuple[float, float]]]:
    """Arrange the bars of groups in lanes without overlaps."""
    lanes: list[list[tuple[float, float]]] = []
    for group in groups:
        free = next((lane for lane in lanes if lane[-1][1] < group[0] - 0.1), None)
        if free is None:
            lanes.append([group])
        else:
            free.append(group)
    return lanes


def _draw_axis(ax: Any, n: int, difference: float) -> None:
    """Draw the axis of ranks, 1 at the right, and the critical difference above it."""
    line: dict[str, Any] = {"color": style.INK, "linewidth": 1.1, "solid_capstyle": "butt"}
    ax.plot([1, n], [0, 0], **line)
    for rank in range(1, n + 1):
        ax.plot([rank, rank], [0, -0.25], **line)
        ax.text(
            rank, -0.4, str(rank), ha="center", va="bottom", fontsize=style.TICK_SIZE,
            color=style.INK,
        )  # fmt: skip
    end = n - difference
    ax.plot([n, end], [_CD_HEIGHT + 0.2] * 2, color=style.ACCENT, linewidth=1.8, gid="cd")
    for side in (n, end):
        ax.plot([side] * 2, [_CD_HEIGHT, _CD_HEIGHT + 0.4], color=style.ACCENT, linewidth=1.8)
    ax.annotate(
        f"CD = {difference:.2f}", (end, _CD_HEIGHT + 0.2), (5, 0), textcoords="offset points",
        va="center", fontsize=style.LABEL_SIZE, color=style.ACCENT,
    )  # fmt: skip
    ax.set_xlim(n + 0.02 * (n - 1), min(1, end) - 0.02 * (n - 1))
    ax.set_axis_off()


def _draw_bars(ax: Any, lanes: Sequence[Sequence[tuple[float, float]]]) -> None:
    """Draw a bar for each group of learners that do not differ."""
    for index, lane in enumerate(lanes):
        y = _FIRST_BAR + _BAR_STEP * index
        for low, high in lane:
            ax.plot(
                [low, high], [y, y], color=style.INK, linewidth=4, solid_capstyle="round",
                zorder=3, clip_on=False, gid="group",
            )  # fmt: skip


def _draw_learners(ax: Any, ranks: Sequence[tuple[str, float]], top: float) -> None:
    """Join each rank with the name of its learner: the better half at the right."""
    n_right = len(ranks) // 2
    for edge, learners in ((1.0, ranks[:n_right]), (0.0, ranks[n_right:][::-1])):
        for line, (name, rank) in enumerate(learners):
            _draw_learner(ax, name, rank, top + _LINE_STEP * line, edge)


def _draw_learner(ax: Any, name: str, rank: float, y: float, edge: float) -> None:
    """Draw a line from a rank down and to an edge of the axes, and the name beside it."""
    color, is_left = style.PALETTE[0], edge == 0
    end = ax.get_xlim()[0 if is_left else 1]
    ax.plot([rank, rank, end], [0, y, y], color=color, linewidth=1.1, zorder=2, gid="learner")
    look: dict[str, Any] = {"va": "center", "annotation_clip": False, "parse_math": False}
    text = f"{name_text(name)}  {rank:.2f}" if is_left else f"{rank:.2f}  {name_text(name)}"
    ax.annotate(
        text, (end, y), (-4 if is_left else 4, 0), textcoords="offset points",
        ha="right" if is_left else "left", fontsize=style.LABEL_SIZE, color=style.INK,
        gid="name", **look,
    )  # fmt: skip


def _note(ranking: Ranking) -> str:
    p_value = ranking.friedman.p_value
    p = "p < 0.001" if p_value < 0.001 else f"p = {p_value:.3f}"
    text = f"{style.count_text(ranking.n_datasets, 'dataset')}, Friedman {p}"
    return text if p_value <= _ALPHA else f"{text}: no difference found"


def _lower(label: str) -> str:
    """Return a label inside a sentence: lower case unless it is an abbreviation."""
    return label if label[1:2].isupper() or len(label) < 3 else label[0].lower() + label[1:]

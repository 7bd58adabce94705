"""Draw the explanation of a prediction: contributions, and path, neighbors or responsibilities."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Explanation, Neighbors
from ceiba.base.explanation_text import format_significant
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import picture_of

_MAX_LABEL = 34  # characters of a column and its value
_MAX_VALUE = 16  # of them, those of the value
_MAX_CONDITION = 44
_MAX_CONDITIONS = 12  # of a path, the last ones
_MAX_OUTPUTS = 8  # bars of classes, components or clusters
_MAX_NEIGHBORS = 15
_MAX_SHARES = 6  # columns of the distances of neighbors, which colors distinguish
_LINE = 0.3  # inches of a bar
_FRAME_LINES = 3.5  # bars that would fit between those of two panels
_POSITIVE, _NEGATIVE = style.PALETTE[0], style.PALETTE[4]
_OTHER = "#B8B8B8"


@documented
def explanation(
    explanation: Explanation, *, output: Any = None, max_columns: int = 12, figure: Any = None
) -> Any:
    """Draw what a prediction comes from, as ``model.explain(row)`` returns it.

    Bars lead from the base value at the top, column by column, the largest contribution first, to
    the score of the row at the bottom. Columns that contribute nothing are left out. On the right
    are the conditions on the path of a tree, and probabilities, responsibilities, or distances to
    the centers. For nearest neighbors, a bar for each of them has its distance, divided by the
    shares of the columns, and on the right are the votes.

    Parameters
    ----------
    explanation : Explanation
    output : object, optional
        Class, component or cluster whose score is drawn; by default the predicted one.
    max_columns : int
        Maximum number of columns to draw, of nearest neighbors up to 6; the contributions of the
        others are summed.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import GradientBoostingClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = GradientBoostingClassifier(20).fit(iris.table, iris.y)
    >>> picture = plots.explanation(model.explain(iris.table[:1]))
    >>> picture.axes[0].get_title(loc="left")
    "Prediction: 'setosa'"
    """
    explanation = _checked(explanation, max_columns)
    panels = _panels(explanation, max_columns)
    if explanation.contributions is None and explanation.neighbors is not None:
        neighbors = explanation.neighbors
        if output is not None:
            raise ValueError(
                "output has no effect on an explanation by neighbors, which has no scores: leave "
                "it out."
            )
        n_bars = min(len(neighbors.rows), _MAX_NEIGHBORS)
        draw = partial(_draw_neighbors, explanation, max_columns)
    else:
        index = _output_index(explanation, output)
        contributions = explanation.largest_contributions(index, max_columns)
        n_bars, draw = (
            len(contributions) + 2,
            partial(_draw_contributions, explanation, index, contributions),
        )
    n_lines = [n + _FRAME_LINES for n, _ in panels]
    # The bars of all panels are about equally thick: the rest of the right side stays empty.
    n_lines.append(max(n_bars + _FRAME_LINES - sum(n_lines), 0))
    height = _LINE * max(n_bars + _FRAME_LINES, sum(n_lines))
    figure = figure or style.new_figure(9.6 if panels else 6.4, height)
    grid = figure.add_gridspec(
        len(n_lines), 2, width_ratios=[1.7, 1], height_ratios=np.maximum(n_lines, 0.01)
    )
    draw(figure.add_subplot(grid[:, 0] if panels else grid[:, :]))
    for row, (_, draw_panel) in enumerate(panels):
        draw_panel(figure.add_subplot(grid[row, 1]))
    return figure


def _checked(explanation: Any, max_columns: int) -> Explanation:
    if not isinstance(explanation, Explanation):
        advice = "pass model.explain(row)" if hasattr(explanation, "explain") else ""
        advice = advice or picture_of(explanation)
        text = f"explanation must be an Explanation, got {type(explanation).__name__}"
        raise TypeError(f"{text}: {advice}." if advice else f"{text}.")
    if max_columns < 1:
        raise ValueError(f"max_columns must be at least 1, got {max_columns}.")
    return explanation


def _output_index(explanation: Explanation, output: Any) -> int:
    """Return the index of the score to draw, which must be finite."""
    assert explanation.scores is not None
    if output is None:
        index = explanation.predicted_output
    elif output in explanation.outputs:
        index = explanation.outputs.index(output)
    else:
        advice = (
            f"one of {explanation.outputs}" if explanation.outputs else "None for a single score"
        )
        raise ValueError(f"output must be {advice}, got {output!r}.")
    if not np.isfinite(explanation.scores[index]):
        raise ValueError(
            f"output must have a finite score, got {explanation.scores[index]} for "
            f"{explanation.score_name(index)}: choose another output, or print the explanation."
        )
    return index


# The main panel


def _draw_contributions(
    explanation: Explanation, index: int, contributions: list[tuple[str, str, float]], ax: Any
) -> None:
    """Draw the contributions between the base value and a score."""
    assert explanation.base is not None
    assert explanation.scores is not None
    base, score = float(explanation.base[index]), float(explanation.scores[index])
    changes = np.array([value for *_, value in contributions])
    ends = base + np.cumsum(changes)
    starts = ends - changes
    colors = [_POSITIVE if change > 0 else _NEGATIVE for change in changes]
    lines = np.arange(1, len(contributions) + 1)
    ax.barh(lines, changes, left=starts, color=colors, height=0.62, zorder=2)
    marks = np.array([base, *ends])
    for line, mark in enumerate(marks):  # from the end of a bar to the start of the next one
        ax.vlines(mark, line - 0.31, line + 1.31, color=style.MUTED, linewidth=0.8, zorder=1.5)
    ax.plot(
        [base, score], [0, len(contributions) + 1], "D", color=style.INK, markersize=5, zorder=3
    )
    digits = explanation.score_digits(index)
    texts = [_number(base, digits), *map(_signed, changes), _number(score, digits)]
    right = np.array([base, *np.maximum(starts, ends), score])
    for line, (text, position) in enumerate(zip(texts, right, strict=True)):
        ax.annotate(
            text, (position, line), (7, 0), textcoords="offset points", va="center",
            fontsize=style.TICK_SIZE, color=style.INK,
        )  # fmt: skip
    style.style_axes(
        ax, title=_title(explanation), x=style.shorten(explanation.score_name(index), 60), grid="x"
    )
    style.label_bars(ax, ["base value", *_column_labels(contributions), "this row"])
    low, high = min(marks.min(), score), max(marks.max(), score)
    width = high - low or 1.0
    ax.set_xlim(low - 0.06 * width, high + 0.2 * width)


def _column_labels(contributions: list[tuple[str, str, float]]) -> list[str]:
    """Return column and value of each bar; long names lose their middle, not the value."""
    values = [
        f" = {style.shorten(text, _MAX_VALUE)}" if text else "" for _, text, _ in contributions
    ]
    labels = [column + value for (column, _, _), value in zip(contributions, values, strict=True)]
    long = [index for index, label in enumerate(labels) if len(label) > _MAX_LABEL]
    # One length for all of them, so that equal names are seen as such, and made different.
    length = _MAX_LABEL - max((len(values[index]) for index in long), default=0)
    names = style.shorten_names([contributions[index][0] for index in long], length)
    for index, name in zip(long, names, strict=True):
        labels[index] = name + values[index]
    return labels


def _draw_neighbors(explanation: Explanation, max_columns: int, ax: Any) -> None:
    """Draw the distances of the neighbors, divided by the shares of the columns."""
    neighbors = explanation.neighbors
    assert neighbors is not None
    n = min(len(neighbors.rows), _MAX_NEIGHBORS)
    distances = np.where(np.isfinite(neighbors.distances), neighbors.distances, 0.0)[:n]
    left = np.zeros(n)
    for _, parts, color in _distance_parts(explanation, neighbors, max_columns):
        parts = parts[:n]
        ax.barh(np.arange(n), parts, left=left, color=color, height=0.62, zorder=2)
        left = left + parts
    for line in range(n):
        text = f"{neighbors.distances[line]:.4g}, weight {neighbors.weights[line]:.3f}"
        ax.annotate(
            text, (left[line], line), (5, 0), textcoords="offset points", va="center",
            fontsize=style.TICK_SIZE, color=style.INK,
        )  # fmt: skip
    style.style_axes(ax, title=_title(explanation), x="distance", grid="x")
    if n < len(neighbors.rows):
        style.set_note(ax, f"{n} of {len(neighbors.rows)} neighbors")
    rows = zip(neighbors.rows.tolist(), neighbors.targets.tolist(), strict=True)
    style.label_bars(ax, [f"row {row}: {_label(target)}" for row, target in rows][:n])
    ax.set_xlim(0, 1.45 * (float(distances.max(initial=0.0)) or 1.0))


def _distance_parts(
    explanation: Explanation, neighbors: Neighbors, max_columns: int
) -> list[tuple[str, Array, str]]:
    """Return name, lengths and color of the parts of the bars of neighbors."""
    distances = np.where(np.isfinite(neighbors.distances), neighbors.distances, 0.0)
    if neighbors.contributions is None:
        return [("all columns", distances, _POSITIVE)]
    lengths = neighbors.contributions * distances[:, None]
    order = np.argsort(-lengths.sum(axis=0), kind="stable")
    n_shown = min(max_columns, _MAX_SHARES)
    shown, rest = np.sort(order[:n_shown]).tolist(), order[n_shown:]
    names = style.shorten_names([explanation.columns[j] for j in shown], 24)
    parts = [
        (name, lengths[:, j], style.color_of(color))
        for color, (j, name) in enumerate(zip(shown, names, strict=True))
    ]
    if len(rest):
        name = f"{len(rest)} other column{'s'[: len(rest) - 1]}"
        parts.append((name, lengths[:, rest].sum(axis=1), _OTHER))
    return parts


# The panels on the right


def _panels(explanation: Explanation, max_columns: int) -> list[tuple[int, Callable[[Any], None]]]:
    """Return the number of lines of each panel, and the function that draws it."""
    panels: list[tuple[int, Callable[[Any], None]]] = []
    if explanation.path:
        panels.append(
            (min(len(explanation.path), _MAX_CONDITIONS), partial(_draw_path, explanation.path))
        )
    for title, values in (
        (
            "votes" if explanation.neighbors is not None else "probability",
            explanation.probabilities,
        ),
        ("responsibility", explanation.responsibilities),
    ):
        if values is not None:
            order = np.argsort(-values, kind="stable")
            bars = partial(_draw_outputs, explanation, title, values, order)
            panels.append((min(len(values), _MAX_OUTPUTS), bars))
    if explanation.neighbors is not None:
        parts = _distance_parts(explanation, explanation.neighbors, max_columns)
        panels.append((len(parts), partial(_draw_key, parts)))
    if (values := explanation.distances) is not None:
        # Those of a mixture are distances to the means of its components.
        is_mixture = explanation.responsibilities is not None
        title = "Mahalanobis distance" if is_mixture else "distance"
        order = np.argsort(values, kind="stable")
        bars = partial(_draw_outputs, explanation, title, values, order)
        panels.append((min(len(values), _MAX_OUTPUTS), bars))
    return panels


def _draw_path(path: list[str], ax: Any) -> None:
    """Write the conditions on the path of a tree, from the root."""
    shown = path[-_MAX_CONDITIONS:]
    style.set_title(ax, "Path")
    if len(shown) < len(path):
        style.set_note(ax, f"the last {len(shown)} of {len(path)} conditions")
    ax.set_axis_off()
    ax.set_ylim(len(shown) - 0.5, -0.5)
    for line, condition in enumerate(shown):
        ax.text(
            0.0, line, style.shorten(condition, _MAX_CONDITION), va="center", color=style.INK,
            fontsize=style.LABEL_SIZE, parse_math=False,
        )  # fmt: skip


def _draw_outputs(
    explanation: Explanation, title: str, values: Array, order: Array, ax: Any
) -> None:
    """Draw a bar for each class, component or cluster; that of the prediction is dark."""
    order = order[:_MAX_OUTPUTS]
    labels = [explanation.outputs[k] for k in order.tolist()]
    colors = [style.PALETTE[0] if label == explanation.prediction else _OTHER for label in labels]
    shown = values[order]
    ax.barh(np.arange(len(order)), shown, color=colors, height=0.62, zorder=2)
    for line, value in enumerate(shown.tolist()):
        ax.annotate(
            style.number_text(value, 3), (value, line), (4, 0), textcoords="offset points",
            va="center", fontsize=style.TICK_SIZE, color=style.INK,
        )  # fmt: skip
    style.style_axes(ax, x=title, grid="x")
    if len(order) < len(values):
        style.set_note(ax, f"{len(order)} of {len(values)}")
    style.label_bars(ax, [_label(label) for label in labels])
    if title.endswith("distance"):
        ax.set_xlim(0, 1.25 * (float(shown.max()) or 1.0))
    else:
        ax.set_xlim(0, 1.25)
        ax.set_xticks(np.linspace(0, 1, 6))


def _draw_key(parts: list[tuple[str, Array, str]], ax: Any) -> None:
    """Name the colors of the parts of the distances."""
    ax.set_axis_off()
    style.set_title(ax, "Parts of the distances")
    ax.set_ylim(len(parts) - 0.5, -0.5)
    ax.set_xlim(0, 1)
    for line, (name, _, color) in enumerate(parts):
        ax.barh(line, 0.06, color=color, height=0.62)
        ax.text(
            0.1, line, name, va="center", color=style.INK, fontsize=style.LABEL_SIZE,
            parse_math=False,
        )  # fmt: skip


def _title(explanation: Explanation) -> str:
    text = explanation.prediction_text()
    if isinstance(explanation.prediction, float):
        text = text.replace("-", "−")
    return f"Prediction: {style.shorten(text, 40)}"


def _label(value: Any) -> str:
    return style.shorten(_number(value) if isinstance(value, float) else value, 18)


def _number(value: float, digits: int = 4) -> str:
    return format_significant(value, digits).replace("-", "−")


def _signed(value: float) -> str:
    text = _number(value, 3)
    return text if value < 0 else f"+{text}"

"""Draw the neighbors of one row, and what they contribute to its prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Neighbors
from ceiba.data.table import Table
from ceiba.neighbors import NeighborIndex
from ceiba.neighbors.rows import to_matrix
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.neighbors.view import (
    check_predictor,
    linear_map,
    numeric_columns,
    training_matrix,
)
from ceiba.plots.planes.section import shown_columns
from ceiba.plots.projection import sample_rows

_RESOLUTION = 200  # of the outline of a ball
_MARGIN = 1.5  # of the panel, relative to the ball of the neighbors
_MAX_CLASSES = 8  # bars of votes
# Dots at a weight of zero are drawn in full.
_DOT: dict[str, Any] = {
    "s": 34, "edgecolors": "white", "linewidths": 0.6, "zorder": 3, "clip_on": False,
}  # fmt: skip


@documented
def neighbor_votes(
    model: Any,
    row: Any,
    *,
    n_neighbors: int | None = None,
    columns: Sequence[str | int] | None = None,
    figure: Any = None,
    max_points: int = 2_000,
    random_state: Any = 0,
) -> Any:
    """Draw the nearest neighbors of one row, their weights, and their votes.

    The left panel has the row, the training rows around it, and a line to each neighbor, the wider
    the larger its weight. In a model of two numeric columns the dashed line is at the distance of
    the farthest neighbor: a circle for Euclidean distances, a square or another shape for others.
    In a model of more columns the distances are those of all columns, so that rows that look near
    need not be neighbors. The right panels have the weights of the neighbors against their
    distances, and the votes of the classes, or the targets of a regression with their weighted
    mean.

    Parameters
    ----------
    model : fitted KNeighborsClassifier or KNeighborsRegressor
        With its training rows in memory, two of whose columns are numeric.
    row : array, frame, Table or list
        One row, as ``model.explain`` takes it.
    n_neighbors : int, optional
        By default that of the model.
    columns : pair of str or int, optional
        The two numeric columns to show, by name or index; by default the first two.
    {figure}
    {sample}

    {picture}

    Examples
    --------
    >>> from ceiba import KNeighborsClassifier, datasets, plots
    >>> X, y = datasets.load("two_moons")
    >>> model = KNeighborsClassifier(7, weights="distance").fit(X, y)
    >>> picture = plots.neighbor_votes(model, [[0.5, 0.2]])
    >>> len(picture.axes)
    3
    """
    model = check_predictor(model)
    rows = training_matrix(model)
    explanation = model.explain(row, n_neighbors)
    found = explanation.neighbors
    plane = _Plane.of(model, row, rows, found, columns)
    colors = _TargetColors(model)
    figure = figure or style.new_figure(9.4, 4.4)
    left, right = figure.subfigures(1, 2, width_ratios=[1.4, 1])
    ax = left.subplots()
    upper, lower = right.subplots(2, 1)
    drawn = sample_rows(len(rows), max_points, random_state)
    _draw_rows(ax, plane, rows[:, plane.shown], colors, drawn)
    _draw_neighbors(ax, plane, rows[found.rows][:, plane.shown], found, colors)
    _label_plane(ax, model, plane, rows[found.rows][:, plane.shown])
    if found.votes is None:
        bar = style.add_color_bar(left, colors.scale, ax=ax, shrink=0.7)
        bar.set_label("target", fontsize=style.LABEL_SIZE, color=style.INK)
    _draw_weights(upper, found, colors)
    if found.votes is None:
        _draw_targets(lower, found, explanation.prediction, colors)
    else:
        _draw_votes(lower, found, explanation.prediction)
    return figure


@dataclass(frozen=True, slots=True, eq=False)
class _Plane:
    """The two shown columns, and the visible region about the query."""

    shown: list[int]
    query: Array  # of shape (2,)
    low: Array
    high: Array
    ball: tuple[Array, float] | None  # distances of a grid, and that of the farthest neighbor

    @classmethod
    def of(cls, model: Any, row: Any, rows: Array, found: Neighbors, columns: Any) -> _Plane:
        """Choose the columns, and a region that has room for the neighbors."""
        n_numeric = len(numeric_columns(model))
        if n_numeric < 2:
            raise ValueError(
                f"model must have at least two numeric columns, got {n_numeric}: see "
                "print(model.explain(row))."
            )
        shown = list(shown_columns(model, model.schema_, columns, 2))
        query = to_matrix(Table.of(row, model.schema_, warn=False)).astype(np.float64)
        center = query[0, shown]
        if np.isnan(center).any():
            name = model.schema_.names[shown[int(np.isnan(center).argmax())]]
            raise ValueError(
                f"row must have values in the shown columns, but {name!r} is missing: choose other "
                "columns."
            )
        points = np.vstack([rows[found.rows][:, shown], center])
        half = np.nanmax(np.abs(points - center), axis=0)
        distance, radius = model.index_.distance, float(found.distances[-1])
        linear = linear_map(distance) if model.n_features_in_ == 2 else None
        has_ball = linear is not None and 0 < radius < np.inf
        if linear is not None and has_ball:
            reach = np.linalg.norm(np.linalg.inv(linear), axis=0)[shown]
            half = np.maximum(half, distance.to_native(radius) * reach)
        every = np.vstack([rows[:, shown], center])
        spread = np.nanmax(every, axis=0) - np.nanmin(every, axis=0)
        half = _MARGIN * np.where(half > 0, half, np.where(spread > 0, 0.05 * spread, 1.0))
        plane = cls(shown, center, center - half, center + half, None)
        if not has_ball:
            return plane
        grid = np.empty((_RESOLUTION**2, 2))
        grid[:, shown] = np.stack(np.meshgrid(*plane.axes), -1).reshape(-1, 2)
        distances = NeighborIndex.of(query, distance, "brute").search(grid, k=1)[0]
        shape = _RESOLUTION, _RESOLUTION
        return replace(plane, ball=(distances.reshape(shape), radius))

    @property
    def axes(self) -> list[Array]:
        """Coordinates of the grid along each axis."""
        pairs = zip(self.low, self.high, strict=True)
        return [np.linspace(low, high, _RESOLUTION) for low, high in pairs]


class _TargetColors:
    """Colors of rows by class, or by the number that is their target."""

    def __init__(self, model: Any) -> None:
        self.target = model.rows_.known_target
        self.classes = getattr(model, "classes_", None)
        if self.classes is None:
            self.scale = style.color_scale(float(self.target.min()), float(self.target.max()))

    def of_rows(self, rows: Array) -> list[Any]:
        """Return the color of each training row."""
        if self.classes is None:
            return list(self.scale.to_rgba(self.target[rows]))
        return [style.color_of(code) for code in self.target[rows]]


def _draw_rows(ax: Any, plane: _Plane, points: Array, colors: _TargetColors, drawn: Array) -> None:
    """Draw the training rows in the visible region, pale."""
    shown = points[drawn]
    drawn = drawn[((shown >= plane.low) & (shown <= plane.high)).all(axis=1)]
    look: dict[str, Any] = {"s": 22, "alpha": 0.45, "linewidths": 0, "zorder": 2}
    if colors.classes is None:
        ax.scatter(*points[drawn].T, c=colors.of_rows(drawn), **look)
        return
    for code, name in enumerate(colors.classes):
        own = drawn[colors.target[drawn] == code]
        if len(own):
            shape = {"c": style.color_of(code), "marker": style.marker_of(code)}
            ax.scatter(*points[own].T, label=style.shorten(name), **shape, **look)


def _draw_neighbors(
    ax: Any, plane: _Plane, points: Array, found: Neighbors, colors: _TargetColors
) -> None:
    """Draw the query, a line to each neighbor by its weight, and the ball that they lie in."""
    own, largest = colors.of_rows(found.rows), found.weights.max()
    for point, weight, color in zip(points, found.weights, own, strict=True):
        share = weight / largest if largest > 0 else 0.0
        line = np.array([plane.query, point])
        ax.plot(*line.T, color=color, linewidth=0.4 + 1.8 * share, zorder=3, gid="neighbor")
    ax.scatter(
        *points.T, c=own, s=46, edgecolors=style.INK, linewidths=1.1, zorder=4, gid="neighbors"
    )
    ax.scatter(
        *plane.query, c=style.INK, marker="*", s=190, edgecolors="white", linewidths=1.0, zorder=5,
        gid="query",
    )  # fmt: skip
    if plane.ball is not None:
        distances, radius = plane.ball
        ax.set_box_aspect(1)
        ax.contour(
            *plane.axes, distances, [radius], colors=style.MUTED, linewidths=1.1,
            linestyles="dashed", zorder=2.5,
        )  # fmt: skip


def _label_plane(ax: Any, model: Any, plane: _Plane, points: Array) -> None:
    """Set limits and texts of the left panel."""
    x, y = (style.shorten(model.schema_.names[j], 40) for j in plane.shown)
    title = f"{style.count_text(len(points), 'neighbor')} of the row"
    style.style_axes(ax, title=title, x=x, y=y)
    notes = []
    if model.n_features_in_ > 2:
        notes.append(f"distances in all {model.n_features_in_} columns")
    n_missing = int(np.isnan(points).any(axis=1).sum())
    if n_missing:
        notes.append(f"{n_missing} not drawn, with a missing value")
    style.set_note(ax, "\n".join(notes))
    ax.set_xlim(plane.low[0], plane.high[0])
    ax.set_ylim(plane.low[1], plane.high[1])
    n_classes = len(getattr(model, "classes_", ()))
    if 0 < n_classes <= style.MAX_LEGEND:
        legend = ax.legend(
            loc="upper left", fontsize=style.TICK_SIZE, labelcolor=style.INK, framealpha=0.85,
            edgecolor="none", handletextpad=0.2,
        )  # fmt: skip
        for handle in legend.legend_handles:
            handle.set_alpha(1.0)


def _draw_weights(ax: Any, found: Neighbors, colors: _TargetColors) -> None:
    """Draw the weights of the neighbors against their distances."""
    known = np.isfinite(found.distances)
    own = [
        color for color, is_known in zip(colors.of_rows(found.rows), known, strict=True) if is_known
    ]
    distances, weights = found.distances[known], found.weights[known]
    ax.vlines(distances, 0, weights, colors=own, linewidth=2, alpha=0.6, zorder=2)
    ax.scatter(distances, weights, c=own, **_DOT)
    style.style_axes(ax, title="Weights of the neighbors", x="distance", y="weight", grid="y")
    ax.set_ylim(0, 1.15 * max(float(weights.max(initial=0.0)), 1e-3))
    if len(distances):
        end = float(distances[-1]) or 1.0
        ax.set_xlim(-0.04 * end, 1.04 * end)


def _draw_votes(ax: Any, found: Neighbors, prediction: Any) -> None:
    """Draw a bar for each class, of a part for each neighbor, the nearest first."""
    assert found.votes is not None
    labels, shares = list(found.votes), list(found.votes.values())
    order = sorted(range(len(labels)), key=lambda code: -shares[code])[:_MAX_CLASSES]
    targets = np.array([labels.index(target) for target in found.targets.tolist()], int)
    for line, code in enumerate(order):
        share, color = shares[code], style.color_of(code)
        parts = found.weights[targets == code] if found.weights.any() else np.array([share])
        starts = np.cumsum(parts) - parts
        ax.barh(
            np.full(len(parts), line), parts, left=starts, color=color, height=0.62,
            edgecolor="white", linewidth=0.8, zorder=2,
        )  # fmt: skip
        ax.text(
            share + 0.02, line, f"{share:.2f}", va="center", fontsize=style.TICK_SIZE,
            color=style.INK,
        )  # fmt: skip
    title = f"Votes: {style.shorten(prediction)}"
    style.style_axes(ax, title=title, x="share of the votes", grid="x")
    if not found.weights.any():
        style.set_note(ax, "no neighbor has a weight:\nfrequencies of the classes")
    style.label_bars(ax, [style.shorten(labels[code], 18) for code in order])
    ax.set_xlim(0, 1.12)
    ax.set_xticks(np.linspace(0, 1, 6))


def _draw_targets(ax: Any, found: Neighbors, prediction: float, colors: _TargetColors) -> None:
    """Draw the weights of the neighbors against their targets, and the prediction."""
    own = colors.of_rows(found.rows)
    ax.vlines(found.targets, 0, found.weights, colors=own, linewidth=2, alpha=0.6, zorder=2)
    ax.scatter(found.targets, found.weights, c=own, **_DOT)
    ax.axvline(
        prediction, color=style.ACCENT, linewidth=1.4, linestyle=(0, (4, 2)), zorder=1.5,
        gid="prediction",
    )  # fmt: skip
    title = f"Prediction: {style.number_text(prediction, 4)}"
    style.style_axes(ax, title=title, x="target", y="weight", grid="y")
    ax.set_ylim(0, 1.15 * max(float(found.weights.max()), 1e-3))

"""Draw clusters, and the frames of k-means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.selection.validity import nearest_centers
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.playback import draw_path, draw_progress, iteration_title
from ceiba.plots.projection import EncodedRows, Projection, bounding_box, sample_rows

__all__ = ["clusters"]

_MAX_LEGEND = 14  # clusters
# More rows slow an animation down and blur its colors.
_MAX_ANIMATED_POINTS = 5_000


@documented
def clusters(
    model: Any,
    X: Any,
    *,
    ax: Any = None,
    max_points: int = 20_000,
    random_state: Any = 0,
) -> Any:
    """Draw rows in the colors of their clusters, and the numbered centers.

    Two columns are the axes of the picture; more columns are projected on their first two principal
    components, and the axis labels state the ratio of explained variance; a single column is spread
    over the height of the picture. A missing value is drawn at the mean of its column.

    Parameters
    ----------
    model : fitted estimator
        With ``predict`` and ``cluster_centers_``.
    {rows}
    {ax}
    {sample}

    {picture}

    Examples
    --------
    >>> from ceiba import KMeans, plots
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0]]
    >>> picture = plots.clusters(KMeans(2).fit(X), X)
    >>> len(picture.axes)
    1
    """
    if not hasattr(model, "cluster_centers_"):
        raise TypeError(
            "model must be a fitted estimator with cluster_centers_, followed by the rows X, got "
            f"{type(model).__name__}."
        )
    rows = EncodedRows.of(X, model)
    centers = np.asarray(model.cluster_centers_, dtype=float)
    labels = np.asarray(model.predict(X))
    sample = sample_rows(len(rows.values), max_points, random_state)
    projection = Projection.of(rows)
    is_new = ax is None
    ax = ax or style.new_axes(6.4, 4.8)
    sizes = np.bincount(labels, minlength=len(centers))
    _draw_rows(ax, projection.project(rows.values[sample]), labels[sample], sizes)
    draw_centers(ax, projection.project_centers(centers))
    title = f"{type(model).__name__}, {len(centers)} clusters of {len(labels):,} rows"
    drawn = f" ({len(sample):,} drawn)" if len(sample) < len(labels) else ""
    style.style_axes(ax, title=title + drawn)
    projection.label_axes(ax)
    if len(centers) <= _MAX_LEGEND:
        for handle in style.add_legend(ax, "cluster", beside=is_new).legend_handles:
            handle.set_alpha(1.0)
            handle.set_sizes([30])
    return ax.figure


def _draw_rows(ax: Any, points: Array, labels: Array, sizes: Array) -> None:
    """Draw one collection of points per cluster, labeled with its number and size."""
    for cluster, size in enumerate(sizes):
        alpha = 0.65 if len(points) <= 2_000 else 0.4
        label = f"{cluster}  ({size:,} rows)"
        _draw_cluster(ax, points, labels == cluster, cluster, alpha=alpha, label=label)


def _draw_cluster(ax: Any, points: Array, own: Array, cluster: int, **look: Any) -> None:
    ax.scatter(
        *points[own].T, s=style.point_size(len(points)), c=style.color_of(cluster),
        marker=style.marker_of(cluster), linewidths=0, **look,
    )  # fmt: skip


def draw_centers(ax: Any, points: Array, numbers: Sequence[int] | None = None) -> None:
    """Draw centers as white discs ringed in their color, with their number inside."""
    if numbers is None:
        numbers = range(len(points))
    for i, (cluster, (x, y)) in enumerate(zip(numbers, points, strict=True)):
        # Each lies entirely on the previous one, so that numbers of close centers do not mix.
        layer = 4 + i / len(points)
        ax.scatter(x, y, s=300, c="white", linewidths=0, zorder=layer)
        ax.scatter(
            x, y, s=190, c="white", edgecolors=style.color_of(cluster), linewidths=2.4, zorder=layer
        )
        ax.annotate(
            str(cluster), (x, y), ha="center", va="center_baseline", size=10,
            color=style.INK, zorder=layer,
        )  # fmt: skip


class KMeansPainter:
    """Draw the rows by nearest center, the paths of the centers, and the inertia.

    Rows that changed cluster since the previous frame are highlighted.
    """

    def __init__(self, frames: Sequence[Any], X: Any, model: Any) -> None:
        rows = EncodedRows.of(X, model)
        self._frames = frames
        self._projection = Projection.of(rows)
        self._rows = rows.values[sample_rows(len(rows.values), _MAX_ANIMATED_POINTS)]
        self._points = self._projection.project(self._rows)
        self._paths = np.stack(
            [self._projection.project_centers(np.asarray(frame["centers"])) for frame in frames]
        )
        self._labels: dict[int, Array] = {}

    def layout(self, figure: Any) -> tuple[Any, Any]:
        """Make axes for the rows, and to their right for the inertia."""
        left, right = figure.subplots(1, 2, width_ratios=[2.1, 1])
        return left, right

    def draw(self, axes: tuple[Any, Any], index: int) -> None:
        """Draw one iteration."""
        self._draw_rows(axes[0], index)
        note = style.number_text(float(self._frames[index]["inertia"]), 6)
        draw_progress(axes[1], self._frames, "inertia", index, title="Inertia", note=note)

    def labels(self, index: int) -> Array:
        """Return the index of the nearest center of each drawn row in one frame."""
        if index not in self._labels:
            centers = np.asarray(self._frames[index]["centers"], dtype=float)
            self._labels[index] = nearest_centers(self._rows, centers)
        return self._labels[index]

    def changed(self, index: int) -> Array:
        """Return a mask of the drawn rows whose cluster differs from the previous frame."""
        return np.not_equal(self.labels(index), self.labels(max(index - 1, 0)))

    def _draw_rows(self, ax: Any, index: int) -> None:
        labels, changed = self.labels(index), self.changed(index)
        ax.scatter(
            *self._points[changed].T, s=3 * style.point_size(len(self._points)) + 20,
            c=style.HIGHLIGHT, edgecolors=style.INK, linewidths=0.7, zorder=2,
        )  # fmt: skip
        for cluster in range(self._paths.shape[1]):
            for mask, alpha in ((~changed, 0.6), (changed, 1.0)):
                own = (labels == cluster) & mask
                _draw_cluster(ax, self._points, own, cluster, alpha=alpha, zorder=2.5)
        for cluster in range(self._paths.shape[1]):
            points = self._paths[: index + 1, cluster]
            draw_path(ax, points, style.color_of(cluster), (3, 3.1), linewidth=1.8, markersize=3.5)
        draw_centers(ax, self._paths[index])
        low, high = bounding_box([self._points, self._paths.reshape(-1, 2)])
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        style.style_axes(ax, title=self._title(index))
        self._projection.label_axes(ax)

    def _title(self, index: int) -> str:
        title = iteration_title(self._frames, index)
        if index == 0:
            return title
        moved = int(self._frames[index]["moved"])
        return f"{title}: {style.count_text(moved, 'row')} changed cluster"

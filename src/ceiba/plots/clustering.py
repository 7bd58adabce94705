"""Draw clusters, the choice of their number, and the frames of k-means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.selection.choose import ClusterChoice
from ceiba.cluster.selection.validity import nearest_centers
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import model_error
from ceiba.plots.playback import MAX_POINTS, axes_beside, draw_path, draw_progress, iteration_title
from ceiba.plots.projection import Projection, bounding_box, encode_rows, sample_rows

# Index -> column of the table, its error column, title, name among all proposals.
_PANELS = {
    "elbow": ("inertia", None, "Inertia (elbow)", "elbow"),
    "silhouette": ("silhouette", "silhouette_se", "Silhouette (max)", "silhouette"),
    "calinski_harabasz": (
        "calinski_harabasz", None, "Calinski-Harabasz (max)", "Calinski-\nHarabasz"
    ),
    "davies_bouldin": ("davies_bouldin", None, "Davies-Bouldin (min)", "Davies-\nBouldin"),
    "gap": ("gap", "gap_se", "Gap ± s (one-error rule)", "gap"),
}  # fmt: skip


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
    components, and the axis labels state the ratio of explained variance; the rows of a single
    column are spread over the height of the picture, and its centers are vertical lines. A missing
    value is drawn at the mean of its column.

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
        expected = "a fitted estimator with cluster_centers_, followed by the rows X"
        raise model_error("model", expected, model)
    rows, names = encode_rows(X, model)
    centers = np.asarray(model.cluster_centers_, dtype=float)
    labels = np.asarray(model.predict(X))
    sample = sample_rows(len(rows), max_points, random_state)
    projection = Projection.of(rows, names)
    is_new = ax is None
    ax = ax or style.new_axes(6.4, 4.8 if len(names) > 1 else 2.8)
    sizes = np.bincount(labels, minlength=len(centers))
    _draw_rows(ax, projection.project(rows[sample]), labels[sample], sizes)
    if len(names) == 1:
        _draw_center_lines(ax, centers[:, 0])
    draw_centers(ax, projection.project_centers(centers))
    rows_text = style.rows_text(len(labels), len(sample))
    title = f"{type(model).__name__}, {style.count_text(len(centers), 'cluster')} of {rows_text}"
    style.style_axes(ax, title=title)
    projection.label_axes(ax)
    if len(centers) <= style.MAX_LEGEND:
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


def _draw_center_lines(ax: Any, centers: Array) -> None:
    """Draw the centers of a single column over the height of the picture."""
    for cluster, center in enumerate(centers):
        ax.axvline(center, color="white", linewidth=3.2, zorder=3)
        ax.axvline(center, color=style.color_of(cluster), linewidth=1.6, zorder=3.1)


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


@documented
def cluster_choice(choice: ClusterChoice, *, figure: Any = None) -> Any:
    """Draw each index against the number of clusters and mark the proposed k.

    The last panel shows all proposals.

    Parameters
    ----------
    choice : ClusterChoice
        Result of `ceiba.cluster.choose_n_clusters`.
    {figure}

    {picture}

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import plots
    >>> from ceiba.cluster import choose_n_clusters
    >>> X = np.concatenate([np.arange(20.0), 100 + np.arange(20.0)])[:, None]
    >>> picture = plots.cluster_choice(choose_n_clusters(X, range(1, 5)))
    >>> len(picture.axes)
    6
    """
    if not isinstance(choice, ClusterChoice):
        expected = "the result of ceiba.cluster.choose_n_clusters"
        raise model_error("choice", expected, choice)
    panels = [index for index in _PANELS if index != "gap" or choice.n_references]
    *axes, last = style.panel_grid(figure, len(panels) + 1, 3, (3.2, 2.7))
    for ax, index in zip(axes, panels, strict=True):
        _draw_index(ax, choice, index)
    _draw_proposals(last, choice, panels)
    return last.figure


def _draw_index(ax: Any, choice: ClusterChoice, index: str) -> None:
    column, error, title, _ = _PANELS[index]
    ks, values = choice.table["k"], choice.table[column]
    shown = np.isfinite(values)
    if error is not None and np.nanmax(choice.table[error], initial=0.0) > 0:
        ax.errorbar(
            ks[shown], values[shown], choice.table[error][shown], fmt="none", ecolor=style.MUTED,
            elinewidth=1.2, capsize=3, capthick=1.2,
        )  # fmt: skip
    ax.plot(ks[shown], values[shown], "-o", color=style.PALETTE[0], linewidth=1.6, markersize=4.5)
    if index == "elbow" and index in choice.best:
        ends = [0, -1]
        ax.plot(ks[ends], values[ends], "--", color=style.MUTED, linewidth=1)
    style.style_axes(ax, title=title, x="k", grid="y")
    style.plain_numbers(ax)
    _mark_proposal(ax, choice, index, values)
    _set_ticks(ax, ks)


def _mark_proposal(ax: Any, choice: ClusterChoice, index: str, values: Any) -> None:
    """Mark the proposed k; an infinite value is marked at the top."""
    k = choice.best.get(index)
    if k is None:
        ax.text(
            0.5, 0.5, "no proposal", transform=ax.transAxes, ha="center", va="center",
            color=style.MUTED, fontsize=style.LABEL_SIZE,
        )  # fmt: skip
        return
    value = values[np.flatnonzero(choice.table["k"] == k)[0]]
    ax.axvline(k, color=style.ACCENT, linewidth=1, alpha=0.5, zorder=1)
    if np.isfinite(value):
        ax.plot(k, value, "o", color=style.ACCENT, markersize=8, zorder=4)
    else:
        ax.text(
            k, 0.92, " ∞", transform=ax.get_xaxis_transform(), color=style.ACCENT, fontsize=14,
            va="center",
        )  # fmt: skip
    style.set_note(ax, f"k = {k}", style.ACCENT, weight="bold")


def _draw_proposals(ax: Any, choice: ClusterChoice, panels: list[str]) -> None:
    """Draw one line per index with a dot at its k."""
    for line, index in enumerate(panels):
        if index in choice.best:
            ax.plot(choice.best[index], line, "o", color=style.ACCENT, markersize=8)
    ax.set_yticks(range(len(panels)), [_PANELS[index][-1] for index in panels])
    ax.set_ylim(len(panels) - 0.5, -0.5)
    style.style_axes(ax, title="All proposals", x="k", grid="both")
    ax.tick_params(axis="y", length=0, labelcolor=style.INK)
    _set_ticks(ax, choice.table["k"])


def _set_ticks(ax: Any, ks: Any) -> None:
    """Set the same range in every panel, with at most ten ticks, all at tried k."""
    margin = max(0.5, 0.04 * (ks[-1] - ks[0]))
    ax.set_xlim(ks[0] - margin, ks[-1] + margin)
    ax.set_xticks(ks[:: -(-len(ks) // 10)])


class KMeansPainter:
    """Draw the rows by nearest center, the paths of the centers, and the inertia.

    Rows that changed cluster since the previous frame are highlighted.
    """

    def __init__(self, frames: Sequence[Any], X: Any, model: Any) -> None:
        rows, names = encode_rows(X, model)
        self._frames = frames
        self._scaling = getattr(model, "_scaling", None)
        self._projection = Projection.of(rows, names)
        self._rows = rows[sample_rows(len(rows), MAX_POINTS)]
        self._points = self._projection.project(self._rows)
        self._paths = np.stack(
            [self._projection.project_centers(np.asarray(frame["centers"])) for frame in frames]
        )
        self._labels: dict[int, Array] = {}

    def layout(self, figure: Any) -> list[Any]:
        """Make axes for the rows, and to their right for the inertia."""
        return axes_beside(figure, 1, 2.1)

    def draw(self, axes: Sequence[Any], index: int) -> None:
        """Draw one iteration."""
        self._draw_rows(axes[0], index)
        note = style.number_text(float(self._frames[index]["inertia"]), 6)
        draw_progress(axes[1], self._frames, "inertia", index, title="Inertia", note=note)

    def labels(self, index: int) -> Array:
        """Return the index of the nearest center of each drawn row in one frame."""
        if index not in self._labels:
            centers = np.asarray(self._frames[index]["centers"], dtype=float)
            # Distances are those of the fit, which may divide the columns by their spread.
            rows, centers = (self._to_units(points) for points in (self._rows, centers))
            self._labels[index] = nearest_centers(rows, centers)
        return self._labels[index]

    def _to_units(self, points: Array) -> Array:
        return points if self._scaling is None else self._scaling.to_units(points)

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

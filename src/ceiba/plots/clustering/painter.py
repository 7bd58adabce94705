"""Frames of moving centres: k-means and what looks like it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.cluster.selection.validity import nearest
from ceiba.plots.plane import EncodedRows, Plane, draw_sample, limits
from ceiba.plots.planes.scatter import draw_centres, point_size
from ceiba.plots.playback.painter import frame_step
from ceiba.plots.style import ACCENT, GLOW, INK, PALETTE, colour_of, marker_of, plain_numbers, tidy

# More rows than this only make a film slow and its colours run together.
_MOST_POINTS = 5_000


class CentresPainter:
    """Draws rows by nearest centre, the centres' paths, changed rows lit up, and the inertia.

    Parameters
    ----------
    frames : sequence of frames
        Each with ``centres``, ``inertia`` and ``moved``.
    X : array, frame or table
        The rows to draw; at most 5,000 of them, at random, are.
    model : fitted estimator, optional
        Whose schema the rows are read under.
    """

    def __init__(self, frames: Sequence[Any], X: Any, model: Any) -> None:
        rows = EncodedRows.of(X, model)
        self._frames = frames
        self._plane = Plane.of(rows)
        self._n_rows = len(rows.values)
        self._rows = rows.values[draw_sample(len(rows.values), _MOST_POINTS)]
        self._points = self._plane.place(self._rows)
        centres = [self._plane.place_centres(np.asarray(frame["centres"])) for frame in frames]
        self._paths = np.stack(centres)
        self._labels: dict[int, Array] = {}

    def layout(self, figure: Any) -> tuple[Any, Any]:
        """Rows to the left, the inertia to the right."""
        left, right = figure.subplots(1, 2, width_ratios=[2.1, 1])
        return left, right

    def draw(self, axes: tuple[Any, Any], place: int) -> None:
        """Draw the state of one step, and how it came about."""
        self._draw_rows(axes[0], place)
        self._draw_inertia(axes[1], place)

    def labels(self, place: int) -> Array:
        """Number of the nearest centre of each drawn row, at one frame."""
        if place not in self._labels:
            centres = np.asarray(self._frames[place]["centres"], dtype=float)
            self._labels[place] = nearest(self._rows, centres)
        return self._labels[place]

    def changed(self, place: int) -> Array:
        """Mask of the drawn rows whose cluster is not that of the frame before."""
        return np.not_equal(self.labels(place), self.labels(max(place - 1, 0)))

    def _draw_rows(self, ax: Any, place: int) -> None:
        labels, changed = self.labels(place), self.changed(place)
        size = point_size(len(self._points))
        lit = self._points[changed]
        ax.scatter(
            lit[:, 0], lit[:, 1], s=3 * size + 20, c=GLOW, edgecolors=INK, linewidths=0.7, zorder=2
        )
        for cluster in range(self._paths.shape[1]):
            self._draw_cluster(ax, cluster, (labels == cluster) & ~changed, 0.6)
            self._draw_cluster(ax, cluster, (labels == cluster) & changed, 1.0)
        self._draw_paths(ax, place)
        draw_centres(ax, self._paths[place])
        low, high = limits([self._points, self._paths.reshape(-1, 2)])
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
        tidy(ax, title=self._title(place))
        self._plane.dress(ax)

    def _draw_cluster(self, ax: Any, cluster: int, mine: Array, alpha: float) -> None:
        ax.scatter(
            self._points[mine, 0], self._points[mine, 1], s=point_size(len(self._points)),
            c=colour_of(cluster), marker=marker_of(cluster), alpha=alpha, linewidths=0, zorder=2.5,
        )  # fmt: skip

    def _draw_paths(self, ax: Any, place: int) -> None:
        """Where each centre has come from: a line with a white border, legible on any colour."""
        for cluster in range(self._paths.shape[1]):
            x, y = self._paths[: place + 1, cluster].T
            ax.plot(x, y, "-", color="white", linewidth=3.2, zorder=3)
            ax.plot(x, y, "-o", color=colour_of(cluster), linewidth=1.8, markersize=3.5, zorder=3.1)

    def _draw_inertia(self, ax: Any, place: int) -> None:
        steps = [frame_step(frame, i) for i, frame in enumerate(self._frames)]
        inertia = [float(frame["inertia"]) for frame in self._frames]
        done = slice(0, place + 1)
        ax.plot(steps, inertia, color="#D8D8D8", linewidth=1.4)
        ax.plot(steps[done], inertia[done], "-o", color=PALETTE[0], linewidth=1.8, markersize=4)
        ax.plot(steps[place], inertia[place], "o", color=ACCENT, markersize=8)
        tidy(ax, title="Inertia", x="step", grid="y")
        ax.set_title(f"{inertia[place]:.6g}", loc="right", fontsize=9.5, color=ACCENT, pad=8)
        ax.locator_params(axis="x", integer=True, nbins=6)
        ax.margins(x=0.08)
        plain_numbers(ax)

    def _title(self, place: int) -> str:
        frame = self._frames[place]
        last = frame_step(self._frames[-1], len(self._frames) - 1)
        step = f"Step {frame_step(frame, place)} of {last}"
        if place == 0:
            return f"{step}: the start"
        moved = int(frame["moved"])
        return f"{step}: {moved:,} {'row' if moved == 1 else 'rows'} changed cluster"

"""Clusters on paper: rows coloured by cluster, centres numbered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.plane import EncodedRows, Plane, draw_sample
from ceiba.plots.style import INK, LABEL_SIZE, MUTED, colour_of, marker_of, new_figure, tidy

_LEGEND_CLUSTERS = 14


def clusters(
    X: Any,
    model: Any,
    *,
    ax: Any = None,
    max_points: int = 20_000,
    random_state: Any = 0,
) -> Any:
    """Draw rows in the colours of their clusters, and the centres with their numbers.

    Two columns are drawn as they are, more on their first two principal components (the axes say
    how much of the variance they show), a single one spread over the height of the picture. A
    gap is drawn at its column's mean.

    Parameters
    ----------
    X : array, frame or table
    model : fitted estimator
        With ``predict`` and ``cluster_centers_``.
    ax : Axes, optional
        Where to draw; a new figure unless given.
    max_points : int
        Draw a random sample of this many rows where there are more.
    random_state : int or None
        Draws that sample.

    Returns
    -------
    Figure
        The figure drawn on. A new one shows itself in a notebook, and ``.save("clusters.png")``
        keeps it.

    Examples
    --------
    >>> from ceiba import KMeans, plots
    >>> X = [[0.0, 0.0], [0.0, 1.0], [9.0, 9.0]]
    >>> picture = plots.clusters(X, KMeans(2).fit(X))
    >>> len(picture.axes)
    1
    """
    rows = EncodedRows.of(X, model)
    centres = np.asarray(model.cluster_centers_, dtype=float)
    labels = np.asarray(model.predict(X))
    sample = draw_sample(len(rows.values), max_points, random_state)
    plane = Plane.of(rows)
    own = ax is None
    if own:
        ax = new_figure(6.4, 4.8).add_subplot()
    sizes = np.bincount(labels, minlength=len(centres))
    draw_rows(ax, plane.place(rows.values[sample]), labels[sample], sizes)
    draw_centres(ax, plane.place_centres(centres))
    title = f"{type(model).__name__}, {len(centres)} clusters of {len(labels):,} rows"
    shown = f" ({len(sample):,} drawn)" if len(sample) < len(labels) else ""
    tidy(ax, title=title + shown)
    plane.dress(ax)
    if len(centres) <= _LEGEND_CLUSTERS:
        _legend(ax, beside=own)
    return ax.figure


def draw_rows(ax: Any, places: Array, labels: Array, sizes: Array) -> None:
    """One collection of points a cluster, labelled by its number and size."""
    for cluster, size in enumerate(sizes):
        mine = places[labels == cluster]
        ax.scatter(
            mine[:, 0],
            mine[:, 1],
            s=point_size(len(places)),
            c=colour_of(cluster),
            marker=marker_of(cluster),
            alpha=0.65 if len(places) <= 2_000 else 0.4,
            linewidths=0,
            label=f"{cluster}  ({size:,} rows)",
        )


def draw_centres(ax: Any, places: Array, numbers: Sequence[int] | None = None) -> None:
    """Centres as white discs ringed in their colour, with their number inside.

    The numbers count from 0 unless they are given.
    """
    if numbers is None:
        numbers = range(len(places))
    for place, (cluster, (x, y)) in enumerate(zip(numbers, places, strict=True)):
        # Each lies wholly on the one before, so that the numbers of close centres do not mix.
        layer = 4 + place / len(places)
        ax.scatter(x, y, s=300, c="white", linewidths=0, zorder=layer)
        ax.scatter(
            x, y, s=190, c="white", edgecolors=colour_of(cluster), linewidths=2.4, zorder=layer
        )
        ax.annotate(
            str(cluster), (x, y), ha="center", va="center_baseline", size=10,
            color=INK, zorder=layer,
        )  # fmt: skip


def point_size(n_points: int) -> float:
    """Area of a point: smaller where there are more."""
    return float(np.clip(20_000 / max(n_points, 1), 5, 34))


def _legend(ax: Any, beside: bool) -> None:
    """Beside the axes where the figure is ours to lay out, else inside them."""
    place = {"loc": "center left", "bbox_to_anchor": (1.0, 0.5), "frameon": False}
    legend = ax.legend(
        title="cluster", fontsize=LABEL_SIZE, title_fontsize=LABEL_SIZE, labelcolor=INK,
        alignment="left", **(place if beside else {"loc": "best"}),
    )  # fmt: skip
    legend.get_title().set_color(MUTED)
    for handle in legend.legend_handles:
        handle.set_alpha(1.0)
        handle.set_sizes([30])

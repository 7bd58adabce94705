"""What a picture of a mixture is made of: rows in mixed colours, ellipses, contours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.mixtures.components import Components
from ceiba.plots.planes.scatter import point_size
from ceiba.plots.style import MUTED, colour_of, marker_of

# Nodes of the grid along an axis, and of each component, in its standard deviations.
_NODES = 160
_OWN_NODES = np.linspace(-3.0, 3.0, 17)
_CORNERS = 121


def mixed_colours(responsibilities: Array, numbers: Sequence[int]) -> Array:
    """Red, green and blue of rows: the components' colours, weighted by responsibility."""
    from matplotlib.colors import to_rgb

    colours = np.array([to_rgb(colour_of(number)) for number in numbers])
    mixed: Array = np.clip(responsibilities @ colours, 0.0, 1.0)
    return mixed


def draw_mixed_rows(
    ax: Any, places: Array, responsibilities: Array, numbers: Sequence[int]
) -> None:
    """Rows in their mixed colours, with the marker of their likeliest component."""
    colours = mixed_colours(responsibilities, numbers)
    likeliest = np.argmax(responsibilities, axis=1)
    markers = np.array([marker_of(number) for number in numbers])[likeliest]
    for marker in dict.fromkeys(marker_of(number) for number in numbers):
        mine = markers == marker
        ax.scatter(
            places[mine, 0], places[mine, 1], s=point_size(len(places)), c=colours[mine],
            marker=marker, alpha=_alpha(len(places)), linewidths=0, zorder=2,
        )  # fmt: skip


def _alpha(n_points: int) -> float:
    """How far a point covers what lies beneath: less where there are more."""
    return float(np.clip(35 / np.sqrt(n_points), 0.25, 0.75))


def draw_ellipses(
    ax: Any, flat: Components, numbers: Sequence[int], deviations: Sequence[float]
) -> None:
    """Each component's ellipses of constant density, the inner ones stronger."""
    for k, number in enumerate(numbers):
        for place, deviation in enumerate(sorted(deviations)):
            x, y = outline(flat, k, deviation).T
            width = 2.2 if place == 0 else 1.3
            ax.plot(x, y, color="white", linewidth=width + 1.6, alpha=0.8, zorder=3)
            ax.plot(x, y, color=colour_of(number), linewidth=width, zorder=3.1)


def outline(flat: Components, k: int, deviation: float) -> Array:
    """The points that lie so many standard deviations from the mean of component ``k``."""
    angles = np.linspace(0.0, 2 * np.pi, _CORNERS)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    points: Array = flat.means[k] + deviation * circle @ np.linalg.cholesky(flat.covariances[k]).T
    return points


def draw_contours(
    ax: Any, flat: Components, low: Array, high: Array, shares: Sequence[float]
) -> None:
    """Lines of equal density that hold these shares of the mixture's probability."""
    x, y = (nodes(flat, axis, low[axis], high[axis]) for axis in (0, 1))
    points = np.stack(np.meshgrid(x, y), axis=-1)
    density = flat.log_density(points.reshape(-1, 2)).reshape(points.shape[:2])
    levels = flat.log_levels(shares)
    shown = levels[(levels > density.min()) & (levels < density.max())]
    if len(shown):
        ax.contour(
            x, y, density, levels=shown, colors=MUTED, linewidths=0.8, linestyles="solid",
            alpha=0.6, zorder=2.5,
        )  # fmt: skip


def nodes(flat: Components, axis: int, low: float, high: float) -> Array:
    """Places along an axis, closer together where a component is narrow."""
    own = flat.means[:, [axis]] + flat.deviations()[:, [axis]] * _OWN_NODES
    inside = own[(own > low) & (own < high)]
    return np.unique(np.concatenate([np.linspace(low, high, _NODES), inside]))

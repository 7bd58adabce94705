"""Labels beside points, arranged without overlaps."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots import style

_DISTANCES = (7, 13, 20, 28, 38, 50, 64, 80)  # points, from a point to its label
# Directions from a point to its label, the preferred ones first.
_DIRECTIONS = ((1, 0), (-1, 0), (0, 1), (0, -1), (0.7, 0.7), (0.7, -0.7), (-0.7, 0.7), (-0.7, -0.7))
_FAR = 16  # points, from which a line joins a label with its point
_THIN = np.array([-1.0, -1.0, 1.0, 1.0])  # half the width of a line, in pixels
_RADIUS = 5.0  # points around a point that remain free


def add_labels(
    ax: Any, points: Array, names: Sequence[str], colors: Sequence[str], line: Array
) -> None:
    """Write the name of each point beside it; far ones are joined by a thin line.

    Names are arranged for the present size of the axes: call it after the layout of the figure.

    Parameters
    ----------
    ax : Axes
    points : array of shape (n, 2)
        In coordinates of the axes.
    names, colors : sequence of str
        Of the points.
    line : array of shape (n, 2)
        Corners of a line that no label should cover.
    """
    pixels = ax.transData.transform(points)
    scale = ax.figure.dpi / 72
    window = ax.get_window_extent()
    border = 3 * scale
    bounds = np.array([window.x0, window.y0, window.x1, window.y1])
    bounds += [border, border, -border, -border]
    taken = [_square(pixel, _RADIUS * scale) for pixel in pixels]
    corners = ax.transData.transform(line) if len(line) else np.empty((0, 2))
    for start, end in pairwise(corners):
        taken.append(np.array([*np.minimum(start, end), *np.maximum(start, end)]) + _THIN)
    for point, pixel, name, color in zip(points, pixels, names, colors, strict=True):
        text = ax.annotate(
            name, point, (0, 0), textcoords="offset pixels", fontsize=style.TICK_SIZE,
            color=color, parse_math=False, gid="label", zorder=5,
        )  # fmt: skip
        text.set_in_layout(False)
        size = text.get_window_extent()
        box = _free_box(pixel, np.array([size.width, size.height]), bounds, taken, scale)
        taken += [box, *_leader(pixel, box, scale)]
        offset = (box[:2] - pixel) / scale
        text.set_position(offset)
        text.set_anncoords("offset points")
        _join(ax, point, pixel, box, scale)


def _free_box(
    pixel: Array, size: Array, bounds: Array, taken: Sequence[Array], scale: float
) -> Any:
    """Return the first box near a point without overlaps, or the one with the smallest."""
    found, min_overlap, others = None, np.inf, np.array(taken)
    for distance in _DISTANCES:
        for direction in _DIRECTIONS:
            step = np.array(direction)
            middle = pixel + step * distance * scale
            # A label to the right starts at its point, one above is centered on it.
            corner = middle + size * (np.sign(step) - 1) / 2
            corner = np.clip(corner, bounds[:2], np.maximum(bounds[2:] - size, bounds[:2]))
            box = np.array([*corner, *(corner + size)])
            parts = [box, *_leader(pixel, box, scale)]
            overlap = sum(_overlap(part, others) for part in parts)
            if overlap < min_overlap:
                found, min_overlap = box, overlap
            if not overlap:
                return found
    return found


def _leader(pixel: Array, box: Array, scale: float) -> list[Array]:
    """Return small boxes along the line from a point to a far label."""
    nearest = np.clip(pixel, box[:2], box[2:])
    length = np.hypot(*(nearest - pixel))
    if length < _FAR * scale:
        return []
    # The point has a box of its own, and so does the label.
    steps = np.linspace(1.5 * _RADIUS * scale / length, 0.95, 12)
    return [_square(pixel + step * (nearest - pixel), 0.7 * scale) for step in steps]


def _square(center: Array, radius: float) -> Array:
    return np.array([*(center - radius), *(center + radius)])


def _overlap(box: Array, others: Array) -> float:
    """Return the area that a box shares with others."""
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.maximum(sides, 0).prod(axis=1).sum())


def _join(ax: Any, point: Array, pixel: Array, box: Array, scale: float) -> None:
    """Draw a line from a point to the nearest side of a label that is far from it."""
    nearest = np.clip(pixel, box[:2], box[2:])
    offset = (nearest - pixel) / scale
    if np.hypot(*offset) < _FAR:
        return
    line = ax.annotate(
        "", point, offset, textcoords="offset points", zorder=1.5,
        arrowprops={"arrowstyle": "-", "color": style.MUTED, "linewidth": 0.6, "shrinkB": 3},
    )  # fmt: skip
    line.set_in_layout(False)

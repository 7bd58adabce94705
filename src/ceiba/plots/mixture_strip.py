"""A mixture of one column: its density over a histogram, and the rows in a strip beneath."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba.plots.components import Components
from ceiba.plots.mixture_layers import draw_mixed_rows, nodes
from ceiba.plots.plane import Array
from ceiba.plots.scatter import draw_centres
from ceiba.plots.style import GRID, INK, MUTED, colour_of

# The strip, in parts of the height above it; and how far a peak may pass the bars before the
# picture cuts it off.
_STRIP = (-0.27, -0.07)
_HIGHEST = 2.5
_ROOM = 1.12


def strip_top(values: Array, states: Sequence[Components]) -> float:
    """Height that shows the bars and, unless they are spikes, the density of every state."""
    bars = np.histogram(values, _n_bars(values), density=True)[0].max()
    peaks = [np.exp(state.log_density(state.means).max()) for state in states]
    return float(_ROOM * min(max(bars, *peaks), _HIGHEST * bars))


def draw_bars(ax: Any, values: Array) -> None:
    """The histogram of the observed values, as a density."""
    ax.hist(values, _n_bars(values), density=True, color=GRID, zorder=1)
    ax.axhline(0, color=MUTED, linewidth=0.8, zorder=1.5)


def draw_strip(
    ax: Any, points: Array, responsibilities: Array, numbers: Sequence[int], top: float
) -> None:
    """Rows in mixed colours beneath the axis; their second coordinate is between 0 and 1."""
    low, high = _STRIP
    strip = np.column_stack([points[:, 0], top * (low + (high - low) * points[:, 1])])
    draw_mixed_rows(ax, strip, responsibilities, numbers)
    ax.set_ylim((low - 0.04) * top, top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= top])
    ax.spines["left"].set_bounds(0, top)


def draw_curves(
    ax: Any, flat: Components, numbers: Sequence[int], deviations: Sequence[float]
) -> None:
    """The density, that of each component, shaded about its mean, and its number at the peak."""
    x = nodes(flat, 0, *ax.get_xlim())
    heights = flat.heights(x[:, None])
    ax.plot(x, heights.sum(axis=1), color=INK, linewidth=1.6, zorder=3)
    scales = flat.deviations()[:, 0]
    for k, number in enumerate(numbers):
        ax.plot(x, heights[:, k], color=colour_of(number), linewidth=1.6, zorder=2.5)
        for deviation in deviations:
            about = flat.means[k, 0] + deviation * scales[k] * np.linspace(-1, 1, 81)
            height = flat.heights(about[:, None])[:, k]
            ax.fill_between(about, height, color=colour_of(number), alpha=0.2, linewidth=0)


def draw_cuts(ax: Any, flat: Components, shares: Sequence[float]) -> None:
    """Where the density passes the levels at which contours would cut it in two columns."""
    x = nodes(flat, 0, *ax.get_xlim())
    density = np.exp(flat.log_density(x[:, None]))
    for level in np.exp(flat.log_levels(shares)):
        held = np.where(density >= level, level, np.nan)
        ax.plot(x, held, color=MUTED, linewidth=0.8, alpha=0.6, zorder=2.9)


def draw_numbers(ax: Any, flat: Components, numbers: Sequence[int], top: float) -> None:
    """Each component's number at the peak of its curve, or where the picture ends."""
    peaks = np.diagonal(flat.heights(flat.means))
    heights = np.minimum(peaks, top / _ROOM)
    draw_centres(ax, np.column_stack([flat.means[:, 0], heights]), numbers)


def _n_bars(values: Array) -> int:
    return int(np.clip(np.sqrt(len(values)), 8, 60))

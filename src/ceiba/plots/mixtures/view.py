"""A mixture of one column: its density over a histogram, and the rows in a strip beneath."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.mixtures.components import Components
from ceiba.plots.mixtures.layers import (
    draw_contours,
    draw_ellipses,
    draw_mixed_rows,
    nodes,
    outline,
)
from ceiba.plots.plane import EncodedRows, Plane, draw_sample, limits
from ceiba.plots.planes.scatter import draw_centres
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


Box = tuple[Array, Array]  # lower and upper corner

DEVIATIONS = (1.0, 2.0)


@dataclass(frozen=True, slots=True, eq=False)
class MixtureView:
    """The drawn rows, their plane, and the box that stays the same for every mixture.

    Attributes
    ----------
    names : list of str
        Columns of the rows.
    plane : Plane
    rows, points : array
        The drawn rows, with their gaps, and where they stand.
    n_rows : int
        Of how many they are a sample.
    """

    names: list[str]
    plane: Plane
    rows: Array
    points: Array
    n_rows: int

    @classmethod
    def of(
        cls, X: Any, model: Any = None, max_points: int = 20_000, random_state: Any = 0
    ) -> MixtureView:
        """``X`` under the model's schema, at most ``max_points`` rows of it."""
        every = EncodedRows.of(X, model)
        plane = Plane.of(every)
        rows = every.values[draw_sample(len(every.values), max_points, random_state)]
        return cls(every.names, plane, rows, plane.place(rows), len(every.values))

    @property
    def one_column(self) -> bool:
        """Whether there is a density axis instead of a second coordinate."""
        return len(self.names) == 1

    def box(
        self,
        outlined: Sequence[Components],
        deviation: float = DEVIATIONS[-1],
        passing: Sequence[Components] = (),
    ) -> Box:
        """Corners of a box that holds the rows and what is drawn of some mixtures.

        Parameters
        ----------
        outlined : sequence of Components
            Whose ellipses of ``deviation`` standard deviations must fit in.
        deviation : float
        passing : sequence of Components
            Of which only the means must, unless they are half the rows' extent away from them.
        """
        flats = [state.on(self.plane) for state in outlined]
        others = [state.on(self.plane) for state in passing]
        points = self.points[:, : self.plane.axes.shape[1]]
        low, high = limits([points], margin=0.5)
        near = [np.clip(flat.means, low, high) for flat in (*flats, *others)]
        if self.one_column:
            low, high = limits([points, *near])
            top = strip_top(self._values, [*flats, *others])
            return np.array([low[0], 0.0]), np.array([high[0], top])
        outlines = [outline(flat, k, deviation) for flat in flats for k in range(len(flat))]
        return limits([points, *near, *outlines], margin=0.04)

    def draw(
        self,
        ax: Any,
        components: Components,
        box: Box,
        *,
        numbers: Sequence[int] | None = None,
        responsibilities: Array | None = None,
        deviations: Sequence[float] = DEVIATIONS,
        shares: Sequence[float] = (),
    ) -> None:
        """Draw the rows under a mixture.

        Parameters
        ----------
        ax : Axes
        components : Components
            Of the rows' own width.
        box : pair of arrays
            Lower and upper corner of what is seen.
        numbers : sequence of int, optional
            What the components are called: 0, 1, ... unless given.
        responsibilities : array of shape (n, K), optional
            Of the drawn rows, where they are known already.
        deviations : sequence of float
            Ellipses, or shades, so many standard deviations about the means.
        shares : sequence of float
            Contours that hold these shares of the probability.
        """
        if numbers is None:
            numbers = range(len(components))
        if responsibilities is None:
            responsibilities = components.responsibilities(self.rows)
        flat = components.on(self.plane)
        low, high = box
        ax.set_xlim(low[0], high[0])
        if self.one_column:
            draw_bars(ax, self._values)
            draw_curves(ax, flat, numbers, deviations)
            if len(shares):
                draw_cuts(ax, flat, shares)
            draw_strip(ax, self.points, responsibilities, numbers, high[1])
            draw_numbers(ax, flat, numbers, high[1])
            return
        ax.set_ylim(low[1], high[1])
        if len(shares):
            draw_contours(ax, flat, low, high, shares)
        draw_mixed_rows(ax, self.points, responsibilities, numbers)
        draw_ellipses(ax, flat, numbers, deviations)
        draw_centres(ax, flat.means, numbers)

    def dress(self, ax: Any) -> None:
        """Write at the axes what they are."""
        ax.set_xlabel(self.plane.x)
        ax.set_ylabel("density" if self.one_column else self.plane.y)

    @property
    def _values(self) -> Array:
        """What was observed of the one column."""
        column = self.rows[:, 0]
        return column[~np.isnan(column)]

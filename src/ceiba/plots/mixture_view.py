"""Rows ready to be drawn under any mixture: of a fit, of a frame, of one form or another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba.plots.components import Components
from ceiba.plots.mixture_layers import draw_contours, draw_ellipses, draw_mixed_rows, outline
from ceiba.plots.mixture_strip import (
    draw_bars,
    draw_curves,
    draw_cuts,
    draw_numbers,
    draw_strip,
    strip_top,
)
from ceiba.plots.plane import Array, EncodedRows, Plane, draw_sample, limits
from ceiba.plots.scatter import draw_centres

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

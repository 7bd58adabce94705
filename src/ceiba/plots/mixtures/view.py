"""Draw rows under a mixture: ellipses and contours, or the density of a single column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.clustering.clusters import draw_centers
from ceiba.plots.mixtures.components import Components
from ceiba.plots.projection import EncodedRows, Projection, bounding_box, sample_rows
from ceiba.plots.style import GRID, INK, MUTED, color_of, marker_of, mixed_colors, point_size

Box = tuple[Array, Array]  # lower and upper corner

DEVIATIONS = (1.0, 2.0)

# Grid points along an axis, and further ones per component, in its standard deviations.
_N_GRID = 160
_COMPONENT_GRID = np.linspace(-3.0, 3.0, 17)
_N_OUTLINE = 121
# Strip of the rows of a single column, relative to the height of the density above it.
_STRIP = (-0.27, -0.07)
_MAX_PEAK = 2.5  # a higher peak, relative to the histogram, is cut off
_HEADROOM = 1.12


@dataclass(frozen=True, slots=True, eq=False)
class MixtureView:
    """The drawn rows and their projection, the same for every mixture drawn over them."""

    names: list[str]
    projection: Projection
    rows: Array  # the drawn rows, with missing values
    points: Array  # their coordinates
    n_rows: int  # before sampling

    @classmethod
    def of(
        cls, X: Any, model: Any = None, max_points: int = 20_000, random_state: Any = 0
    ) -> MixtureView:
        """Read ``X`` under the model's schema and sample at most ``max_points`` rows."""
        encoded = EncodedRows.of(X, model)
        projection = Projection.of(encoded)
        rows = encoded.values[sample_rows(len(encoded.values), max_points, random_state)]
        return cls(encoded.names, projection, rows, projection.project(rows), len(encoded.values))

    @property
    def one_column(self) -> bool:
        """Whether the second axis is the density instead of a coordinate."""
        return len(self.names) == 1

    def box(
        self,
        outlined: Sequence[Components],
        deviation: float = DEVIATIONS[-1],
        passing: Sequence[Components] = (),
    ) -> Box:
        """Return the corners of a box around the rows and the ellipses of mixtures.

        Of mixtures in ``passing`` only the means near the rows must fit.
        """
        flats = [components.on(self.projection) for components in outlined]
        others = [components.on(self.projection) for components in passing]
        points = self.points[:, : self.projection.axes.shape[1]]
        low, high = bounding_box([points], margin=0.5)
        near = [np.clip(flat.means, low, high) for flat in (*flats, *others)]
        if self.one_column:
            low, high = bounding_box([points, *near])
            top = _density_limit(self._observed, [*flats, *others])
            return np.array([low[0], 0.0]), np.array([high[0], top])
        outlines = [_ellipse(flat, k, deviation) for flat in flats for k in range(len(flat))]
        return bounding_box([points, *near, *outlines], margin=0.04)

    def draw(
        self,
        ax: Any,
        components: Components,
        box: Box,
        *,
        numbers: Sequence[int] | None = None,
        responsibilities: Array | None = None,
        deviations: Sequence[float] = DEVIATIONS,
        contours: Sequence[float] = (),
    ) -> None:
        """Draw the rows under a mixture; pass ``responsibilities`` if known already."""
        if numbers is None:
            numbers = range(len(components))
        if responsibilities is None:
            responsibilities = components.responsibilities(self.rows)
        flat = components.on(self.projection)
        low, high = box
        ax.set_xlim(low[0], high[0])
        if self.one_column:
            _draw_histogram(ax, self._observed)
            _draw_densities(ax, flat, numbers, deviations)
            if len(contours):
                _draw_density_levels(ax, flat, contours)
            _draw_strip(ax, self.points, responsibilities, numbers, high[1])
            _draw_numbers(ax, flat, numbers, high[1])
            return
        ax.set_ylim(low[1], high[1])
        if len(contours):
            _draw_contours(ax, flat, low, high, contours)
        _draw_mixed_rows(ax, self.points, responsibilities, numbers)
        _draw_ellipses(ax, flat, numbers, deviations)
        draw_centers(ax, flat.means, numbers)

    def label_axes(self, ax: Any) -> None:
        """Set the axis labels."""
        ax.set_xlabel(self.projection.x)
        ax.set_ylabel("density" if self.one_column else self.projection.y)

    @property
    def _observed(self) -> Array:
        """The observed values of a single column."""
        column = self.rows[:, 0]
        return column[~np.isnan(column)]


def _draw_mixed_rows(
    ax: Any, points: Array, responsibilities: Array, numbers: Sequence[int]
) -> None:
    """Draw rows in mixed colors, with the marker of the most probable component."""
    colors = mixed_colors(responsibilities, numbers)
    predicted = np.argmax(responsibilities, axis=1)
    markers = np.array([marker_of(number) for number in numbers])[predicted]
    # Points are more transparent if there are more of them.
    alpha = float(np.clip(35 / np.sqrt(len(points)), 0.25, 0.75))
    for marker in dict.fromkeys(marker_of(number) for number in numbers):
        own = markers == marker
        ax.scatter(
            points[own, 0], points[own, 1], s=point_size(len(points)), c=colors[own],
            marker=marker, alpha=alpha, linewidths=0, zorder=2,
        )  # fmt: skip


def _draw_ellipses(
    ax: Any, flat: Components, numbers: Sequence[int], deviations: Sequence[float]
) -> None:
    """Draw the ellipses of each component, the innermost with a thicker line."""
    for k, number in enumerate(numbers):
        for i, deviation in enumerate(sorted(deviations)):
            x, y = _ellipse(flat, k, deviation).T
            width = 2.2 if i == 0 else 1.3
            ax.plot(x, y, color="white", linewidth=width + 1.6, alpha=0.8, zorder=3)
            ax.plot(x, y, color=color_of(number), linewidth=width, zorder=3.1)


def _ellipse(flat: Components, k: int, deviation: float) -> Array:
    """Return points so many standard deviations from the mean of component ``k``."""
    angles = np.linspace(0.0, 2 * np.pi, _N_OUTLINE)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    points: Array = flat.means[k] + deviation * circle @ np.linalg.cholesky(flat.covariances[k]).T
    return points


def _draw_contours(
    ax: Any, flat: Components, low: Array, high: Array, probabilities: Sequence[float]
) -> None:
    """Draw lines of equal density that enclose these probabilities."""
    x, y = (_grid(flat, axis, low[axis], high[axis]) for axis in (0, 1))
    points = np.stack(np.meshgrid(x, y), axis=-1)
    density = flat.log_density(points.reshape(-1, 2)).reshape(points.shape[:2])
    levels = flat.contour_log_densities(probabilities)
    shown = levels[(levels > density.min()) & (levels < density.max())]
    if len(shown):
        ax.contour(
            x, y, density, levels=shown, colors=MUTED, linewidths=0.8, linestyles="solid",
            alpha=0.6, zorder=2.5,
        )  # fmt: skip


def _grid(flat: Components, axis: int, low: float, high: float) -> Array:
    """Return grid points along an axis, denser where a component is narrow."""
    deviations = flat.standard_deviations()[:, [axis]]
    own = flat.means[:, [axis]] + deviations * _COMPONENT_GRID
    inside = own[(own > low) & (own < high)]
    return np.unique(np.concatenate([np.linspace(low, high, _N_GRID), inside]))


# A single column: its density over a histogram, and the rows in a strip below.


def _density_limit(values: Array, states: Sequence[Components]) -> float:
    """Return the height of the histogram and of every density, unless that is a spike."""
    bars = np.histogram(values, _n_bins(values), density=True)[0].max()
    peaks = [np.exp(state.log_density(state.means).max()) for state in states]
    return float(_HEADROOM * min(max(bars, *peaks), _MAX_PEAK * bars))


def _draw_histogram(ax: Any, values: Array) -> None:
    """Draw the histogram of the observed values as a density."""
    ax.hist(values, _n_bins(values), density=True, color=GRID, zorder=1)
    ax.axhline(0, color=MUTED, linewidth=0.8, zorder=1.5)


def _draw_strip(
    ax: Any, points: Array, responsibilities: Array, numbers: Sequence[int], top: float
) -> None:
    """Draw the rows below the axis; their second coordinate is in [0, 1]."""
    low, high = _STRIP
    strip = np.column_stack([points[:, 0], top * (low + (high - low) * points[:, 1])])
    _draw_mixed_rows(ax, strip, responsibilities, numbers)
    ax.set_ylim((low - 0.04) * top, top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= top])
    ax.spines["left"].set_bounds(0, top)


def _draw_densities(
    ax: Any, flat: Components, numbers: Sequence[int], deviations: Sequence[float]
) -> None:
    """Draw the density, and that of each component, shaded around its mean."""
    x = _grid(flat, 0, *ax.get_xlim())
    densities = flat.weighted_densities(x[:, None])
    ax.plot(x, densities.sum(axis=1), color=INK, linewidth=1.6, zorder=3)
    scales = flat.standard_deviations()[:, 0]
    for k, number in enumerate(numbers):
        ax.plot(x, densities[:, k], color=color_of(number), linewidth=1.6, zorder=2.5)
        for deviation in deviations:
            around = flat.means[k, 0] + deviation * scales[k] * np.linspace(-1, 1, 81)
            height = flat.weighted_densities(around[:, None])[:, k]
            ax.fill_between(around, height, color=color_of(number), alpha=0.2, linewidth=0)


def _draw_density_levels(ax: Any, flat: Components, probabilities: Sequence[float]) -> None:
    """Draw the densities at which two columns would have contours."""
    x = _grid(flat, 0, *ax.get_xlim())
    density = np.exp(flat.log_density(x[:, None]))
    for level in np.exp(flat.contour_log_densities(probabilities)):
        inside = np.where(density >= level, level, np.nan)
        ax.plot(x, inside, color=MUTED, linewidth=0.8, alpha=0.6, zorder=2.9)


def _draw_numbers(ax: Any, flat: Components, numbers: Sequence[int], top: float) -> None:
    """Draw each component's number at the peak of its curve, or at the upper end."""
    peaks = np.diagonal(flat.weighted_densities(flat.means))
    heights = np.minimum(peaks, top / _HEADROOM)
    draw_centers(ax, np.column_stack([flat.means[:, 0], heights]), numbers)


def _n_bins(values: Array) -> int:
    return int(np.clip(np.sqrt(len(values)), 8, 60))

"""Draw rows under a mixture: ellipses and contours, or the density of a single column."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.engine import choose_engine
from ceiba.mixture.densities import log_densities, posteriors
from ceiba.mixture.statistics import Gaussians
from ceiba.plots.clustering import draw_centers
from ceiba.plots.models import model_error
from ceiba.plots.projection import Projection, bounding_box, encode_rows, sample_rows
from ceiba.plots.style import GRID, INK, MUTED, color_of, marker_of, mixed_colors, point_size
from ceiba.stats import ToPoints

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
# Enough for the contour of 99 % to rest on 200 draws.
_N_DRAWS = 20_000
# Covariance types with one matrix for all components, which is stored once.
_TIED = ("tied", "EEE")


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Weights, means and covariances of a mixture."""

    weights: Array  # of shape (K,)
    means: Array  # of shape (K, d)
    covariances: Array  # of shape (K, d, d), or variances of shape (K, d)

    @classmethod
    def of_model(cls, model: Any) -> Components:
        """Return those of a fitted mixture of any covariance type."""
        if not all(hasattr(model, name) for name in ("weights_", "means_", "covariances_")):
            expected = "a fitted mixture with weights_, means_ and covariances_, followed by "
            raise model_error("model", f"{expected}the rows X", model)
        covariances = np.asarray(model.covariances_, dtype=float)
        if getattr(model, "covariance_type", None) in _TIED:
            covariances = np.broadcast_to(covariances, (len(model.means_), *covariances.shape))
        return cls._of(model.weights_, model.means_, covariances)

    @classmethod
    def of_frame(cls, frame: Any) -> Components:
        """Return those of one frame of a trace."""
        return cls._of(frame["weights"], frame["means"], frame["covariances"])

    @classmethod
    def _of(cls, weights: Any, means: Any, covariances: Any) -> Components:
        means = np.asarray(means, dtype=float)
        covariances = np.asarray(covariances, dtype=float)
        if covariances.ndim == 1:
            covariances = np.broadcast_to(covariances[:, None], means.shape)
        return cls(np.asarray(weights, dtype=float), means, covariances)

    def __len__(self) -> int:
        return len(self.weights)

    def check_width(self, names: list[str]) -> None:
        """Raise ValueError if the rows and the means differ in their number of columns."""
        if len(names) != self.means.shape[1]:
            raise ValueError(
                f"X has {len(names)} columns ({', '.join(names[:5])}"
                f"{', ...' if len(names) > 5 else ''}), but the mixture was fitted to "
                f"{self.means.shape[1]}: pass the rows it was fitted to."
            )

    def on(self, plane: Projection) -> Components:
        """Return the marginal mixture on a plane, which is a Gaussian mixture exactly."""
        axes = plane.axes
        if self.covariances.ndim == 2:
            flat = np.einsum("dp,kd,dq->kpq", axes, self.covariances, axes)
        else:
            flat = axes.T @ self.covariances @ axes
        return Components(self.weights, self.means @ axes, flat)

    def standard_deviations(self) -> Array:
        """Return the standard deviation of every component along every column, (K, d)."""
        variances = self.covariances
        if variances.ndim == 3:
            variances = np.diagonal(variances, axis1=1, axis2=2)
        roots: Array = np.sqrt(variances)
        return roots

    def log_density(self, rows: Array) -> Array:
        """Return the log density of the observed values of each row."""
        return self._evaluate(rows, log_densities)

    def responsibilities(self, rows: Array) -> Array:
        """Return the probability of each component given the observed values, (n, K)."""
        return self._evaluate(rows, posteriors)

    def weighted_densities(self, rows: Array) -> Array:
        """Return weight times density of each component at each row, (n, K)."""
        densities: Array = np.exp(self.log_density(rows))[:, None] * self.responsibilities(rows)
        return densities

    def contour_log_densities(self, probabilities: Any) -> Array:
        """Return the log densities whose contours enclose these probabilities, ascending.

        They are quantiles of a fixed sample of the mixture: a grid would lose components that are
        narrower than its cells.
        """
        random = np.random.default_rng(0)
        weights = self.weights / self.weights.sum()
        labels = random.choice(len(weights), _N_DRAWS, p=weights)
        noise = random.standard_normal((_N_DRAWS, self.means.shape[1], 1))
        draws = self.means[labels] + (np.linalg.cholesky(self.covariances)[labels] @ noise)[..., 0]
        quantiles = np.quantile(self.log_density(draws), 1 - np.asarray(probabilities))
        unique: Array = np.unique(quantiles)
        return unique

    def _evaluate(self, rows: Array, function: Callable[..., Any]) -> Array:
        """Evaluate the rows, with or without missing values, by the native kernels."""
        engine, source = choose_engine(rows)
        points = engine.rows(source.partitions, ToPoints(keep_all=True))
        gaussians = Gaussians.of(self.weights, self.means, self.covariances)
        values: Array = engine.predict(points, function, gaussians)
        return values


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
        encoded, names = encode_rows(X, model)
        projection = Projection.of(encoded, names)
        rows = encoded[sample_rows(len(encoded), max_points, random_state)]
        return cls(names, projection, rows, projection.project(rows), len(encoded))

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
            ax.hist(self._observed, _n_bins(self._observed), density=True, color=GRID, zorder=1)
            ax.axhline(0, color=MUTED, linewidth=0.8, zorder=1.5)
            _draw_densities(ax, flat, numbers, deviations, contours)
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
    ax: Any,
    flat: Components,
    numbers: Sequence[int],
    deviations: Sequence[float],
    contours: Sequence[float],
) -> None:
    """Draw the density, and that of each component, shaded around its mean.

    The horizontal lines are at the densities at which two columns would have contours.
    """
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
    density = np.exp(flat.log_density(x[:, None]))
    for level in np.exp(flat.contour_log_densities(contours)) if len(contours) else ():
        inside = np.where(density >= level, level, np.nan)
        ax.plot(x, inside, color=MUTED, linewidth=0.8, alpha=0.6, zorder=2.9)


def _draw_numbers(ax: Any, flat: Components, numbers: Sequence[int], top: float) -> None:
    """Draw each component's number at the peak of its curve, or at the upper end."""
    peaks = np.diagonal(flat.weighted_densities(flat.means))
    heights = np.minimum(peaks, top / _HEADROOM)
    draw_centers(ax, np.column_stack([flat.means[:, 0], heights]), numbers)


def _n_bins(values: Array) -> int:
    return int(np.clip(np.sqrt(len(values)), 8, 60))

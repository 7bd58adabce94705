"""Weights, means and covariances of a mixture, for drawing on any plane."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.engine import choose_engine
from ceiba.mixture.densities import Gaussians, log_densities, posteriors
from ceiba.plots.projection import Projection
from ceiba.stats import ToPoints

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
            raise TypeError(
                "model must be a fitted mixture with weights_, means_ and covariances_, followed "
                f"by the rows X, got {type(model).__name__}."
            )
        means = np.asarray(model.means_, dtype=float)
        covariances = np.asarray(model.covariances_, dtype=float)
        if getattr(model, "covariance_type", None) in _TIED:
            covariances = np.broadcast_to(covariances, (len(means), *covariances.shape))
        return cls._of(model.weights_, means, covariances)

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

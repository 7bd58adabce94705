"""Gaussian components as pictures need them: on any plane, at any rows, gaps or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.engine import choose_engine
from ceiba.mixture.densities import Gaussians, LogDensities, Posteriors
from ceiba.plots.plane import Plane
from ceiba.stats import ToPoints

# Enough that the contour of 99 % rests on 200 draws.
_DRAWS = 20_000
# Forms with one covariance for all components: fitted, they hold it once.
_SHARED_ONCE = ("tied", "EEE")


@dataclass(frozen=True, slots=True, eq=False)
class Components:
    """Weights, means and covariances of a mixture.

    Attributes
    ----------
    weights : array of shape (K,)
    means : array of shape (K, d)
    covariances : array of shape (K, d, d), or variances of shape (K, d)
    """

    weights: Array
    means: Array
    covariances: Array

    @classmethod
    def of_model(cls, model: Any) -> Components:
        """Those of a fitted mixture, whatever its form of covariance."""
        if not all(hasattr(model, name) for name in ("weights_", "means_", "covariances_")):
            raise TypeError(
                "give a fitted mixture, with weights_, means_ and covariances_, and then the rows; "
                f"{type(model).__name__} is none, or is not fitted yet"
            )
        means = np.asarray(model.means_, dtype=float)
        covariances = np.asarray(model.covariances_, dtype=float)
        if getattr(model, "covariance_type", None) in _SHARED_ONCE:
            covariances = np.broadcast_to(covariances, (len(means), *covariances.shape))
        return cls._of(model.weights_, means, covariances)

    @classmethod
    def of_frame(cls, frame: Any) -> Components:
        """Those of one frame of a trace."""
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
        """Refuse rows whose columns are not as many as the means have."""
        if len(names) != self.means.shape[1]:
            raise ValueError(
                f"the rows have {len(names)} columns ({', '.join(names[:5])}"
                f"{', ...' if len(names) > 5 else ''}) but the mixture has "
                f"{self.means.shape[1]}: give the rows that it was fitted to"
            )

    def on(self, plane: Plane) -> Components:
        """The marginal mixture on a plane, which is a mixture of Gaussians again, exactly."""
        axes = plane.axes
        if self.covariances.ndim == 2:
            flat = np.einsum("dp,kd,dq->kpq", axes, self.covariances, axes)
        else:
            flat = axes.T @ self.covariances @ axes
        return Components(self.weights, self.means @ axes, flat)

    def deviations(self) -> Array:
        """Standard deviation of every component along every column, (K, d)."""
        variances = self.covariances
        if variances.ndim == 3:
            variances = np.diagonal(variances, axis1=1, axis2=2)
        roots: Array = np.sqrt(variances)
        return roots

    def log_density(self, rows: Array) -> Array:
        """Log density of the mixture at rows, of their observed values."""
        return self._ask(rows, LogDensities.of)

    def responsibilities(self, rows: Array) -> Array:
        """Probability of each component given the observed values of each row, (n, K)."""
        return self._ask(rows, Posteriors.of)

    def heights(self, rows: Array) -> Array:
        """Weight times density of each component at rows, (n, K)."""
        heights: Array = np.exp(self.log_density(rows))[:, None] * self.responsibilities(rows)
        return heights

    def log_levels(self, shares: Any) -> Array:
        """Log densities above which the mixture keeps these shares of its probability.

        Found from draws of the mixture itself, always the same ones: a grid would lose the
        components that are narrower than its cells. Increasing, and each once.
        """
        random = np.random.default_rng(0)
        weights = self.weights / self.weights.sum()
        labels = random.choice(len(weights), _DRAWS, p=weights)
        noise = random.standard_normal((_DRAWS, self.means.shape[1], 1))
        draws = self.means[labels] + (np.linalg.cholesky(self.covariances)[labels] @ noise)[..., 0]
        levels: Array = np.unique(np.quantile(self.log_density(draws), 1 - np.asarray(shares)))
        return levels

    def _ask(self, rows: Array, statistic: Callable[..., Any]) -> Array:
        """What the learner's own kernels say of rows, gaps or not."""
        engine, source = choose_engine(rows)
        points = engine.rows(source.partitions, ToPoints(keep_all=True))
        gaussians = Gaussians.of(self.weights, self.means, self.covariances)
        values: Array = engine.reduce(points, statistic, gaussians).values
        return values

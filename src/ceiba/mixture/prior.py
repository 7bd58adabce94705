"""A conjugate prior on the components: maximum a posteriori instead of maximum likelihood."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.mixture.covariance import Form
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.init import symmetric
from ceiba.mixture.statistics import ComponentMoments, products


@dataclass(frozen=True, slots=True, eq=False)
class ConjugatePrior:
    """Normal-inverse-Wishart prior of every component's mean and covariance.

    Parameters
    ----------
    mean : array of shape (d,), optional
        Where means are expected; the data's mean unless given.
    shrinkage : float
        How many rows that expectation weighs.
    degrees_of_freedom : float, optional
        Of the inverse Wishart; d + 2 unless given.
    scale : array of shape (d, d), optional
        Scale matrix of the inverse Wishart; unless given the data's covariance over
        ``n_components ** (2 / d)``. Diagonal forms use its diagonal, spherical ones the mean of
        that.

    Examples
    --------
    >>> from ceiba import GaussianMixture, datasets
    >>> from ceiba.mixture import ConjugatePrior
    >>> X = datasets.load("iris").table
    >>> model = GaussianMixture(3, prior=ConjugatePrior(shrinkage=0.1)).fit(X)
    >>> model.converged_
    True

    References
    ----------
    Fraley & Raftery (2007), "Bayesian regularization for normal mixture estimation and model-based
    clustering", Journal of Classification 24.
    """

    mean: Array | None = None
    shrinkage: float = 0.01
    degrees_of_freedom: float | None = None
    scale: Array | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite(self.shrinkage) and self.shrinkage >= 0):
            raise ValueError(f"shrinkage={self.shrinkage!r} must be a number of at least 0")

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {
            "mean": self.mean,
            "shrinkage": float(self.shrinkage),
            "degrees_of_freedom": self.degrees_of_freedom,
            "scale": self.scale,
        }

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> ConjugatePrior:
        """The prior that `to_json` wrote."""
        return cls(**record)

    def resolved(self, k: int, anchor: Anchor, form: Form) -> Penalty:
        """The prior for ``k`` components of a form, where data of these moments say the rest."""
        mean, covariance = anchor.mean, anchor.covariance
        d = len(mean)
        centre = mean if self.mean is None else _array(self.mean, (d,), "mean")
        freedom = d + 2.0 if self.degrees_of_freedom is None else float(self.degrees_of_freedom)
        if not (np.isfinite(freedom) and freedom > d - 1):
            raise ValueError(
                f"degrees_of_freedom={freedom:g} of the prior must be a number of more than "
                f"{d - 1}, the number of columns less one"
            )
        if self.scale is None:
            scale = covariance / k ** (2.0 / d)
        else:
            scale = _array(self.scale, (d, d), "scale")
            if not symmetric(scale) or np.linalg.eigvalsh(scale)[0] < 0:
                raise ValueError("scale of the prior must be symmetric and not negative")
        if not form.full:
            scale = np.diagonal(scale).copy()
            if form.isotropic:
                scale = np.full(d, scale.mean())
        return Penalty(centre, float(self.shrinkage), freedom, scale)


@dataclass(frozen=True, slots=True, eq=False)
class Anchor:
    """Mean and covariance of the data that a prior refers to: of the first rows that were seen."""

    mean: Array
    covariance: Array

    def to_json(self) -> dict[str, Any]:
        """Plain dictionary for a model file; its arrays stay arrays."""
        return {"mean": self.mean, "covariance": self.covariance}

    @classmethod
    def from_json(cls, record: dict[str, Any]) -> Anchor:
        """The anchor that `to_json` wrote."""
        return cls(record["mean"], record["covariance"])


@dataclass(frozen=True, slots=True)
class Penalty:
    """The prior of one fit, as the M step and the objective use it."""

    mean: Array
    shrinkage: float
    freedom: float
    scale: Array  # (d, d), or (d,) for diagonal forms

    def regularised(self, moments: ComponentMoments) -> ComponentMoments:
        """Moments with what the prior adds: their maximum of the likelihood is the posterior's."""
        kappa, N = self.shrinkage, moments.weights
        total = np.where(N + kappa > 0, N + kappa, 1.0)
        shift = moments.means - self.mean
        means = moments.means - (kappa / total)[:, None] * shift
        scatters = (
            moments.scatters + self.scale + products(kappa * N / total, shift, moments.scatters)
        )
        return ComponentMoments(N + self.freedom + len(self.mean) + 2, means, scatters)

    def log_density(self, model: Gaussians) -> float:
        """Logarithm of the prior's density, up to a constant."""
        shift = model.means - self.mean
        if model.full:
            inverse = model.factors.transpose(0, 2, 1) @ model.factors
            traces = np.einsum("kij,ij->k", inverse, self.scale)
            distances = (np.einsum("kij,kj->ki", model.factors, shift) ** 2).sum(axis=1)
        else:
            traces = (self.scale * model.factors**2).sum(axis=1)
            distances = ((model.factors * shift) ** 2).sum(axis=1)
        logs = (self.freedom + len(self.mean) + 2) * model.log_dets
        return float(-0.5 * (logs + traces + self.shrinkage * distances).sum())


def _array(given: Any, shape: tuple[int, ...], name: str) -> Array:
    array = np.asarray(given, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"{name} of the prior must be finite numbers of shape {shape}")
    return array

"""Normal-inverse-Wishart prior of the components, for maximum a posteriori EM."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ceiba._typing import Array
from ceiba.base import ArrayOf, Record
from ceiba.mixture.covariance import CovarianceForm, check_array, is_symmetric
from ceiba.mixture.statistics import ComponentMoments, Gaussians, outer_products
from ceiba.stats.scaling import PointScaling


@dataclass(frozen=True, eq=False)
class ConjugatePrior(Record):
    """Normal-inverse-Wishart prior of every component's mean and covariance.

    Parameters
    ----------
    mean : array of shape (d,), optional
        Expected mean; by default the mean of the data.
    shrinkage : float
        Weight of the expected mean, in rows.
    degrees_of_freedom : float, optional
        Degrees of freedom of the inverse Wishart distribution; by default d + 2.
    scale : array of shape (d, d), optional
        Scale matrix of the inverse Wishart distribution; by default the covariance of the data
        divided by ``n_components ** (2 / d)``. Diagonal forms use its diagonal, spherical ones the
        mean of the diagonal.

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
            raise ValueError(f"shrinkage must be a finite number >= 0, got {self.shrinkage!r}.")

    def to_units(self, scaling: PointScaling) -> ConjugatePrior:
        """Return the prior in the units of a fit."""
        d = len(scaling.divisors)
        mean, scale = self.mean, self.scale
        if mean is not None:
            mean = scaling.to_units(check_array(mean, (d,), "mean of the prior"))
        if scale is not None:
            scale = check_array(scale, (d, d), "scale of the prior")
            scale = scaling.covariances_to_units(scale[None])[0]
        return replace(self, mean=mean, scale=scale)

    def resolve(self, k: int, reference: PriorReference, form: CovarianceForm) -> ResolvedPrior:
        """Fill in the defaults for ``k`` components of a form on data of these moments."""
        d = len(reference.mean)
        mean = (
            reference.mean
            if self.mean is None
            else check_array(self.mean, (d,), "mean of the prior")
        )
        freedom = d + 2.0 if self.degrees_of_freedom is None else float(self.degrees_of_freedom)
        if not (np.isfinite(freedom) and freedom > d - 1):
            raise ValueError(
                f"degrees_of_freedom of the prior must be > {d - 1} (n_features - 1), got "
                f"{freedom:g}."
            )
        if self.scale is None:
            scale = reference.covariance / k ** (2.0 / d)
        else:
            scale = check_array(self.scale, (d, d), "scale of the prior")
            if not is_symmetric(scale) or np.linalg.eigvalsh(scale)[0] < 0:
                raise ValueError("scale of the prior must be symmetric and positive semidefinite.")
        if not form.full:
            scale = np.diagonal(scale).copy()
            if form.isotropic:
                scale = np.full(d, scale.mean())
        return ResolvedPrior(mean, float(self.shrinkage), freedom, scale)


@dataclass(frozen=True, eq=False)
class PriorReference(Record):
    """Mean and covariance of the first rows seen, from which a prior takes its defaults."""

    mean: Annotated[Array, ArrayOf("float64", "d")]
    covariance: Annotated[Array, ArrayOf("float64", "d", "d")]


@dataclass(frozen=True, slots=True)
class ResolvedPrior:
    """Prior of one fit, as the M step and the objective use it.

    ``scale`` has shape (d, d), or (d,) for diagonal forms.
    """

    mean: Array
    shrinkage: float
    degrees_of_freedom: float
    scale: Array

    def add_to(self, moments: ComponentMoments) -> ComponentMoments:
        """Add the prior to moments: their maximum likelihood is then the maximum a posteriori."""
        kappa, N = self.shrinkage, moments.weights
        total = np.where(N + kappa > 0, N + kappa, 1.0)
        shift = moments.means - self.mean
        means = moments.means - (kappa / total)[:, None] * shift
        between = outer_products(kappa * N / total, shift, moments.scatters)
        scatters = moments.scatters + self.scale + between
        return ComponentMoments(N + self.degrees_of_freedom + len(self.mean) + 2, means, scatters)

    def log_density(self, model: Gaussians) -> float:
        """Compute the logarithm of the prior's density, up to a constant."""
        shift = model.means - self.mean
        if model.full:
            inverse = model.factors.transpose(0, 2, 1) @ model.factors
            traces = np.einsum("kij,ij->k", inverse, self.scale)
            distances = (np.einsum("kij,kj->ki", model.factors, shift) ** 2).sum(axis=1)
        else:
            traces = (self.scale * model.factors**2).sum(axis=1)
            distances = ((model.factors * shift) ** 2).sum(axis=1)
        logs = (self.degrees_of_freedom + len(self.mean) + 2) * model.log_dets
        return float(-0.5 * (logs + traces + self.shrinkage * distances).sum())

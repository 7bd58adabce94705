"""Hyper-parameters that the mixture estimators share, their prior, and the config of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.random import Generator, RandomState

from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, Between, Parameters, Record, seed_of
from ceiba.mixture.covariance import CovarianceFloor, CovarianceForm, is_symmetric
from ceiba.mixture.data import MixtureData
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.statistics import ComponentMoments, ExpectedMoments, outer_products


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

    def resolve(self, k: int, reference: PriorReference, form: CovarianceForm) -> ResolvedPrior:
        """Fill in the defaults for ``k`` components of a form on data of these moments."""
        d = len(reference.mean)
        mean = reference.mean if self.mean is None else _check_array(self.mean, (d,), "mean")
        freedom = d + 2.0 if self.degrees_of_freedom is None else float(self.degrees_of_freedom)
        if not (np.isfinite(freedom) and freedom > d - 1):
            raise ValueError(
                f"degrees_of_freedom of the prior must be > {d - 1} (n_features - 1), got "
                f"{freedom:g}."
            )
        if self.scale is None:
            scale = reference.covariance / k ** (2.0 / d)
        else:
            scale = _check_array(self.scale, (d, d), "scale")
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


def _check_array(given: Any, shape: tuple[int, ...], name: str) -> Array:
    array = np.asarray(given, dtype=np.float64)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(
            f"{name} of the prior must be finite and of shape {shape}, got shape {array.shape}."
        )
    return array


class MixtureParameters(Parameters):
    """Hyper-parameters of `GaussianMixture` and `GaussianMixtureClassifier`."""

    covariance_type: Annotated[
        Literal[
            "full", "tied", "diag", "spherical", "ppca", "EII", "VII", "EEI", "VEI", "EVI", "VVI",
            "EEE", "VEE", "EVV", "EEV", "VEV", "VVV",
        ],
        "Form of the covariances: one matrix per component, one for all, variances, one variance "
        "per component, or probabilistic principal components; or mclust's letters for volume, "
        "shape and orientation, each equal (E), varying (V) or the identity (I).",
    ] = "full"  # fmt: skip
    n_latent: Annotated[
        int, AtLeast(1), "Latent dimensions of 'ppca'; less than the number of columns."
    ] = 1
    tol: Annotated[
        float,
        AtLeast(0.0),
        "A run ends when an iteration changes the log-likelihood (with the prior, for columns in "
        "units of their standard deviations) by less than this fraction. 0 makes exactly max_iter "
        "iterations, unless the floor would lower the objective.",
    ] = 1e-5
    reg_covar: Annotated[
        float, AtLeast(0.0), "Added to every variance, in the columns' own units; a last resort."
    ] = 0.0
    covariance_floor: Annotated[
        float,
        Between(0.0, 1.0, closed="neither"),
        "Minimum variance of a component in any direction, as a fraction of the data's variance: "
        "below it a component would shrink onto a few rows without end.",
    ] = 1e-6
    prior: Annotated[
        ConjugatePrior | Literal["default"] | None,
        "Normal-inverse-Wishart prior of every component: the posterior is maximized instead of "
        "the likelihood.",
    ] = None
    max_iter: Annotated[int, AtLeast(1), "Maximum number of EM iterations of a run."] = 100
    n_init: Annotated[
        int,
        AtLeast(1),
        "Number of initializations, of which the best is kept; at least three where a criterion "
        "chooses n_components.",
    ] = 1
    short_iter: Annotated[
        int | None,
        AtLeast(1),
        "With several initializations each runs only for this many iterations, and the best of "
        "them is continued; None runs all of them to the end.",
    ] = 10
    init_params: Annotated[
        Literal["kmeans", "k-means++", "random_from_data", "random"],
        "Initialization: clusters of k-means, its initial centers, random rows (each row then "
        "belongs to the nearest), or random responsibilities.",
    ] = "kmeans"
    empty_component: Annotated[
        Literal["reseed", "drop"],
        "Treatment of a component with less than a hundredth of a row: reseed it at the row of "
        "smallest density (at most n_components times per run, then drop it), or drop it. See "
        "``fit_events_``.",
    ] = "reseed"
    max_components: Annotated[
        int, AtLeast(1), "Maximum number of components where a criterion chooses n_components."
    ] = 9
    random_state: Annotated[
        int | RandomState | Generator | None,
        "Seed of the initialization and of ``sample``: the same int gives the same model; None "
        "draws a new one.",
    ] = 0
    n_jobs: Annotated[int | None, "Threads; None or -1 uses every core allowed."] = None


@dataclass(frozen=True, slots=True)
class EMConfig:
    """Configuration of a fit: the hyper-parameters, resolved for the data."""

    form: CovarianceForm
    floor: CovarianceFloor
    # Number of components per group of rows; weights sum to one within a group. A mixture has one
    # group, a classifier with a shared covariance one per class.
    sizes: tuple[int, ...] = ()
    covariance_floor: float = 0.0
    reg_covar: float = 0.0
    tol: float = 0.0
    prior: ConjugatePrior | None = None
    # Moments of the data from which the prior takes its defaults.
    prior_reference: PriorReference | None = None
    resolved_prior: ResolvedPrior | None = None  # the prior for ``sizes``
    max_iter: int = 100
    n_init: int = 1
    short_iter: int | None = None  # iterations of the short first runs; None for complete runs
    # Whether components that lose their rows are reseeded, at most ``max_reseeds`` times.
    reseed: bool = False
    max_reseeds: int = 0
    init_params: str = "kmeans"
    seed: int = 0
    # Initial parameters that replace those of the initialization.
    weights_init: Any = None
    means_init: Any = None
    precisions_init: Any = None
    responsibilities: Array | None = None  # shape (n_rows, k): initial responsibilities
    trace: bool = False

    @classmethod
    def of(
        cls,
        parameters: MixtureParameters,
        form: CovarianceForm,
        data: MixtureData,
        prior_reference: PriorReference | None = None,
        **more: Any,
    ) -> EMConfig:
        """Resolve hyper-parameters for the data; ``more`` sets further fields."""
        given = parameters.prior
        prior = ConjugatePrior() if isinstance(given, str) else given
        if prior is not None and prior_reference is None:
            prior_reference = _reference_of(data)
        fraction = parameters.covariance_floor
        return cls(
            form=form,
            floor=CovarianceFloor.of(fraction, data.variances, data.constant, form.isotropic),
            covariance_floor=fraction,
            reg_covar=parameters.reg_covar,
            tol=parameters.tol,
            prior=prior,
            prior_reference=prior_reference,
            max_iter=parameters.max_iter,
            n_init=parameters.n_init,
            short_iter=parameters.short_iter,
            reseed=parameters.empty_component == "reseed",
            init_params=parameters.init_params,
            seed=seed_of(parameters.random_state),
            **more,
        )

    def with_sizes(self, sizes: tuple[int, ...]) -> EMConfig:
        """Return the configuration for ``sizes`` components per group."""
        k = sum(sizes)
        resolved = None
        if self.prior is not None and self.prior_reference is not None:
            resolved = self.prior.resolve(k, self.prior_reference, self.form)
        max_reseeds = k if self.reseed else 0
        return replace(self, sizes=sizes, resolved_prior=resolved, max_reseeds=max_reseeds)

    def without(self, dropped: Array) -> EMConfig:
        """Return the configuration without the components of the mask ``dropped``."""
        sizes = tuple(int((~dropped[group]).sum()) for group in self.groups)
        return replace(self, sizes=sizes)

    @property
    def groups(self) -> list[slice]:
        """The components of each group of rows."""
        return group_slices(self.sizes)

    @property
    def has_all_parameters(self) -> bool:
        """Whether all initial parameters are given."""
        given = (self.weights_init, self.means_init, self.precisions_init)
        return all(values is not None for values in given)

    def log_prior(self, model: Gaussians) -> float:
        """Compute the log density of the prior; 0 without one."""
        return 0.0 if self.resolved_prior is None else self.resolved_prior.log_density(model)


def group_slices(sizes: tuple[int, ...]) -> list[slice]:
    """Return the components of each group as slices."""
    return [slice(int(a), int(b)) for a, b in pairwise(np.cumsum((0, *sizes)))]


def _reference_of(data: MixtureData) -> PriorReference:
    """Compute mean and covariance; a missing value counts as its column's mean and variance."""
    model = data.common_gaussians(1, True)
    moments = data.engine.reduce(data.groups[0], ExpectedMoments.of, model).centered()
    return PriorReference(moments.means[0], moments.scatters[0] / moments.weights[0])

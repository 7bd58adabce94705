"""Hyper-parameters that the mixture estimators share, and the configuration of a fit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.random import Generator, RandomState

from ceiba._typing import Array
from ceiba.base import AtLeast, Between, Parameters, seed_of
from ceiba.mixture.covariance import CovarianceFloor, CovarianceForm
from ceiba.mixture.data import MixtureData
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.prior import ConjugatePrior, PriorReference, ResolvedPrior
from ceiba.mixture.statistics import ExpectedMoments


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
    """Configuration of a fit: the hyper-parameters, resolved for the data.

    Parameters
    ----------
    form : CovarianceForm
    floor : CovarianceFloor
    sizes : tuple of int
        Number of components per group of rows; weights sum to one within a group. A mixture has
        one group, a classifier with a shared covariance one per class.
    covariance_floor, reg_covar, tol : float
    prior : ConjugatePrior or None
    prior_reference : PriorReference or None
        Moments of the data from which the prior takes its defaults.
    resolved_prior : ResolvedPrior or None
        The prior for ``sizes``.
    max_iter, n_init : int
    short_iter : int or None
        Iterations of the short first runs; None for complete runs.
    reseed : bool
        Whether components that lose their rows are reseeded, at most ``max_reseeds`` times.
    init_params : str
    seed : int
    weights_init, means_init, precisions_init : array-like or None
        Initial parameters that replace those of the initialization.
    responsibilities : ndarray of shape (n_rows, k) or None
        Initial responsibilities.
    trace : bool
    """

    form: CovarianceForm
    floor: CovarianceFloor
    sizes: tuple[int, ...] = ()
    covariance_floor: float = 0.0
    reg_covar: float = 0.0
    tol: float = 0.0
    prior: ConjugatePrior | None = None
    prior_reference: PriorReference | None = None
    resolved_prior: ResolvedPrior | None = None
    max_iter: int = 100
    n_init: int = 1
    short_iter: int | None = None
    reseed: bool = False
    max_reseeds: int = 0
    init_params: str = "kmeans"
    seed: int = 0
    weights_init: Any = None
    means_init: Any = None
    precisions_init: Any = None
    responsibilities: Array | None = None
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

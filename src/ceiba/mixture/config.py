"""Hyper-parameters of the mixture estimators, the rows of a fit and its configuration."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from math import inf
from typing import Annotated, Any, Literal

import numpy as np
from numpy.random import Generator, RandomState

from ceiba._typing import Array
from ceiba.base import AtLeast, Between, Parameters, check_unused, seed_of, validate
from ceiba.base.parameters import Verbose
from ceiba.cluster.first_pass import summarize_batch, summarize_points
from ceiba.data.encoding import Encoding
from ceiba.data.schema import Kind, Schema
from ceiba.data.source import Source
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.mixture.covariance import CovarianceFloor, CovarianceForm, is_isotropic
from ceiba.mixture.events import DegenerateColumnWarning
from ceiba.mixture.prior import ConjugatePrior, PriorReference, ResolvedPrior
from ceiba.mixture.statistics import ComponentMoments, ExpectedMoments, Gaussians
from ceiba.stats import Moments, PointSpace
from ceiba.stats.dependence import describe_dependences, find_dependences
from ceiba.stats.scaling import PointScaling, warn_dominant_column

# Squares of standard deviations below 1e-100, times any weight, would underflow.
_MIN_VARIANCE = 1e-200


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
        int, AtLeast(1), "With 'ppca': latent dimensions; less than the number of columns."
    ] = 1
    tol: Annotated[
        float,
        AtLeast(0.0),
        "A run ends when an iteration changes the log-likelihood (with the prior, for columns in "
        "units of their standard deviations) by less than this fraction. 0 makes exactly max_iter "
        "iterations, unless the floor would lower the objective.",
    ] = 1e-5
    reg_covar: Annotated[
        float,
        Between(0.0, inf, closed="left"),
        "Added to every variance, in the columns' own units; a last resort.",
    ] = 0.0
    covariance_floor: Annotated[
        float,
        Between(0.0, 1.0, closed="left"),
        "Minimum variance of a component in any direction, as a fraction of the data's variance: "
        "below it a component would shrink onto a few rows without end. 0 sets no minimum, and a "
        "fit raises an error where a covariance becomes singular.",
    ] = 1e-6
    prior: Annotated[
        ConjugatePrior | Literal["default"] | None,
        "Normal-inverse-Wishart prior of every component: the posterior is maximized instead of "
        "the likelihood.",
    ] = None
    max_iter: Annotated[
        int,
        AtLeast(0),
        "Maximum number of EM iterations of a run; 0 for the initial parameters as they are.",
    ] = 100
    n_init: Annotated[
        int,
        AtLeast(1),
        "Number of initializations, of which the best is kept; at least three where a criterion "
        "chooses n_components.",
    ] = 1
    short_iter: Annotated[
        int | None,
        AtLeast(1),
        "With several initializations, and without a criterion: each runs only for this many "
        "iterations, and the best of them is continued; None runs all of them to the end.",
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
    scale: Annotated[
        Literal["range", "std"] | None,
        "Divide each column by its range or its standard deviation, which changes the "
        "initialization, forms with one variance for all columns, and the units of reg_covar; None "
        "uses the columns as they are.",
    ] = None
    verbose: Verbose = 0
    verbose_interval: Annotated[
        int, AtLeast(1), "With verbose: number of iterations between two lines."
    ] = 10

    def _validate(self) -> None:
        """Raise for values that are not allowed, and for parameters that would have no effect."""
        validate(self)
        k: Any = self.n_components  # type: ignore[attr-defined]
        if self.covariance_type != "ppca":
            check_unused(self, ["n_latent"], f"covariance_type={self.covariance_type!r}")
        if not isinstance(k, str):
            check_unused(self, ["max_components"], "n_components that is not a criterion")
        if not self.verbose:
            check_unused(self, ["verbose_interval"], f"verbose={self.verbose!r}")
        if self.short_iter is not None and (isinstance(k, str) or self.n_init == 1):
            when = f"n_components={k!r}" if isinstance(k, str) else "n_init=1"
            check_unused(self, ["short_iter"], when)


@dataclass(frozen=True, slots=True)
class MixtureData:
    """Rows, in one group or in several, and the result of the first pass over them."""

    engine: Engine
    groups: tuple[Any, ...]  # the rows of each group
    moments: Moments
    space: PointSpace
    # Scale of the data, (d,): the columns' variances; the mean variance for constant columns.
    variances: Array
    schema: Schema
    constant: Array  # shape (d,): mask of constant columns
    row_weights: tuple[float, ...]  # mean weight of a row, per group
    n_rows: int = 0  # number of rows of positive weight
    scaling: PointScaling | None = None  # units of all of these; None for the columns' own

    @classmethod
    def of(cls, engine: Engine, source: Source, parameters: MixtureParameters) -> MixtureData:
        """Make the first pass over a source; raise for columns that no mixture can describe."""
        schema = source.schema
        _check_numeric(schema)
        isotropic = is_isotropic(parameters.covariance_type)
        rows, moments, scaling = summarize_points(
            engine, source, scale=parameters.scale, own_exponents=not isotropic
        )
        space = PointSpace.of(moments)
        if isotropic and parameters.scale is None:  # other forms adapt to the columns' units
            warn_dominant_column(moments, Encoding.of(schema))
        n_rows = moments.n_rows
        constant = moments.max == moments.min
        if isotropic:  # a column that vanishes beside others does not count
            constant |= ~(moments.variance > _MIN_VARIANCE)
        variances = _scale(moments, moments.variance, constant, schema, parameters)
        weights = (moments.total / n_rows,)
        return cls(
            engine, (rows,), moments, space, variances, schema, constant, weights, n_rows, scaling
        )

    @classmethod
    def of_batch(
        cls,
        engine: Engine,
        source: Source,
        variances: Array,
        mean: Array,
        constant: Array,
        scaling: PointScaling | None,
    ) -> MixtureData:
        """Summarize a later batch under the scale of the first; columns may miss all values."""
        rows, moments = summarize_batch(engine, source, scaling)
        offset = np.where(moments.weight > 0, moments.mean, mean)
        space = PointSpace(offset, moments.n_missing > 0)
        schema = source.schema
        data = cls(engine, (), moments, space, variances, schema, constant, (), scaling=scaling)
        return data.group(rows, moments)

    def group(self, rows: Any, moments: Moments) -> MixtureData:
        """Return some of the rows alone, under the scale of all rows."""
        n_rows = moments.n_rows
        weights = (moments.total / max(n_rows, 1),)
        return replace(self, groups=(rows,), moments=moments, row_weights=weights, n_rows=n_rows)

    @property
    def weight(self) -> float:
        """Weight of all rows."""
        return self.moments.total

    @property
    def mean(self) -> Array:
        """Mean of every column; where these rows have no value, the mean of all rows."""
        return np.where(self.moments.weight > 0, self.moments.mean, self.space.offset)

    @property
    def log_factor(self) -> float:
        """Amount by which the log-likelihood is larger in the columns' own units."""
        return (
            0.0 if self.scaling is None else float(self.moments.weight @ self.scaling.log_factors)
        )

    @property
    def log_scale(self) -> float:
        """Amount by which unit variance of every column would raise the log-likelihood."""
        return float(self.moments.weight @ np.log(self.variances)) / 2

    def describe_dependences(self, covariance_floor: float) -> str:
        """Return a sentence about columns that determine one another; empty without any.

        It costs a pass over the rows, so it is for errors and warnings. A direction at the floor
        leaves a column several times the floor, because it is a mixture of columns.
        """
        d = len(self.variances)
        if self.n_rows <= d:
            return (
                f"There are only {self.n_rows} rows for {d} columns: drop columns, add rows, or "
                "use covariance_type='diag'."
            )
        parts = [_common_moments(replace(self, groups=(rows,))) for rows in self.groups]
        whole = reduce(ComponentMoments.merge, parts)
        covariance = whole.scatters[0] / whole.weights[0]
        names = Encoding.of(self.schema).names
        found = find_dependences(whole.means[0], covariance, names, 10.0 * covariance_floor)
        return describe_dependences(found)

    def common_gaussians(self, k: int, full: bool) -> Gaussians:
        """Return ``k`` equal components with the mean and variances of all rows."""
        d = len(self.variances)
        covariance = np.diag(self.variances) if full else self.variances
        return Gaussians.of(
            np.full(k, 1.0 / k),
            np.broadcast_to(self.mean, (k, d)).copy(),
            np.broadcast_to(covariance, (k, *covariance.shape)).copy(),
        )


def _check_numeric(schema: Schema) -> None:
    """Raise for nominal columns with categories: identifiers, without any, are left out."""
    nominal = [c.name for c in schema if c.kind is Kind.NOMINAL and c.categories]
    if nominal:
        more = f" and {len(nominal) - 1} more" if len(nominal) > 1 else ""
        raise ValueError(
            f"X must be numeric, got nominal column {nominal[0]!r}{more}: leave it out, or use a "
            "learner that takes nominal columns, ceiba.LatentClassMixture or ceiba.KMeans for "
            "groups and ceiba.RandomForestClassifier for classes."
        )


def _scale(
    moments: Moments,
    variances: Array,
    constant: Array,
    schema: Schema,
    parameters: MixtureParameters,
) -> Array:
    """Return the variances of the columns; a constant one gets the mean of the others."""
    tiny = ~constant & ~(variances > _MIN_VARIANCE)
    if tiny.any():
        name = Encoding.of(schema).names[int(np.argmax(tiny))]
        raise ValueError(
            f"The variance of column {name!r} underflows beside those of other columns: rescale "
            "it, or set scale='std'."
        )
    reg_covar = parameters.reg_covar
    if not constant.any():
        return variances
    if constant.all():
        if not reg_covar:
            raise ValueError(
                f"X must have rows that differ, got n_samples={moments.n_rows} equal rows: pass "
                "other rows, or set reg_covar > 0."
            )
        return np.full_like(variances, reg_covar)
    variances[constant] = variances[~constant].mean()
    # Without a floor, the error of a singular covariance names them.
    if not reg_covar and parameters.covariance_floor:
        names = Encoding.of(schema).names
        equal = moments.max[constant] == moments.min[constant]
        kind = "constant columns" if equal.all() else "columns that are constant beside the others"
        warn_user(
            f"{kind}: {', '.join(names[j] for j in np.flatnonzero(constant))}. Their "
            "variance is set by covariance_floor, and densities depend on it: drop them, or set "
            "reg_covar.",
            DegenerateColumnWarning,
        )
    return variances


# Hyper-parameters that a configuration has as they are.
_SAME_NAMES = (
    "covariance_floor", "reg_covar", "tol", "max_iter", "n_init", "short_iter", "init_params",
)  # fmt: skip


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
    reg_units: Array | None = None  # shape (d,): a unit of ``reg_covar`` in each column
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
        if prior is not None and data.scaling is not None:
            prior = prior.to_units(data.scaling)
        if prior is not None and prior_reference is None:
            moments = _common_moments(data)
            covariance = moments.scatters[0] / moments.weights[0]
            prior_reference = PriorReference(moments.means[0], covariance)
        return cls(
            form=form,
            floor=CovarianceFloor.of(
                parameters.covariance_floor, data.variances, data.constant, form.isotropic
            ),
            prior=prior,
            prior_reference=prior_reference,
            reseed=parameters.empty_component == "reseed",
            seed=seed_of(parameters.random_state),
            reg_units=_regularization_units(parameters.reg_covar, data.scaling),
            **{name: getattr(parameters, name) for name in _SAME_NAMES},
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


def _regularization_units(reg_covar: float, scaling: PointScaling | None) -> Array | None:
    """Return what a variance of 1 in the columns' own units is in those of the fit."""
    if not reg_covar or scaling is None or scaling.scaled or not scaling.exponents.any():
        return None
    with np.errstate(over="ignore", under="ignore"):
        units = np.ldexp(1.0, 2 * scaling.exponents)
        finite = np.isfinite(reg_covar * units)
    if not finite.all():
        raise ValueError(
            f"reg_covar must be comparable with the variances of the columns, got {reg_covar:g}: "
            "rescale X, or set scale='std'."
        )
    return np.asarray(units)


def group_slices(sizes: tuple[int, ...]) -> list[slice]:
    """Return the components of each group as slices."""
    return [slice(int(a), int(b)) for a, b in pairwise(np.cumsum((0, *sizes)))]


def _common_moments(data: MixtureData) -> ComponentMoments:
    """Compute mean and scatter; a missing value counts as its column's mean and variance."""
    model = data.common_gaussians(1, True)
    return data.engine.reduce(data.groups[0], ExpectedMoments.of, model).centered()

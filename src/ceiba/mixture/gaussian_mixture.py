"""Gaussian mixture for density estimation and clustering: the estimator."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ceiba._typing import Array
from ceiba.base import (
    AtLeast,
    Between,
    check_unused,
    fitted,
    parameter,
    reports_progress,
)
from ceiba.base.estimator import schema_attributes
from ceiba.base.scaling import StoredScaling
from ceiba.data.schema import Schema
from ceiba.data.warn import warn_user
from ceiba.mixture.base import FittedMixture, to_fitted
from ceiba.mixture.config import EMConfig, MixtureData
from ceiba.mixture.covariance import CovarianceForm, covariance_form, principal_parts
from ceiba.mixture.events import (
    CollapsedComponentWarning,
    FitEvent,
    FitEvents,
    UnstableChoiceWarning,
)
from ceiba.mixture.fitter import FitResult, check_responsibilities, fit_mixture
from ceiba.mixture.online import OnlineState, fit_batch, moments_of
from ceiba.mixture.selection import select_n_components
from ceiba.mixture.statistics import Gaussians
from ceiba.stats.scaling import PointScaling, distance_from_units

_INITIAL_PARAMETERS = ("weights_init", "means_init", "precisions_init")
_SCALED_ATTRIBUTES = ("_scaling", "_scaled_means", "_scaled_covariances")
_LATENT_ATTRIBUTES = ("latent_axes_", "latent_variances_", "noise_variances_")


class GaussianMixture(FittedMixture):
    """Mixture of Gaussians for density estimation and clustering, fitted by EM.

    A missing value (NaN) is integrated out, in training and in prediction: densities are those of
    the observed values, and moments use the conditional expectation of the others. Numbers count as
    they are, ordinal columns as their rank from 0 to 1, dates in days; nominal columns raise an
    error (`LatentClassMixture` describes them). Rows may be float32 or float64; sums are float64.

    The variances of a component that shrinks stay at a floor relative to the data's variances; a
    component that loses all its rows is reseeded or dropped; ``fit_events_`` lists what happened.

    {parameters}

    Attributes
    ----------
    weights_ : ndarray of shape (k,)
    means_ : ndarray of shape (k, n_features)
    covariances_ : ndarray
        One matrix per component, a single one for ``tied``; one row of variances per component
        with diagonal forms; one variance per component with ``spherical`` and ``EII``.
    n_components_ : int
        Number of components of the fitted mixture.
    log_likelihood_ : float
        Weighted log-likelihood of the training rows.
    lower_bound_ : float
        Objective of EM per unit of weight: the log-likelihood, with the prior if there is one.
    lower_bounds_ : list of float
        The same after each iteration of the best run, and for each batch of ``partial_fit``.
    converged_ : bool
    n_iter_ : int
        Number of iterations of the best run.
    fit_events_ : FitEvents
        Components that were reseeded, dropped or reached the floor; ``print`` it.
    choice_ : MixtureChoice
        The table of criteria, where a criterion chose ``n_components``.
    latent_axes_, latent_variances_, noise_variances_ : ndarray
        With ``ppca``: the principal axes of each component (columns), the variances along them, and
        the variance in every other direction.
    trace_ : Trace
        With ``trace=True``: one frame per iteration of the best run with ``weights``, ``means``,
        ``covariances``, ``log_likelihood`` and ``objective``; at most 1000 frames and 64 MB.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import GaussianMixture
    >>> X = np.array([[1.0, 2.0], [1.2, np.nan], [0.8, 1.8], [9.0, 9.1], [8.8, 9.3], [9.3, 8.8]])
    >>> model = GaussianMixture(2, covariance_type="diag").fit(X)
    >>> model.weights_.round(2)
    array([0.5, 0.5])
    >>> filled = model.impute(X)
    >>> bool(1.5 < filled[1, 1] < 2.5)
    True

    References
    ----------
    Dempster, Laird & Rubin (1977), "Maximum likelihood from incomplete data via the EM algorithm",
    JRSS B 39.
    Celeux & Govaert (1995), "Gaussian parsimonious clustering models", Pattern Recognition 28.
    Ghahramani & Jordan (1994), "Supervised learning from incomplete data via an EM approach",
    NIPS 6.
    """

    n_components: Annotated[
        Annotated[int, AtLeast(1)] | Literal["bic", "aic", "icl"],
        "Number of components, or the criterion that chooses it, from 1 to max_components.",
    ] = parameter(1, kw_only=False)
    weights_init: Annotated[np.ndarray[Any, Any] | None, "Initial weights, (n_components,)."] = None
    means_init: Annotated[
        np.ndarray[Any, Any] | None, "Initial means, (n_components, n_features)."
    ] = None
    precisions_init: Annotated[
        np.ndarray[Any, Any] | None,
        "Initial inverse covariances, in the shape of ``covariances_``.",
    ] = None
    responsibilities_init: Annotated[
        np.ndarray[Any, Any] | None,
        "Initial responsibilities, (n_rows, n_components), for rows in memory.",
    ] = None
    learning_decay: Annotated[
        float,
        Between(0.5, 1.0, closed="right"),
        "Exponent of the weight of a batch in ``partial_fit``: its fraction of all weight so far, "
        "to this power. 1 weights all batches equally, less forgets older ones sooner.",
    ] = 0.7
    warm_start: Annotated[
        bool,
        "Continue from the fitted model, if its number of components and form are the same; not "
        "with a criterion.",
    ] = False
    trace: Annotated[bool, "Keep each iteration in ``trace_``."] = False

    log_likelihood_: float = fitted()
    lower_bound_: float = fitted()
    lower_bounds_: list[float] = fitted()
    converged_: bool = fitted()
    n_iter_: int = fitted()
    fit_events_: FitEvents = fitted()

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the mixture to ``X``.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory, of files larger than memory (``ceiba.scan``), or on a cluster.
        y : ignored
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero count as absent.

        Returns
        -------
        self : GaussianMixture
        """
        data, config = self._prepare_fit(X, sample_weight)
        if isinstance(self.n_components, str):
            result = select_n_components(data, config, self.n_components, self)
            if result.choice.unstable.any():
                warn_user(result.choice.instability, UnstableChoiceWarning)
        else:
            check_n_components(data.n_rows, self.n_components)
            attributes = partial(model_attributes, data.schema, config.form, scaling=data.scaling)
            result = fit_mixture(data, config, (self.n_components,), self, attributes)
        self._set_result(result, config, data)
        warn_events(
            result.best.converged or result.stopped, self.max_iter, result.events, data, config
        )
        return self

    @reports_progress
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Make one iteration of online EM: mix the batch's moments into those of all batches.

        The first call initializes the mixture from its batch, as a ``fit`` with one initialization
        would, and the variances of that batch are the scale of the floor; after ``fit`` the fitted
        mixture is updated. No trace is kept, and ``log_likelihood_`` is that of the batch before
        the update.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.

        Returns
        -------
        self : GaussianMixture

        References
        ----------
        Cappé & Moulines (2009), "On-line expectation-maximization algorithm for latent data
        models", JRSS B 71.
        """
        self._validate()
        if isinstance(self.n_components, str):
            raise ValueError(
                f"partial_fit requires n_components to be an int, got {self.n_components!r}."
            )
        if not hasattr(self, "means_"):
            data, config = self._prepare_fit(X, sample_weight)
            check_n_components(data.n_rows, self.n_components)
            state = OnlineState(self.n_components)
        else:
            state = self._online_state()
            engine, source = self._open_source(X, sample_weight, reset=False)
            mean = self.weights_ @ self._gaussians.means
            data = MixtureData.of_batch(
                engine, source, self._column_variances, mean, self._constant_columns, self._units
            )
            config = self._config(data, prior_reference=getattr(self, "_prior_reference", None))
        moments, result = fit_batch(data, config, state, self.learning_decay)
        self._set_result(
            result, config, data,
            n_iter_=state.n_iter + 1,
            lower_bounds_=[
                *getattr(self, "lower_bounds_", []), result.best.objective / data.weight
            ],
            fit_events_=FitEvents((*state.events, *result.events)),
            _moments=moments,
            _weight_seen=float(moments.weights.sum()),
        )  # fmt: skip
        warn_events(True, self.max_iter, result.events, data, config)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit the mixture to ``X`` and return the most probable component of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def _online_state(self) -> OnlineState:
        """Return the state that ``partial_fit`` continues from."""
        k = len(self.weights_)
        dropped = any(event.kind == "dropped" for event in self.fit_events_)
        matches = self.n_components == k or dropped
        if not self._matches_model(k, self.means_.shape[1]) or not matches:
            raise ValueError(
                f"n_components and covariance_type must match the fitted {k} components with "
                f"covariances of shape {self.covariances_.shape}, got {self.n_components!r} and "
                f"{self.covariance_type!r}: set them back, or call fit."
            )
        moments = getattr(self, "_moments", None)
        if moments is None:
            moments = moments_of(self._gaussians, self._weight_seen)
        # Components at the floor are found again after the batch.
        events = tuple(event for event in self.fit_events_ if event.kind != "floored")
        return OnlineState(k, self._gaussians, moments, self.n_iter_, events)

    def _prepare_fit(self, X: Any, sample_weight: Any) -> tuple[MixtureData, EMConfig]:
        """Make the first pass over ``X`` and resolve the hyper-parameters."""
        self._validate()
        engine, source = self._open_source(X, sample_weight, reset=True)
        data = MixtureData.of(engine, source, self)
        given = self.responsibilities_init
        if given is None or isinstance(self.n_components, str):
            return data, self._config(data)
        n_rows = len(source.partitions[0].load().table) if engine.in_memory else 0
        values = check_responsibilities(given, n_rows, self.n_components, engine)
        return data, self._config(data, responsibilities=values)

    def _validate(self) -> None:
        super()._validate()
        has_parameters = all(getattr(self, name) is not None for name in _INITIAL_PARAMETERS)
        when = ", ".join(_INITIAL_PARAMETERS) if has_parameters else "responsibilities_init"
        if isinstance(self.n_components, str):
            names = (*_INITIAL_PARAMETERS, "responsibilities_init", "warm_start")
            check_unused(self, names, f"n_components={self.n_components!r}")
        elif has_parameters or self.responsibilities_init is not None:
            unused = ["init_params", "responsibilities_init"][: 1 + has_parameters]
            check_unused(self, unused, when)
            if self.n_init > 1:  # as in KMeans
                warn_user(
                    f"Initial values passed ({when}): performing only one init instead of "
                    f"n_init={self.n_init}.",
                    RuntimeWarning,
                )

    def _config(self, data: MixtureData, **more: Any) -> EMConfig:
        d = len(data.variances)
        form = covariance_form(self.covariance_type, self.n_latent, d)
        weights, means, precisions = self.weights_init, self.means_init, self.precisions_init
        scaling = data.scaling
        if self.warm_start and self._matches_model(self.n_components, d):
            weights, means, precisions = self.weights_, self.means_, self.precisions_
            if self._units is not None or scaling is not None:
                means, precisions = self._parameters_in(scaling, form)
        elif scaling is not None:
            means, precisions = _to_units(means, precisions, form, scaling)
        return EMConfig.of(
            self,
            form,
            data,
            trace=self.trace,
            weights_init=weights,
            means_init=means,
            precisions_init=precisions,
            **more,
        )

    def _parameters_in(
        self, scaling: PointScaling | None, form: CovarianceForm
    ) -> tuple[Array, Array]:
        """Return means and precisions of the fitted model in the units of another fit."""
        model = self._gaussians
        precisions = model.factors**2
        if model.full:
            precisions = np.swapaxes(model.factors, 1, 2) @ model.factors
        means = model.means
        identity = PointScaling.identity(means.shape[1])
        old, new = self._units or identity, scaling or identity
        change = replace(
            identity,
            exponents=new.exponents - old.exponents,
            divisors=new.divisors / old.divisors,
            scaled=True,
        )
        means = new.to_units(old.from_units(means))
        return means, form.to_fitted(change.covariances_from_units(precisions))

    def _matches_model(self, k: Any, d: int) -> bool:
        """Whether the fitted model has ``k`` components of the form of ``covariance_type``."""
        if not hasattr(self, "means_") or self.means_.shape != (k, d):
            return False
        form = covariance_form(self.covariance_type, self.n_latent, d)
        return bool(self._unit_covariances.shape == form.fitted_shape(k, d))

    def _set_result(
        self, result: FitResult, config: EMConfig, data: MixtureData, **more: Any
    ) -> None:
        """Replace the fitted attributes by those of a fit, and ``more``."""
        best = result.best
        attributes = {
            **model_attributes(data.schema, config.form, best.model, data.scaling),
            "log_likelihood_": best.log_likelihood + data.log_factor,
            "lower_bound_": (best.objective + data.log_factor) / data.weight,
            "lower_bounds_": [
                (objective + data.log_factor) / data.weight for objective in best.objectives
            ],
            "converged_": best.converged,
            "n_iter_": best.n_iter,
            "fit_events_": FitEvents(result.events),
            "_column_variances": data.variances,
            "_constant_columns": data.constant,
            "_weight_seen": data.weight,
        }
        optional: dict[str, Any] = {
            "_prior_reference": config.prior_reference,
            "choice_": result.choice,
            "trace_": result.trace,
        }
        if self.reg_covar or self.prior is not None:
            # The covariances contain more than the rows: `partial_fit` needs the rows' moments.
            optional["_moments"] = best.moments
        attributes |= {name: value for name, value in optional.items() if value is not None}
        dropped = (*optional, "_moments", *_LATENT_ATTRIBUTES, *_SCALED_ATTRIBUTES)
        self._set_fitted(attributes | more, without=dropped)


def model_attributes(
    schema: Schema, form: CovarianceForm, model: Gaussians, scaling: PointScaling | None = None
) -> dict[str, Any]:
    """Return the fitted attributes that a model in the units of a fit needs to predict."""
    means, covariances, fitted = model.means, model.covariances, {}
    if scaling is not None:
        scaled = (StoredScaling.of(scaling), means, form.to_fitted(covariances))
        fitted = dict(zip(_SCALED_ATTRIBUTES, scaled, strict=True))
        means = scaling.from_units(means)
        covariances = scaling.covariances_from_units(covariances)
    attributes = {
        **schema_attributes(schema),
        "weights_": model.weights,
        "means_": means,
        "covariances_": to_fitted(covariances, form, scaling),
        "n_components_": len(model.weights),
        **fitted,
    }
    if form.n_latent:
        axes, *variances = principal_parts(model.covariances, form.n_latent)
        parts = (axes, *(distance_from_units(values, scaling, 2) for values in variances))
        attributes.update(zip(_LATENT_ATTRIBUTES, parts, strict=True))
    return attributes


def _to_units(
    means: Any, precisions: Any, form: CovarianceForm, scaling: PointScaling
) -> tuple[Any, Any]:
    """Convert given initial parameters; those of a wrong shape raise an error later."""
    d = len(scaling.divisors)
    if means is not None and np.ndim(means) == 2 and np.shape(means)[1] == d:
        means = scaling.to_units(np.asarray(means, dtype=np.float64))
    if precisions is None:
        return means, None
    given = np.asarray(precisions, dtype=np.float64)
    if given.ndim == 1:  # one variance for all columns: in the units of a scale
        return means, distance_from_units(given, scaling, 2)
    single = given.ndim == 2 and form.full
    if given.shape[-1] == d:
        given = scaling.covariances_from_units(given[None] if single else given)
    return means, given[0] if single else given


def check_n_components(n_rows: int, k: int) -> None:
    """Raise for more components than rows."""
    if n_rows < k:
        raise ValueError(
            f"Expected n_samples >= n_components but got n_components = {k}, n_samples = {n_rows}"
        )


def warn_events(
    converged: bool,
    max_iter: int,
    events: tuple[FitEvent, ...],
    data: MixtureData,
    config: EMConfig,
) -> None:
    """Warn of the events of a fit, and of a fit that did not converge."""
    if events:
        # Dependent columns bring every component to the floor, however many there are.
        floored = config.form.full and any(event.kind == "floored" for event in events)
        cause = data.describe_dependences(config.covariance_floor) if floored else ""
        remedy = (
            "Fewer components, a simpler covariance_type or a prior may fit these data better; see "
            "fit_events_."
        )
        warn_user(f"{FitEvents(events)}\n{cause or remedy}", CollapsedComponentWarning)
    if not converged and max_iter > 0:  # 0 asks for the initial parameters
        warn_user(
            f"EM did not converge in max_iter={max_iter} iterations: raise max_iter or tol, or "
            "check for degenerate data.",
            ConvergenceWarning,
        )

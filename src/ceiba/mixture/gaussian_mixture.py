"""The Gaussian mixture: density estimation and clustering."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClusterMixin, DensityMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ceiba.base import AtLeast, Estimator, seed_of, validate, watched
from ceiba.base.estimator import schema_attributes
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.engine import Engine
from ceiba.mixture.account import Account, CollapsedComponentWarning
from ceiba.mixture.choice import MixtureChoice, choose_number
from ceiba.mixture.criteria import Criteria, n_parameters
from ceiba.mixture.form import Form, form_of, principal_parts
from ceiba.mixture.given import GivenParameters
from ceiba.mixture.learn import Learnt, Plan, learn
from ceiba.mixture.online import learn_batch, memory_of
from ceiba.mixture.parameters import (
    CovarianceType,
    Empty,
    FloorShare,
    InitParams,
    Jobs,
    Latent,
    LearningDecay,
    MaxComponents,
    MaxIter,
    NInit,
    Prior,
    RegCovar,
    Seed,
    ShortIter,
    Tol,
)
from ceiba.mixture.prior import ConjugatePrior
from ceiba.mixture.sample import draw_rows
from ceiba.mixture.starts import Start, given_shares
from ceiba.mixture.surveyed import Surveyed, check_numeric
from ceiba.stats import ToPoints
from ceiba.stats.gaussians import Gaussians
from ceiba.stats.imputed import Imputation, Imputed
from ceiba.stats.points import Array
from ceiba.stats.posteriors import Fit, Likeliest, LogDensities, Posteriors


class GaussianMixture(ClusterMixin, DensityMixin, Estimator):
    """Mixture of Gaussians for density estimation and clustering, by EM, with gaps as they are.

    A missing value (NaN) is integrated out, in training and in prediction: densities are those of
    what is observed, and moments use what the component expects of the rest. Numbers count as they
    are, ordinal columns as their rank from 0 to 1, dates in days; nominal columns are refused (the
    latent-class model describes them). Rows may be float32 or float64; sums are in float64.

    A component that shrinks is held at a floor relative to the data's variances, one that loses
    all its rows is started again or dropped, and ``account_`` tells what happened.

    {parameters}

    Attributes
    ----------
    weights_ : ndarray of shape (n_components_,)
    means_ : ndarray of shape (n_components_, n_features)
    covariances_ : ndarray
        Of shape (n_components_, n_features, n_features); (n_features, n_features) for ``tied``;
        (n_components_, n_features) for diagonal forms; (n_components_,) for ``spherical`` and
        ``EII``.
    n_components_ : int
        Components of the fitted mixture.
    log_likelihood_ : float
        Of the training rows, weighted.
    lower_bound_ : float
        What EM raised, for each unit of weight: the log-likelihood, with the prior if there is one.
    converged_ : bool
    n_iter_ : int
        Steps of the best run.
    account_ : Account
        What happened to components; ``print`` it.
    choice_ : MixtureChoice
        Where a criterion chose ``n_components``: the table.
    latent_axes_, latent_variances_, noise_variances_ : ndarray
        Of ``ppca``: principal axes (n_components_, n_features, n_latent), the variances along them,
        and the variance in every other direction.
    trace_ : Trace
        With ``trace=True``: a frame for each step of the best run with ``weights``, ``means``,
        ``covariances``, ``log_likelihood`` and ``objective``, from the start to the end; at most
        1000 frames and 64 MB.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

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

    _state_names: ClassVar[tuple[str, ...]] = ("_memory", "_seen", "_variances")

    def __init__(
        self,
        n_components: Annotated[
            Annotated[int, AtLeast(1)] | Literal["bic", "aic", "icl"],
            "Number of components, or the criterion that chooses it, from 1 to max_components.",
        ] = 1,
        *,
        covariance_type: CovarianceType = "full",
        n_latent: Latent = 1,
        tol: Tol = 1e-5,
        reg_covar: RegCovar = 0.0,
        covariance_floor: FloorShare = 1e-6,
        prior: Prior = None,
        max_iter: MaxIter = 100,
        n_init: NInit = 1,
        short_iter: ShortIter = 10,
        init_params: InitParams = "kmeans",
        weights_init: Annotated[
            np.ndarray[Any, Any] | None, "Weights to start with, (n_components,)."
        ] = None,
        means_init: Annotated[
            np.ndarray[Any, Any] | None, "Means to start with, (n_components, n_features)."
        ] = None,
        precisions_init: Annotated[
            np.ndarray[Any, Any] | None,
            "Inverse covariances to start with, in the shape of covariances_.",
        ] = None,
        responsibilities_init: Annotated[
            np.ndarray[Any, Any] | None,
            "Responsibilities to start with, (n_rows, n_components), for rows in memory.",
        ] = None,
        empty: Empty = "reseed",
        max_components: MaxComponents = 9,
        learning_decay: LearningDecay = 0.7,
        warm_start: Annotated[bool, "Go on from the model of the fit before."] = False,
        random_state: Seed = 0,
        n_jobs: Jobs = None,
        trace: Annotated[bool, "Keep each step in ``trace_``."] = False,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.n_latent = n_latent
        self.tol = tol
        self.reg_covar = reg_covar
        self.covariance_floor = covariance_floor
        self.prior = prior
        self.max_iter = max_iter
        self.n_init = n_init
        self.short_iter = short_iter
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.responsibilities_init = responsibilities_init
        self.empty = empty
        self.max_components = max_components
        self.learning_decay = learning_decay
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.trace = trace

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = False
        tags.input_tags.string = False
        return tags

    @watched
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
        data, plan = self._prepared(X, sample_weight)
        choice: MixtureChoice | None = None
        if isinstance(self.n_components, str):
            most = min(self.max_components, data.n_rows)
            choice, learnt = choose_number(data, plan, range(1, most + 1), self.n_components)
        else:
            check_enough(data.n_rows, self.n_components)
            fitted = partial(_model_of, data.schema, plan.form)
            learnt = learn(data, plan, (self.n_components,), self, fitted)
        self._keep(learnt, plan.form, data, choice)
        warn_of(learnt.run.converged, self.max_iter, learnt.account)
        return self

    @watched
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """One step of online EM: expected moments of a batch are mixed into those of all before.

        The first call starts from this batch, as ``fit`` would, and its variances are the scale of
        the floor; after ``fit`` the fitted mixture goes on.

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
        validate(self)
        first = not hasattr(self, "means_")
        if isinstance(self.n_components, str):
            raise ValueError("partial_fit needs a number of components: set n_components to one")
        model = memory = None
        if first:
            data, plan = self._prepared(X, sample_weight)
            check_enough(data.n_rows, self.n_components)
        else:
            engine, source = self._open(X, sample_weight, reset=False)
            model = self._model
            data = Surveyed.following(engine, source, self._variances, self.weights_ @ self.means_)
            plan = self._plan(data, source)
            memory = getattr(self, "_memory", None) or memory_of(model, self._seen)
        moments, learnt = learn_batch(
            data, plan, self.n_components, model, memory, self.learning_decay
        )
        steps = getattr(self, "n_iter_", 0) + 1
        self._keep(learnt, plan.form, data, None)
        state = {"n_iter_": steps, "_memory": moments, "_seen": float(moments.weights.sum())}
        self.__dict__.update(state)
        warn_of(learnt.run.converged, self.max_iter, learnt.account)
        return self

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit the mixture to ``X`` and return the likeliest component of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def predict(self, X: Any) -> Array:
        """The likeliest component of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,) and dtype int32
        """
        labels: Array = self._reduce(X, Likeliest.of).values
        return labels

    def predict_proba(self, X: Any) -> Array:
        """Posterior probability of each component for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, n_components_)
        """
        posteriors: Array = self._reduce(X, Posteriors.of).values
        return posteriors

    def score_samples(self, X: Any) -> Array:
        """Logarithm of the density at each row of ``X``; of what is observed of it.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        densities: Array = self._reduce(X, LogDensities.of).values
        return densities

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Weighted mean of the log densities of the rows."""
        fit = self._fit_of(X, sample_weight)
        return fit.log_likelihood / fit.weight

    def aic(self, X: Any, sample_weight: Any = None) -> float:
        """Akaike's information criterion on ``X``; less is better."""
        return self._criteria(X, sample_weight).aic

    def bic(self, X: Any, sample_weight: Any = None) -> float:
        """Bayesian information criterion on ``X``; less is better."""
        return self._criteria(X, sample_weight).bic

    def icl(self, X: Any, sample_weight: Any = None) -> float:
        """Integrated completed likelihood on ``X``: BIC and twice the posteriors' entropy."""
        return self._criteria(X, sample_weight, entropy=True).icl

    def sample(self, n_samples: int = 1) -> tuple[Array, Array]:
        """Draw rows from the mixture.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
            Component after component.
        labels : ndarray of shape (n_samples,)
            The component of each row.
        """
        return draw_rows(self._fitted_model(), n_samples, seed_of(self.random_state))

    def impute(
        self, X: Any, *, draw: bool = False, random_state: Any = 0, return_cov: bool = False
    ) -> Any:
        """``X`` with its gaps filled by what the mixture expects there, given the rest of the row.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
        draw : bool
            Fill in a draw from the conditional distribution, as multiple imputation wants, instead
            of its mean.
        random_state : int, RandomState, Generator or None
            Keys that draw, together with the number of the row.
        return_cov : bool
            Give the conditional covariance of each row's missing values as well.

        Returns
        -------
        filled : ndarray of shape (n_rows, n_features)
        covariances : ndarray of shape (n_rows, n_features, n_features)
            With ``return_cov``; zero for what was observed.
        """
        wish = Imputation(seed_of(random_state) if draw else None, return_cov)
        found = self._reduce(X, Imputed.of, wish)
        return (found.values, found.covariances) if return_cov else found.values

    @property
    def precisions_(self) -> Array:
        """Inverse covariances, in the shape of ``covariances_``."""
        roots = self.precisions_cholesky_
        return roots @ np.swapaxes(roots, -1, -2) if self._form.full else roots**2

    @property
    def precisions_cholesky_(self) -> Array:
        """Upper triangular roots of the precisions, in the shape of ``covariances_``."""
        factors = self._fitted_model().factors
        if self._form.full:
            factors = np.swapaxes(factors, 1, 2)
        return np.ascontiguousarray(self._form.kept(factors))

    @property
    def _form(self) -> Form:
        return form_of(self.covariance_type, self.n_latent, self.means_.shape[1])

    @property
    def _model(self) -> Gaussians:
        k, d = self.means_.shape
        covariances = self._form.spread(self.covariances_, k, d)
        return Gaussians.of(self.weights_, self.means_, covariances)

    def _fitted_model(self) -> Gaussians:
        check_is_fitted(self)
        return self._model

    def _prepared(self, X: Any, sample_weight: Any) -> tuple[Surveyed, Plan]:
        """The first pass over ``X``, and what is to be done with it."""
        engine, source = self._open(X, sample_weight, reset=True)
        check_numeric(source.schema)
        data = Surveyed.of(engine, source, self.reg_covar)
        return data, self._plan(data, source)

    def _plan(self, data: Surveyed, source: Source) -> Plan:
        form = form_of(self.covariance_type, self.n_latent, len(data.variances))
        prior = ConjugatePrior() if self.prior == "default" else self.prior
        given = GivenParameters(self.weights_init, self.means_init, self.precisions_init)
        if self.warm_start and hasattr(self, "means_"):
            given = GivenParameters(self.weights_, self.means_, self.precisions_)
        shares = None
        if self.responsibilities_init is not None:
            if isinstance(self.n_components, str):
                raise ValueError("responsibilities_init needs a number of components")
            n_rows = len(source.partitions[0].load().table) if data.engine.name == "local" else 0
            shares = given_shares(
                self.responsibilities_init, n_rows, self.n_components, data.engine
            )
        return Plan(
            form=form,
            start=Start(self.init_params, seed_of(self.random_state), shares),
            floor_share=self.covariance_floor,
            reg_covar=self.reg_covar,
            tol=self.tol,
            prior=prior,
            max_iter=self.max_iter,
            n_init=self.n_init,
            short_iter=self.short_iter,
            reseed=self.empty == "reseed",
            trace=self.trace,
            given=given,
        )

    def _keep(
        self,
        learnt: Learnt,
        form: Form,
        data: Surveyed,
        choice: MixtureChoice | None,
    ) -> None:
        """Set what a fit found, all at once; what it did not find is gone."""
        run = learnt.run
        found = {
            **_model_of(data.schema, form, run.model),
            "log_likelihood_": run.log_likelihood,
            "lower_bound_": run.objective / data.weight,
            "converged_": run.converged,
            "n_iter_": run.n_iter,
            "account_": learnt.account,
            "_variances": data.variances,
            "_seen": data.weight,
        }
        if choice is not None:
            found["choice_"] = choice
        if learnt.trace is not None:
            found["trace_"] = learnt.trace
        for name in ("feature_names_in_", "choice_", "trace_", "_memory", *_LATENT):
            self.__dict__.pop(name, None)
        self.__dict__.update(found)

    def _reduce(self, X: Any, summarise: Callable[..., Any], *more: Any) -> Any:
        engine, source = self._open(X, reset=False)
        return self._rows_reduce(engine, source, summarise, *more, keep_all=True)

    def _rows_reduce(
        self,
        engine: Engine,
        source: Source,
        summarise: Callable[..., Any],
        *more: Any,
        keep_all: bool,
    ) -> Any:
        rows = engine.rows(source.partitions, ToPoints(keep_all=keep_all))
        return engine.reduce(rows, summarise, self._model, *more)

    def _fit_of(self, X: Any, sample_weight: Any, entropy: bool = False) -> Fit:
        engine, source = self._open(X, sample_weight, reset=False)
        fit: Fit = self._rows_reduce(engine, source, Fit.of, entropy, keep_all=False)
        if fit.weight == 0:
            raise ValueError("every row has weight zero: there is nothing to score")
        return fit

    def _criteria(self, X: Any, sample_weight: Any, entropy: bool = False) -> Criteria:
        fit = self._fit_of(X, sample_weight, entropy)
        k, d = self.means_.shape
        numbers = n_parameters(self._form, k, d)
        return Criteria(fit.log_likelihood, numbers, fit.weight, fit.entropy)

    def _check_state(self) -> None:
        """What a model file must satisfy."""
        k, d = self.n_components_, len(self.schema_)
        shapes = {
            "weights_": (k,),
            "means_": (k, d),
            "covariances_": self._form.shape(k, d),
            "_variances": (d,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name, None)
            if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != "f":
                raise ValueError(f"{name} must be floats of shape {shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")
        if self.n_features_in_ != d:
            raise ValueError("n_features_in_ must be the number of columns of the schema")
        try:
            model = self._model
        except np.linalg.LinAlgError:
            raise ValueError("covariances_ must be positive definite") from None
        if (model.weights < 0).any() or not np.isclose(model.weights.sum(), 1.0):
            raise ValueError("weights_ must be at least 0 and sum to 1")


_LATENT = ("latent_axes_", "latent_variances_", "noise_variances_")


def check_enough(n_rows: int, k: int) -> None:
    """Refuse more components than rows."""
    if n_rows < k:
        raise ValueError(
            f"Expected n_samples >= n_components but got n_components = {k}, n_samples = {n_rows}"
        )


def warn_of(converged: bool, max_iter: int, account: Account) -> None:
    """Say that a fit did not end, or what happened to its components."""
    if account:
        warnings.warn(
            f"{account}. Fewer components, a simpler covariance_type or a prior may describe these "
            "data better; see account_.",
            CollapsedComponentWarning,
            stacklevel=5,
        )
    if not converged:
        warnings.warn(
            f"EM did not converge in max_iter={max_iter} steps: raise max_iter or tol, or check "
            "for degenerate data.",
            ConvergenceWarning,
            stacklevel=5,
        )


def _model_of(schema: Schema, form: Form, model: Gaussians) -> dict[str, Any]:
    """The attributes that a model of these components needs to predict."""
    found = {
        **schema_attributes(schema),
        "weights_": model.weights,
        "means_": model.means,
        "covariances_": form.kept(model.covariances),
        "n_components_": len(model.weights),
    }
    if form.n_latent:
        found.update(zip(_LATENT, principal_parts(model.covariances, form.n_latent), strict=True))
    return found

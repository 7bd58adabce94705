"""The Gaussian mixture: density estimation and clustering."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ceiba._typing import Array
from ceiba.base import AtLeast, validate, watched
from ceiba.data.source import Source
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.mixture.base import LATENT, FittedMixture, model_attributes
from ceiba.mixture.covariance import form_of
from ceiba.mixture.events import Account, CollapsedComponentWarning, StartsDisagreeWarning
from ceiba.mixture.fitter import Learnt, Plan, learn, singular_told
from ceiba.mixture.init import GivenParameters, given_shares
from ceiba.mixture.online import Known, learn_batch, memory_of
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
from ceiba.mixture.selection import MixtureChoice, choose_number
from ceiba.mixture.summary import Surveyed, check_numeric


class GaussianMixture(FittedMixture):
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
    weights_ : ndarray of shape (k,)
    means_ : ndarray of shape (k, n_features)
    covariances_ : ndarray
        A matrix for each component, one alone for ``tied``; a row of variances for each with
        diagonal forms; a variance for each with ``spherical`` and ``EII``.
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
        Of ``ppca``: the principal axes of each component (columns), the variances along them, and
        the variance in every other direction.
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
            "Inverse covariances to start with, in the shape of ``covariances_``.",
        ] = None,
        responsibilities_init: Annotated[
            np.ndarray[Any, Any] | None,
            "Responsibilities to start with, (n_rows, n_components), for rows in memory.",
        ] = None,
        empty: Empty = "reseed",
        max_components: MaxComponents = 9,
        learning_decay: LearningDecay = 0.7,
        warm_start: Annotated[
            bool,
            "Go on from the model of the fit before, if its components are as many and of the same "
            "form.",
        ] = False,
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
            sizes = range(1, min(self.max_components, data.n_rows) + 1)
            name = self.covariance_type
            choice, learnt = choose_number(data, plan, sizes, self.n_components, name, self)
            if choice.disputed.any():
                warn_user(choice.dispute, StartsDisagreeWarning)
        else:
            check_enough(data.n_rows, self.n_components)
            fitted = partial(model_attributes, data.schema, plan.form)
            learnt = learn(data, plan, (self.n_components,), self, fitted)
        self._keep(learnt, plan, data, choice)
        warn_of(learnt.run.converged or learnt.stopped, self.max_iter, learnt.account)
        return self

    @watched
    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """One step of online EM: expected moments of a batch are mixed into those of all before.

        The first call starts from this batch, as a ``fit`` of one start would, and its variances
        are the scale of the floor; after ``fit`` the fitted mixture goes on. No trace is kept, and
        ``log_likelihood_`` is that of the batch before the step.

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
        if first:
            data, plan = self._prepared(X, sample_weight)
            check_enough(data.n_rows, self.n_components)
            known = Known(self.n_components)
        else:
            known = self._known()
            engine, source = self._open(X, sample_weight, reset=False)
            mean = self.weights_ @ self.means_
            data = Surveyed.following(engine, source, self._variances, mean, self._constant)
            plan = self._plan(data, anchor=getattr(self, "_anchor", None))
        with singular_told(plan):
            moments, learnt = learn_batch(data, plan, known, self.learning_decay)
        self._keep(
            learnt, plan, data, None,
            n_iter_=known.steps + 1,
            account_=Account((*known.events, *learnt.account)),
            _memory=moments,
            _seen=float(moments.weights.sum()),
        )  # fmt: skip
        warn_of(True, self.max_iter, learnt.account)
        return self

    def _known(self) -> Known:
        """What ``partial_fit`` goes on from."""
        k = len(self.weights_)
        dropped = any(event.kind == "dropped" for event in self.account_)
        if not self._continues(k, self.means_.shape[1]) or not (self.n_components == k or dropped):
            raise ValueError(
                f"the model has {k} components of covariances of shape {self.covariances_.shape}, "
                "and n_components or covariance_type now say otherwise: set them back, or fit anew"
            )
        memory = getattr(self, "_memory", None) or memory_of(self._model, self._seen)
        # Whom the floor holds is told anew.
        events = tuple(event for event in self.account_ if event.kind != "held")
        return Known(k, self._model, memory, self.n_iter_, events)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Array:
        """Fit the mixture to ``X`` and return the likeliest component of each row."""
        return self.fit(X, sample_weight=sample_weight).predict(X)

    def _prepared(self, X: Any, sample_weight: Any) -> tuple[Surveyed, Plan]:
        """The first pass over ``X``, and what is to be done with it."""
        engine, source = self._open(X, sample_weight, reset=True)
        check_numeric(source.schema)
        data = Surveyed.of(engine, source, self.reg_covar)
        plan = self._plan(data)
        if isinstance(self.n_components, str):
            self._refuse_starts()
        if self.responsibilities_init is None:
            return data, plan
        return data, replace(plan, start=replace(plan.start, shares=self._shares(engine, source)))

    def _refuse_starts(self) -> None:
        starts = ("weights_init", "means_init", "precisions_init", "responsibilities_init")
        for name in starts:
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} is for a given number of components, and n_components="
                    f"{self.n_components!r} leaves it open: give a number, or no start"
                )

    def _shares(self, engine: Engine, source: Source) -> Array:
        assert not isinstance(self.n_components, str)
        n_rows = len(source.partitions[0].load().table) if engine.name == "local" else 0
        return given_shares(self.responsibilities_init, n_rows, self.n_components, engine)

    def _continues(self, k: Any, d: int) -> bool:
        """Whether a model was fitted that has so many components, of the form asked for."""
        if not hasattr(self, "means_") or self.means_.shape != (k, d):
            return False
        form = form_of(self.covariance_type, self.n_latent, d)
        return bool(self.covariances_.shape == form.shape(k, d))

    def _plan(self, data: Surveyed, **more: Any) -> Plan:
        form = form_of(self.covariance_type, self.n_latent, len(data.variances))
        given = GivenParameters(self.weights_init, self.means_init, self.precisions_init)
        if self.warm_start and self._continues(self.n_components, len(data.variances)):
            given = GivenParameters(self.weights_, self.means_, self.precisions_)
        return Plan.of(self, form, data, trace=self.trace, given=given, **more)

    def _keep(
        self,
        learnt: Learnt,
        plan: Plan,
        data: Surveyed,
        choice: MixtureChoice | None,
        **more: Any,
    ) -> None:
        """Set what a fit found, and more, all at once; what it did not find is gone."""
        run = learnt.run
        found = {
            **model_attributes(data.schema, plan.form, run.model),
            "log_likelihood_": run.log_likelihood,
            "lower_bound_": run.objective / data.weight,
            "converged_": run.converged,
            "n_iter_": run.n_iter,
            "account_": learnt.account,
            "_variances": data.variances,
            "_constant": data.constant,
            "_seen": data.weight,
        }
        if plan.anchor is not None:
            found["_anchor"] = plan.anchor
        if self.reg_covar or self.prior is not None:
            # The covariances hold more than the rows: `partial_fit` needs what the rows gave.
            found["_memory"] = run.moments
        if choice is not None:
            found["choice_"] = choice
        if learnt.trace is not None:
            found["trace_"] = learnt.trace
        self._become(found | more, without=("choice_", "trace_", "_anchor", "_memory", *LATENT))


def check_enough(n_rows: int, k: int) -> None:
    """Refuse more components than rows."""
    if n_rows < k:
        raise ValueError(
            f"Expected n_samples >= n_components but got n_components = {k}, n_samples = {n_rows}"
        )


def warn_of(converged: bool, max_iter: int, account: Account) -> None:
    """Say that a fit did not end, or what happened to its components."""
    if account:
        warn_user(
            f"{account}\nFewer components, a simpler covariance_type or a prior may describe these "
            "data better; see account_.",
            CollapsedComponentWarning,
        )
    if not converged:
        warn_user(
            f"EM did not converge in max_iter={max_iter} steps: raise max_iter or tol, or check "
            "for degenerate data.",
            ConvergenceWarning,
        )

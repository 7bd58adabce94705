"""Classification by a Gaussian mixture for each class, and Bayes' rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin

from ceiba._typing import Array
from ceiba.base import AtLeast, Estimator, ScoresScans, watched
from ceiba.base.estimator import schema_attributes
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, InMemory, Source
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.engine.local import LocalEngine
from ceiba.mixture.class_data import (
    ClassDensities,
    ClassRows,
    choose_apart,
    class_priors,
    learn_apart,
    learn_shared,
    listed,
)
from ceiba.mixture.covariance import form_of, shared_form
from ceiba.mixture.densities import Gaussians
from ceiba.mixture.events import Account, StartsDisagreeWarning
from ceiba.mixture.fitter import Learnt, Plan
from ceiba.mixture.gaussian_mixture import GaussianMixture, warn_of
from ceiba.mixture.parameters import (
    CovarianceType,
    Empty,
    FloorShare,
    InitParams,
    Jobs,
    Latent,
    MaxComponents,
    MaxIter,
    NInit,
    Prior,
    RegCovar,
    Seed,
    ShortIter,
    Tol,
)
from ceiba.mixture.selection import MixtureChoice
from ceiba.mixture.summary import Surveyed, check_numeric
from ceiba.stats import ToLabelled, ToPoints
from ceiba.stats.scores import Accuracy

Components = Annotated[
    Annotated[int, AtLeast(1)] | Mapping[Any, int] | Literal["bic", "aic", "icl"],
    "Components of each class: one number, a number for each class, or the criterion that chooses "
    "it, class by class.",
]


class GaussianMixtureClassifier(ScoresScans, ClassifierMixin, Estimator):
    """Classifier with a Gaussian mixture for each class; Bayes' rule turns densities into classes.

    With one full component a class this is quadratic discriminant analysis (with covariances of
    greatest likelihood, divided by the number of rows), and with ``shared_covariance=True`` linear
    discriminant analysis. Gaps, scales and columns are as in `GaussianMixture`; the floor's scale
    is that of all rows, so that a class may have a single row.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    mixtures_ : list of GaussianMixture
        The mixture of each class, in the order of ``classes_``.
    n_iter_ : int
        Steps of the class that took most.
    account_ : Account
        What happened to components; ``print`` it.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    Examples
    --------
    >>> from ceiba import GaussianMixtureClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> model = GaussianMixtureClassifier().fit(iris.table, iris.y)
    >>> round(model.score(iris.table, iris.y), 2)
    0.98

    References
    ----------
    Hastie & Tibshirani (1996), "Discriminant analysis by Gaussian mixtures", JRSS B 58.
    Fraley & Raftery (2002), "Model-based clustering, discriminant analysis, and density
    estimation", JASA 97.
    """

    _task: ClassVar[Task] = "classification"
    _takes_nominal: ClassVar[bool] = False

    def __init__(
        self,
        n_components: Components = 1,
        *,
        covariance_type: CovarianceType = "full",
        shared_covariance: Annotated[
            bool, "One covariance for all components of all classes: full, diag or spherical."
        ] = False,
        priors: Annotated[
            np.ndarray[Any, Any] | Mapping[Any, float] | None,
            "Prior probability of each class, in the order of ``classes_`` or by class; None for "
            "the classes' shares of the weight.",
        ] = None,
        n_latent: Latent = 1,
        tol: Tol = 1e-5,
        reg_covar: RegCovar = 0.0,
        covariance_floor: FloorShare = 1e-6,
        prior: Prior = None,
        max_iter: MaxIter = 100,
        n_init: NInit = 1,
        short_iter: ShortIter = 10,
        init_params: InitParams = "kmeans",
        empty: Empty = "reseed",
        max_components: MaxComponents = 9,
        random_state: Seed = 0,
        n_jobs: Jobs = None,
    ) -> None:
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.shared_covariance = shared_covariance
        self.priors = priors
        self.n_latent = n_latent
        self.tol = tol
        self.reg_covar = reg_covar
        self.covariance_floor = covariance_floor
        self.prior = prior
        self.max_iter = max_iter
        self.n_init = n_init
        self.short_iter = short_iter
        self.init_params = init_params
        self.empty = empty
        self.max_components = max_components
        self.random_state = random_state
        self.n_jobs = n_jobs

    @watched
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit a mixture to the rows of each class.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory, of files larger than memory (``ceiba.scan``), or on a cluster.
        y : array of shape (n_rows,)
            The class of each row; None where ``X`` is a scan that names its target.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero count as absent.

        Returns
        -------
        self : GaussianMixtureClassifier
        """
        engine, source = self._open(X, sample_weight, reset=True, y=y)
        check_numeric(source.schema)
        data = Surveyed.of(engine, source, self.reg_covar)
        parts = ClassRows.of(data, source)
        sizes = self._sizes(parts)
        priors = class_priors(self.priors, parts)
        plan = self._plan(data)
        if self.shared_covariance:
            learnt = learn_shared(data, plan, parts, sizes, self)
            choices: list[MixtureChoice | None] = [None] * len(learnt)
        elif isinstance(sizes, str):
            chosen = choose_apart(plan, parts, sizes, self)
            choices, learnt = [pair[0] for pair in chosen], [pair[1] for pair in chosen]
            _warn_of_disputes(parts.classes, [choice for choice, _ in chosen])
        else:
            learnt = learn_apart(plan, parts, sizes, self)
            choices = [None] * len(learnt)
        self._keep(data, plan, parts, learnt, choices)
        self.class_prior_ = priors
        return self

    def predict(self, X: Any) -> Array:
        """The most probable class of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        joint = self._joint(X)
        classes: Array = self.classes_[np.argmax(joint, axis=1)]
        return classes

    def predict_proba(self, X: Any) -> Array:
        """Probability of each class for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities of each row of ``X``."""
        joint = self._joint(X)
        logs: Array = joint - logsumexp(joint, axis=1, keepdims=True)
        return logs

    def score_samples(self, X: Any) -> Array:
        """Logarithm of the density p(x) at each row of ``X``, all classes together.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        densities: Array = logsumexp(self._joint(X), axis=1)
        return densities

    def class_log_densities(self, X: Any) -> Array:
        """Logarithm of the density p(x | class) at each row of ``X`` for each class.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        engine, source = self._open(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True))
        densities: Array = engine.reduce(rows, ClassDensities.of, self._models).values
        return densities

    @property
    def _models(self) -> tuple[Gaussians, ...]:
        return tuple(mixture._model for mixture in self.mixtures_)

    def _joint(self, X: Any) -> Array:
        densities = self.class_log_densities(X)
        joint: Array = densities + _logs(self.class_prior_)
        return joint

    def _score_on(self, engine: Engine, source: Source) -> float:
        rows = engine.rows(source.partitions, ToLabelled(self._task))
        predict = partial(_likeliest, self._models, _logs(self.class_prior_))
        return engine.reduce(rows, Accuracy.of, self.classes_, predict).score

    def _sizes(self, parts: ClassRows) -> list[int] | str:
        """Components of each class, or the criterion that chooses them."""
        if isinstance(self.n_components, str):
            if self.shared_covariance:
                raise ValueError(
                    "shared_covariance=True ties the classes together, and their numbers of "
                    "components cannot be chosen one by one: give n_components as numbers"
                )
            return self.n_components
        sizes = listed(self.n_components, parts.classes, "n_components")
        for label, k, part in zip(parts.classes.tolist(), sizes, parts.parts, strict=True):
            if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
                raise ValueError(f"n_components of class {label!r} is {k!r}: give 1 or more")
            if part.n_rows < k:
                raise ValueError(
                    f"class {label!r} has n_samples = {part.n_rows} and cannot have "
                    f"n_components = {k}"
                )
        return [int(k) for k in sizes]

    def _plan(self, data: Surveyed) -> Plan:
        d = len(data.variances)
        if self.shared_covariance:
            form = shared_form(self.covariance_type)
        else:
            form = form_of(self.covariance_type, self.n_latent, d)
        return Plan.of(self, form, data)

    def _keep(
        self,
        data: Surveyed,
        plan: Plan,
        parts: ClassRows,
        learnt: list[Learnt],
        choices: list[MixtureChoice | None],
    ) -> None:
        """Set what a fit found, all at once."""
        mixtures = []
        for part, one, choice in zip(parts.parts, learnt, choices, strict=True):
            mixture = GaussianMixture(
                len(one.run.model.weights),
                covariance_type=plan.form.name,  # type: ignore[arg-type]
                **{name: getattr(self, name) for name in _PASSED_ON},
            )
            mixture._keep(one, plan, part, choice)
            mixtures.append(mixture)
        account = Account(
            tuple(
                replace(event, name=str(label))
                for label, one in zip(parts.classes, learnt, strict=True)
                for event in one.account
            )
        )
        found = {
            **schema_attributes(data.schema),
            "classes_": parts.classes,
            "mixtures_": mixtures,
            "n_iter_": max(mixture.n_iter_ for mixture in mixtures),
            "account_": account,
        }
        self._become(found)
        done = all(one.run.converged or one.stopped for one in learnt)
        warn_of(done, self.max_iter, account)

    def _check_state(self) -> None:
        """What a model file must satisfy."""
        n = len(self.classes_)
        if self.classes_.ndim != 1 or len(set(self.classes_.tolist())) != n or n == 0:
            raise ValueError("classes_ must be a list of different classes")
        if not isinstance(getattr(self, "schema_", None), Schema) or self.n_features_in_ != len(
            self.schema_
        ):
            raise ValueError("n_features_in_ must be the number of columns of the schema")
        if len(self.mixtures_) != n or self.class_prior_.shape != (n,):
            raise ValueError("mixtures_ and class_prior_ must have an entry for each class")
        if (self.class_prior_ < 0).any() or not np.isclose(self.class_prior_.sum(), 1.0):
            raise ValueError("class_prior_ must be at least 0 and sum to 1")
        for mixture in self.mixtures_:
            if not isinstance(mixture, GaussianMixture):
                raise ValueError("mixtures_ must hold Gaussian mixtures")
            mixture._check_state()
            if mixture.n_features_in_ != self.n_features_in_:
                raise ValueError("mixtures_ must have as many columns as the classifier")


_PASSED_ON = (
    "n_latent", "tol", "reg_covar", "covariance_floor", "prior", "max_iter", "n_init", "short_iter",
    "init_params", "empty", "max_components", "random_state", "n_jobs",
)  # fmt: skip


def _warn_of_disputes(classes: Array, choices: list[MixtureChoice]) -> None:
    pairs = zip(classes.tolist(), choices, strict=True)
    said = [f"class {label}: {choice.dispute}" for label, choice in pairs if choice.dispute]
    if said:
        warn_user("\n".join(said), StartsDisagreeWarning)


def _logs(priors: Array) -> Array:
    with np.errstate(divide="ignore"):
        logs: Array = np.log(priors)
    return logs


def _likeliest(
    models: tuple[Gaussians, ...], log_priors: Array, table: Table, threads: int
) -> Array:
    """Place of the most probable class of every row."""
    engine = LocalEngine(threads)
    rows = engine.rows([InMemory(Chunk(table))], ToPoints(keep_all=True))
    joint = engine.reduce(rows, ClassDensities.of, models).values + log_priors
    places: Array = np.argmax(joint, axis=1)
    return places

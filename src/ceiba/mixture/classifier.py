"""Classification by one Gaussian mixture per class and Bayes' rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin

from ceiba._typing import Array
from ceiba.base import (
    AtLeast,
    Estimator,
    ScanScoreMixin,
    declared,
    fitted,
    parameter,
    reports_progress,
)
from ceiba.base.estimator import schema_attributes
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, Source
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.data.warn import warn_user
from ceiba.engine import Batch, Engine
from ceiba.mixture.config import EMConfig, MixtureParameters, group_slices
from ceiba.mixture.covariance import covariance_form, shared_form
from ceiba.mixture.data import ClassData, MixtureData
from ceiba.mixture.densities import Gaussians, LikelihoodSums, log_densities
from ceiba.mixture.events import FitEvents, UnstableChoiceWarning
from ceiba.mixture.fitter import FitResult, fit_mixture
from ceiba.mixture.gaussian_mixture import GaussianMixture, warn_events
from ceiba.mixture.selection import MixtureChoice, select_n_components
from ceiba.stats import Points, ToLabeled, ToPoints
from ceiba.stats.scores import Accuracy


class GaussianMixtureClassifier(MixtureParameters, ScanScoreMixin, ClassifierMixin, Estimator):
    """Classifier with one Gaussian mixture per class and Bayes' rule.

    With one full component per class this is quadratic discriminant analysis (with maximum
    likelihood covariances, divided by the number of rows), and with ``shared_covariance=True``
    linear discriminant analysis. Missing values, scales and columns are as in `GaussianMixture`;
    the floor is relative to the variances of all rows, so that a class may have a single row.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_prior_ : ndarray of shape (n_classes,)
    mixtures_ : list of GaussianMixture
        The mixture of each class, in the order of ``classes_``.
    n_iter_ : int
        Largest number of iterations of a class.
    fit_events_ : FitEvents
        Components that were reseeded, dropped or reached the floor; ``print`` it.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

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

    n_components: Annotated[
        Annotated[int, AtLeast(1)] | Mapping[Any, int] | Literal["bic", "aic", "icl"],
        "Components of each class: one number, a number per class, or the criterion that chooses "
        "it, class by class.",
    ] = parameter(1, kw_only=False)
    shared_covariance: Annotated[
        bool, "One covariance for all components of all classes: full, diag or spherical."
    ] = False
    priors: Annotated[
        np.ndarray[Any, Any] | Mapping[Any, float] | None,
        "Prior probability of each class, in the order of ``classes_`` or by class; None for the "
        "classes' fractions of the weight.",
    ] = None

    _task: ClassVar[Task] = "classification"
    _accepts_nominal: ClassVar[bool] = False

    classes_: Array = fitted()
    class_prior_: Array = fitted()
    mixtures_: list[GaussianMixture] = fitted()
    n_iter_: int = fitted()
    fit_events_: FitEvents = fitted()

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit one mixture to the rows of each class.

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
        engine, source = self._open_source(X, sample_weight, reset=True, y=y)
        data = MixtureData.of(engine, source, self.reg_covar)
        parts = ClassData.of(data, source)
        sizes = self._sizes(parts)
        priors = _class_priors(self.priors, parts)
        config = self._config(data)
        choices: list[MixtureChoice | None] = [None] * len(parts.parts)
        if isinstance(sizes, str):
            selected = self._select_sizes(config, parts, sizes)
            choices, results = [pair[0] for pair in selected], [pair[1] for pair in selected]
        elif self.shared_covariance:
            results = _fit_shared(data, config, parts, sizes, self)
        else:
            results = [
                fit_mixture(part, config, (k,), self, single=False)
                for part, k in zip(parts.parts, sizes, strict=True)
            ]
        self._set_results(data, config, parts, results, choices, priors)
        return self

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        joint = self._joint_log_densities(X)
        classes: Array = self.classes_[np.argmax(joint, axis=1)]
        return classes

    def predict_proba(self, X: Any) -> Array:
        """Compute the probability of each class for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Compute the logarithms of the class probabilities of each row of ``X``."""
        joint = self._joint_log_densities(X)
        logs: Array = joint - logsumexp(joint, axis=1, keepdims=True)
        return logs

    def score_samples(self, X: Any) -> Array:
        """Compute the log density p(x) of each row of ``X``, over all classes.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        densities: Array = logsumexp(self._joint_log_densities(X), axis=1)
        return densities

    def class_log_densities(self, X: Any) -> Array:
        """Compute the log density p(x | class) of each row of ``X`` for each class.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True))
        densities: Array = engine.predict(rows, _class_log_densities, self._models)
        return densities

    @property
    def _models(self) -> tuple[Gaussians, ...]:
        return tuple(mixture._gaussians for mixture in self.mixtures_)

    def _joint_log_densities(self, X: Any) -> Array:
        joint: Array = self.class_log_densities(X) + _log(self.class_prior_)
        return joint

    def _score_on(self, engine: Engine, source: Source) -> float:
        rows = engine.rows(source.partitions, ToLabeled(self._task))
        predict = partial(_predict_indices, self._models, _log(self.class_prior_))
        return engine.reduce(rows, Accuracy.of, self.classes_, predict).score

    def _sizes(self, parts: ClassData) -> list[int] | str:
        """Return the components of each class, or the criterion that chooses them."""
        if isinstance(self.n_components, str):
            if self.shared_covariance:
                raise ValueError(
                    "shared_covariance=True requires n_components as numbers, got "
                    f"{self.n_components!r}: the classes cannot be chosen one by one."
                )
            return self.n_components
        sizes = _per_class(self.n_components, parts.classes, "n_components")
        for label, k, part in zip(parts.classes.tolist(), sizes, parts.parts, strict=True):
            if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
                raise ValueError(
                    f"n_components must be an int >= 1, got {k!r} for class {label!r}."
                )
            if part.n_rows < k:
                raise ValueError(
                    f"Expected n_samples >= n_components but got n_components = {k}, n_samples = "
                    f"{part.n_rows} for class {label!r}"
                )
        return [int(k) for k in sizes]

    def _config(self, data: MixtureData) -> EMConfig:
        if self.shared_covariance:
            form = shared_form(self.covariance_type)
        else:
            form = covariance_form(self.covariance_type, self.n_latent, len(data.variances))
        return EMConfig.of(self, form, data)

    def _select_sizes(
        self, config: EMConfig, parts: ClassData, criterion: str
    ) -> list[tuple[MixtureChoice, FitResult]]:
        """Fit to each class the number of components that a criterion selects."""
        selected = []
        for part in parts.parts:
            ks = range(1, min(self.max_components, part.n_rows) + 1)
            selected.append(
                select_n_components(part, config, ks, criterion, self.covariance_type, self)
            )
        pairs = zip(parts.classes.tolist(), selected, strict=True)
        notes = [f"class {label}: {c.instability}" for label, (c, _) in pairs if c.instability]
        if notes:
            warn_user("\n".join(notes), UnstableChoiceWarning)
        return selected

    def _set_results(
        self,
        data: MixtureData,
        config: EMConfig,
        parts: ClassData,
        results: list[FitResult],
        choices: list[MixtureChoice | None],
        priors: Array,
    ) -> None:
        """Replace the fitted attributes."""
        shared = {
            entry.name: getattr(self, entry.name)
            for entry in declared(MixtureParameters)
            if entry.name != "covariance_type"
        }
        mixtures = []
        for part, result, choice in zip(parts.parts, results, choices, strict=True):
            k, name = len(result.best.model.weights), config.form.name
            mixture = GaussianMixture(k, covariance_type=name, **shared)  # type: ignore[arg-type]
            mixture._set_result(result, config, part, choice)
            mixtures.append(mixture)
        events = FitEvents(
            tuple(
                replace(event, class_label=str(label))
                for label, result in zip(parts.classes, results, strict=True)
                for event in result.events
            )
        )
        attributes = {
            **schema_attributes(data.schema),
            "classes_": parts.classes,
            "class_prior_": priors,
            "mixtures_": mixtures,
            "n_iter_": max(mixture.n_iter_ for mixture in mixtures),
            "fit_events_": events,
        }
        self._set_fitted(attributes)
        converged = all(result.best.converged or result.stopped for result in results)
        warn_events(converged, self.max_iter, events)

    def _check_state(self) -> None:
        """Raise ValueError where attributes read from a model file are inconsistent."""
        n = len(self.classes_)
        if self.classes_.ndim != 1 or len(set(self.classes_.tolist())) != n or n == 0:
            raise ValueError("classes_ must be a list of different classes")
        if not isinstance(getattr(self, "schema_", None), Schema) or self.n_features_in_ != len(
            self.schema_
        ):
            raise ValueError("n_features_in_ must be the number of columns of the schema")
        if len(self.mixtures_) != n or self.class_prior_.shape != (n,):
            raise ValueError("mixtures_ and class_prior_ must have an entry per class")
        if (self.class_prior_ < 0).any() or not np.isclose(self.class_prior_.sum(), 1.0):
            raise ValueError("class_prior_ must be at least 0 and sum to 1")
        for mixture in self.mixtures_:
            if not isinstance(mixture, GaussianMixture):
                raise ValueError("mixtures_ must be a list of GaussianMixture")
            mixture._check_state()
            if mixture.n_features_in_ != self.n_features_in_:
                raise ValueError("mixtures_ must have as many columns as the classifier")


def _fit_shared(
    data: MixtureData, config: EMConfig, parts: ClassData, sizes: list[int], estimator: Any
) -> list[FitResult]:
    """Fit mixtures with one covariance for all: EM over all classes, each row within its own."""
    together = parts.together(data)
    result = fit_mixture(together, config, tuple(sizes), estimator)
    best = result.best
    results = []
    for index, group in enumerate(group_slices(best.sizes)):
        model = best.model.take(group)
        sums = data.engine.reduce(together.groups[index], LikelihoodSums.of, model)
        # The objectives are without the prior, which belongs to all classes together.
        own = replace(
            best,
            model=model,
            sizes=(group.stop - group.start,),
            log_likelihood=sums.log_likelihood,
            objective=sums.log_likelihood,
            floored=best.floored[group],
            moments=best.moments.take(group),
        )
        events = FitEvents(tuple(event for event in result.events if event.group == index))
        results.append(FitResult(own, None, events, (sums.log_likelihood,)))
    return results


def _class_priors(given: Any, parts: ClassData) -> Array:
    """Return the prior probabilities: the classes' fractions of the weight, or given ones."""
    if given is None:
        weights = np.array([part.weight for part in parts.parts])
        fractions: Array = weights / weights.sum()
        return fractions
    values = _per_class(given, parts.classes, "priors")
    try:
        priors = np.array([float(value) for value in values])
    except (TypeError, ValueError):
        raise ValueError("priors must be one number per class.") from None
    if not np.isfinite(priors).all() or (priors < 0).any():
        raise ValueError(f"priors must be finite and >= 0, got {priors.tolist()}.")
    if not np.isclose(priors.sum(), 1.0, rtol=0, atol=1e-6):
        raise ValueError(f"priors must sum to 1, got a sum of {priors.sum():g}.")
    scaled: Array = priors / priors.sum()
    return scaled


def _per_class(given: Any, classes: Array, name: str) -> list[Any]:
    """Return one value per class, from a mapping, a list in their order or one value for all."""
    labels = classes.tolist()
    if isinstance(given, Mapping):
        plain = {k.item() if isinstance(k, np.generic) else k: v for k, v in given.items()}
        missing = [label for label in labels if label not in plain]
        if missing:
            raise ValueError(
                f"{name} must have an entry for every class, got none for {missing[0]!r}."
            )
        return [plain[label] for label in labels]
    if isinstance(given, int | np.integer):
        return [given] * len(labels)
    if np.ndim(given) > 1:
        raise ValueError(f"{name} must be one-dimensional, got {np.ndim(given)} dimensions.")
    values = list(given)
    if len(values) != len(labels):
        raise ValueError(
            f"{name} must have {len(labels)} entries, one per class, got {len(values)}."
        )
    return values


def _class_log_densities(batch: Batch[Points], models: tuple[Gaussians, ...]) -> Array:
    """Compute the log density of every row under the mixture of every class."""
    return np.column_stack([log_densities(batch, model) for model in models])


def _predict_indices(
    models: tuple[Gaussians, ...], log_priors: Array, table: Table, threads: int
) -> Array:
    """Return the index of the most probable class of every row."""
    batch = Batch(ToPoints(keep_all=True)(Chunk(table)), threads=threads)
    indices: Array = np.argmax(_class_log_densities(batch, models) + log_priors, axis=1)
    return indices


def _log(priors: Array) -> Array:
    with np.errstate(divide="ignore"):
        logs: Array = np.log(priors)
    return logs

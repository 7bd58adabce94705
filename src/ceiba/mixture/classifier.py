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
    ArrayOf,
    AtLeast,
    Estimator,
    ScanScoreMixin,
    declared,
    fitted,
    parameter,
    reports_progress,
)
from ceiba.base.estimator import schema_attributes
from ceiba.base.explanation import Explanation, explained_row
from ceiba.base.log_odds import compare_outputs
from ceiba.base.value_types import format_value
from ceiba.data.source import Chunk, Source
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.data.warn import warn_user
from ceiba.engine import Batch, Engine
from ceiba.mixture.base import check_fractions
from ceiba.mixture.class_data import ClassData
from ceiba.mixture.config import EMConfig, MixtureData, MixtureParameters, group_slices
from ceiba.mixture.covariance import check_probabilities, covariance_form, shared_form
from ceiba.mixture.densities import LikelihoodSums, log_densities
from ceiba.mixture.events import FitEvents, UnstableChoiceWarning
from ceiba.mixture.explain import by_table_column, class_terms, unit_row
from ceiba.mixture.fitter import FitResult, fit_mixture
from ceiba.mixture.gaussian_mixture import GaussianMixture, warn_events
from ceiba.mixture.selection import select_n_components
from ceiba.mixture.statistics import Gaussians
from ceiba.stats import Accuracy, Points, ToLabeledRows, ToPoints
from ceiba.stats.scaling import PointScaling


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
        The mixture of each class, in the order of ``classes_``; None for a class whose rows all
        have weight zero, whose prior is 0.
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
    mixtures_: list[GaussianMixture | None] = fitted()
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
        self._validate()
        engine, source = self._open_source(X, sample_weight, reset=True, y=y)
        data = MixtureData.of(engine, source, self)
        parts = ClassData.of(data, source)
        sizes = self._sizes(parts)
        priors = _class_priors(self.priors, parts)
        config = self._config(data)
        if isinstance(sizes, str):
            results = self._select_sizes(config, parts, sizes)
        elif self.shared_covariance:
            results = _fit_shared(data, config, parts, sizes, self)
        else:
            results = [
                fit_mixture(part, config, (k,), self, single=False)
                for part, k in zip(parts.parts, sizes, strict=True)
            ]
        self._set_results(data, config, parts, results, priors)
        return self

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        joint = self._joint_log_densities(X)
        return np.asarray(self.classes_[np.argmax(joint, axis=1)])

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
        return np.asarray(joint - logsumexp(joint, axis=1, keepdims=True))

    def explain(self, X: Any) -> Explanation:
        """Explain the class of one row by the contribution of each column.

        A column contributes log p(value | class), given the columns before it, 0 if the value is
        missing; with one component per class and diagonal covariances the columns before do not
        matter. Of two classes, scores are log-odds; of several ones, log probabilities relative to
        their mean, whose softmax the probabilities are.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.

        Returns
        -------
        Explanation
            Print it; ``to_json()`` has the same keys for all learners.

        Examples
        --------
        >>> from ceiba import GaussianMixtureClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> model = GaussianMixtureClassifier(covariance_type="diag").fit(iris.table, iris.y)
        >>> print(model.explain(iris.table[:1]).score)
        relative log probability
        """
        table = explained_row(self, X)
        row = unit_row(table, self._units)
        terms = np.column_stack([class_terms(model, row) for model in self._models])
        score, base, contributions = compare_outputs(
            self._log_priors, by_table_column(table, terms)
        )
        return Explanation.of(
            self,
            table,
            self.predict(X)[0],
            score=score,
            outputs=self.classes_.tolist(),
            scores=base + contributions.sum(axis=0),
            base=base,
            contributions=contributions,
            probabilities=self.predict_proba(X)[0],
        )

    def score_samples(self, X: Any) -> Array:
        """Compute the log density p(x) of each row of ``X``, over all classes.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return np.asarray(logsumexp(self._joint_log_densities(X), axis=1))

    def class_log_densities(self, X: Any) -> Array:
        """Compute the log density p(x | class) of each row of ``X`` for each class.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, ToPoints(keep_all=True, scaling=self._units))
        return np.asarray(engine.predict(rows, _class_log_densities, self._models))

    @property
    def _models(self) -> tuple[Gaussians | None, ...]:
        return tuple(None if one is None else one._gaussians for one in self.mixtures_)

    @property
    def _own_models(self) -> tuple[Gaussians | None, ...]:
        """Components in the columns' own units."""
        return tuple(None if one is None else one._own_gaussians for one in self.mixtures_)

    @property
    def _units(self) -> PointScaling | None:
        """Units in which all mixtures were fitted; None for the columns' own."""
        return next(one._units for one in self.mixtures_ if one is not None)

    @property
    def _log_priors(self) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(self.class_prior_)

    def _joint_log_densities(self, X: Any) -> Array:
        return np.asarray(self.class_log_densities(X) + self._log_priors)

    def _score_on(self, engine: Engine, source: Source) -> float:
        rows = engine.rows(source.partitions, ToLabeledRows(self._task))
        predict = partial(_predict_indices, self._models, self._log_priors, self._units)
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
        sizes = parts.of_learned(_per_class(self.n_components, parts, "n_components"))
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

    def _select_sizes(self, config: EMConfig, parts: ClassData, criterion: str) -> list[FitResult]:
        """Fit to each class the number of components that a criterion selects."""
        results = [select_n_components(part, config, criterion, self) for part in parts.parts]
        notes = [
            f"class {label}: {result.choice.instability}"
            for label, result in zip(parts.classes.tolist(), results, strict=True)
            if result.choice.instability
        ]
        if notes:
            warn_user("\n".join(notes), UnstableChoiceWarning)
        return results

    def _set_results(
        self,
        data: MixtureData,
        config: EMConfig,
        parts: ClassData,
        results: list[FitResult],
        priors: Array,
    ) -> None:
        """Replace the fitted attributes."""
        shared = {
            entry.name: getattr(self, entry.name)
            for entry in declared(MixtureParameters)
            if entry.name not in ("covariance_type", "max_components")
        }
        mixtures = []
        for part, result in zip(parts.parts, results, strict=True):
            k, name = len(result.best.model.weights), config.form.name
            mixture = GaussianMixture(k, covariance_type=name, **shared)  # type: ignore[arg-type]
            mixture._set_result(result, config, part)
            mixtures.append(mixture)
        events = tuple(
            replace(event, class_label=str(label))
            for label, result in zip(parts.classes, results, strict=True)
            for event in result.events
        )
        attributes = {
            **schema_attributes(data.schema),
            "classes_": parts.all_classes,
            "class_prior_": priors,
            "mixtures_": parts.for_all_classes(mixtures, None),
            "n_iter_": max(mixture.n_iter_ for mixture in mixtures),
            "fit_events_": FitEvents(events),
        }
        self._set_fitted(attributes)
        converged = all(result.best.converged or result.stopped for result in results)
        warn_events(converged, self.max_iter, events, data, config)

    def _check_state(self) -> None:
        super()._check_state()
        classes = self.classes_
        n = len(classes)
        if classes.ndim != 1 or len(set(classes.tolist())) != n or n == 0:
            raise ValueError(f"classes_ must be a list of different classes, got {classes}.")
        ArrayOf("f", n).check("class_prior_", self.class_prior_, {})
        check_fractions("class_prior_", self.class_prior_)
        if len(self.mixtures_) != n:
            raise ValueError(f"mixtures_ must have {n} entries, got {len(self.mixtures_)}.")
        for mixture, prior in zip(self.mixtures_, self.class_prior_, strict=True):
            if mixture is None and prior == 0:
                continue
            if not isinstance(mixture, GaussianMixture):
                raise ValueError(
                    f"mixtures_ must be a list of GaussianMixture, got {format_value(mixture)}."
                )
            mixture._check_state()
            if mixture.n_features_in_ != self.n_features_in_:
                raise ValueError(
                    f"mixtures_ must have {self.n_features_in_} columns, as the classifier, got "
                    f"{mixture.n_features_in_}."
                )


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
        # In the units of the fit, as all results of EM.
        log_likelihood = sums.log_likelihood - parts.parts[index].log_factor
        # The objectives are without the prior, which belongs to all classes together.
        own = replace(
            best,
            model=model,
            sizes=(group.stop - group.start,),
            log_likelihood=log_likelihood,
            objective=log_likelihood,
            floored=best.floored[group],
            moments=best.moments.take(group),
        )
        events = tuple(event for event in result.events if event.group == index)
        results.append(FitResult(own, None, events, (sums.log_likelihood,)))
    return results


def _class_priors(given: Any, parts: ClassData) -> Array:
    """Return the prior probabilities: the classes' fractions of the weight, or given ones."""
    if given is None:
        weights = np.array(parts.for_all_classes([part.weight for part in parts.parts], 0.0))
        return np.asarray(weights / weights.sum())
    values = _per_class(given, parts, "priors")
    priors = check_probabilities(values, len(values), "priors")
    if len(parts.classes) == len(parts.all_classes):
        return priors
    learned = np.array(parts.for_all_classes(parts.of_learned(priors.tolist()), 0.0))
    if not learned.any():
        raise ValueError(
            f"priors must be positive for a class with rows of positive weight, got {values!r}."
        )
    return np.asarray(learned / learned.sum())


def _per_class(given: Any, parts: ClassData, name: str) -> list[Any]:
    """Return one value per class, from a mapping, a list in their order or one value for all.

    A mapping may leave out classes without rows, whose value is 0.
    """
    labels = parts.all_classes.tolist()
    if isinstance(given, Mapping):
        plain = {k.item() if isinstance(k, np.generic) else k: v for k, v in given.items()}
        missing = [label for label in parts.classes.tolist() if label not in plain]
        if missing:
            raise ValueError(
                f"{name} must have an entry for every class, got none for {missing[0]!r}."
            )
        return [plain.get(label, 0) for label in labels]
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


def _class_log_densities(batch: Batch[Points], models: tuple[Gaussians | None, ...]) -> Array:
    """Compute the log density of every row under the mixture of every class; -inf without one."""
    out = np.full((len(batch.rows.X), len(models)), -np.inf)
    for index, model in enumerate(models):
        if model is not None:
            out[:, index] = log_densities(batch, model)
    return out


def _predict_indices(
    models: tuple[Gaussians | None, ...],
    log_priors: Array,
    scaling: PointScaling | None,
    table: Table,
    threads: int,
) -> Array:
    """Return the index of the most probable class of every row."""
    batch = Batch(ToPoints(keep_all=True, scaling=scaling)(Chunk(table)), threads=threads)
    return np.asarray(np.argmax(_class_log_densities(batch, models) + log_priors, axis=1))

"""What all network classifiers share: fit by counts, train discriminatively, predict."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import (
    Estimator,
    ParameterError,
    ScanScoreMixin,
    Trace,
    check_unused,
    fitted,
    reports_progress,
    seed_of,
)
from ceiba.base.estimator import schema_attributes
from ceiba.bayes.coding import ToCodedRows, prepare_rows
from ceiba.bayes.discretize import CategoryEncoding, DiscretizationConfig, learn_encoding
from ceiba.bayes.discretize.given import read_thresholds
from ceiba.bayes.discriminative.train import (
    TrainingConfig,
    TrainingData,
    TrainingResult,
    train,
    unbounded_cells,
)
from ceiba.bayes.explain import Evidence, explain_row, probability_table
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import (
    MIN_PROBABILITY,
    ClassTable,
    Smoothing,
    mean_values,
    probabilities,
)
from ceiba.bayes.parameters import NetworkParameters
from ceiba.bayes.scoring import (
    ClassScorer,
    class_indices,
    class_probabilities,
    log_joint,
    predict_indices,
)
from ceiba.bayes.statistics import TableCounts
from ceiba.bayes.structure.given import check_graph_condition
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, Source
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.mixture.covariance import check_probabilities
from ceiba.stats import Accuracy, TargetSummary, ToLabeledRows
from ceiba.tree.classifier import class_weight_factors

# Without effect in generative training, which counts in one pass; it is within any max_iter, and
# scikit-learn sets random_state of every learner.
_DISCRIMINATIVE = ("solver", "penalty", "tau", "tol", "early_stopping", "trace")


class UnboundedWeightsWarning(UserWarning):
    """Without a penalty the conditional likelihood has no maximum: weights grow without bound."""


@dataclass(frozen=True, eq=False)
class CodedData:
    """Rows of a fit as category codes.

    Parameters
    ----------
    engine, rows
        The rows, prepared as `CodedRows`.
    schema : Schema
    summary : TargetSummary
    encoding : CategoryEncoding
    sizes : tuple of int
        Number of codes of each feature, that of a missing value included.
    counts : TableCounts
        Counts of each feature alone, one table below the other.
    has_missing : bool
        Whether values are missing that are summed over.
    labeled
        The rows, prepared as `LabeledRows`.
    """

    engine: Engine
    rows: Any
    schema: Schema
    summary: TargetSummary
    encoding: CategoryEncoding
    sizes: tuple[int, ...]
    counts: TableCounts
    has_missing: bool
    labeled: Any = None

    def with_missing_category(self) -> CodedData:
        """Return the data with a category for the missing values of each feature that has some."""
        if not self.has_missing:
            return self
        families = Families(Structure.naive(len(self.sizes)), self.sizes)
        families, counts = count_missing(families, self.counts)
        return replace(self, sizes=families.sizes, counts=counts, has_missing=False)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.counts.bias)

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.counts.bias.sum())

    @property
    def unit(self) -> float:
        """Weight below which gains are relative to the weight of all rows."""
        return min(1.0, self.total)


@dataclass(frozen=True, eq=False)
class LearnedModel:
    """Result of a fit.

    Parameters
    ----------
    attributes : dict
        Fitted attributes, ``model_`` among them.
    training : TrainingResult or None
        Of discriminative training.
    """

    attributes: dict[str, Any]
    training: TrainingResult | None = None


class NetworkClassifier(NetworkParameters, ScanScoreMixin, ClassifierMixin, Estimator):
    """Fit and predict a Bayesian network classifier; subclasses choose the structure."""

    _task: ClassVar[Task] = "classification"
    _accepts_missing: ClassVar[bool] = True
    _accepts_nominal: ClassVar[bool] = True

    classes_: Array = fitted()
    class_count_: Array = fitted()
    encoding_: CategoryEncoding = fitted()
    model_: NetworkModel = fitted()
    dropped_columns_: list[str] = fitted()
    conditional_log_likelihood_: float = fitted()
    n_iter_: int = fitted()
    separable_: bool = fitted()
    unbounded_cells_: list[tuple[str, ...]] = fitted()
    trace_: Trace = fitted()

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory, of files larger than memory (``ceiba.scan``), or on a cluster. Nominal
            and numeric columns together; numeric ones are discretized. Values may be missing.
        y : array of shape (n_rows,)
            The class of each row; None where ``X`` is a scan that names its target.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero count as absent. The smoothing and the
            penalties count a weight w as w rows.

        Returns
        -------
        self : estimator
        """
        self._check_parameters()
        engine, source = self._open_source(X, sample_weight, reset=True, y=y)
        self._fit_source(engine, source)
        return self

    def _fit_source(self, engine: Engine, source: Source) -> None:
        data = self._read(engine, source)
        learned = self._learn(data)
        attributes = {
            **schema_attributes(data.schema),
            "classes_": data.summary.classes,
            "class_count_": data.counts.bias,
            "encoding_": data.encoding,
            "dropped_columns_": data.encoding.constant_columns,
            "n_iter_": 1,
        }
        self._set_fitted(attributes | learned.attributes, without=OPTIONAL_ATTRIBUTES)
        if learned.training is not None:
            self._warn_training(learned.training)

    def _learn(self, data: CodedData) -> LearnedModel:
        """Choose the structure, and fit its network generatively or discriminatively."""
        structure = self._choose_structure(data)
        if self.training == "tm":
            check_graph_condition(structure, data.encoding.names)
        families = Families(structure, data.sizes)
        counts = self._count(data, families)
        smoothing = Smoothing(self.alpha, self.m_prior)
        network, attributes = self._fit_network(data, families, counts, smoothing)
        attributes |= self._structure_attributes(data, structure)
        network = ClassTable(network.table, self._log_priors(data, network.bias))
        if structure.is_decomposable:
            margins = mean_values(families, network, data.total).table.sum(axis=1)
        else:
            margins = np.where(families.is_known, counts.table.sum(axis=1), 0.0)
        if self.training == "ml":
            model = NetworkModel.of(families, network, margins, is_network=True)
            return LearnedModel(attributes | {"model_": model, "n_iter_": 1})
        result = self._train(data, families, network, smoothing)
        model = NetworkModel.of(families, result.weights, margins, is_network=data.has_missing)
        attributes |= self._training_attributes(result, families, counts, data)
        return LearnedModel(attributes | {"model_": model}, result)

    def _fit_network(
        self, data: CodedData, families: Families, counts: ClassTable, smoothing: Smoothing
    ) -> tuple[ClassTable, dict[str, Any]]:
        """Return the log probabilities of the generative fit, and further fitted attributes."""
        return probabilities(families, counts, smoothing), {}

    def _check_parameters(self) -> None:
        """Raise `ParameterError` for parameters without effect."""
        if self.training == "ml":
            check_unused(self, _DISCRIMINATIVE, "training='ml'")
        elif self.priors is not None:
            raise ParameterError(
                "priors have no effect with training='tm', which learns p(class | features): leave "
                "them out, or use class_weight."
            )
        if self.penalty not in ("auto", "generative"):
            check_unused(self, ["tau"], f"penalty={self.penalty!r}")
        if self.discretization == "mdl":
            check_unused(self, ["n_bins"], "discretization='mdl'")
        if self.m_prior is not None:
            check_unused(self, ["alpha"], f"m_prior={self.m_prior!r}")

    def _discretization(self, schema: Schema) -> DiscretizationConfig:
        """Return the settings of the discretization."""
        given = read_thresholds(self.thresholds, schema)
        return DiscretizationConfig(self.discretization, self.n_bins, given)

    def _read(self, engine: Engine, source: Source) -> CodedData:
        """Learn classes and encoding, and count the features."""
        data = self._read_codes(engine, source)
        return data.with_missing_category() if self.missing == "category" else data

    def _read_codes(
        self,
        engine: Engine,
        source: Source,
        classes: Array | None = None,
        needs_features: bool = True,
    ) -> CodedData:
        """Learn the encoding and count the features; missing values are no category.

        ``classes``, if given, contain those of the rows. Without ``needs_features``, all columns
        may be left out.
        """
        labeled = engine.rows(source.partitions, ToLabeledRows(self._task))
        summary = engine.reduce(labeled, TargetSummary.of)
        summary.require_rows()
        labeled = labeled.numbered(summary.rows)
        if classes is not None:
            summary = extend_classes(summary, classes)
        class_weights = class_weight_factors(self.class_weight, summary)
        config = self._discretization(source.schema)
        encoding = learn_encoding(engine, labeled, source.schema, summary, config, class_weights)
        if encoding.n_features == 0 and needs_features:
            warn_user(
                "No column has two or more categories, so that every row is predicted the "
                "frequencies of the classes: try another discretization.",
                UserWarning,
            )
        assert summary.classes is not None
        prepare = ToCodedRows(encoding, summary.classes, class_weights, engine.threads)
        rows = prepare_rows(engine, source.partitions, labeled, prepare).numbered(summary.rows)
        sizes = tuple((encoding.n_categories + 1).tolist())
        families = Families(Structure.naive(len(sizes)), sizes)
        counts = engine.reduce(rows, TableCounts.of, families)
        is_missing = np.array(
            [families.view(counts.table, j)[-1].any() for j in range(len(sizes))], bool
        )
        has_missing = bool(is_missing.any())
        return CodedData(
            engine, rows, source.schema, summary, encoding, sizes, counts, has_missing, labeled
        )

    def _choose_structure(self, data: CodedData) -> Structure:
        raise NotImplementedError

    def _structure_attributes(self, data: CodedData, structure: Structure) -> dict[str, Any]:
        """Return the fitted attributes that describe how the structure was chosen."""
        return {}

    def _count(self, data: CodedData, families: Families) -> ClassTable:
        """Return the counts of the families; rows with missing values count where known."""
        counts = data.engine.reduce(data.rows, TableCounts.of, families)
        return ClassTable(counts.table, counts.bias)

    def _log_priors(self, data: CodedData, smoothed: Array) -> Array:
        """Return the logarithms of the class probabilities."""
        assert data.summary.classes is not None
        return self._class_log_priors(data.summary.classes, data.counts.bias, smoothed)

    def _class_log_priors(self, classes: Array, class_count: Array, smoothed: Array) -> Array:
        """Return the given priors, or the smoothed frequencies of the classes that have rows."""
        has_rows = class_count > 0
        if self.priors is not None:
            priors = _given_priors(self.priors, classes)
        elif has_rows.all():
            return smoothed
        else:
            # A class without weight counts as absent: it has no pseudo-count either.
            shares = np.where(has_rows, np.exp(smoothed), 0.0)
            priors = shares / shares.sum()
        return np.log(np.maximum(priors, MIN_PROBABILITY))

    def _train(
        self, data: CodedData, families: Families, network: ClassTable, smoothing: Smoothing
    ) -> TrainingResult:
        """Train discriminatively."""
        config = self._training_config(data.has_missing)
        inputs = TrainingData(
            data.engine, data.rows, families, network, data.total, smoothing, data.has_missing
        )
        return train(inputs, config, self, self.trace)

    def _training_config(self, sums_missing: bool) -> TrainingConfig:
        """Return the settings of discriminative training."""
        config = TrainingConfig.of(
            self.solver,
            self.penalty,
            self.tau,
            sums_missing=sums_missing,
            max_iter=self.max_iter,
            tol=self.tol,
            early_stopping=self.early_stopping,
            seed=seed_of(self.random_state),
        )
        if config.tau == 0.0:
            when = f"penalty={self.penalty!r} and solver={self.solver!r}"
            check_unused(self, ["tau"], when if sums_missing else f"{when} on complete rows")
        return config

    def _training_attributes(
        self, result: TrainingResult, families: Families, counts: ClassTable, data: CodedData
    ) -> dict[str, Any]:
        attributes: dict[str, Any] = {
            "conditional_log_likelihood_": result.log_likelihood,
            "n_iter_": result.n_iter,
            "separable_": result.is_separable,
            "unbounded_cells_": _name_cells(data, families, counts) if result.unpenalized else [],
        }
        return attributes if result.trace is None else attributes | {"trace_": result.trace}

    def _warn_training(self, result: TrainingResult) -> None:
        if not result.converged:
            warn_user(
                f"Discriminative training did not converge in {result.n_iter} iterations: "
                "increase max_iter or tol, or use another solver.",
                ConvergenceWarning,
            )
        if result.unpenalized and (self.separable_ or self.unbounded_cells_):
            cause = (
                "the classes are separable"
                if self.separable_
                else f"{len(self.unbounded_cells_)} combinations of a category and a class have no "
                "rows (unbounded_cells_)"
            )
            remedies = "Use penalty='auto' with solver='lbfgs', or penalty='generative'"
            if not self.early_stopping:
                remedies += ", or early_stopping=True"
            warn_user(
                f"Without a penalty the conditional likelihood has no maximum, since {cause}: its "
                f"weights grow as long as training goes on. {remedies}.",
                UnboundedWeightsWarning,
            )

    def predict(self, X: Any) -> Array:
        """Predict the most probable class of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        indices = self._predict(X, class_indices)
        return np.asarray(self.classes_[indices])

    def predict_log_proba(self, X: Any) -> Array:
        """Compute the logarithms of the class probabilities of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return self._predict(X, partial(class_probabilities, logarithms=True))

    def predict_proba(self, X: Any) -> Array:
        """Compute the probability of each class for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return self._predict(X, class_probabilities)

    def predict_joint_log_proba(self, X: Any) -> Array:
        """Compute the logarithm of p(class, row) for each row of ``X``, as scikit-learn's.

        After discriminative training the joint distribution is that of the network with these
        class probabilities whose features have the margins of the training rows: the frequencies
        of categories, the mean and variance of normal columns, the mean of Poisson columns.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        return self._predict(X, log_joint)

    def probability_table(self, column: str) -> Any:
        """Return the distribution of a column, given its parents, as a pandas data frame.

        Parameters
        ----------
        column : str
            Name of a column of the model.

        Returns
        -------
        DataFrame
            Probability of each category (columns) for each class and each combination of the
            parents' categories (rows); the parameters of each class for a column with a density.
            After discriminative training it is that of the network with the same class
            probabilities (see `predict_joint_log_proba`).

        Examples
        --------
        >>> from ceiba import NaiveBayesClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> model = NaiveBayesClassifier().fit(iris.table, iris.y)
        >>> model.probability_table(iris.table.schema.names[3]).round(2).shape
        (3, 3)
        """
        check_is_fitted(self)
        return probability_table(self._scorer(), self.schema_, self.classes_, column)

    def evidence(self, X: Any, label: Any = None, against: Any = None) -> Evidence:
        """Compute the contribution of each column to the decision about one row.

        Parameters
        ----------
        X : array, frame, Table or list
            One row.
        label : object, optional
            The class; by default the most probable one.
        against : object, optional
            The class that it is compared with; by default all others together.

        Returns
        -------
        Evidence
            The log-odds contributions, which add up to the log-odds; print it.

        Examples
        --------
        >>> from ceiba import NaiveBayesClassifier
        >>> rows = [{"a": "x", "b": "u"}, {"a": "x", "b": "v"}, {"a": "y", "b": "v"}]
        >>> model = NaiveBayesClassifier().fit(rows, ["no", "yes", "yes"])
        >>> model.evidence(rows[:1], "no")
        Evidence for 'no' against 'yes'
        b = u       +0.981
        a = x       +0.288
        prior       -0.405
        log-odds    +0.863
        """
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, _table)
        return explain_row(self._scorer(), rows.table(), self.classes_, label, against)

    def _predict(self, X: Any, function: Any) -> Array:
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, _table)
        return np.asarray(engine.predict(rows, function, self._scorer()))

    def _scorer(self) -> ClassScorer:
        """Return what computes the log scores of tables."""
        return ClassScorer(self.encoding_, self.model_, self.class_count_ > 0)

    def _score_on(self, engine: Engine, source: Source) -> float:
        rows = engine.rows(source.partitions, ToLabeledRows(self._task))
        predict = partial(predict_indices, self._scorer())
        return engine.reduce(rows, Accuracy.of, self.classes_, predict).score

    def _check_state(self) -> None:
        super()._check_state()
        n = len(self.classes_)
        if len(self.model_.bias) != n:
            raise ValueError(f"model_ must have {n} classes, got {len(self.model_.bias)}.")
        expected = self.encoding_.n_categories + 1
        sizes = self.model_.sizes
        if len(sizes) != len(expected) or ((sizes != expected) & (sizes != expected + 1)).any():
            raise ValueError("model_.sizes must be those of encoding_.")


# Attributes that some fits do not set.
OPTIONAL_ATTRIBUTES = (
    "conditional_log_likelihood_", "separable_", "unbounded_cells_", "trace_",
    "arc_information_", "em_n_iter_",
)  # fmt: skip


def _table(chunk: Chunk) -> Table:
    return chunk.table


def count_missing(families: Families, counts: TableCounts) -> tuple[Families, TableCounts]:
    """Return the layout and the counts with a category for the missing values of naive Bayes.

    A feature has one if the count of its missing values, the last row of its table, is positive.
    """
    tables, sizes = [], []
    for family, size in enumerate(families.sizes):
        table = families.view(counts.table, family)
        is_missing = bool(table[-1].any())
        none = np.zeros((int(is_missing), table.shape[1]))
        tables.append(np.concatenate([table, none]))
        sizes.append(size + is_missing)
    expanded = Families(families.structure, tuple(sizes))
    return expanded, TableCounts(np.concatenate(tables), counts.bias)


def extend_classes(summary: TargetSummary, classes: Array) -> TargetSummary:
    """Return the summary of the target with all ``classes``; raise if it has another one."""
    assert summary.classes is not None
    assert summary.class_counts is not None
    known = {label: index for index, label in enumerate(classes.tolist())}
    unknown = [label for label in summary.classes.tolist() if label not in known]
    if unknown:
        raise ValueError(
            f"y contains labels that are not in classes, {classes.tolist()}: {unknown[0]!r}. Pass "
            "all classes to the first call of partial_fit."
        )
    counts = np.zeros(len(classes), np.int64)
    counts[[known[label] for label in summary.classes.tolist()]] = summary.class_counts
    return replace(summary, classes=classes, class_counts=counts)


def _given_priors(priors: Any, classes: Array) -> Array:
    labels = classes.tolist()
    if isinstance(priors, dict):
        absent = [label for label in labels if label not in priors]
        if absent:
            raise ValueError(
                f"priors must have an entry for every class, got none for {absent[0]!r}."
            )
        priors = [priors[label] for label in labels]
    return check_probabilities(priors, len(labels), "priors")


def _name_cells(data: CodedData, families: Families, counts: ClassTable) -> list[tuple[str, ...]]:
    """Return the categories and the class of the counts whose weights have no bound."""
    cells = unbounded_cells(families, counts)
    named = []
    assert data.summary.classes is not None
    for row, c in cells.tolist():
        family = int(np.searchsorted(families.offsets, row, side="right")) - 1
        codes = np.unravel_index(row - families.offsets[family], families.shapes[family])
        members = (*families.structure.parents[family], families.structure.features[family])
        parts = tuple(
            f"{data.encoding.names[j]}={_label(data.encoding, j, int(code))}"
            for j, code in zip(members, codes, strict=True)
        )
        named.append((*parts, str(data.summary.classes[c])))
    return named


def _label(encoding: CategoryEncoding, feature: int, code: int) -> str:
    labels = encoding.category_labels(feature)
    return str(labels[code]) if code < len(labels) else "missing"

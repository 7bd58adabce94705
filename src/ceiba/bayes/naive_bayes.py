"""Naive Bayes: the columns are independent, given the class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, ParameterError, check_unused, fitted, reports_progress
from ceiba.base.errstate import with_default_errstate
from ceiba.base.estimator import schema_attributes
from ceiba.bayes.base import (
    OPTIONAL_ATTRIBUTES,
    CodedData,
    NetworkClassifier,
    count_missing,
    extend_classes,
)
from ceiba.bayes.coding import ToCodedRows, prepare_rows
from ceiba.bayes.discretize import CategoryEncoding, DiscretizationConfig
from ceiba.bayes.discriminative.density_rows import MissingValues, ToDensityRows
from ceiba.bayes.discriminative.density_training import (
    EXPONENTIAL,
    DensityTrainingData,
    exponential_columns,
    varying_columns,
)
from ceiba.bayes.discriminative.margins import match_column_margins
from ceiba.bayes.discriminative.train import train
from ceiba.bayes.distributions.choose import CODED, choose_distributions
from ceiba.bayes.distributions.fit import (
    Densities,
    DensityStatistics,
    count_densities,
    density_columns,
    mixtures_of,
)
from ceiba.bayes.distributions.gaussian import ClassMoments
from ceiba.bayes.distributions.rows import ToNumericRows
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import ClassTable, Smoothing, mean_values, probabilities
from ceiba.bayes.scoring import ClassScorer
from ceiba.bayes.statistics import TableCounts
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.engine import Engine
from ceiba.stats import TargetSummary, ToLabeledRows
from ceiba.tree.classifier import class_weight_factors

# Share of a count that is rounding when rows are removed.
_ROUNDING = 1e-12
_OF_COUNTS = ("_counts", "_densities", "_density_statistics")


@dataclass(frozen=True, eq=False)
class _Summary:
    """Everything that is counted: categories, and statistics of columns with a density."""

    counts: TableCounts
    densities: DensityStatistics | None

    def merge(self, other: _Summary) -> _Summary:
        """Return the summary of both parts."""
        densities = self.densities
        if densities is not None and other.densities is not None:
            densities = densities.merge(other.densities)
        return _Summary(self.counts.merge(other.counts), densities)

    def without(self, other: _Summary) -> _Summary:
        """Return the summary that remains when the rows of ``other`` are removed."""
        densities = self.densities
        if densities is not None and other.densities is not None:
            densities = densities.without(other.densities)
        table = _subtract(self.counts.table, other.counts.table)
        return _Summary(
            TableCounts(table, _subtract(self.counts.bias, other.counts.bias)), densities
        )


def _can_update(model: NaiveBayesClassifier) -> bool:
    """Raise AttributeError, as scikit-learn expects, where rows cannot be added or removed."""
    if model.training == "tm":
        raise AttributeError(
            "partial_fit and forget require training='ml', got 'tm': discriminative training needs "
            "all rows."
        )
    given = model.distributions
    if "mixture" in (given.values() if isinstance(given, Mapping) else [given]):
        raise AttributeError(
            "partial_fit and forget require other distributions than 'mixture', whose fit needs "
            "all rows: use 'gaussian' or 'kernel'."
        )
    return True


class NaiveBayesClassifier(NetworkClassifier):
    """Naive Bayes classifier of nominal and numeric columns.

    Every column has a distribution of its own, given the class. Missing values are left out, which
    is exact: the distribution of a column is that of its known values, and the columns that a row
    lacks do not count for it. A category that the training rows lack counts as missing. A row with
    a value beyond 1e154 standard deviations of every class, whose density is 0, has the class
    probabilities.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    class_count_ : ndarray of shape (n_classes,)
        Weight of the rows of each class. A class without weight has probability 0.
    encoding_ : CategoryEncoding
        Categories of each column, with the thresholds of numeric ones.
    distributions_ : dict of str to str
        Distribution of each column.
    dropped_columns_ : list of str
        Columns that are the same in all rows, or have one category, which are left out.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Examples
    --------
    >>> from ceiba import NaiveBayesClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> model = NaiveBayesClassifier().fit(vote.table, vote.y)
    >>> round(model.score(vote.table, vote.y), 3)
    0.903
    >>> trained = NaiveBayesClassifier(training="tm").fit(vote.table, vote.y)
    >>> round(trained.score(vote.table, vote.y), 3)
    0.961

    Numeric columns are discretized, unless they have a density:

    >>> iris = datasets.load("iris")
    >>> model = NaiveBayesClassifier(distributions="gaussian").fit(iris.table, iris.y)
    >>> round(model.score(iris.table, iris.y), 3)
    0.96
    >>> trained = NaiveBayesClassifier(distributions="gaussian", training="tm")
    >>> round(trained.fit(iris.table, iris.y).score(iris.table, iris.y), 3)
    0.98

    References
    ----------
    John & Langley (1995), "Estimating continuous distributions in Bayesian classifiers", UAI.
    """

    distributions: Annotated[
        Literal["auto", "categorical", "discretized", "gaussian", "kernel", "mixture", "poisson"]
        | Mapping[Any, str],
        "Distribution of the numeric columns, or of some columns by name or index: intervals "
        "('discretized', which is 'auto'), a normal distribution, normal kernels whose bandwidth "
        "is Silverman's rule, the mixture of up to three normal distributions that BIC selects, or "
        "a Poisson distribution of counts. Nominal and ordinal columns are 'categorical'. With "
        "training='tm', densities must be 'gaussian' or 'poisson'.",
    ] = "auto"
    var_smoothing: Annotated[
        float,
        AtLeast(0.0),
        "Share of the largest variance of a column that is added to every variance, with "
        "distributions='gaussian'.",
    ] = 1e-9

    distributions_: dict[str, str] = fitted()

    _state_names: ClassVar[tuple[str, ...]] = _OF_COUNTS

    def _fit_source(self, engine: Engine, source: Source) -> None:
        distributions = self._distributions(source.schema)
        if self.training == "ml":
            self._fit_first(engine, source, distributions)
            return
        named = {"distributions_": _by_name(source.schema, distributions)}
        if density_columns(distributions):
            self._train_densities(engine, source, distributions, named)
            return
        self._train_codes(engine, source, named)

    def _train_codes(self, engine: Engine, source: Source, attributes: dict[str, Any]) -> None:
        """Train discriminatively without densities."""
        super()._fit_source(engine, source)
        self._set_fitted(schema_attributes(source.schema) | attributes, without=_OF_COUNTS)

    def _train_densities(
        self,
        engine: Engine,
        source: Source,
        distributions: dict[int, str],
        attributes: dict[str, Any],
    ) -> None:
        """Train discriminatively with columns that have a density."""
        others = set(distributions.values()) - {*CODED, *EXPONENTIAL}
        if others:
            raise ParameterError(
                "training='tm' requires distributions that are 'categorical', 'discretized', "
                f"'gaussian' or 'poisson', got {sorted(others)[0]!r}."
            )
        data = self._read_codes(engine, source, needs_features=False)
        data = data.with_missing_category() if self.missing == "category" else data
        schema, classes = source.schema, data.summary.classes
        assert classes is not None
        factors = class_weight_factors(self.class_weight, data.summary)
        statistics, prepare = count_densities(
            engine, source.partitions, schema, distributions, classes, factors,
            labeled=data.labeled,
        )  # fmt: skip
        statistics = varying_columns(statistics)
        if not len(statistics.columns):
            self._train_codes(engine, source, attributes)
            return
        inputs, network = self._density_data(data, source, statistics, prepare)
        families, model = inputs.families, inputs.model
        result = train(inputs, self._training_config(inputs.sums_missing), self, self.trace)
        trained = match_column_margins(model, result.weights, inputs.network)
        margins = mean_values(families, network, data.total).table.sum(axis=1)
        counts = ClassTable(data.counts.table, data.counts.bias)
        names = {schema[j].name for j in statistics.columns.tolist()}
        dropped = set(data.encoding.constant_columns) - names
        attributes |= {
            **schema_attributes(schema),
            **self._training_attributes(result, families, counts, data),
            "classes_": classes,
            "class_count_": data.counts.bias,
            "encoding_": data.encoding,
            "model_": NetworkModel.of(families, model.tables(trained), margins, is_network=True),
            "dropped_columns_": [column.name for column in schema if column.name in dropped],
            "_densities": model.fitted(trained),
        }
        if result.unpenalized:
            attributes["unbounded_cells_"] += _empty_counts(statistics, schema, classes)
        self._set_fitted(attributes, without=(*OPTIONAL_ATTRIBUTES, *_OF_COUNTS))
        self._warn_training(result)

    def _density_data(
        self,
        data: CodedData,
        source: Source,
        statistics: DensityStatistics,
        prepare: ToNumericRows,
    ) -> tuple[DensityTrainingData, ClassTable]:
        """Return rows and generative model of discriminative training, and the network alone."""
        engine, smoothing = data.engine, Smoothing(self.alpha, self.m_prior)
        assert data.summary.classes is not None
        families = Families(Structure.naive(len(data.sizes)), data.sizes)
        counts = ClassTable(data.counts.table, data.counts.bias)
        network = probabilities(families, counts, smoothing)
        network = ClassTable(network.table, self._log_priors(data, network.bias))
        codes = ToCodedRows(
            data.encoding, data.summary.classes, prepare.class_weights, engine.threads
        )
        to_rows = ToDensityRows.of(codes, prepare, statistics)
        rows = prepare_rows(engine, source.partitions, data.labeled, to_rows)
        rows = rows.numbered(data.summary.rows)
        n_missing = engine.reduce(rows, MissingValues.of).count
        strength = self.alpha if self.m_prior is None else self.m_prior

        def solve(moments: ClassMoments) -> Densities:
            return statistics.solve(data.schema, self.var_smoothing, strength, moments)

        inputs = DensityTrainingData(
            engine, rows, families, network, data.total, smoothing,
            data.has_missing or n_missing > 0, blocks=exponential_columns(statistics), solve=solve,
        )  # fmt: skip
        start = inputs.model.start(network, solve(statistics.moments))
        return replace(inputs, network=start), network

    @available_if(_can_update)
    @with_default_errstate
    @reports_progress
    def partial_fit(
        self, X: Any, y: Any = None, classes: Any = None, sample_weight: Any = None
    ) -> Self:
        """Add rows to the model.

        The first call learns the columns, their categories and the thresholds of discretized
        columns from its rows; give ``thresholds`` to choose them. Categories that only later rows
        have are missing values there, with a warning. Up to this, and to rounding, the model is
        that of a ``fit`` on all rows. After ``fit``, the fitted model is continued.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        classes : array of shape (n_classes,), optional
            All classes, in the first call; by default those of its rows. Later calls may leave it
            out.

        Returns
        -------
        self : NaiveBayesClassifier

        Examples
        --------
        >>> from ceiba import NaiveBayesClassifier, datasets
        >>> iris = datasets.load("iris")
        >>> X, y = iris.table, iris.y
        >>> model = NaiveBayesClassifier(distributions="gaussian")
        >>> model = model.partial_fit(X[:75], y[:75], classes=["setosa", "versicolor", "virginica"])
        >>> model = model.partial_fit(X[75:], y[75:])
        >>> round(model.score(X, y), 3)
        0.96
        """
        self._check_parameters()
        self._check_class_weight()
        if not hasattr(self, "_counts"):
            engine, source = self._open_source(X, sample_weight, reset=True, y=y)
            given = None if classes is None else np.unique(np.asarray(classes))
            self._fit_first(engine, source, self._distributions(source.schema), given)
            return self
        self._check_distributions()
        if classes is not None:
            given = np.unique(np.asarray(classes)).tolist()
            if given != self.classes_.tolist():
                raise ValueError(
                    f"classes must be those of the first call of partial_fit, "
                    f"{self.classes_.tolist()}, got {given}."
                )
        self._update(self._summary().merge(self._summarize(X, y, sample_weight)))
        return self

    @available_if(_can_update)
    @with_default_errstate
    @reports_progress
    def forget(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Remove rows from the model, as if they had never been in it.

        Columns, categories and thresholds stay. With weights that are whole numbers, counts are
        those of a fit on the remaining rows in every bit; other weights, and the moments of
        columns with a density, are equal up to rounding. So are the variances of the remaining
        rows when an outlier is removed, up to 1e15 times their spread; beyond, they are lost and
        an error is raised.

        Parameters
        ----------
        X, y, sample_weight
            Rows that ``fit`` or ``partial_fit`` has added. Removing more than was added raises.

        Returns
        -------
        self : NaiveBayesClassifier

        Examples
        --------
        >>> from ceiba import NaiveBayesClassifier, datasets
        >>> vote = datasets.load("vote")
        >>> X, y = vote.table, vote.y
        >>> model = NaiveBayesClassifier().fit(X, y).forget(X[:100], y[:100])
        >>> rest = NaiveBayesClassifier().fit(X[100:], y[100:])
        >>> bool((model.predict_proba(X) == rest.predict_proba(X)).all())
        True
        """
        self._check_parameters()
        self._check_class_weight()
        self._check_distributions()
        removed = self._summarize(X, y, sample_weight)
        rest = self._summary().without(removed)
        if not rest.counts.bias.any():
            raise ValueError("forget must leave rows in the model, got all of them.")
        if rest.densities is not None:
            rest.densities.check_variances(self.schema_, self.classes_)
        self._update(rest)
        return self

    def _check_parameters(self) -> None:
        super()._check_parameters()
        given = self.distributions
        names = given.values() if isinstance(given, Mapping) else [given]
        if "gaussian" not in names:
            check_unused(self, ["var_smoothing"], f"distributions={given!r}")

    def _check_distributions(self) -> None:
        """Raise unless the distributions are those of the fitted model."""
        check_is_fitted(self)
        names = _by_name(self.schema_, self._distributions(self.schema_))
        if names != self.distributions_:
            column = next(name for name in names if names[name] != self.distributions_[name])
            raise ParameterError(
                f"distributions must be those of the fitted model, which has "
                f"{self.distributions_[column]!r} for column {column!r}, got {names[column]!r}: "
                "fit it again."
            )

    def _check_class_weight(self) -> None:
        if isinstance(self.class_weight, str):
            raise ParameterError(
                "partial_fit and forget require class_weight to be a mapping or None, got "
                f"{self.class_weight!r}: the number of all rows is not known."
            )

    def _distributions(self, schema: Schema) -> dict[int, str]:
        return choose_distributions(self.distributions, schema)

    def _discretization(self, schema: Schema) -> DiscretizationConfig:
        config = super()._discretization(schema)
        densities = density_columns(self._distributions(schema))
        both = [j for j in densities if j in config.thresholds]
        if both:
            raise ParameterError(
                f"thresholds must be those of discretized columns, got some of column "
                f"{schema[both[0]].name!r}, whose distribution is a density."
            )
        # Without thresholds a column has one category, and is not part of the network.
        return replace(config, thresholds={**config.thresholds, **dict.fromkeys(densities, ())})

    def _fit_first(
        self,
        engine: Engine,
        source: Source,
        distributions: dict[int, str],
        classes: Array | None = None,
    ) -> None:
        """Learn encoding and units, and fit all distributions."""
        has_densities = bool(density_columns(distributions))
        data = self._read_codes(engine, source, classes, needs_features=not has_densities)
        schema, all_classes = source.schema, data.summary.classes
        assert all_classes is not None
        statistics: DensityStatistics | None = None
        mixtures: Densities = []
        if has_densities:
            factors = class_weight_factors(self.class_weight, data.summary)
            partitions = source.partitions
            statistics, prepare = count_densities(
                engine, partitions, schema, distributions, all_classes, factors,
                labeled=data.labeled,
            )  # fmt: skip
            mixtures = mixtures_of(engine, partitions, statistics, prepare)
        attributes = {
            **schema_attributes(schema),
            "classes_": all_classes,
            "encoding_": data.encoding,
            "distributions_": _by_name(schema, distributions),
        }
        summary = _Summary(data.counts, statistics)
        model = self._model_attributes(
            schema, all_classes, data.encoding, summary, distributions, mixtures
        )
        self._set_fitted(attributes | model, without=(*OPTIONAL_ATTRIBUTES, *_OF_COUNTS))

    def _summary(self) -> _Summary:
        """Return what was counted so far."""
        if not hasattr(self, "_counts"):
            self._open_source(np.zeros((1, 1)), reset=False)  # raises NotFittedError
        counts = TableCounts(self._counts, self.class_count_)
        return _Summary(counts, self._density_statistics)

    def _summarize(self, X: Any, y: Any, sample_weight: Any) -> _Summary:
        """Count later rows."""
        before = self._summary()
        engine, source = self._open_source(
            X, sample_weight, reset=False, y=y, task="classification"
        )
        labeled = engine.rows(source.partitions, ToLabeledRows(self._task))
        summary = engine.reduce(labeled, TargetSummary.of)
        if not summary.n_rows:
            return before.without(before)
        summary = extend_classes(summary, self.classes_)
        factors = class_weight_factors(self.class_weight, summary)
        prepare = ToCodedRows(self.encoding_, self.classes_, factors, engine.threads)
        rows = prepare_rows(engine, source.partitions, labeled, prepare)
        counts = engine.reduce(rows, TableCounts.of, self._families(self.encoding_))
        if before.densities is None:
            return _Summary(counts, None)
        distributions = dict(
            zip(before.densities.columns.tolist(), before.densities.names, strict=True)
        )
        found, _ = count_densities(
            engine, source.partitions, self.schema_, distributions, self.classes_, factors,
            before.densities, labeled,
        )  # fmt: skip
        return _Summary(counts, found)

    def _update(self, summary: _Summary) -> None:
        """Replace the model by that of a summary."""
        distributions = dict(enumerate(self.distributions_.values()))
        model = self._model_attributes(
            self.schema_, self.classes_, self.encoding_, summary, distributions, []
        )
        self._set_fitted(schema_attributes(self.schema_) | model)

    def _families(self, encoding: CategoryEncoding) -> Families:
        sizes = tuple((encoding.n_categories + 1).tolist())
        return Families(Structure.naive(len(sizes)), sizes)

    def _model_attributes(
        self,
        schema: Schema,
        classes: Array,
        encoding: CategoryEncoding,
        summary: _Summary,
        distributions: dict[int, str],
        mixtures: Densities,
    ) -> dict[str, Any]:
        """Return the fitted attributes that follow from a summary."""
        families, counts = self._families(encoding), summary.counts
        if self.missing == "category" and encoding.n_features:
            families, counts = count_missing(families, counts)
        smoothing = Smoothing(self.alpha, self.m_prior)
        network = probabilities(families, ClassTable(counts.table, counts.bias), smoothing)
        bias = self._class_log_priors(classes, counts.bias, network.bias)
        network = ClassTable(network.table, bias)
        margins = mean_values(families, network, float(counts.bias.sum())).table.sum(axis=1)
        densities, statistics = list(mixtures), summary.densities
        dropped = set(encoding.constant_columns) - {
            schema[j].name for j in density_columns(distributions)
        }
        if statistics is not None:
            strength = self.alpha if self.m_prior is None else self.m_prior
            densities += statistics.solve(schema, self.var_smoothing, strength)
            dropped |= {schema[j].name for j in statistics.columns[statistics.constant].tolist()}
        return {
            "model_": NetworkModel.of(families, network, margins, is_network=True),
            "class_count_": counts.bias,
            "n_iter_": 1,
            "dropped_columns_": [column.name for column in schema if column.name in dropped],
            "_counts": summary.counts.table,
            "_densities": densities,
            "_density_statistics": statistics,
        }

    def _check_state(self) -> None:
        super()._check_state()
        n = len(self.classes_)
        counts = getattr(self, "_counts", None)
        if counts is not None:
            shape = int((self.encoding_.n_categories + 1).sum()), n
            ArrayOf("float64", *shape).check("_counts", counts, {})
        for densities in getattr(self, "_densities", []):
            for column, single in densities.split():
                if not 0 <= column < len(self.schema_):
                    raise ValueError(f"_densities must be those of columns of X, got {column}.")
                if single.class_count != n:
                    raise ValueError(f"_densities must have {n} classes, got {single.class_count}.")

    def _scorer(self) -> ClassScorer:
        return replace(super()._scorer(), densities=tuple(getattr(self, "_densities", ())))

    def _choose_structure(self, data: CodedData) -> Structure:
        return Structure.naive(data.encoding.n_features)

    def _count(self, data: CodedData, families: Families) -> ClassTable:
        return ClassTable(data.counts.table, data.counts.bias)


def _empty_counts(
    statistics: DensityStatistics, schema: Schema, classes: Array
) -> list[tuple[str, ...]]:
    """Return the columns of counts and the classes that have zeros only.

    Without a penalty, their rates fall to zero.
    """
    index = statistics.indices("poisson")
    moments = statistics.moments.take(index)
    found = np.argwhere((moments.weight > 0) & (moments.mean == 0))
    columns = statistics.columns[index]
    return [(f"{schema[int(columns[j])].name}>0", str(classes[c])) for c, j in found.tolist()]


def _by_name(schema: Schema, distributions: dict[int, str]) -> dict[str, str]:
    return {column.name: distributions[j] for j, column in enumerate(schema)}


def _subtract(counts: Array, removed: Array) -> Array:
    """Return the counts without those that are removed; raise if there are not so many."""
    rest = counts - removed
    if (rest < -_ROUNDING * counts).any():
        raise ValueError(
            "forget requires rows that were fitted before, got more of a category and class than "
            "the model has."
        )
    return np.where(rest > _ROUNDING * counts, rest, 0.0)

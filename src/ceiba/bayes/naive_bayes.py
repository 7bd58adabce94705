"""Naive Bayes: the columns are independent, given the class.

``training='ml'`` computes the model from counts (`NaiveBayesCounts`), to which ``partial_fit`` adds
and from which ``forget`` removes rows. ``training='tm'`` is that of all network classifiers, and of
`density_fit` where columns have a density.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import ArrayOf, AtLeast, ParameterError, check_unused, fitted, reports_progress
from ceiba.base.errstate import with_default_errstate
from ceiba.base.estimator import schema_attributes
from ceiba.bayes.base import OPTIONAL_ATTRIBUTES, NetworkClassifier
from ceiba.bayes.coding import CodedData, read_codes
from ceiba.bayes.discretize import DiscretizationConfig
from ceiba.bayes.discriminative.density_fit import check_trainable, train_densities
from ceiba.bayes.distributions.choose import choose_distributions, distributions_by_name
from ceiba.bayes.distributions.counts import NaiveBayesCounts, count_later_rows, count_rows
from ceiba.bayes.distributions.fit import (
    density_columns,
)
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.network import ClassTable
from ceiba.bayes.scoring import ClassScorer
from ceiba.bayes.statistics import TableCounts
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.engine import Engine


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
    separable_ : bool
        Of ``training='tm'``: whether the classes separate, so that the likelihood has no maximum.
        It is found only without a penalty, once every training row is predicted correctly with a
        mean log-likelihood of -0.001 or more; False otherwise, as with a small ``max_iter``.
    conditional_log_likelihood_, n_iter_, unbounded_cells_, trace_
        Of ``training='tm'``.
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

    _state_names: ClassVar[tuple[str, ...]] = ("_counts", "_densities", "_density_statistics")

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
        if not hasattr(self, "model_"):
            engine, source = self._open_source(X, sample_weight, reset=True, y=y)
            given = None if classes is None else np.unique(np.asarray(classes))
            self._fit_counts(engine, source, self._distributions(source.schema), given)
            return self
        self._check_distributions()
        if classes is not None:
            given = np.unique(np.asarray(classes)).tolist()
            if given != self.classes_.tolist():
                raise ValueError(
                    f"classes must be those of the first call of partial_fit, "
                    f"{self.classes_.tolist()}, got {given}."
                )
        self._update(self._present_counts().merge(self._count_later(X, y, sample_weight)))
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
        removed = self._count_later(X, y, sample_weight)
        rest = self._present_counts().without(removed)
        if not rest.categories.bias.any():
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
        names = distributions_by_name(self.schema_, self._distributions(self.schema_))
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

    def _fit_source(self, engine: Engine, source: Source) -> None:
        distributions = self._distributions(source.schema)
        if self.training == "ml":
            self._fit_counts(engine, source, distributions)
            return
        if density_columns(distributions):
            check_trainable(distributions)
            config = self._discretization(source.schema)
            data = read_codes(engine, source, config, self.class_weight, needs_features=False)
            data = data.with_missing_category() if self.missing == "category" else data
            learned = train_densities(self, data, source, distributions)
            if learned is not None:
                named = {"distributions_": distributions_by_name(source.schema, distributions)}
                self._set_learned(data, replace(learned, attributes=learned.attributes | named))
                return
        super()._fit_source(engine, source)

    def _choose_structure(self, data: CodedData) -> Structure:
        return Structure.naive(data.encoding.n_features)

    def _structure_attributes(self, data: CodedData, structure: Structure) -> dict[str, Any]:
        distributions = self._distributions(data.schema)
        return {"distributions_": distributions_by_name(data.schema, distributions)}

    def _count(self, data: CodedData, families: Families) -> ClassTable:
        return data.class_table

    def _fit_counts(
        self,
        engine: Engine,
        source: Source,
        distributions: dict[int, str],
        classes: Array | None = None,
    ) -> None:
        """Learn encoding and units, count the rows, and compute the model of the counts.

        ``classes``, if given, contain those of the rows.
        """
        has_densities = bool(density_columns(distributions))
        schema, config = source.schema, self._discretization(source.schema)
        data = read_codes(
            engine, source, config, self.class_weight, classes, needs_features=not has_densities
        )
        counts, mixtures = count_rows(data, source, distributions, self.class_weight)
        attributes = {
            **schema_attributes(schema),
            "classes_": data.classes,
            "encoding_": data.encoding,
            "distributions_": distributions_by_name(schema, distributions),
        }
        model = counts.solve(self, schema, data.classes, data.encoding, distributions, mixtures)
        self._set_fitted(attributes | model, without=(*OPTIONAL_ATTRIBUTES, *self._state_names))

    def _present_counts(self) -> NaiveBayesCounts:
        """Return what was counted so far."""
        check_is_fitted(self)
        if not hasattr(self, "_counts"):
            raise ParameterError(
                "partial_fit and forget require a model of training='ml', got one that was fitted "
                "with training='tm', which keeps no counts: fit it again with training='ml'."
            )
        categories = TableCounts(self._counts, self.class_count_)
        return NaiveBayesCounts(categories, self._density_statistics)

    def _count_later(self, X: Any, y: Any, sample_weight: Any) -> NaiveBayesCounts:
        """Count rows in the classes, categories and units of the model."""
        before = self._present_counts()
        engine, source = self._open_source(X, sample_weight, reset=False, y=y, task=self._task)
        return count_later_rows(
            engine, source, before, self.schema_, self.encoding_, self.classes_, self.class_weight
        )

    def _update(self, counts: NaiveBayesCounts) -> None:
        """Replace the model by that of some counts."""
        distributions = dict(enumerate(self.distributions_.values()))
        model = counts.solve(self, self.schema_, self.classes_, self.encoding_, distributions)
        self._set_fitted(schema_attributes(self.schema_) | model)

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
                if single.n_classes != n:
                    raise ValueError(f"_densities must have {n} classes, got {single.n_classes}.")

    def _scorer(self) -> ClassScorer:
        return replace(super()._scorer(), densities=tuple(getattr(self, "_densities", ())))

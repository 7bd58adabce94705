"""All counts of naive Bayes, to which rows can be added and from which they can be removed.

The model of ``training='ml'`` is a function of these counts, so that ``partial_fit`` and ``forget``
change the counts and compute the model again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.coding import (
    CodedData,
    ToCodedRows,
    count_missing,
    extend_classes,
    prepare_rows,
    single_families,
)
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.distributions.fit import (
    Densities,
    DensityStatistics,
    count_densities,
    density_columns,
    mixtures_of,
)
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import ClassTable, Smoothing, feature_margins, probabilities
from ceiba.bayes.statistics import TableCounts
from ceiba.bayes.training import class_log_priors
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.engine import Engine
from ceiba.stats import TargetSummary, ToLabeledRows
from ceiba.tree.class_weight import class_weight_factors

# Share of a count that is rounding when rows are removed.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class NaiveBayesCounts:
    """Counts of the categories, and statistics of the columns with a density.

    Parameters
    ----------
    categories : TableCounts
        Counts of each feature alone, one table below the other.
    densities : DensityStatistics or None
    """

    categories: TableCounts
    densities: DensityStatistics | None

    def merge(self, other: NaiveBayesCounts) -> NaiveBayesCounts:
        """Return the counts of both parts."""
        densities = self.densities
        if densities is not None and other.densities is not None:
            densities = densities.merge(other.densities)
        return NaiveBayesCounts(self.categories.merge(other.categories), densities)

    def without(self, other: NaiveBayesCounts) -> NaiveBayesCounts:
        """Return the counts that remain when the rows of ``other`` are removed."""
        densities = self.densities
        if densities is not None and other.densities is not None:
            densities = densities.without(other.densities)
        table = _subtract(self.categories.table, other.categories.table)
        bias = _subtract(self.categories.bias, other.categories.bias)
        return NaiveBayesCounts(TableCounts(table, bias), densities)

    def solve(
        self,
        parameters: Any,
        schema: Schema,
        classes: Array,
        encoding: CategoryEncoding,
        distributions: dict[int, str],
        mixtures: Sequence[Any] = (),
    ) -> dict[str, Any]:
        """Return the fitted attributes that follow from the counts.

        Parameters
        ----------
        parameters : NaiveBayesClassifier
            The hyper-parameters.
        schema, classes, encoding
            Of the model.
        distributions : dict of int to str
            Distribution of each column.
        mixtures : sequence of MixtureColumns
            Distributions that are fitted to the rows.
        """
        families, categories = single_families(encoding), self.categories
        if parameters.missing == "category" and encoding.n_features:
            families, categories = count_missing(families, categories)
        smoothing = Smoothing(parameters.alpha, parameters.m_prior)
        class_count = categories.bias
        network = probabilities(families, ClassTable(categories.table, class_count), smoothing)
        bias = class_log_priors(parameters.priors, classes, class_count, network.bias)
        network = ClassTable(network.table, bias)
        margins = feature_margins(families, network, float(class_count.sum()))
        densities, statistics = list(mixtures), self.densities
        dropped = set(encoding.constant_columns) - {
            schema[j].name for j in density_columns(distributions)
        }
        if statistics is not None:
            strength = parameters.alpha if parameters.m_prior is None else parameters.m_prior
            densities += statistics.solve(schema, parameters.var_smoothing, strength)
            dropped |= {schema[j].name for j in statistics.columns[statistics.constant].tolist()}
        return {
            "model_": NetworkModel.of(families, network, margins, is_network=True),
            "class_count_": class_count,
            "n_iter_": 1,
            "dropped_columns_": [column.name for column in schema if column.name in dropped],
            "_counts": self.categories.table,
            "_densities": densities,
            "_density_statistics": statistics,
        }


def _subtract(counts: Array, removed: Array) -> Array:
    """Return the counts without those that are removed; raise if there are not so many."""
    rest = counts - removed
    if (rest < -_ROUNDING * counts).any():
        raise ValueError(
            "forget requires rows that were fitted before, got more of a category and class than "
            "the model has."
        )
    return np.where(rest > _ROUNDING * counts, rest, 0.0)


def count_rows(
    data: CodedData, source: Source, distributions: dict[int, str], class_weight: Any
) -> tuple[NaiveBayesCounts, Densities]:
    """Count the rows of a first fit, and fit the mixtures of the columns that have one.

    ``data`` has the columns of categories, ``source`` the same rows with the numeric columns.
    """
    if not density_columns(distributions):
        return NaiveBayesCounts(data.counts, None), []
    factors = class_weight_factors(class_weight, data.summary)
    statistics, prepare = count_densities(
        data.engine, source.partitions, source.schema, distributions, data.classes, factors,
        labeled=data.labeled,
    )  # fmt: skip
    mixtures = mixtures_of(data.engine, source.partitions, statistics, prepare)
    return NaiveBayesCounts(data.counts, statistics), mixtures


def count_later_rows(
    engine: Engine,
    source: Source,
    before: NaiveBayesCounts,
    schema: Schema,
    encoding: CategoryEncoding,
    classes: Array,
    class_weight: Any,
) -> NaiveBayesCounts:
    """Count rows in the classes, categories and units of a fitted model.

    Parameters
    ----------
    engine, source
        The rows.
    before : NaiveBayesCounts
        Counts of the model.
    schema, encoding, classes
        Of the model.
    class_weight : mapping or None
        As the hyper-parameter.
    """
    labeled = engine.rows(source.partitions, ToLabeledRows("classification"))
    summary = engine.reduce(labeled, TargetSummary.of)
    if not summary.n_rows:
        return before.without(before)
    summary = extend_classes(summary, classes)
    factors = class_weight_factors(class_weight, summary)
    prepare = ToCodedRows(encoding, classes, factors, engine.threads)
    rows = prepare_rows(engine, source.partitions, labeled, prepare)
    categories = engine.reduce(rows, TableCounts.of, single_families(encoding))
    if before.densities is None:
        return NaiveBayesCounts(categories, None)
    columns, names = before.densities.columns.tolist(), before.densities.names
    densities, _ = count_densities(
        engine, source.partitions, schema, dict(zip(columns, names, strict=True)), classes,
        factors, before.densities, labeled,
    )  # fmt: skip
    return NaiveBayesCounts(categories, densities)

"""Fit naive Bayes with normal and Poisson columns discriminatively (``training='tm'``).

Both are exponential families: with their sufficient statistics instead of counts, all solvers
work as on tables (`DensityModel`). The fit

1. summarizes the numeric columns, and leaves out those that do not vary,
2. computes the generative model, where training starts,
3. maximizes the conditional likelihood,
4. takes, of all joint distributions with the trained p(c | x), the one with the margins of the
   generative model (`match_column_margins`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.bayes.coding import CodedData, ToCodedRows, prepare_rows
from ceiba.bayes.discriminative.density_rows import MissingValues, ToDensityRows
from ceiba.bayes.discriminative.density_training import DensityTrainingData
from ceiba.bayes.discriminative.exponential import (
    ExponentialColumns,
    GaussianExponential,
    PoissonExponential,
)
from ceiba.bayes.discriminative.margins import match_column_margins
from ceiba.bayes.discriminative.train import train
from ceiba.bayes.distributions.choose import CODED
from ceiba.bayes.distributions.fit import Densities, DensityStatistics, count_densities
from ceiba.bayes.distributions.gaussian import ClassMoments
from ceiba.bayes.distributions.rows import ToNumericRows, take_scaling
from ceiba.bayes.model import NetworkModel
from ceiba.bayes.network import ClassTable, Smoothing, feature_margins, probabilities
from ceiba.bayes.training import (
    LearnedModel,
    class_log_priors,
    training_attributes,
    training_config,
)
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.tree.class_weight import class_weight_factors

# Distributions that are exponential families, in the order of their columns in the rows.
EXPONENTIAL = ("gaussian", "poisson")


def check_trainable(distributions: dict[int, str]) -> None:
    """Raise `ParameterError` unless all densities can be trained discriminatively."""
    others = set(distributions.values()) - {*CODED, *EXPONENTIAL}
    if others:
        raise ParameterError(
            "training='tm' requires distributions that are 'categorical', 'discretized', "
            f"'gaussian' or 'poisson', got {sorted(others)[0]!r}."
        )


def train_densities(
    estimator: Any, data: CodedData, source: Source, distributions: dict[int, str]
) -> LearnedModel | None:
    """Train discriminatively with columns that have a density; None if all of them are constant.

    Parameters
    ----------
    estimator : NaiveBayesClassifier
        The hyper-parameters; it also reports progress.
    data : CodedData
        The columns of categories.
    source : Source
        The same rows, with the numeric columns.
    distributions : dict of int to str
        Distribution of each column.
    """
    schema = source.schema
    factors = class_weight_factors(estimator.class_weight, data.summary)
    statistics, prepare = count_densities(
        data.engine, source.partitions, schema, distributions, data.classes, factors,
        labeled=data.labeled,
    )  # fmt: skip
    statistics = _varying_columns(statistics)
    if not len(statistics.columns):
        return None
    families, counts = data.families, data.class_table
    network = probabilities(families, counts, Smoothing(estimator.alpha, estimator.m_prior))
    bias = class_log_priors(estimator.priors, data.classes, counts.bias, network.bias)
    network = ClassTable(network.table, bias)
    inputs = _training_data(estimator, data, source, network, statistics, prepare)
    config = training_config(estimator, inputs.sums_missing)
    result = train(inputs, config, estimator, estimator.trace)
    model = inputs.model
    trained = match_column_margins(model, result.weights, inputs.network)
    margins = feature_margins(families, network, data.total)
    names = {schema[j].name for j in statistics.columns.tolist()}
    dropped = set(data.encoding.constant_columns) - names
    attributes = training_attributes(result, families, counts, data) | {
        "model_": NetworkModel.of(families, model.tables(trained), margins, is_network=True),
        "dropped_columns_": [column.name for column in schema if column.name in dropped],
        "_densities": model.fitted(trained),
    }
    if result.unpenalized:
        attributes["unbounded_cells_"] += _empty_counts(statistics, schema, data.classes)
    return LearnedModel(attributes, result)


def _varying_columns(statistics: DensityStatistics) -> DensityStatistics:
    """Return the statistics of the columns that vary, in the order of `EXPONENTIAL`."""
    varying = np.flatnonzero(~statistics.constant).tolist()
    order = sorted(varying, key=lambda i: EXPONENTIAL.index(statistics.names[i]))
    return replace(
        statistics,
        columns=statistics.columns[order],
        names=tuple(statistics.names[i] for i in order),
        scaling=take_scaling(statistics.scaling, order),
        sums=statistics.sums.take(order),
    )


def _training_data(
    estimator: Any,
    data: CodedData,
    source: Source,
    network: ClassTable,
    statistics: DensityStatistics,
    prepare: ToNumericRows,
) -> DensityTrainingData:
    """Return the rows with codes and numeric values, and the generative model of both."""
    engine, n_threads = data.engine, data.engine.threads
    codes = ToCodedRows(data.encoding, data.classes, prepare.class_weights, n_threads)
    to_rows = ToDensityRows.of(codes, prepare, statistics)
    rows = prepare_rows(engine, source.partitions, data.labeled, to_rows)
    rows = rows.numbered(data.summary.rows)
    n_missing = engine.reduce(rows, MissingValues.of).count
    smoothing = Smoothing(estimator.alpha, estimator.m_prior)
    strength = estimator.alpha if estimator.m_prior is None else estimator.m_prior
    var_smoothing = estimator.var_smoothing

    def solve(moments: ClassMoments) -> Densities:
        return statistics.solve(data.schema, var_smoothing, strength, moments)

    inputs = DensityTrainingData(
        engine, rows, data.families, network, data.total, smoothing,
        data.has_missing or n_missing > 0, blocks=_exponential_columns(statistics), solve=solve,
    )  # fmt: skip
    start = inputs.model.start(network, solve(statistics.moments))
    return replace(inputs, network=start)


def _exponential_columns(statistics: DensityStatistics) -> tuple[ExponentialColumns, ...]:
    """Return the numeric columns by their distributions, with means and deviations of all rows."""
    pooled = statistics.moments.pooled()
    center, spread = pooled.mean[0], np.sqrt(pooled.variance[0])
    found: list[ExponentialColumns] = []
    gaussian, poisson = (statistics.indices(name) for name in EXPONENTIAL)
    if gaussian:
        columns, scaling = statistics.columns[gaussian], take_scaling(statistics.scaling, gaussian)
        found.append(GaussianExponential(columns, center[gaussian], spread[gaussian], scaling))
    if poisson:
        columns = statistics.columns[poisson]
        found.append(PoissonExponential(columns, center[poisson], spread[poisson]))
    return tuple(found)


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

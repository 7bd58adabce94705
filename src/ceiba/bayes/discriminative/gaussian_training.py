"""Train naive Bayes with normal columns: from moments to fitted weights and distributions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.base.iterations import Iterations
from ceiba.bayes.discriminative.gaussian import (
    MixedErrors,
    MixedLikelihood,
    MixedMeans,
    diagonal_metric,
    mixed_tm_steps,
    natural_weights,
    normal_columns,
)
from ceiba.bayes.discriminative.lbfgs import lbfgs_steps
from ceiba.bayes.discriminative.train import (
    SEPARABLE_MEAN,
    TrainingConfig,
    TrainingResult,
    run_solver,
)
from ceiba.bayes.distributions.gaussian import GaussianColumns
from ceiba.bayes.families import Families
from ceiba.bayes.network import Weights
from ceiba.engine import Engine


@dataclass(frozen=True, eq=False)
class MixedData:
    """Rows and generative model of a fit.

    Parameters
    ----------
    engine, rows
        The rows, prepared as `MixedRows`.
    families : Families
    network : Weights
        Network of the smoothed counts.
    gaussians : GaussianColumns
        Normal distributions of maximum likelihood.
    center, spread : ndarray of shape (n_columns,)
        Mean and standard deviation of each normal column, over all classes.
    total : float
        Weight of all rows.
    """

    engine: Engine
    rows: Any
    families: Families
    network: Weights
    gaussians: GaussianColumns
    center: Array
    spread: Array
    total: float


def check_mixed_config(config: TrainingConfig) -> None:
    """Raise `ParameterError` for settings that normal columns do not have."""
    if config.solver == "newton":
        raise ParameterError(
            "solver='newton' requires columns of categories: use solver='lbfgs' for "
            "distributions='gaussian'."
        )
    if config.tau > 0:
        raise ParameterError(
            "penalty='generative' requires columns of categories: use a ridge (penalty=3.0) for "
            "distributions='gaussian'."
        )
    if config.early_stopping:
        raise ParameterError(
            "early_stopping=True requires columns of categories: use a ridge (penalty=3.0) for "
            "distributions='gaussian'."
        )


def train_mixed(
    data: MixedData, config: TrainingConfig, estimator: Any, trace: bool
) -> tuple[TrainingResult, GaussianColumns]:
    """Maximize the conditional likelihood from the generative model.

    The weights of the result are those of the families; the distributions of the normal columns
    are returned beside them.
    """
    families = data.families
    mean = ((data.gaussians.mean - data.center) / data.spread).T
    variance = (data.gaussians.deviation / data.spread).T ** 2
    start = natural_weights(data.network, mean, variance)
    objective = MixedLikelihood(data.engine, data.rows, families, start, data.total, config.ridge)
    value = objective.value(start)
    if config.solver == "tm":
        means = MixedMeans.of(families, data.network, mean, variance, data.total)
        steps = mixed_tm_steps(objective, value, means, config.tol)
    else:
        steps = lbfgs_steps(objective, value, diagonal_metric(value), config.tol)
    iterations = Iterations(estimator, config.max_iter, trace=trace, name="discriminative training")
    value, n_iter, converged = run_solver(value, steps, iterations)
    separable = False
    if config.ridge == 0 and value.log_likelihood >= SEPARABLE_MEAN * data.total:
        errors = data.engine.reduce(data.rows, MixedErrors.of, families, value.weights)
        separable = errors.weight == 0
    weights, mean, variance = normal_columns(value.weights, families.n_rows, start)
    columns = GaussianColumns(
        data.gaussians.columns,
        data.gaussians.scaling,
        data.center + data.spread * mean.T,
        data.spread * np.sqrt(variance.T),
    )
    result = TrainingResult(
        weights,
        value.log_likelihood,
        value.objective,
        n_iter,
        converged,
        separable,
        config.ridge == 0.0,
        iterations.trace,
    )
    return result, columns

"""Prediction with a fitted mixture: many rows per call."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks.memory import release_free_memory
from benchmarks.mixture import quality
from benchmarks.mixture.data import Array, Problem, Shape, clusters, make_problem
from benchmarks.mixture.peers import (
    MODULES,
    N_ITERATIONS,
    fixed_parameters,
    mixture,
    sklearn_interface,
)
from benchmarks.workload import Check, Workload
from benchmarks.workloads.mixture.fit import MEDIUM

METHODS = ("score_samples", "predict_proba")
# Rows of the prediction per training row.
ROWS_PER_TRAINING_ROW = 10


@dataclass(frozen=True)
class PredictionData:
    """Rows, and the fitted mixtures by label."""

    X: Array
    models: Mapping[str, Any]


def data_maker(shape: Shape) -> Callable[[int, int], dict[str, PredictionData]]:
    """Return a function that fits the mixtures, outside the timed part; one group per method."""

    def make_data(seed: int, n_rows: int) -> dict[str, PredictionData]:
        X = clusters(seed, n_rows, shape.n_columns, shape.n_components)
        training = X[: n_rows // ROWS_PER_TRAINING_ROW]
        problem = make_problem(training, "full", shape.n_components, seed + 1)
        models = {label: fit(label, problem) for label in MODULES}
        release_free_memory()
        return dict.fromkeys(METHODS, PredictionData(X, models))

    return make_data


def fit(label: str, problem: Problem) -> Any:
    """Fit a library's mixture with the usual number of iterations."""
    with warnings.catch_warnings():
        # The number of iterations is fixed on purpose: warnings of non-convergence are expected.
        warnings.simplefilter("ignore")
        parameters = fixed_parameters(problem, N_ITERATIONS)
        model = mixture(label, len(problem.weights), problem.covariance_type, **parameters)
        return model.fit(problem.X)


def predict(method: str, label: str) -> Callable[[PredictionData], Array]:
    """Return a run of one call for all rows."""

    def run(data: PredictionData) -> Array:
        predictions: Array = getattr(data.models[label], method)(data.X)
        return predictions

    return run


def workload(shape: Shape) -> Workload:
    """Return the workload of log densities and posteriors of many rows."""
    return Workload(
        name="mixture-predict",
        title=f"{shape.n_columns} columns, {shape.n_components} components (full), prediction",
        make_data=data_maker(shape),
        implementations=tuple(
            each
            for method in METHODS
            for each in sklearn_interface(method, partial(predict, method))
        ),
        quality=quality.score_predictions,
        checks=(Check("mean", 1e-9), Check("mean_square", 1e-9)),
        n_rows=shape.n_rows,
        quick_n_rows=shape.quick_n_rows,
    )


WORKLOADS = (workload(MEDIUM),)

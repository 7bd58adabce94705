"""Libraries that fit mixtures: ours, scikit-learn and oneDAL.

All run the same iterations from the same parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.machine import n_threads
from benchmarks.mixture.data import Array, CovarianceType, Problem
from benchmarks.workload import Implementation

Run = Callable[[Problem], Any]

N_ITERATIONS = 20
MODULES = {"ceiba": "ceiba", "scikit-learn": "sklearn.mixture"}
# oneDAL's names of the covariance types that it supports.
STORAGE = {"full": "full", "diag": "diagonal"}


class Fit(NamedTuple):
    """Final parameters; the shape of the covariances depends on their type."""

    weights: Array
    means: Array
    covariances: Array
    n_iterations: int


def mixture(
    label: str, n_components: int, covariance_type: CovarianceType, **parameters: Any
) -> Any:
    """Return an unfitted mixture of a library with scikit-learn's interface."""
    mixture_class = import_module(MODULES[label]).GaussianMixture
    return mixture_class(n_components, covariance_type=covariance_type, **parameters)


def fixed_parameters(problem: Problem, n_iterations: int) -> dict[str, Any]:
    """Return hyper-parameters that fix the initialization and the number of iterations."""
    return {
        "weights_init": problem.weights.astype(problem.X.dtype),
        "means_init": problem.means.astype(problem.X.dtype),
        "precisions_init": problem.precisions.astype(problem.X.dtype),
        "reg_covar": 0.0,
        "tol": 0.0,
        "max_iter": n_iterations,
    }


def fit_model(model: Any, X: Array) -> Fit:
    """Fit, and return the parameters."""
    model.fit(X)
    return Fit(model.weights_, model.means_, model.covariances_, model.n_iter_)


def from_given(label: str) -> Run:
    """Return a run of all iterations from the given parameters."""

    def run(problem: Problem) -> Fit:
        n_components, parameters = len(problem.weights), fixed_parameters(problem, N_ITERATIONS)
        model = mixture(label, n_components, problem.covariance_type, **parameters)
        return fit_model(model, problem.X)

    return run


def from_default(label: str, seed: int) -> Run:
    """Return a run with the library's own initialization, stopping rule and other defaults."""

    def run(problem: Problem) -> Fit:
        n_components = len(problem.weights)
        model = mixture(label, n_components, problem.covariance_type, random_state=seed)
        return fit_model(model, problem.X)

    return run


def onedal(problem: Problem) -> Fit:
    """Run EM of the library below scikit-learn-intelex, which itself has no mixtures."""
    daal4py = import_module("daal4py")
    daal4py.daalinit(n_threads())
    dtype, n_columns = problem.X.dtype, problem.X.shape[1]
    n_components = len(problem.weights)
    covariances = problem.covariances.reshape(n_components, -1, n_columns).astype(dtype)
    result = daal4py.em_gmm(
        nComponents=n_components,
        fptype="float" if dtype == np.float32 else "double",
        maxIterations=N_ITERATIONS,
        accuracyThreshold=0.0,
        covarianceStorage=STORAGE[problem.covariance_type],
    ).compute(
        problem.X,
        problem.weights[None].astype(dtype),
        problem.means.astype(dtype),
        [*covariances],
    )
    final = np.reshape(result.covariances, problem.covariances.shape)
    return Fit(result.weights[0], result.means, final, int(result.nIterations[0, 0]))


def with_mean_imputation(problem: Problem) -> Fit:
    """Run scikit-learn, which rejects missing values, after mean imputation."""
    imputed = np.where(np.isnan(problem.X), np.nanmean(problem.X, axis=0), problem.X)
    fit: Fit = from_given("scikit-learn")(replace(problem, X=imputed))
    return fit


def in_sequence(runs: list[Run]) -> Run:
    """Return a run of many calls."""
    return lambda problem: [run(problem) for run in runs]


def all_libraries(group: str, covariance_type: CovarianceType) -> tuple[Implementation, ...]:
    """Return ours, scikit-learn and, where it supports the covariance type, oneDAL."""
    implementations = sklearn_interface(group, from_given)
    if covariance_type in STORAGE:
        implementations += (Implementation("oneDAL", onedal, group, module="daal4py"),)
    return implementations


def sklearn_interface(
    group: str, make_run: Callable[[str], Callable[[Any], Any]]
) -> tuple[Implementation, ...]:
    """Return ours and scikit-learn; ``make_run`` gets the label."""
    return tuple(
        Implementation(label, make_run(label), group, label == "ceiba", module.partition(".")[0])
        for label, module in MODULES.items()
    )

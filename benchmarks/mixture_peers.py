"""Who fits mixtures: ours, scikit-learn, and oneDAL.

Everyone takes the same steps from the same parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from benchmarks.machine import threads
from benchmarks.mixture_data import Array, Form, Start
from benchmarks.workload import Contestant

Run = Callable[[Start], Any]

ITERATIONS = 20
MODULES = {"ceiba": "ceiba", "scikit-learn": "sklearn.mixture"}
# oneDAL's words; it knows no other forms.
STORAGE = {"full": "full", "diag": "diagonal"}


class Fit(NamedTuple):
    """What every contestant gives in the end; covariances in the shape of their form."""

    weights: Array
    means: Array
    covariances: Array
    iterations: int


def mixture(label: str, k: int, form: Form, **settings: Any) -> Any:
    """A mixture of a library with scikit-learn's interface, not yet fitted."""
    made = import_module(MODULES[label]).GaussianMixture
    return made(k, covariance_type=form, **settings)


def given(start: Start, iterations: int) -> dict[str, Any]:
    """Settings that fix where EM begins and after how many steps it ends."""
    return {
        "weights_init": start.weights.astype(start.X.dtype),
        "means_init": start.means.astype(start.X.dtype),
        "precisions_init": start.precisions.astype(start.X.dtype),
        "reg_covar": 0.0,
        "tol": 0.0,
        "max_iter": iterations,
    }


def fitted(model: Any, X: Array) -> Fit:
    """Fit, and take the parameters out."""
    found = model.fit(X)
    return Fit(found.weights_, found.means_, found.covariances_, found.n_iter_)


def from_start(label: str) -> Run:
    """All the steps from the given parameters."""

    def run(start: Start) -> Fit:
        settings = given(start, ITERATIONS)
        return fitted(mixture(label, len(start.weights), start.form, **settings), start.X)

    return run


def from_kmeans(label: str, seed: int) -> Run:
    """A fit with the library's own start, stopping rule and other defaults."""

    def run(start: Start) -> Fit:
        return fitted(mixture(label, len(start.weights), start.form, random_state=seed), start.X)

    return run


def onedal(start: Start) -> Fit:
    """EM of the library under scikit-learn-intelex, which itself has no mixtures."""
    daal4py = import_module("daal4py")
    daal4py.daalinit(threads())
    kind, columns = start.X.dtype, start.X.shape[1]
    covariances = start.covariances.reshape(len(start.weights), -1, columns).astype(kind)
    found = daal4py.em_gmm(
        nComponents=len(start.weights),
        fptype="float" if kind == np.float32 else "double",
        maxIterations=ITERATIONS,
        accuracyThreshold=0.0,
        covarianceStorage=STORAGE[start.form],
    ).compute(start.X, start.weights[None].astype(kind), start.means.astype(kind), [*covariances])
    learnt = np.reshape(found.covariances, start.covariances.shape)
    return Fit(found.weights[0], found.means, learnt, int(found.nIterations[0, 0]))


def with_means_for_gaps(start: Start) -> Fit:
    """scikit-learn refuses gaps: the usual ritual."""
    filled = np.where(np.isnan(start.X), np.nanmean(start.X, axis=0), start.X)
    found: Fit = from_start("scikit-learn")(replace(start, X=filled))
    return found


def in_turn(runs: list[Run]) -> Run:
    """Many calls in one run."""
    return lambda start: [run(start) for run in runs]


def everyone(group: str, form: Form) -> tuple[Contestant, ...]:
    """Ours, scikit-learn and, where it knows the form, oneDAL."""
    found = both_libraries(group, from_start)
    if form in STORAGE:
        found += (Contestant("oneDAL", onedal, group, needs="daal4py"),)
    return found


def both_libraries(
    group: str, run: Callable[[str], Callable[[Any], Any]]
) -> tuple[Contestant, ...]:
    """Ours and scikit-learn, each doing what ``run`` makes of its label."""
    return tuple(
        Contestant(label, run(label), group, label == "ceiba", module.partition(".")[0])
        for label, module in MODULES.items()
    )

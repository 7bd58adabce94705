"""Runs of EM from several initializations, and for several numbers of components."""

from __future__ import annotations

from typing import Any

from ceiba.base import Iterations
from ceiba.bayes.coding import CodedData
from ceiba.bayes.latent.choice import LatentChoice, count_parameters, information_criteria
from ceiba.bayes.latent.em import EMResult, LatentClassEM
from ceiba.bayes.latent.init import initial_network
from ceiba.bayes.latent.pairs import PairTables
from ceiba.bayes.network import Smoothing

# Objectives that differ by a smaller fraction count as equal: the first run is then taken.
_SAME = 1e-9


def fit_components(estimator: Any, data: CodedData, k: int, seed: int, *, single: bool) -> EMResult:
    """Return the best of several runs of EM; the first of those that are equal to rounding.

    ``single`` is whether no other number of components is fitted.
    """
    smoothing = Smoothing(estimator.alpha)
    learns_tree = estimator.structure == "tree" and len(data.sizes) > 1
    pairs = PairTables.of(data.sizes, k, data.encoding.names) if learns_tree else None
    em = LatentClassEM(data, smoothing, pairs, estimator.tol)
    n_runs = 1 if k == 1 else estimator.n_init
    runs = []
    for run in range(n_runs):
        start = initial_network(data, k, estimator.init, smoothing, seed, run)
        iterations = Iterations(
            estimator,
            estimator.max_iter,
            trace=estimator.trace,
            name="EM",
            runs=n_runs if single else None,
        )
        runs.append(em.run(start, iterations))
        if iterations.stopped:
            break
    highest = max(run.objectives[-1] for run in runs)
    limit = highest - _SAME * max(data.unit, abs(highest))
    best = next(run for run in runs if run.objectives[-1] >= limit)
    best.iterations.stopped = runs[-1].iterations.stopped
    return best


def choose_components(estimator: Any, data: CodedData, seed: int) -> tuple[EMResult, LatentChoice]:
    """Fit 1, 2, ... components and return the mixture that the criterion selects.

    Parameters
    ----------
    estimator : LatentClassMixture
        The hyper-parameters; it also reports progress.
    data : CodedData
    seed : int
    """
    found, candidates = [], []
    for k in range(1, min(estimator.max_components, data.summary.n_rows) + 1):
        result = fit_components(estimator, data, k, seed, single=False)
        n_parameters = count_parameters(result.last.families.structure, data.n_observed, k)
        criteria = information_criteria(result.last.log_likelihood, n_parameters, data.total)
        found.append(result)
        candidates.append({"n_components": k, **criteria})
        if result.iterations.stopped:
            break
    choice = LatentChoice.of(candidates, estimator.n_components)
    return found[choice.chosen - 1], choice

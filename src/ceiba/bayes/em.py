"""Generative fit of a forest to rows with missing values: EM with messages.

The class of every row is known. The E step computes the expected counts of the families given the
observed values and the class, by messages along the forest; the M step normalizes them with the
pseudo-counts of the smoothing. The objective, the log-likelihood of class and observed values plus
the logarithm of the prior that the pseudo-counts stand for, never decreases.

References
----------
Lauritzen (1995), "The EM algorithm for graphical association models with missing data",
Computational Statistics & Data Analysis 19.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._native import ClassWeighting
from ceiba.bayes.families import Families
from ceiba.bayes.network import ClassTable, Smoothing, mark_summed, probabilities, spread_missing
from ceiba.bayes.statistics import TableSums

MAX_ITER = 500
TOL = 1e-7


@dataclass(frozen=True, eq=False)
class ExpectationMaximization:
    """Result of EM.

    Parameters
    ----------
    network : ClassTable
        Log probabilities.
    objectives : list of float
        Log-likelihood of the observed values plus the logarithm of the prior: of the start, and
        after each iteration but the last.
    n_iter : int
    converged : bool
    """

    network: ClassTable
    objectives: list[float]
    n_iter: int
    converged: bool


def fit_missing(
    reduce: Callable[..., Any],
    families: Families,
    available: ClassTable,
    smoothing: Smoothing,
    max_iter: int = MAX_ITER,
    tol: float = TOL,
) -> ExpectationMaximization:
    """Fit the network of a forest to rows with missing values.

    Parameters
    ----------
    reduce : callable
        ``reduce(summarize, *model)`` summarizes the rows, prepared as `CodedRows`.
    families : Families
        Each with at most one parent.
    available : ClassTable
        Counts of the rows in which all values of a family are known, where EM starts. They also
        fix the pseudo-counts of an m-estimate.
    smoothing : Smoothing
    max_iter : int
    tol : float
        EM ends when an iteration gains less than ``tol`` times the objective, or than ``tol``
        times the weight of all rows, up to 1, where that is larger.
    """
    known = np.where(families.is_known[:, None], available.table, 0.0)
    pseudo = smoothing.apply(families, known) - known
    of_class = smoothing.alpha if smoothing.m_prior is None else 0.0
    network = probabilities(families, ClassTable(known + pseudo, available.bias + of_class))
    objectives: list[float] = []
    unit = min(1.0, float(available.bias.sum()))
    for n_iter in range(1, max_iter + 1):
        model = mark_summed(families, network)
        # E step: expected counts of the families.
        sums = reduce(TableSums.of, families, model, ClassWeighting.LABELS)
        prior = float(np.vdot(pseudo, network.table)) + of_class * float(network.bias.sum())
        objectives.append(sums.objective + prior)
        expected = spread_missing(families, network, sums.table)
        # M step.
        network = probabilities(families, ClassTable(expected + pseudo, sums.bias + of_class))
        if len(objectives) > 1:
            gain = objectives[-1] - objectives[-2]
            if gain <= tol * max(unit, abs(objectives[-1])):
                return ExpectationMaximization(network, objectives, n_iter, True)
    return ExpectationMaximization(network, objectives, max_iter, False)

"""Refinement of a mixture by the mutual information of component and row (experimental).

Without a class there is no conditional likelihood to maximize: with the posteriors of EM as classes
the residuals of the TM algorithm are zero. Its steps can ascend N I(C; X) instead, how far the
posteriors of the rows are from their mean, plus tau times the joint log-likelihood of EM's counts.

References
----------
Gomes, Krause & Perona (2010), "Discriminative clustering by regularized information maximization",
NIPS 23.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from ceiba._native import ClassWeighting
from ceiba._typing import Array
from ceiba.bayes.coding import CodedData
from ceiba.bayes.discriminative.objective import ConditionalLikelihood, ObjectiveValue
from ceiba.bayes.discriminative.tm import tm_steps
from ceiba.bayes.families import Families
from ceiba.bayes.latent.em import Expectation
from ceiba.bayes.latent.statistics import latent_sums
from ceiba.bayes.network import MIN_PROBABILITY, ClassTable, mark_summed, spread_missing
from ceiba.bayes.statistics import TableSums

# As the TM algorithm, it ends when an iteration gains less.
_TOL = 1e-3


@dataclass(frozen=True, eq=False)
class ClassInformation(ConditionalLikelihood):
    """N I(C; X) + tau * JLL, with the interface of the conditional likelihood.

    The weights are log probabilities of a network. An evaluation takes two passes: for the mean of
    the posteriors, and for the sums.
    """

    def value(self, weights: ClassTable) -> ObjectiveValue:
        """Compute objective and residuals."""
        sums = self._sums(weights, None)
        penalty, of_penalty = self._joint_penalty(weights)
        assert of_penalty is not None
        table = spread_missing(self.families, weights, sums.table)
        residuals = ClassTable(table, sums.bias).plus(self.tau, of_penalty)
        return ObjectiveValue(
            weights, sums.objective + penalty, sums.objective, residuals, residuals
        )

    def objectives(self, models: Sequence[ClassTable]) -> Array:
        """Compute the objective of several models."""
        nothing = Families.empty(self.families.sizes)
        found = [self._sums(w, nothing).objective + self._joint_penalty(w)[0] for w in models]
        return np.array(found)

    def _sums(self, weights: ClassTable, target: Families | None) -> TableSums:
        families, marked = self.families, mark_summed(self.families, weights)
        nothing = Families.empty(families.sizes)
        posteriors = self.reduce(latent_sums, families, marked, ClassWeighting.POSTERIORS, nothing)
        means = np.maximum(posteriors.bias / self.total, MIN_PROBABILITY)
        model = (families, marked, ClassWeighting.INFORMATION, target, False, means)
        return self.reduce(latent_sums, *model)


@dataclass(frozen=True, eq=False)
class Refinement:
    """Result of a refinement.

    Parameters
    ----------
    network : ClassTable
    information : float
        I(C; X) in nats.
    objectives : list of float
        N I(C; X) + tau * JLL of EM's network, and after each iteration.
    """

    network: ClassTable
    information: float
    objectives: list[float]


def refine(data: CodedData, found: Expectation, tau: float, max_iter: int) -> Refinement:
    """Ascend the information by TM steps from the network of EM."""
    objective = ClassInformation(
        data.engine, data.rows, found.families, found.network, data.total,
        tau=tau, sums_missing=True,
    )  # fmt: skip
    value = objective.value(found.network)
    objectives = [value.objective]
    for step in islice(tm_steps(objective, value, _TOL * objective.unit), max_iter):
        value = step.value
        objectives.append(value.objective)
    return Refinement(value.weights, value.log_likelihood / data.total, objectives)

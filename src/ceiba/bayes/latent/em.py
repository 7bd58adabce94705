"""EM for a network with a latent class.

An E step computes the expected counts of the families under the present network: each row counts
for every component with its posterior probability. An M step normalizes them with the pseudo-counts
of the smoothing. A tree is chosen anew in every M step, as the maximum spanning tree of the mutual
information of pairs of features given the component, under the same posteriors.

The objective is the log-likelihood of the observed values plus the logarithm of the prior that the
pseudo-counts stand for, relative to its value at uniform distributions, which makes it comparable
between trees. It never decreases: a tree that would lower it, as is possible with pseudo-counts or
missing values, is not taken, and the present one is then kept to the end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba._native import ClassWeighting
from ceiba.base import Iterations
from ceiba.bayes.coding import CodedData
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.latent.pairs import PairTables
from ceiba.bayes.latent.statistics import latent_sums
from ceiba.bayes.network import ClassTable, Smoothing, mark_summed, probabilities, spread_missing
from ceiba.bayes.statistics import TableSums


@dataclass(frozen=True, eq=False)
class Expectation:
    """A network, and the result of the E step under it.

    Parameters
    ----------
    families : Families
    network : ClassTable
        Log probabilities.
    counts : ClassTable
        Expected counts of the families.
    log_likelihood : float
        Of the observed values.
    objective : float
        With the prior.
    """

    families: Families
    network: ClassTable
    counts: ClassTable
    log_likelihood: float
    objective: float


@dataclass(frozen=True, eq=False)
class EMResult:
    """Result of a run of EM.

    Parameters
    ----------
    last : Expectation
        The final network.
    objectives : list of float
        Objective of the start and after each iteration.
    converged : bool
    iterations : Iterations
    """

    last: Expectation
    objectives: list[float]
    converged: bool
    iterations: Iterations

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.objectives) - 1


@dataclass(frozen=True, eq=False)
class LatentClassEM:
    """EM on some rows.

    Parameters
    ----------
    data : CodedData
        The labels of its rows are not used.
    smoothing : Smoothing
    pairs : PairTables or None
        Pairs of features, from which trees are learned; None where the features are independent
        given the component.
    tol : float
        A run ends when an iteration gains less than this fraction of the objective.
    """

    data: CodedData
    smoothing: Smoothing
    pairs: PairTables | None
    tol: float

    def run(self, start: ClassTable, iterations: Iterations) -> EMResult:
        """Iterate from a naive Bayes network."""
        families = Families.naive(self.data.sizes)
        present = self.expect(families, start)
        pairs = self.pairs
        if pairs is not None:
            # The start has no tree to compare with: its first one is taken in any case.
            present = self._fit_structure(present, self._best_tree(pairs, present))
        objectives = [present.objective]
        converged = False
        iterations.record(**_frame(present))
        for iteration in iterations:
            new = None if pairs is None else self._with_best_tree(pairs, present)
            if new is not None and new.objective < present.objective:
                new = pairs = None
            if new is None:
                new = self._maximize(present)
            gain = new.objective - present.objective
            present = new
            objectives.append(new.objective)
            iteration.record(**_frame(present))
            if gain <= self.tol * max(self.data.unit, abs(new.objective)):
                converged = True
                break
        return EMResult(present, objectives, converged, iterations)

    def expect(self, families: Families, network: ClassTable) -> Expectation:
        """Make an E step."""
        sums = self._sums(families, network)
        table = sums.table
        if families.structure.arcs:
            # Without arcs a missing value needs no expectation: its column has no part in the row.
            table = spread_missing(families, network, table)
        objective = sums.objective + log_prior(families, network, self.smoothing.alpha)
        counts = ClassTable(table, sums.bias)
        return Expectation(families, network, counts, sums.objective, objective)

    def _sums(
        self, families: Families, network: ClassTable, target: Families | None = None
    ) -> TableSums:
        """Return the expected counts of ``target``, or of the families themselves."""
        model = (families, mark_summed(families, network), ClassWeighting.POSTERIORS, target)
        return self.data.engine.reduce(self.data.rows, latent_sums, *model)

    def _maximize(self, present: Expectation) -> Expectation:
        """Make an M step with the present structure, and the E step after it."""
        families = present.families
        return self.expect(families, probabilities(families, present.counts, self.smoothing))

    def _with_best_tree(self, pairs: PairTables, present: Expectation) -> Expectation | None:
        """Make an M step with the best tree, and the E step after it; None for the present tree."""
        tree = self._best_tree(pairs, present)
        if tree == present.families.structure:
            return None
        return self._fit_structure(present, tree)

    def _best_tree(self, pairs: PairTables, present: Expectation) -> Structure:
        return pairs.best_tree(
            lambda families: self._sums(present.families, present.network, families).table
        )

    def _fit_structure(self, present: Expectation, structure: Structure) -> Expectation:
        """Return the E step under the network of another structure.

        Its counts are those under the present network; rows count where a family is complete.
        """
        families = Families(structure, self.data.sizes)
        sums = self._sums(present.families, present.network, families)
        counts = ClassTable(sums.table, sums.bias)
        return self.expect(families, probabilities(families, counts, self.smoothing))


def log_prior(families: Families, network: ClassTable, alpha: float) -> float:
    """Return the logarithm of the prior density, relative to that of uniform distributions."""
    if alpha == 0:
        return 0.0
    n_categories = np.repeat(families.group_sizes - 1, families.group_sizes)[families.is_known]
    table = network.table[families.is_known] + np.log(n_categories)[:, None]
    return alpha * float(table.sum() + (network.bias + np.log(len(network.bias))).sum())


def _frame(present: Expectation) -> dict[str, object]:
    return {
        "log_likelihood": present.log_likelihood,
        "objective": present.objective,
        "weights": np.exp(present.network.bias),
    }

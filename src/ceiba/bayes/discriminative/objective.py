"""The objective of discriminative training: penalized conditional log-likelihood."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from ceiba._native import ClassWeighting
from ceiba._typing import Array
from ceiba.bayes.discriminative.softmax import (
    IndexedData,
    SoftmaxGradient,
    SoftmaxLikelihoods,
)
from ceiba.bayes.discriminative.table_model import TableModel
from ceiba.bayes.families import Families
from ceiba.bayes.network import (
    ClassTable,
    mark_summed,
    mean_values,
    normalize,
    probabilities,
    spread_missing,
)
from ceiba.bayes.statistics import (
    Fold,
    ModelLikelihoods,
    StepLikelihoods,
    TableSums,
    summarize_fold,
)
from ceiba.engine import Engine

S = TypeVar("S", bound=Any)
# Share of the gain of a linear objective that a step must reach.
ARMIJO = 1e-4
# Training ends at gradients below this, in units of the weight of all rows, up to 1.
MAX_GRADIENT = 1e-6
# Steps that are tried in one pass each, after the whole step: the first four are nearly always
# enough.
_STEPS = np.split(0.5 ** np.arange(1.0, 21.0), [4])


@dataclass(frozen=True, eq=False)
class ObjectiveValue:
    """Objective and derivatives at some weights.

    Parameters
    ----------
    weights : ClassTable
    objective, log_likelihood : float
        With and without the penalty.
    residuals : ClassTable
        What a TM step adds to the expected counts: observed minus expected counts of the tables,
        given x, plus tau times those of the joint model.
    gradient : ClassTable
        Gradient of the objective in the weights.
    """

    weights: ClassTable
    objective: float
    log_likelihood: float
    residuals: ClassTable
    gradient: ClassTable


@dataclass(frozen=True, eq=False)
class SolverStep:
    """One iteration of a solver.

    Parameters
    ----------
    value : ObjectiveValue
        Objective and derivatives after the iteration.
    step : float
        Length of the step along its direction: lambda in the TM algorithm.
    details : dict
        Further numbers for the trace.
    """

    value: ObjectiveValue
    step: float
    details: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ConditionalLikelihood:
    """Penalized conditional log-likelihood: CLL - ridge / 2 * sum(W ** 2) + tau * JLL.

    JLL is the joint log-likelihood of the smoothed counts. Every evaluation is one reduction over
    the rows. Without missing values the weights are any real numbers and the objective is concave.
    With ``sums_missing``, missing values are summed over; the weights are then the log
    probabilities of a network, and the gradient is that along the networks.

    Parameters
    ----------
    engine, rows
        The rows, prepared as `CodedRows`.
    families : Families
    start : ClassTable
        Network of the smoothed counts.
    total : float
        Weight of all rows.
    ridge, tau : float
    sums_missing : bool
    fold : Fold or None
        Part of the rows that is used; None for all.
    indexed : IndexedData or None
        The same rows in the form of the faster passes, where there is one.
    """

    engine: Engine
    rows: Any
    families: Families
    start: ClassTable
    total: float
    ridge: float = 0.0
    tau: float = 0.0
    sums_missing: bool = False
    fold: Fold | None = None
    indexed: IndexedData | None = None

    @property
    def model(self) -> TableModel:
        """The joint model: its expected counts, natural gradient and scores."""
        return TableModel(self.families)

    @property
    def unit(self) -> float:
        """Weight below which gains and gradients are relative to the weight of all rows."""
        return min(1.0, self.total)

    def reduce(self, summarize: Callable[..., S], *model: Any) -> S:
        """Summarize the rows, or those of the fold."""
        return self._reduce(self.rows, summarize, *model)

    def _reduce(self, rows: Any, summarize: Callable[..., S], *model: Any) -> S:
        if self.fold is None:
            found: S = self.engine.reduce(rows, summarize, *model)
        else:
            found = self.engine.reduce(rows, summarize_fold, self.fold, summarize, *model)
        return found

    def value(self, weights: ClassTable) -> ObjectiveValue:
        """Compute objective and derivatives in one pass."""
        families = self.families
        if self.sums_missing:
            weights = probabilities(families, _exponentials(families, weights))
        log_likelihood, sums = self._likelihood_gradient(weights)
        residuals = ClassTable(spread_missing(families, weights, sums.table), sums.bias)
        penalty, of_penalty = self._joint_penalty(weights)
        if of_penalty is not None:
            residuals = residuals.plus(self.tau, of_penalty)
        gradient = ClassTable(residuals.table - self.ridge * weights.table, residuals.bias)
        if self.sums_missing:
            gradient = _along_networks(families, weights, gradient)
        return ObjectiveValue(
            weights, log_likelihood + penalty, log_likelihood, residuals, gradient
        )

    def _likelihood_gradient(self, weights: ClassTable) -> tuple[float, ClassTable]:
        """Return the conditional log-likelihood and its gradient, by table row."""
        if self.indexed is None:
            model = (self._native_weights(weights), ClassWeighting.RESIDUALS)
            sums = self.reduce(TableSums.of, self.families, *model)
            return sums.objective, ClassTable(sums.table, sums.bias)
        rows, tables = self.indexed.rows, self.indexed.tables
        found = self._reduce(rows, SoftmaxGradient.of, tables.join(weights))
        return found.log_likelihood, ClassTable(tables.divide(found.table), found.bias)

    def along(self, value: ObjectiveValue, direction: ClassTable, steps: Array) -> Array:
        """Compute the objective at several steps along a direction, in one pass."""
        moved = [value.weights.plus(float(t), direction) for t in steps]
        if self.sums_missing:
            return self.objectives(moved)
        if self.indexed is None:
            model = (self.families, value.weights, direction, steps)
            found = self.reduce(StepLikelihoods.of, *model).log_likelihoods
        else:
            rows, tables = self.indexed.rows, self.indexed.tables
            joined = tables.join(value.weights), tables.join(direction)
            found = self._reduce(rows, SoftmaxLikelihoods.of, *joined, steps).log_likelihoods
        return np.asarray(found + [self._joint_penalty(w)[0] for w in moved])

    def ascend(
        self, value: ObjectiveValue, direction: ClassTable
    ) -> tuple[ObjectiveValue, float] | None:
        """Return the value at the first step 1, 1/2, 1/4, ... of sufficient ascent (Armijo).

        The whole step is evaluated with its gradient, since it is usually taken; after it, several
        steps are evaluated in one pass. None if no step is sufficient.
        """
        slope = value.gradient.dot(direction)
        if not slope > 0:
            return None
        new = self.value(value.weights.plus(1.0, direction))
        if new.objective >= value.objective + ARMIJO * slope:
            return new, 1.0
        for steps in _STEPS:
            found = self.along(value, direction, steps)
            enough = np.flatnonzero(found >= value.objective + ARMIJO * steps * slope)
            if len(enough):
                step = float(steps[enough[0]])
                new = self.value(value.weights.plus(step, direction))
                return (new, step) if new.objective > value.objective else None
        return None

    def is_flat(self, value: ObjectiveValue, direction: ClassTable, tol: float) -> bool:
        """Return whether a step promises a gain below ``tol``, relative to the objective.

        A line search that fails on such a direction has met the limits of rounding.
        """
        return value.gradient.dot(direction) <= tol * max(self.unit, abs(value.objective))

    def objectives(self, models: Sequence[ClassTable]) -> Array:
        """Compute the objective of several models in one pass."""
        families = self.families
        if self.sums_missing:
            models = [probabilities(families, _exponentials(families, w)) for w in models]
        native = [self._native_weights(weights) for weights in models]
        sums = self.reduce(ModelLikelihoods.of, families, native)
        return np.asarray(sums.log_likelihoods + [self._joint_penalty(w)[0] for w in models])

    def _native_weights(self, weights: ClassTable) -> ClassTable:
        return mark_summed(self.families, weights) if self.sums_missing else weights

    def _joint_penalty(self, weights: ClassTable) -> tuple[float, ClassTable | None]:
        """Return what the penalties add to the objective, and the gradient of JLL."""
        penalty = -0.5 * self.ridge * float(np.vdot(weights.table, weights.table))
        if self.tau == 0.0:
            return penalty, None
        wanted = mean_values(self.families, self.start, self.total)
        network, log_partition = weights, 0.0
        if not self.sums_missing:
            network, log_partition = normalize(self.families, weights)
        joint = wanted.dot(weights) - self.total * log_partition
        gradient = wanted.plus(-1.0, mean_values(self.families, network, self.total))
        return penalty + self.tau * joint, gradient


def _exponentials(families: Families, weights: ClassTable) -> ClassTable:
    """Return exp of the weights, relative to the largest of each group."""
    table = np.where(families.is_known[:, None], weights.table, -np.inf)
    highest = families.group_maxima(table)
    return ClassTable(np.exp(table - highest), np.exp(weights.bias - weights.bias.max()))


def _along_networks(families: Families, network: ClassTable, gradient: ClassTable) -> ClassTable:
    """Return the gradient in weights whose groups are normalized afterwards (softmax)."""
    theta = np.where(families.is_known[:, None], np.exp(network.table), 0.0)
    table = gradient.table - theta * families.group_sums(gradient.table)
    return ClassTable(table, gradient.bias - np.exp(network.bias) * gradient.bias.sum())

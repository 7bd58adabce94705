"""Objective and data of discriminative training with numeric columns that have a density.

Both have the interface of their counterparts for tables (`ConditionalLikelihood`, `TrainingData`),
so that the solvers and `train` are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discriminative.density_model import DensityModel
from ceiba.bayes.discriminative.density_rows import (
    DensityErrors,
    DensityLikelihoods,
    DensityResiduals,
)
from ceiba.bayes.discriminative.exponential import (
    ExponentialColumns,
)
from ceiba.bayes.discriminative.objective import ConditionalLikelihood, ObjectiveValue
from ceiba.bayes.discriminative.train import TrainingConfig, TrainingData
from ceiba.bayes.distributions.exact_sums import ClassSums
from ceiba.bayes.distributions.fit import Densities
from ceiba.bayes.distributions.gaussian import ClassMoments
from ceiba.bayes.network import ClassTable, probabilities
from ceiba.bayes.statistics import Fold, TableCounts, summarize_fold


@dataclass(frozen=True, eq=False)
class DensityLikelihood(ConditionalLikelihood):
    """Penalized conditional log-likelihood with columns of exponential families.

    The weights are those of `DensityModel`. A ridge is on all of them but the bias, the terms being
    those of columns divided by their standard deviation. ``blocks`` are the numeric columns.
    """

    blocks: tuple[ExponentialColumns, ...] = ()

    @cached_property
    def model(self) -> DensityModel:
        """The joint model: its expected sums, natural gradient and scores."""
        return DensityModel(self.families, self.blocks, self.sums_missing)

    def value(self, weights: ClassTable) -> ObjectiveValue:
        """Compute objective and derivatives in one pass; -inf where a density does not exist."""
        model = self.model
        if self.sums_missing:
            weights, _ = model.network(weights)
        if not self._exists(weights):
            nothing = weights.times(0.0)
            return ObjectiveValue(weights, -np.inf, -np.inf, nothing, nothing)
        sums = self.reduce(DensityResiduals.of, model, weights)
        residuals = model.complete(weights, ClassTable(sums.table, sums.bias), sums.missing)
        penalty, of_penalty = self._joint_penalty(weights)
        if of_penalty is not None:
            residuals = residuals.plus(self.tau, of_penalty)
        gradient = ClassTable(residuals.table - self.ridge * weights.table, residuals.bias)
        if self.sums_missing:
            gradient = model.along_networks(weights, gradient)
        return ObjectiveValue(
            weights, sums.objective + penalty, sums.objective, residuals, gradient
        )

    def along(self, value: ObjectiveValue, direction: ClassTable, steps: Array) -> Array:
        """Compute the objective at several steps along a direction, in one pass."""
        moved = [value.weights.plus(float(t), direction) for t in steps]
        if self.sums_missing:
            return self.objectives(moved)
        sums = self.reduce(DensityLikelihoods.along, self.model, value.weights, direction, steps)
        return np.asarray(sums.log_likelihoods + [self._joint_penalty(w)[0] for w in moved])

    def objectives(self, models: Sequence[ClassTable]) -> Array:
        """Compute the objective of several models in one pass."""
        if self.sums_missing:
            models = [self.model.network(weights)[0] for weights in models]
        found = np.full(len(models), -np.inf)
        valid = [i for i, weights in enumerate(models) if self._exists(weights)]
        sums = self.reduce(DensityLikelihoods.of, self.model, [models[i] for i in valid])
        found[valid] = sums.log_likelihoods
        return found + [self._joint_penalty(weights)[0] for weights in models]

    def _exists(self, weights: ClassTable) -> bool:
        """Return whether the objective has a value: without densities only p(c | x) has one."""
        if not self.sums_missing and self.tau == 0.0:
            return True
        return bool(np.isfinite(self.model.log_normalizers(weights)).all())

    def _joint_penalty(self, weights: ClassTable) -> tuple[float, ClassTable | None]:
        """Return what the penalties add to the objective, and the gradient of JLL."""
        model = self.model
        penalty = -0.5 * self.ridge * float(np.vdot(weights.table, weights.table))
        if self.tau == 0.0:
            return penalty, None
        if not self._exists(weights):
            return -np.inf, None
        wanted = model.mean_values(self.start, self.total)
        joint = wanted.dot(weights) - self.total * model.network(weights)[1]
        if self.sums_missing:
            joint -= float(model.log_normalizers(weights).sum(axis=0) @ wanted.bias)
        gradient = wanted.plus(-1.0, model.mean_values(weights, self.total))
        return penalty + self.tau * joint, gradient


@dataclass(frozen=True, eq=False)
class DensityTrainingData(TrainingData):
    """Rows, tables and densities of a fit.

    Parameters
    ----------
    engine, rows
        The rows, prepared as `DensityRows`.
    families, total, smoothing, sums_missing
        As in `TrainingData`.
    network : ClassTable
        Weights of the generative model, where training starts.
    blocks : tuple of ExponentialColumns
    solve : callable
        From the `ClassMoments` of the numeric columns to their generative distributions.
    """

    blocks: tuple[ExponentialColumns, ...] = ()
    solve: Callable[[ClassMoments], Densities] = lambda moments: []

    @property
    def model(self) -> DensityModel:
        """The joint model."""
        return DensityModel(self.families, self.blocks, self.sums_missing)

    def objective(self, config: TrainingConfig, fold: Fold | None = None) -> DensityLikelihood:
        """Return the penalized conditional likelihood of all rows, or of those of a fold."""
        found = DensityLikelihood(
            self.engine, self.rows, self.families, self.network, self.total,
            config.ridge, config.tau, self.sums_missing, fold=fold, blocks=self.blocks,
        )  # fmt: skip
        if config.solver == "tm" or config.tau > 0 or self.sums_missing:
            return found
        # The objective is concave, so that any start leads to its maximum. From a generative model
        # that is worse than the frequencies of the classes, as with an outlier or a column that is
        # constant in a class (variances of 1e-9 and weights of 1e9), the way is long.
        pooled = self.model.pooled(self.network)
        now, frequencies = found.objectives([self.network, pooled])
        return found if now >= frequencies else replace(found, start=pooled)

    def with_indices(self) -> DensityTrainingData:
        """Return the data as they are: the faster passes are those of codes alone."""
        return self

    def error_weight(self, weights: ClassTable) -> float:
        """Return the weight of the rows whose most probable class is not their own."""
        found: DensityErrors = self.engine.reduce(self.rows, DensityErrors.of, self.model, weights)
        return found.weight

    def of_fold(self, fold: Fold) -> DensityTrainingData:
        """Return the data of a fold's rows, with the generative model of their counts."""

        def reduce(summarize: Callable[..., Any], *model: Any) -> Any:
            return self.engine.reduce(self.rows, summarize_fold, fold, summarize, *model)

        counts = reduce(TableCounts.of, self.families)
        tables = probabilities(self.families, ClassTable(counts.table, counts.bias), self.smoothing)
        center = np.concatenate([block.center for block in self.blocks])
        spread = np.concatenate([block.spread for block in self.blocks])
        found = reduce(ClassSums.of).moments()
        moments = ClassMoments(
            found.weight, center + spread * found.mean, spread**2 * found.squares
        )
        start = self.model.start(tables, self.solve(moments))
        return replace(self, network=start, total=float(counts.bias.sum()))

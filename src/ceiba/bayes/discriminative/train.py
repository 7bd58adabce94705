"""Discriminative training of a network: penalty, solver, early stopping and diagnosis."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from statistics import median
from typing import Any, Literal

import numpy as np

from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.base.iterations import Iterations
from ceiba.base.trace import Trace
from ceiba.bayes.discriminative.lbfgs import lbfgs_steps
from ceiba.bayes.discriminative.newton import MAX_WEIGHTS, newton_steps
from ceiba.bayes.discriminative.objective import ConditionalLikelihood, ObjectiveValue, SolverStep
from ceiba.bayes.discriminative.softmax import IndexedData
from ceiba.bayes.discriminative.tm import tm_steps
from ceiba.bayes.em import MAX_ITER, TOL, fit_missing
from ceiba.bayes.families import Families
from ceiba.bayes.network import ClassTable, Smoothing, mark_summed, probabilities
from ceiba.bayes.statistics import (
    ClassificationErrors,
    Fold,
    TableCounts,
    summarize_fold,
)
from ceiba.engine import Engine

Solver = Literal["lbfgs", "newton", "tm"]
# Iterations of a solver: a generator that returns whether it has converged.
Steps = Iterator[SolverStep]

# Best mean accuracy and log-loss of a dozen settings on eleven tables (see the guide).
_RIDGE = 3.0
_TOL = {"lbfgs": 1e-9, "newton": 1e-9, "tm": 1e-3}
_MAX_ITER = {"lbfgs": 1000, "newton": 100, "tm": 1000}
_N_FOLDS = 5
# Iterations without a higher likelihood of the held-out rows after which a fold ends.
_PATIENCE = 20
# Separable: every training row correct, with this mean log-likelihood or a higher one.
SEPARABLE_MEAN = -1e-3


@dataclass(frozen=True)
class TrainingConfig:
    """Settings of discriminative training, with the defaults resolved."""

    solver: Solver
    ridge: float
    tau: float
    max_iter: int
    tol: float
    early_stopping: bool
    seed: int

    @classmethod
    def of(
        cls,
        solver: Solver,
        penalty: float | Literal["auto", "generative"],
        tau: float,
        *,
        sums_missing: bool,
        max_iter: int | None,
        tol: float | None,
        early_stopping: bool,
        seed: int,
    ) -> TrainingConfig:
        """Resolve the settings; raise `ParameterError` for those that contradict each other."""
        ridge, weight = _penalties(solver, penalty, tau, sums_missing)
        if sums_missing and solver == "newton":
            raise ParameterError(
                "solver='newton' requires rows without missing values, or missing='category' in "
                "columns of categories: use solver='lbfgs'."
            )
        return cls(
            solver,
            ridge,
            weight,
            _MAX_ITER[solver] if max_iter is None else max_iter,
            _TOL[solver] if tol is None else tol,
            early_stopping,
            seed,
        )


def _penalties(
    solver: Solver, penalty: float | str, tau: float, sums_missing: bool
) -> tuple[float, float]:
    """Return the ridge and the weight of the joint likelihood."""
    if penalty == "generative":
        return 0.0, tau
    if penalty == "auto":
        if sums_missing:
            return 0.0, tau
        return (0.0 if solver == "tm" else _RIDGE), 0.0
    ridge = float(penalty)
    if ridge > 0 and solver == "tm":
        raise ParameterError(
            f"solver='tm' has no ridge, got penalty={penalty!r}: use penalty=0 (the algorithm of "
            "the paper), penalty='generative', or solver='lbfgs'."
        )
    if ridge > 0 and sums_missing:
        raise ParameterError(
            "A ridge requires rows without missing values, or missing='category' in columns of "
            f"categories, got penalty={penalty!r}: use penalty='generative' to sum over missing "
            "values."
        )
    return ridge, 0.0


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """Result of discriminative training.

    Parameters
    ----------
    weights : ClassTable
        Log-linear weights; log probabilities of a network where missing values are summed over.
    log_likelihood, objective : float
    n_iter : int
    converged : bool
    is_separable : bool
        Whether, without a penalty, the likelihood has no maximum because the classes separate.
    unpenalized : bool
        Whether there was no penalty.
    trace : Trace or None
    """

    weights: ClassTable
    log_likelihood: float
    objective: float
    n_iter: int
    converged: bool
    is_separable: bool
    unpenalized: bool
    trace: Trace | None


@dataclass(frozen=True, eq=False)
class TrainingData:
    """Rows and tables of a fit.

    Parameters
    ----------
    engine, rows
        The rows, prepared as `CodedRows`.
    families : Families
    network : ClassTable
        Network of the smoothed counts, where training starts.
    total : float
        Weight of all rows.
    smoothing : Smoothing
        For the networks of inner folds.
    sums_missing : bool
        Whether missing values are summed over.
    indexed : IndexedData or None
        The rows in the form of the faster passes, where there is one.
    em_max_iter, em_tol
        Limits of EM for the networks of inner folds, where values are missing.
    """

    engine: Engine
    rows: Any
    families: Families
    network: ClassTable
    total: float
    smoothing: Smoothing
    sums_missing: bool
    indexed: IndexedData | None = None
    em_max_iter: int = MAX_ITER
    em_tol: float = TOL

    def objective(self, config: TrainingConfig, fold: Fold | None = None) -> ConditionalLikelihood:
        """Return the penalized conditional likelihood of all rows, or of those of a fold."""
        return ConditionalLikelihood(
            self.engine, self.rows, self.families, self.network, self.total,
            config.ridge, config.tau, self.sums_missing, fold=fold, indexed=self.indexed,
        )  # fmt: skip

    def with_indices(self) -> TrainingData:
        """Return the data with the rows in the form of the faster passes, where there is one."""
        indexed = IndexedData.of(self.engine, self.rows, self.families, self.sums_missing)
        return replace(self, indexed=indexed)

    def class_weights(self, fold: Fold) -> Array:
        """Return the weight of each class in a fold."""
        nothing = Families.empty(self.families.sizes)
        arguments = (fold, TableCounts.of, nothing)
        found: TableCounts = self.engine.reduce(self.rows, summarize_fold, *arguments)
        return found.bias

    def error_weight(self, weights: ClassTable) -> float:
        """Return the weight of the rows whose most probable class is not their own."""
        if self.sums_missing:
            weights = mark_summed(self.families, weights)
        model = (self.families, weights)
        found: ClassificationErrors = self.engine.reduce(self.rows, ClassificationErrors.of, *model)
        return found.weight

    def of_fold(self, fold: Fold) -> TrainingData:
        """Return the data of a fold's rows, with the network of their counts."""

        def reduce(summarize: Callable[..., Any], *model: Any) -> Any:
            return self.engine.reduce(self.rows, summarize_fold, fold, summarize, *model)

        found = reduce(TableCounts.of, self.families)
        counts = ClassTable(found.table, found.bias)
        if self.sums_missing and self.families.structure.arcs:
            network = fit_missing(
                reduce, self.families, counts, self.smoothing, self.em_max_iter, self.em_tol
            ).network
        else:
            network = probabilities(self.families, counts, self.smoothing)
        return replace(self, network=network, total=float(counts.bias.sum()))


def train(
    data: TrainingData, config: TrainingConfig, estimator: Any, trace: bool
) -> TrainingResult:
    """Maximize the conditional likelihood from the network of the counts.

    ``estimator`` is the learner that reports progress.
    """
    n_weights = data.network.table.size
    if config.solver == "newton" and n_weights > MAX_WEIGHTS:
        raise ParameterError(
            f"solver='newton' requires at most {MAX_WEIGHTS} weights, got {n_weights}: use "
            "solver='lbfgs'."
        )
    data = data.with_indices()
    max_iter = _best_iteration(data, config) if config.early_stopping else config.max_iter
    iterations = Iterations(estimator, max_iter, trace=trace, name="discriminative training")
    value, steps = _start(data.objective(config), config)
    value, n_iter, converged = run_solver(value, steps, iterations)
    return TrainingResult(
        value.weights,
        value.log_likelihood,
        value.objective,
        n_iter,
        converged or config.early_stopping,
        _is_separable(data, config, value),
        config.ridge == 0.0 and config.tau == 0.0,
        iterations.trace,
    )


def run_solver(
    value: ObjectiveValue, steps: Steps, iterations: Iterations
) -> tuple[ObjectiveValue, int, bool]:
    """Take the steps of a solver; return the last value, their number and whether it converged."""
    iterations.record(conditional_log_likelihood=value.log_likelihood, objective=value.objective)
    n_iter, converged = 0, False
    for iteration in iterations:
        try:
            step = next(steps)
        except StopIteration as end:
            converged = bool(end.value)
            break
        value, n_iter = step.value, iteration.number
        iteration.record(
            conditional_log_likelihood=value.log_likelihood,
            objective=value.objective,
            step=step.step,
            **step.details,
        )
    return value, n_iter, converged or iterations.stopped


def _start(
    objective: ConditionalLikelihood, config: TrainingConfig
) -> tuple[ObjectiveValue, Steps]:
    """Return the value at the network of the counts, and the iterations of the solver from it."""
    model, network, total = objective.model, objective.start, objective.total
    if config.ridge > 0 and config.solver == "lbfgs":
        metric = model.ridge_metric(network, total, config.ridge)
        value = objective.value(metric.min_norm(network))
        return value, lbfgs_steps(objective, value, metric, config.tol)
    value = objective.value(network)
    if config.solver == "tm":
        return value, tm_steps(objective, value, config.tol)
    if config.solver == "newton":
        return value, newton_steps(objective, value, config.tol)
    joint_metric = model.metric(network, total, config.tau)
    return value, lbfgs_steps(objective, value, joint_metric, config.tol)


def _best_iteration(data: TrainingData, config: TrainingConfig) -> int:
    """Return the median over inner folds of the iteration with the highest held-out likelihood.

    Folds without held-out rows, or whose other rows lack a class, have no such iteration.

    Greiner, Su, Shen & Zhou (2005), "Structural extension to logistic regression", Machine
    Learning 59.
    """
    best = []
    for index in range(_N_FOLDS):
        fold = Fold(index, _N_FOLDS, False, config.seed)
        inside, outside = (data.class_weights(f) for f in (fold, replace(fold, held_out=True)))
        present = inside + outside > 0
        if present.sum() < 2:
            return 1  # a single class has nothing to train
        if not outside.any() or not inside[present].all():
            continue
        part = data.of_fold(fold)
        if not part.total > 0:
            continue
        objective = part.objective(config, fold)
        held_out = replace(objective, fold=replace(fold, held_out=True), ridge=0.0, tau=0.0)
        value, steps = _start(objective, config)
        best.append(_peak(value, steps, held_out, config.max_iter))
    if not best:
        raise ValueError(
            f"early_stopping=True requires an inner fold whose other rows have every class, got "
            f"none of {_N_FOLDS} with class weights {(inside + outside).tolist()}: use more rows, "
            "or early_stopping=False with a penalty."
        )
    return max(int(median(best)), 1)


def _peak(
    value: ObjectiveValue, steps: Steps, held_out: ConditionalLikelihood, max_iter: int
) -> int:
    """Return the iteration with the highest likelihood of the held-out rows, 0 for the start.

    The search ends when it has not risen for some iterations.
    """
    highest, peak = held_out.objectives([value.weights])[0], 0
    for number, step in enumerate(islice(steps, max_iter), start=1):
        likelihood = held_out.objectives([step.value.weights])[0]
        if likelihood > highest:
            highest, peak = likelihood, number
        if number - peak >= _PATIENCE:
            break
    return peak


def _is_separable(data: TrainingData, config: TrainingConfig, value: ObjectiveValue) -> bool:
    """Return whether the classes separate, so that the likelihood has no maximum."""
    if config.ridge > 0 or config.tau > 0 or value.log_likelihood < SEPARABLE_MEAN * data.total:
        return False
    return data.error_weight(value.weights) == 0


def unbounded_cells(families: Families, counts: ClassTable) -> Array:
    """Return (table row, class) of the counts that are zero though the table row has some.

    Without a penalty, the weight of such a cell falls without bound.
    """
    seen = families.is_known & (counts.table.sum(axis=1) > 0)
    return np.argwhere((counts.table == 0) & seen[:, None])

"""Scores of the structural search: the largest conditional likelihood, less a penalty.

BICd = max CLL - (log n) / 2 * d,    d = number of free parameters of p(class | features)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice
from math import log
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discriminative.lbfgs import lbfgs_steps
from ceiba.bayes.discriminative.metrics import tm_metric
from ceiba.bayes.discriminative.objective import ConditionalLikelihood
from ceiba.bayes.families import Families
from ceiba.bayes.network import (
    MIN_PROBABILITY,
    ClassTable,
    Smoothing,
    as_network,
    probabilities,
)
from ceiba.bayes.statistics import CodedRows, TableCounts
from ceiba.bayes.structural.distinct import DistinctRows
from ceiba.bayes.structural.states import State
from ceiba.engine import Engine, LocalEngine

# A fit ends when an iteration gains less, relative to the likelihood.
_TOL = 1e-7
_MAX_ITER = 500
# Distinct rows of all candidates of a step, and at least of each of them.
_MAX_DISTINCT = 500_000
_MIN_DISTINCT = 20_000


@dataclass(frozen=True, eq=False)
class SearchRows:
    """Rows in which structures are searched.

    Parameters
    ----------
    engine, rows
        The rows, prepared as `CodedRows`.
    sizes : tuple of int
        Number of codes of each feature, that of a missing value included.
    n_observed : tuple of int
        Number of categories of each feature that occur.
    class_counts : ndarray of shape (n_classes,)
        Weight of the rows of each class.
    sums_missing : bool
        Whether missing values are summed over.
    """

    engine: Engine
    rows: Any
    sizes: tuple[int, ...]
    n_observed: tuple[int, ...]
    class_counts: Array
    sums_missing: bool

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_counts)

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.class_counts.sum())

    @property
    def penalty_per_parameter(self) -> float:
        """What BICd subtracts for each free parameter."""
        return max(log(self.total), 0.0) / 2


@dataclass(frozen=True, eq=False)
class Fit:
    """A state at its largest conditional likelihood.

    Parameters
    ----------
    state : State
    families : Families
        Layout of the weights.
    columns : tuple of int
        Feature of each column of the layout.
    weights : ClassTable
    log_likelihood : float
    n_iter : int
        Iterations of the solver.
    """

    state: State
    families: Families
    columns: tuple[int, ...]
    weights: ClassTable
    log_likelihood: float
    n_iter: int

    def warm_start(
        self, target: Families, columns: tuple[int, ...], sums_missing: bool
    ) -> ClassTable:
        """Return weights of another layout from which its training starts."""
        weights = warm_start(self.weights, self.families, self.columns, target, columns)
        return as_network(target, weights) if sums_missing else weights


@dataclass(frozen=True, eq=False)
class _Task:
    """A state to be fitted, with rows that have the given features as columns."""

    state: State
    engine: Engine
    rows: Any
    columns: tuple[int, ...]


@dataclass(eq=False)
class StructureScorer:
    """Fit states, each once.

    Parameters
    ----------
    data : SearchRows
    fits : dict
        Fit of each state so far.
    """

    data: SearchRows
    fits: dict[State, Fit] = field(default_factory=dict)

    def bicd(self, state: State) -> float:
        """Return the score of a fitted state."""
        return self.fits[state].log_likelihood - self.data.penalty_per_parameter * self.d(state)

    def d(self, state: State) -> int:
        """Return the number of free parameters of a state."""
        return state.d(self.data.n_observed, self.data.n_classes)

    def fit(self, states: Sequence[State], start: Fit | None = None) -> int:
        """Fit those of the states that are not yet, and return their number.

        The fits begin at the weights of ``start``. They are independent tasks, each on one thread,
        where the distinct rows of a state are in memory, and reductions one after the other
        otherwise.
        """
        new = [state for state in dict.fromkeys(states) if state not in self.fits]
        if not new:
            return 0
        small, large = self._tasks(new)

        def fit(task: _Task) -> Fit:
            return maximize(task, self.data, start)

        local = LocalEngine(self.data.engine.threads)
        for found in (*local.map(fit, small), *map(fit, large)):
            self.fits[found.state] = found
        return len(new)

    def _tasks(self, states: list[State]) -> tuple[list[_Task], list[_Task]]:
        """Return the states with few distinct rows, each with these, and the others with all."""
        data, one = self.data, LocalEngine(1)
        everything = tuple(range(len(data.sizes)))
        distinct = self._distinct_rows(states)
        small, large = [], []
        for state in states:
            columns = tuple(sorted(state.features))
            rows = distinct[columns]
            if rows is None:
                large.append(_Task(state, data.engine, data.rows, everything))
            else:
                small.append(_Task(state, one, one.prepared_rows(rows), columns))
        return small, large

    def _distinct_rows(self, states: list[State]) -> dict[tuple[int, ...], CodedRows | None]:
        """Return the distinct rows of the features of some states; None where they are many.

        Rows in memory are collapsed by a task for each set of features, others in one pass.
        """
        data = self.data
        sets = list(dict.fromkeys(tuple(sorted(state.features)) for state in states))
        limit = max(_MAX_DISTINCT // len(sets), _MIN_DISTINCT)

        def find(some: list[tuple[int, ...]]) -> list[CodedRows | None]:
            found = data.engine.reduce(data.rows, DistinctRows.of, some, data.sizes, limit)
            return [
                found.rows(index, columns, data.sizes, data.n_classes)
                for index, columns in enumerate(some)
            ]

        if data.engine.in_memory:
            parts = data.engine.map(find, [[columns] for columns in sets])
        else:
            parts = [find(sets)]
        return dict(zip(sets, (rows for part in parts for rows in part), strict=True))


def maximize(task: _Task, data: SearchRows, start: Fit | None) -> Fit:
    """Return the largest conditional likelihood of a state, without a penalty."""
    sizes = tuple(data.sizes[column] for column in task.columns)
    families = Families(task.state.structure(task.columns), sizes)
    counts = task.engine.reduce(task.rows, TableCounts.of, families)
    network = probabilities(families, ClassTable(counts.table, counts.bias), Smoothing())
    weights = network
    if start is not None:
        weights = start.warm_start(families, task.columns, data.sums_missing)
    objective = ConditionalLikelihood(
        task.engine, task.rows, families, network, data.total, sums_missing=data.sums_missing
    )
    value = objective.value(weights)
    metric = tm_metric(families, network, data.total)
    n_iter = 0
    for step in islice(lbfgs_steps(objective, value, metric, _TOL), _MAX_ITER):
        value, n_iter = step.value, n_iter + 1
    return Fit(task.state, families, task.columns, value.weights, value.log_likelihood, n_iter)


def empty_fit(data: SearchRows) -> Fit:
    """Return the state without features, whose posteriors are the frequencies of the classes."""
    families = Families(State().structure(()), ())
    shares = data.class_counts / data.total
    bias = np.log(np.maximum(shares, MIN_PROBABILITY))
    weights = ClassTable(np.zeros((0, data.n_classes)), bias)
    return Fit(State(), families, (), weights, float(data.class_counts @ bias), 0)


def warm_start(
    weights: ClassTable,
    families: Families,
    columns: tuple[int, ...],
    target: Families,
    target_columns: tuple[int, ...],
) -> ClassTable:
    """Return weights of the target families with the log-linear sum of the given ones.

    A larger structure then has the same class posteriors.

    The table of a pair is added to the table of the same pair in either direction, that of a
    single feature to any table of this feature. Tables without a counterpart in ``families`` are
    zero. What has no table in the target is left out.

    Parameters
    ----------
    weights, families
        The present weights, and the layout of their tables.
    columns, target_columns : tuple of int
        Names of the features of both layouts: column of all features for each of them.
    target : Families
    """
    table = np.zeros((target.n_table_rows, len(weights.bias)))
    targets = [_members(target, family, target_columns) for family in range(len(target.shapes))]
    for family in range(len(families.shapes)):
        members = _members(families, family, columns)
        for index, others in enumerate(targets):
            if set(members) <= set(others):
                view, values = target.view(table, index), families.view(weights.table, family)
                view += _aligned(values, members, others)
                break
    return ClassTable(table, weights.bias.copy())


def _members(families: Families, family: int, columns: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(columns[j] for j in families.members(family))


def _aligned(values: Array, members: tuple[int, ...], others: tuple[int, ...]) -> Array:
    """Return values with axes ``members`` (and the class) for broadcasting over axes ``others``."""
    kept = [member for member in others if member in members]
    ordered = np.transpose(values, (*(members.index(member) for member in kept), len(members)))
    shape = iter(ordered.shape)
    sizes = [next(shape) if member in members else 1 for member in others]
    return np.asarray(ordered.reshape(*sizes, ordered.shape[-1]))

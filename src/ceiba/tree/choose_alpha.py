"""The price of a leaf by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.stats import ToLabelled
from ceiba.stats.points import Array
from ceiba.tree.complexity import ComplexityPath
from ceiba.tree.fold_trials import Trial, fold_trials
from ceiba.tree.risk import Risk

Rule = Literal["min", "one_se"]

# Sums in another order differ by less than this share.
_ALIKE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class AlphaChoice:
    """The level of a complexity path that cross-validation proposes, and why.

    Parameters
    ----------
    alphas, n_leaves : ndarray of shape (n_levels,)
        The path's own.
    errors, standard_errors : ndarray of shape (n_levels,)
        Mean loss of rows under trees that were grown without them: misclassified share, with a
        cost matrix what that costs, or squared error; and its standard error.
    level : int
        The level chosen.
    alpha : float
        Its alpha.
    rule : {"min", "one_se"}
    folds : int
    """

    alphas: Array
    n_leaves: Array
    errors: Array
    standard_errors: Array
    level: int
    alpha: float
    rule: Rule
    folds: int

    @classmethod
    def of(
        cls, path: ComplexityPath, errors: Array, deviations: Array, rule: Rule, folds: int
    ) -> AlphaChoice:
        """What a rule makes of the errors of a path's levels."""
        level = _chosen(errors, deviations, rule)
        alpha = float(path.alphas[level])
        return cls(path.alphas, path.n_leaves, errors, deviations, level, alpha, rule, folds)

    def by(self, rule: Rule) -> AlphaChoice:
        """The choice that another rule makes of the same errors."""
        level = _chosen(self.errors, self.standard_errors, rule)
        return replace(self, level=level, alpha=float(self.alphas[level]), rule=rule)


def choose_alpha(
    estimator: Any,
    table: Table,
    y: Any,
    weight: Any,
    path: ComplexityPath,
    *,
    risk: Risk = "impurity",
    folds: int = 10,
    rule: Rule = "one_se",
    seed: int = 0,
) -> AlphaChoice:
    """Choose a level of a complexity path by cross-validation.

    Each level stands for the alphas up to the next one's; its error is that of the folds' own trees
    at the geometric mean of the two, on the rows that they were not grown from. A row that gaps
    share among leaves is judged in parts.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        How trees are grown; its own pruning is left out.
    table : Table
        The rows that the path's tree was grown from.
    y : array of shape (n_rows,)
    weight : array of shape (n_rows,) or None
    path : ComplexityPath
    risk : {"impurity", "error"}
        What the folds' trees are pruned by, as the path's.
    folds : int
    rule : {"min", "one_se"}
        The smallest tree of least error; or the smallest whose error is within one standard error
        of that.
    seed : int
        Keys the folds, which are stratified by class.

    Returns
    -------
    AlphaChoice

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", sections 3.4.3
    and 11.5.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> from ceiba.tree.complexity import complexity_path
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier().fit(iris.table, iris.y)
    >>> choice = choose_alpha(model, iris.table, iris.y, None, complexity_path(model.tree_))
    >>> int(choice.n_leaves[choice.level])
    3
    """
    rows = ToLabelled(estimator._task)(Chunk(table, y, weight))
    return choice_of(path, fold_trials(estimator, rows, folds, seed), risk, rule)


def choice_of(path: ComplexityPath, trials: Sequence[Trial], risk: Risk, rule: Rule) -> AlphaChoice:
    """The choice, from trees that were grown for each fold already."""
    losses, squares = np.sum([t.sums(risk, geometric_means(path.alphas)) for t in trials], axis=0)
    total = sum(float(trial.weight.sum()) for trial in trials)
    n_rows = sum(len(trial.places) for trial in trials)
    errors = losses / total
    spread = np.maximum(squares / total - errors**2, 0.0)
    deviations = np.sqrt(spread / n_rows)
    return AlphaChoice.of(path, errors, deviations, rule, len(trials))


def geometric_means(alphas: Array) -> Array:
    """An alpha within the range of each level: the geometric mean of its ends."""
    ends = np.append(alphas[1:], np.inf)
    middles = np.zeros(len(alphas))
    some = alphas > 0
    middles[some] = np.sqrt(alphas[some]) * np.sqrt(ends[some])
    return middles


def _chosen(errors: Array, deviations: Array, rule: Rule) -> int:
    if rule not in ("min", "one_se"):
        raise ValueError(f"rule must be 'min' or 'one_se', not {rule!r}")
    least = float(errors.min()) * (1 + _ALIKE)
    best = int(np.flatnonzero(errors <= least)[-1])
    if rule == "min":
        return best
    return int(np.flatnonzero(errors <= least + deviations[best])[-1])

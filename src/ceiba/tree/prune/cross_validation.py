"""Choice of alpha by cross-validation (Breiman et al. 1984)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from ceiba._typing import Array
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.data.target import class_indices
from ceiba.engine.contract import Batch
from ceiba.engine.local import effective_threads, run_tasks
from ceiba.stats import Labeled, TargetSummary, ToLabeled
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.folds import assign_folds, class_labels_of, take_rows
from ceiba.tree.prune.path import CostComplexityPath, Risk, cost_complexity_path
from ceiba.tree.prune.step_losses import (
    MisclassificationLoss,
    NodeLoss,
    SquaredLoss,
    fractional_step_losses,
    step_losses,
)

AlphaRule = Literal["min", "one_se"]

# Sums in another order differ by less than this fraction.
_RELATIVE_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class AlphaChoice:
    """Cross-validated errors of a cost-complexity path, and the step chosen from them.

    Parameters
    ----------
    alphas, n_leaves : ndarray of shape (n_steps,)
        Those of the path.
    errors, standard_errors : ndarray of shape (n_steps,)
        Mean loss of rows under trees that were grown without them (misclassified fraction, with a
        cost matrix its cost, or squared error), and its standard error.
    step : int
        The chosen pruning step.
    alpha : float
        Effective alpha of that step.
    rule : {"min", "one_se"}
    folds : int
    """

    alphas: Array
    n_leaves: Array
    errors: Array
    standard_errors: Array
    step: int
    alpha: float
    rule: AlphaRule
    folds: int

    @classmethod
    def of(
        cls,
        path: CostComplexityPath,
        errors: Array,
        standard_errors: Array,
        rule: AlphaRule,
        folds: int,
    ) -> AlphaChoice:
        """Apply a rule to the errors of a path's steps."""
        step = _choose_step(errors, standard_errors, rule)
        alpha = float(path.alphas[step])
        return cls(path.alphas, path.n_leaves, errors, standard_errors, step, alpha, rule, folds)

    def with_rule(self, rule: AlphaRule) -> AlphaChoice:
        """Apply another rule to the same errors."""
        step = _choose_step(self.errors, self.standard_errors, rule)
        return replace(self, step=step, alpha=float(self.alphas[step]), rule=rule)


def _choose_step(errors: Array, standard_errors: Array, rule: AlphaRule) -> int:
    if rule not in ("min", "one_se"):
        raise ValueError(f"rule must be 'min' or 'one_se', got {rule!r}.")
    minimum = float(errors.min()) * (1 + _RELATIVE_TOLERANCE)
    best = int(np.flatnonzero(errors <= minimum)[-1])
    if rule == "min":
        return best
    return int(np.flatnonzero(errors <= minimum + standard_errors[best])[-1])


def choose_alpha(
    estimator: Any,
    table: Table,
    y: Any,
    weight: Any,
    path: CostComplexityPath,
    *,
    risk: Risk = "impurity",
    folds: int = 10,
    rule: AlphaRule = "one_se",
    seed: int = 0,
) -> AlphaChoice:
    """Choose a step of a cost-complexity path by cross-validation.

    A step stands for the alphas from its own up to that of the next step. Its error is that of the
    trees grown without each fold, pruned at the geometric mean of these two alphas, on the rows of
    the fold (Breiman et al. 1984, sections 3.4.3 and 11.5).

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
        How trees are grown; its own pruning is ignored.
    table, y, weight
        The rows that the tree of the path was grown from.
    path : CostComplexityPath
    risk : {"impurity", "error"}
        Risk by which the trees of the folds are pruned; that of the path.
    folds, seed : int
        Number and seed of the folds, which are stratified by class.
    rule : {"min", "one_se"}
        The smallest tree of minimal error, or the smallest whose error is within one standard error
        of the minimum.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> from ceiba.tree.prune.path import cost_complexity_path
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier().fit(iris.table, iris.y)
    >>> choice = choose_alpha(model, iris.table, iris.y, None, cost_complexity_path(model.tree_))
    >>> int(choice.n_leaves[choice.step])
    3
    """
    rows = ToLabeled(estimator._task)(Chunk(table, y, weight))
    return choose_from_folds(path, fit_folds(estimator, rows, folds, seed), risk, rule)


def choose_from_folds(
    path: CostComplexityPath, fold_fits: Sequence[FoldFit], risk: Risk, rule: AlphaRule
) -> AlphaChoice:
    """Choose a step from the trees that were grown without each fold."""
    alphas = geometric_means(path.alphas)
    losses, squares = np.sum([fit.loss_sums(risk, alphas) for fit in fold_fits], axis=0)
    total = sum(float(fit.weight.sum()) for fit in fold_fits)
    n_rows = sum(len(fit.held_out) for fit in fold_fits)
    errors = losses / total
    variance = np.maximum(squares / total - errors**2, 0.0)
    standard_errors = np.sqrt(variance / n_rows)
    return AlphaChoice.of(path, errors, standard_errors, rule, len(fold_fits))


def geometric_means(alphas: Array) -> Array:
    """Return geometric means of each alpha and the next; infinity for the last."""
    ends = np.append(alphas[1:], np.inf)
    means = np.zeros(len(alphas))
    positive = alphas > 0
    means[positive] = np.sqrt(alphas[positive]) * np.sqrt(ends[positive])
    return means


@dataclass(frozen=True, slots=True, eq=False)
class FoldFit:
    """A tree grown without one fold, and the rows of the fold.

    ``model`` is fitted to ``train``, the rows of the other folds, and not pruned. ``weight`` is
    that of each held-out row times its class weight; ``costs``, of shape (n_classes, n_classes),
    are those of predicting class j for a row of class i.
    """

    model: Any
    train: Labeled
    held_out: Labeled
    weight: Array
    costs: Array | None

    def loss_sums(self, risk: Risk, alphas: Array) -> Array:
        """Sum losses, and their squares, of the fold with the tree pruned at alphas."""
        tree: Tree = self.model.tree_
        path = cost_complexity_path(tree, risk)
        loss = self._node_loss(tree)
        table = self.held_out.table
        if tree.missing == "fractional":
            sums = fractional_step_losses(tree, path, table, self.weight, loss)
        else:
            sums = step_losses(path, tree.apply(table), self.weight, loss)
        return np.asarray(sums[:, np.searchsorted(path.alphas, alphas, side="right") - 1])

    def _node_loss(self, tree: Tree) -> NodeLoss:
        target = self.held_out.target.values
        if tree.is_classification:
            return MisclassificationLoss(target, self._node_costs(tree))
        return SquaredLoss(target, tree.prediction_values[:, 0])

    def _node_costs(self, tree: Tree) -> Array:
        """Return the cost of each node's prediction, by true class."""
        probabilities = self.model._leaf_probabilities(tree.prediction_values, tree.value[0])
        classes = self.held_out.target.classes
        assert classes is not None
        predicted = class_indices(self.model.classes_, classes)[tree.decide(probabilities)]
        costs = 1.0 - np.eye(len(classes)) if self.costs is None else self.costs
        return np.asarray(costs[:, predicted])


def fit_folds(estimator: Any, rows: Labeled, folds: int, seed: int) -> list[FoldFit]:
    """Grow a tree without each of some folds, which are stratified by class."""
    fold = assign_folds(len(rows), folds, seed, class_labels_of(rows))
    weight = loss_weights(estimator, rows)
    fit = partial(_fit_fold, unpruned_template(estimator), rows, fold, weight)
    return run_tasks(fit, range(folds), effective_threads(estimator.n_jobs))


def _fit_fold(template: Any, rows: Labeled, fold: Array, weight: Array, number: int) -> FoldFit:
    in_fold = fold == number
    train = take_rows(rows, np.flatnonzero(~in_fold))
    held_out = take_rows(rows, np.flatnonzero(in_fold))
    costs = getattr(template, "cost_matrix", None)
    matrix = None if costs is None else np.asarray(costs, np.float64)
    return FoldFit(fit_rows(template, train), train, held_out, weight[in_fold], matrix)


def unpruned_template(estimator: Any) -> Any:
    """Clone an estimator without pruning and trace."""
    template = clone(estimator)
    known = template.get_params(deep=False)
    params = {"pruning": "none", "ccp_alpha": None, "trace": False}
    return template.set_params(**{k: v for k, v in params.items() if k in known})


def fit_rows(template: Any, rows: Labeled) -> Any:
    """Fit a clone of the template; a cost matrix loses the classes that no row has."""
    model, classes = clone(template), rows.target.classes
    y = rows.target.values
    if classes is not None:
        present = np.bincount(y, minlength=len(classes)) > 0
        if getattr(model, "cost_matrix", None) is not None and not present.all():
            model.set_params(cost_matrix=np.asarray(model.cost_matrix)[np.ix_(present, present)])
        y = classes[y]
    return model.fit(rows.table, y, sample_weight=rows.weight)


def loss_weights(estimator: Any, rows: Labeled) -> Array:
    """Return the weight of each row times the weight of its class."""
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    class_weight = estimator._class_weights(TargetSummary.of(Batch(rows)))
    return weight if class_weight is None else weight * class_weight[rows.target.values]

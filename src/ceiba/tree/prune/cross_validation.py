"""Choice of alpha by cross-validation (Breiman et al. 1984)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from ceiba import _native
from ceiba._repr import fields_repr
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import class_indices
from ceiba.engine.contract import Batch
from ceiba.engine.local import effective_threads, run_tasks
from ceiba.stats import LabeledRows, TargetSummary
from ceiba.tree.grow.encoding import native_table
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.folds import assign_folds, class_indices_of
from ceiba.tree.prune.path import CostComplexityPath, Risk, cost_complexity_path

AlphaRule = Literal["min", "one_se"]

# Sums in another order differ by less than this fraction.
_RELATIVE_TOLERANCE = 1e-12
# Array entries held at a time by `_fractional_step_losses`.
_MAX_ENTRIES = 2_000_000


@dataclass(frozen=True, slots=True, eq=False)
class AlphaChoice:
    """Cross-validated errors of the steps of a path, and the rule that chooses one of them.

    ``errors`` are mean losses of rows under trees that were grown without them (misclassified
    fraction, with a cost matrix its cost, or squared error). The rule "min" takes the smallest tree
    of minimal error, "one_se" the smallest whose error is within one standard error of the minimum.
    """

    alphas: Array
    errors: Array
    standard_errors: Array
    rule: AlphaRule
    folds: int

    __repr__ = fields_repr

    @property
    def step(self) -> int:
        """The chosen pruning step."""
        minimum = float(self.errors.min()) * (1 + _RELATIVE_TOLERANCE)
        best = int(np.flatnonzero(self.errors <= minimum)[-1])
        if self.rule == "min":
            return best
        return int(np.flatnonzero(self.errors <= minimum + self.standard_errors[best])[-1])

    @property
    def alpha(self) -> float:
        """Effective alpha of the chosen step."""
        return float(self.alphas[self.step])

    def with_rule(self, rule: AlphaRule) -> AlphaChoice:
        """Apply another rule to the same errors."""
        return replace(self, rule=rule)


def choose_alpha(
    path: CostComplexityPath, fold_fits: Sequence[FoldFit], risk: Risk, rule: AlphaRule
) -> AlphaChoice:
    """Choose a step of a path from the trees that were grown without each fold.

    A step stands for the alphas from its own up to that of the next step. Its error is that of the
    trees of the folds, pruned at the geometric mean of these two alphas, on the rows of their folds
    (Breiman et al. 1984, sections 3.4.3 and 11.5).
    """
    alphas = geometric_means(path.alphas)
    losses, squares = np.sum([fit.loss_sums(risk, alphas) for fit in fold_fits], axis=0)
    total = sum(float(fit.weight.sum()) for fit in fold_fits)
    n_rows = sum(len(fit.held_out) for fit in fold_fits)
    errors = losses / total
    variance = np.maximum(squares / total - errors**2, 0.0)
    standard_errors = np.sqrt(variance / n_rows)
    return AlphaChoice(path.alphas, errors, standard_errors, rule, len(fold_fits))


def geometric_means(alphas: Array) -> Array:
    """Return the geometric mean of each alpha and the next; infinity for the last."""
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
    train: LabeledRows
    held_out: LabeledRows
    weight: Array
    costs: Array | None

    def loss_sums(self, risk: Risk, alphas: Array) -> Array:
        """Sum losses, and their squares, of the fold with the tree pruned at alphas."""
        tree: Tree = self.model.tree_
        path = cost_complexity_path(tree, risk)
        loss = self._node_loss(tree)
        table = self.held_out.table
        if tree.missing == "fractional":
            sums = _fractional_step_losses(tree, path, table, self.weight, loss)
        else:
            sums = _step_losses(path, tree.apply(table), self.weight, loss)
        return np.asarray(sums[:, np.searchsorted(path.alphas, alphas, side="right") - 1])

    def _node_loss(self, tree: Tree) -> NodeLoss:
        target = self.held_out.target.values
        if tree.is_classification:
            return MisclassificationLoss(target, self._node_costs(tree))
        return SquaredLoss(target, tree.prediction_values[:, 0])

    def _node_costs(self, tree: Tree) -> Array:
        """Return the cost of each node's prediction, by true class."""
        probabilities = self.model._leaf_probabilities(tree.prediction_values, tree.node_values[0])
        classes = self.held_out.target.classes
        assert classes is not None
        predicted = class_indices(self.model.classes_, classes)[tree.decide(probabilities)]
        costs = 1.0 - np.eye(len(classes)) if self.costs is None else self.costs
        return np.asarray(costs[:, predicted])


def fit_folds(estimator: Any, rows: LabeledRows, folds: int, seed: int) -> list[FoldFit]:
    """Grow a tree without each of some folds, which are stratified by class."""
    fold = assign_folds(len(rows), folds, seed, class_indices_of(rows))
    weight = _loss_weights(estimator, rows)
    fit = partial(_fit_fold, unpruned_clone(estimator), rows, fold, weight)
    return run_tasks(fit, range(folds), effective_threads(estimator.n_jobs))


def _fit_fold(template: Any, rows: LabeledRows, fold: Array, weight: Array, number: int) -> FoldFit:
    in_fold = fold == number
    train = rows.take(np.flatnonzero(~in_fold))
    held_out = rows.take(np.flatnonzero(in_fold))
    costs = getattr(template, "cost_matrix", None)
    matrix = None if costs is None else np.asarray(costs, np.float64)
    return FoldFit(fit_clone(template, train), train, held_out, weight[in_fold], matrix)


def unpruned_clone(estimator: Any) -> Any:
    """Clone an estimator without trace and pruning method; C4.5's collapsing is kept."""
    return clone(estimator).set_params(
        pruning="none", ccp_alpha=None, pruning_step=None, trace=False
    )


def fit_clone(template: Any, rows: LabeledRows) -> Any:
    """Fit a clone of the template; a cost matrix loses the classes that no row has."""
    model, classes = clone(template), rows.target.classes
    y = rows.target.values
    if classes is not None:
        present = np.bincount(y, minlength=len(classes)) > 0
        if getattr(model, "cost_matrix", None) is not None and not present.all():
            model.set_params(cost_matrix=np.asarray(model.cost_matrix)[np.ix_(present, present)])
        y = classes[y]
    return model.fit(rows.table, y, sample_weight=rows.weight)


def _loss_weights(estimator: Any, rows: LabeledRows) -> Array:
    """Return the weight of each row times the weight of its class."""
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    class_weight = estimator._class_weights(TargetSummary.of(Batch(rows)))
    return weight if class_weight is None else weight * class_weight[rows.target.values]


@dataclass(frozen=True, slots=True, eq=False)
class MisclassificationLoss:
    """Cost of a node's predicted class, for the true ``label`` of a row.

    ``costs`` has the shape (n_classes, n_nodes), by true class.
    """

    label: Array
    costs: Array

    def of(self, rows: Array, nodes: Array) -> Array:
        """Return the loss of ``rows[i]`` in ``nodes[i]``, for each i."""
        return np.asarray(self.costs[self.label[rows], nodes])

    def factors(self) -> tuple[Array, Array]:
        """Return the one-hot classes of the rows and the costs of the nodes."""
        return np.eye(len(self.costs))[self.label], self.costs.T


@dataclass(frozen=True, slots=True, eq=False)
class SquaredLoss:
    """Squared error of the number, ``value``, that a node predicts."""

    y: Array
    value: Array

    def of(self, rows: Array, nodes: Array) -> Array:
        """Return the loss of ``rows[i]`` in ``nodes[i]``, for each i."""
        return np.asarray((self.y[rows] - self.value[nodes]) ** 2)

    def factors(self) -> tuple[Array, Array]:
        """Return the terms of the square, relative to the root's value to keep digits."""
        y, value = self.y - self.value[0], self.value - self.value[0]
        row_factors = np.stack([y * y, -2 * y, np.ones(len(y))], axis=1)
        return row_factors, np.stack([np.ones(len(value)), value, value * value], axis=1)


# ``factors`` have the shapes (n_rows, m) and (n_nodes, m); their dot products are the losses.
NodeLoss = MisclassificationLoss | SquaredLoss


def _step_losses(path: CostComplexityPath, leaf: Array, weight: Array, loss: NodeLoss) -> Array:
    """Sum the weighted losses, and their squares, of all rows at every pruning step.

    Collapsing the tree and predicting once per step costs O(n_steps * n_rows), and the paths of
    large trees have thousands of steps. Here the loss of a row is added once for each node that it
    is ever in as a leaf: its own leaf in the grown tree, ``leaf``, then the ancestor that replaces
    it, and so on up to the root. The sums have the shape (2, n_steps).
    """
    n = path.n_steps + 1
    change = np.zeros((2, n))
    for rows, nodes in _leaves_over_path(path, leaf):
        losses = loss.of(rows, nodes)
        first, end = path.collapsed_at[nodes], path.removed_at[nodes]
        for sums, power in zip(change, (losses, losses * losses), strict=True):
            weighted = weight[rows] * power
            sums += np.bincount(first, weighted, n) - np.bincount(end, weighted, n)
    return np.asarray(np.cumsum(change, axis=1)[:, :-1])


def _leaves_over_path(path: CostComplexityPath, leaf: Array) -> Iterator[tuple[Array, Array]]:
    """Yield rows with the nodes that they are in, from their leaves to the root."""
    rows, nodes = np.arange(len(leaf)), np.asarray(leaf)
    while len(rows):
        yield rows, nodes
        next_nodes = path.replaced_by[nodes]
        replaced = next_nodes >= 0
        rows, nodes = rows[replaced], next_nodes[replaced]


def _fractional_step_losses(
    tree: Tree, path: CostComplexityPath, table: Table, weight: Array, loss: NodeLoss
) -> Array:
    """Sum the same losses where rows with missing values reach leaves in fractions.

    The loss of a row is the mean of its losses in the leaves, weighted by its fractions.
    """
    row_factors, node_factors = loss.factors()
    n, m = row_factors.shape
    nodes = np.flatnonzero(tree.is_leaf)
    leaf_index = np.cumsum(tree.is_leaf, dtype=np.int32) - 1
    steps_at_once = max(1, _MAX_ENTRIES // (m * max(n, len(nodes))))
    sums = np.empty((2, path.n_steps))
    for first in range(0, path.n_steps, steps_at_once):
        steps = range(first, min(first + steps_at_once, path.n_steps))
        leaf_factors = np.empty((len(nodes), len(steps), m))
        for k, step in enumerate(steps):
            nodes = _leaves_at_step(path, nodes, step)
            leaf_factors[:, k] = node_factors[nodes]
        means = np.empty((n, len(steps) * m))
        _native.tree_mean_over_leaves(
            tree.native, tree.native_fractions, native_table(table, tree.columns),
            leaf_factors.reshape(len(leaf_factors), -1), leaf_index, means, 1,
        )  # fmt: skip
        losses = np.einsum("ikm,im->ik", means.reshape(n, len(steps), m), row_factors)
        sums[:, steps] = weight @ losses, weight @ losses**2
    return sums


def _leaves_at_step(path: CostComplexityPath, nodes: Array, step: int) -> Array:
    """Replace nodes that are removed at a step by the ancestors that are leaves then."""
    while (removed := path.removed_at[nodes] <= step).any():
        nodes = np.where(removed, path.replaced_by[nodes], nodes)
    return nodes

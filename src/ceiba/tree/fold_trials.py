"""A tree a fold, grown without the fold's rows, to be judged by them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

from ceiba.data.target import class_places
from ceiba.engine.contract import Batch
from ceiba.engine.threads import effective_threads, run_tasks
from ceiba.stats import Labelled, TargetSurvey
from ceiba.stats.points import Array
from ceiba.tree.complexity import complexity_path
from ceiba.tree.folds import fold_of_rows
from ceiba.tree.level_losses import summed_losses
from ceiba.tree.node_losses import ClassLoss, NodeLoss, SquareLoss
from ceiba.tree.risk import Risk, filled_values, is_of_classes
from ceiba.tree.shared_losses import summed_shared_losses
from ceiba.tree.structure import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """One fold: what was grown without it, and its rows.

    Parameters
    ----------
    model : estimator
        Grown on the other folds, not pruned.
    grown_from, held : Labelled
        Rows of the other folds, and of this one.
    places : ndarray of int
        Numbers of the fold's rows among all.
    weight : ndarray of float
        What each of the fold's rows counts, its class's factor included.
    costs : ndarray of shape (n_classes, n_classes) or None
        Cost of predicting the class of a column for a row of the class of a row.
    """

    model: Any
    grown_from: Labelled
    held: Labelled
    places: Array
    weight: Array
    costs: Array | None

    def sums(self, risk: Risk, alphas: Array) -> Array:
        """Weighted sums of losses and of their squares, with the fold's tree for each alpha."""
        tree: Tree = self.model.tree_
        path = complexity_path(tree, risk)
        loss = self._loss(tree)
        if tree.missing == "shared":
            sums = summed_shared_losses(tree, path, self.held.table, self.weight, loss)
        else:
            sums = summed_losses(path, tree.apply(self.held.table), self.weight, loss)
        found: Array = sums[:, np.searchsorted(path.alphas, alphas, side="right") - 1]
        return found

    def _loss(self, tree: Tree) -> NodeLoss:
        target = self.held.target.values
        if is_of_classes(tree):
            return ClassLoss(target, self._costs_of_nodes(tree))
        return SquareLoss(target, filled_values(tree)[:, 0])

    def _costs_of_nodes(self, tree: Tree) -> Array:
        """What it costs to say of a class what a node would say as a leaf."""
        shares = self.model._probabilities(filled_values(tree), tree.value[0])
        classes = self.held.target.classes
        assert classes is not None
        labels = class_places(self.model.classes_, classes)[tree.decided(shares)]
        costs = 1.0 - np.eye(len(classes)) if self.costs is None else self.costs
        found: Array = costs[:, labels]
        return found


def grown_template(estimator: Any) -> Any:
    """The estimator as it grows trees, without pruning them or keeping a trace."""
    template = clone(estimator)
    known = template.get_params(deep=False)
    wanted = {"pruning": "none", "ccp_alpha": None, "trace": False}
    return template.set_params(**{k: v for k, v in wanted.items() if k in known})


def fold_trials(estimator: Any, rows: Labelled, folds: int, seed: int) -> list[Trial]:
    """Grow a tree for each fold of some rows.

    Parameters
    ----------
    estimator : DecisionTreeClassifier or DecisionTreeRegressor
    rows : Labelled
    folds : int
    seed : int
        Keys the folds, which are stratified by class.
    """
    label = None if rows.target.classes is None else rows.target.values
    fold = fold_of_rows(len(rows), folds, seed, label)
    weight = loss_weights(estimator, rows)
    grow = partial(_trial, grown_template(estimator), rows, fold, weight)
    return run_tasks(grow, range(folds), effective_threads(estimator.n_jobs))


def _trial(template: Any, rows: Labelled, fold: Array, weight: Array, number: int) -> Trial:
    out = fold == number
    train, places = some_rows(rows, np.flatnonzero(~out)), np.flatnonzero(out)
    costs = getattr(template, "cost_matrix", None)
    matrix = None if costs is None else np.asarray(costs, np.float64)
    model = grow(template, train)
    return Trial(model, train, some_rows(rows, places), places, weight[places], matrix)


def grow(template: Any, rows: Labelled) -> Any:
    """A clone of the template, fitted to some rows.

    A class that none of the rows has is unknown to the model: a cost matrix loses its row and
    column.
    """
    model, classes = clone(template), rows.target.classes
    y = rows.target.values
    if classes is not None:
        present = np.bincount(y, minlength=len(classes)) > 0
        if getattr(model, "cost_matrix", None) is not None and not present.all():
            model.set_params(cost_matrix=np.asarray(model.cost_matrix)[np.ix_(present, present)])
        y = classes[y]
    return model.fit(rows.table, y, sample_weight=rows.weight)


def some_rows(rows: Labelled, places: Array) -> Labelled:
    """Some of the rows, with the classes of all."""
    weight = None if rows.weight is None else rows.weight[places]
    target = type(rows.target)(rows.target.values[places], rows.target.classes)
    return Labelled(rows.table.take(places), target, weight)


def loss_weights(estimator: Any, rows: Labelled) -> Array:
    """What a wrong prediction of each row counts: its weight times its class's factor."""
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    factors = estimator._class_weights(TargetSurvey.of(Batch(rows)))
    return weight if factors is None else weight * factors[rows.target.values]

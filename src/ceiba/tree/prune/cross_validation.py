"""What rows cost under every tree of a complexity path, without predicting once a level."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.base import clone

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.data.target import class_places
from ceiba.engine.contract import Batch
from ceiba.engine.threads import effective_threads, run_tasks
from ceiba.stats import Labelled, TargetSurvey, ToLabelled
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import ComplexityPath, complexity_path
from ceiba.tree.prune.risk import Risk, filled_values, is_of_classes

_FOLDS, _HELD = 0x666F6C6473, 0x68656C64


def fold_of_rows(n_rows: int, folds: int, seed: int, label: Array | None = None) -> Array:
    """The fold of every row: of nearly equal sizes, with nearly equal shares of each class.

    Parameters
    ----------
    n_rows : int
    folds : int
        At least 2, and no more than rows.
    seed : int
    label : ndarray of int of shape (n_rows,), optional
        Class of each row.

    Returns
    -------
    ndarray of int of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(fold_of_rows(10, 3, seed=0))
    array([4, 3, 3])
    """
    if not isinstance(folds, Integral) or folds < 2:
        raise ValueError(f"folds={folds}: cross-validation needs at least 2")
    if n_rows < folds:
        raise ValueError(f"{n_rows} rows cannot be dealt to {folds} folds: ask for fewer folds")
    fold = np.empty(n_rows, np.int64)
    # Dealt out class after class without a new start, so that rare classes do not fill fold 0.
    fold[_shuffled(n_rows, seed, _FOLDS, label)] = np.arange(n_rows) % folds
    return fold


def held_out_rows(n_rows: int, share: float, seed: int, label: Array | None = None) -> Array:
    """Which rows are held out: a share of them, and nearly that share of each class.

    At least one row is held out and one is not; a row of every class stays for training.

    Parameters
    ----------
    n_rows : int
    share : float
        Above 0 and below 1.
    seed : int
    label : ndarray of int of shape (n_rows,), optional

    Returns
    -------
    ndarray of bool of shape (n_rows,)

    Examples
    --------
    >>> held_out_rows(8, 0.25, seed=0).sum()
    np.int64(2)
    """
    if not 0 < share < 1:
        raise ValueError(f"share={share!r}: hold out more than none and less than all of the rows")
    order = _shuffled(n_rows, seed, _HELD, label)
    if label is None:
        may = order[1:]
    else:
        sorted_labels = label[order]
        may = order[1:][sorted_labels[1:] == sorted_labels[:-1]]
    if not len(may):
        raise ValueError("there are too few rows to hold some out: each class needs two")
    wanted = min(max(1, round(share * n_rows)), len(may))
    held = np.zeros(n_rows, bool)
    # Evenly spaced among rows sorted by class.
    held[may[(np.arange(wanted) * len(may) + len(may) // 2) // wanted]] = True
    return held


def _shuffled(n_rows: int, seed: int, stream: int, label: Array | None) -> Array:
    """Rows in a random order, class after class."""
    draw = np.empty(n_rows)
    _native.uniforms(seed % 2**64, stream, 0, draw)
    return np.argsort(draw, kind="stable") if label is None else np.lexsort((draw, label))


class NodeLoss(Protocol):
    """What rows would cost in any nodes of a tree."""

    def at(self, rows: Array, nodes: Array) -> Array:
        """What each of some rows costs in the node beside it."""
        ...

    def factors(self) -> tuple[Array, Array]:
        """Numbers of rows and numbers of nodes whose products add up to the loss."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ClassLoss:
    """The cost of what a node says of a row's class.

    Parameters
    ----------
    label : ndarray of int of shape (n_rows,)
    costs : ndarray of shape (n_classes, n_nodes)
    """

    label: Array
    costs: Array

    def at(self, rows: Array, nodes: Array) -> Array:
        """Costs of some rows in some nodes."""
        found: Array = self.costs[self.label[rows], nodes]
        return found

    def factors(self) -> tuple[Array, Array]:
        """Which class a row has, and what it costs in each node."""
        return np.eye(len(self.costs))[self.label], self.costs.T


@dataclass(frozen=True, slots=True, eq=False)
class SquareLoss:
    """The squared error of what a node says of a row's number.

    Parameters
    ----------
    y : ndarray of shape (n_rows,)
    value : ndarray of shape (n_nodes,)
    """

    y: Array
    value: Array

    def at(self, rows: Array, nodes: Array) -> Array:
        """Squared errors of some rows in some nodes."""
        found: Array = (self.y[rows] - self.value[nodes]) ** 2
        return found

    def factors(self) -> tuple[Array, Array]:
        """The terms of the square, taken from the root's value: fewer digits are lost."""
        y, value = self.y - self.value[0], self.value - self.value[0]
        of_rows = np.stack([y * y, -2 * y, np.ones(len(y))], axis=1)
        return of_rows, np.stack([np.ones(len(value)), value, value * value], axis=1)


def summed_losses(path: ComplexityPath, leaf: Array, weight: Array, loss: NodeLoss) -> Array:
    """Weighted sums of the rows' losses and of their squares, level by level.

    A row stays in a leaf until the level at which a node above takes its place: all rows climb from
    heir to heir together.

    Parameters
    ----------
    path : ComplexityPath
    leaf : ndarray of int of shape (n,)
        The leaf of every row in the grown tree.
    weight : ndarray of shape (n,)
    loss : NodeLoss

    Returns
    -------
    ndarray of shape (2, n_levels)
    """
    n = path.n_levels + 1
    change = np.zeros((2, n))
    for rows, nodes in _stays(path, leaf):
        each = loss.at(rows, nodes)
        begin, end = path.level_of_cut[nodes], path.until[nodes]
        for sums, power in zip(change, (each, each * each), strict=True):
            part = weight[rows] * power
            sums += np.bincount(begin, part, n) - np.bincount(end, part, n)
    levels: Array = np.cumsum(change, axis=1)[:, :-1]
    return levels


def _stays(path: ComplexityPath, leaf: Array) -> Iterator[tuple[Array, Array]]:
    """Rows and the nodes that they stay in, from their leaves to the root."""
    rows, nodes = np.arange(len(leaf)), np.asarray(leaf)
    while len(rows):
        yield rows, nodes
        up = path.heir[nodes]
        climbs = up >= 0
        rows, nodes = rows[climbs], up[climbs]


# Numbers that are held at a time.
_ENTRIES = 2_000_000


def summed_shared_losses(
    tree: Tree, path: ComplexityPath, table: Table, weight: Array, loss: NodeLoss
) -> Array:
    """Weighted sums of the rows' losses and of their squares, level by level.

    A row costs in each leaf as much as a whole one, times the share of it that comes to the leaf.

    Parameters
    ----------
    tree : Tree
        One that shares gaps among all branches.
    path : ComplexityPath
    table : Table
    weight : ndarray of shape (n,)
    loss : NodeLoss

    Returns
    -------
    ndarray of shape (2, n_levels)
    """
    of_rows, of_nodes = loss.factors()
    n, m = of_rows.shape
    stands = np.flatnonzero(tree.is_leaf)
    place = np.cumsum(tree.is_leaf, dtype=np.int32) - 1
    most = max(1, _ENTRIES // (m * max(n, len(stands))))
    sums = np.empty((2, path.n_levels))
    for first in range(0, path.n_levels, most):
        levels = range(first, min(first + most, path.n_levels))
        said = np.empty((len(stands), len(levels), m))
        for k, level in enumerate(levels):
            stands = _climbed(path, stands, level)
            said[:, k] = of_nodes[stands]
        means = _mean_of_ways(tree, table, said.reshape(len(said), -1), place)
        losses = np.einsum("ikm,im->ik", means.reshape(n, len(levels), m), of_rows)
        sums[:, levels] = weight @ losses, weight @ losses**2
    return sums


def _climbed(path: ComplexityPath, nodes: Array, level: int) -> Array:
    """The leaves of a level's tree that took the places of some nodes."""
    while (gone := path.until[nodes] <= level).any():
        nodes = np.where(gone, path.heir[nodes], nodes)
    return nodes


def _mean_of_ways(tree: Tree, table: Table, said: Array, place: Array) -> Array:
    out = np.empty((len(table), said.shape[1]))
    _native.tree_mean_ways(
        tree.nodes, tree.words, tree.tables, tree.share, tree.n_branches,
        *tree._native_columns(table), said, place, out, 1,
    )  # fmt: skip
    return out


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
    >>> from ceiba.tree.prune.path import complexity_path
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

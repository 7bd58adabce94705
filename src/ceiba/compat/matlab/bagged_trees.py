"""Trees of a bag: views under MATLAB's names, and their predictions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.bagger_inputs import BaggerRows
from ceiba.compat.matlab.fitted_tree import ClassificationTree, FittedTree, RegressionTree
from ceiba.compat.matlab.name_value import NameValue, is_whole
from ceiba.data.table import Table
from ceiba.ensemble.common.sampling import RowSampler
from ceiba.ensemble.forest.tree_view import gains
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.subtrees import add_to_ancestors
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import NODE_ARRAYS
from ceiba.tree.prune.reduced_error import node_class_weights, node_target_moments

MODES = ("cumulative", "individual", "ensemble")


@dataclass(frozen=True, slots=True, eq=False)
class BaggedTrees(Sequence[FittedTree]):
    """Sequence of the trees, each made on access: ``Trees[0]`` is the first."""

    model: Any
    rows: BaggerRows

    def __len__(self) -> int:
        return int(self.model.forest_.n_trees)

    @overload
    def __getitem__(self, index: int) -> FittedTree: ...
    @overload
    def __getitem__(self, index: slice) -> list[FittedTree]: ...
    def __getitem__(self, index: int | slice) -> FittedTree | list[FittedTree]:
        trees = range(len(self))[index]
        return self._view(trees) if isinstance(trees, int) else [self._view(t) for t in trees]

    def draw_counts(self, tree: int) -> Array:
        """Return how often each row was drawn for a tree."""
        model, rows = self.model, self.rows
        sampler = RowSampler.of(len(rows.values), rows.weights, model.max_samples, model.bootstrap)
        counts = sampler.counts(int(model.forest_.tree_seeds[tree]))
        # Without replacement a row is drawn at most once, and keeps its weight.
        return counts if model.bootstrap else (counts > 0).astype(np.int64)

    def _view(self, index: int) -> FittedTree:
        tree, rows = number_by_layer(self.model.tree(index)), self.rows
        counts, leaf = self.draw_counts(index), tree.apply(rows.table)
        fields: dict[str, Any] = {
            "ResponseName": rows.response, "Prune": False, "risk": "impurity", "surrogates": True,
            "training": None,
        }  # fmt: skip
        if not rows.is_classification:
            # With replacement the weights are in the draws, otherwise in the rows.
            weighted = rows.weights is not None and not self.model.bootstrap
            weight = counts * rows.normalized_weights if weighted else counts.astype(np.float64)
            return RegressionTree(tree=_with_errors(tree, leaf, rows, counts, weight), **fields)
        class_counts = node_class_weights(tree, leaf, rows.values, counts).astype(np.int64)
        return ClassificationTree(
            tree=replace(tree, n_rows=class_counts.sum(axis=1)), **fields, ClassNames=rows.classes,
            ClassCount=class_counts, Prior=rows.prior, Cost=1.0 - np.eye(len(rows.classes)),
        )  # fmt: skip


def _with_errors(tree: Tree, leaf: Array, rows: BaggerRows, counts: Array, weight: Array) -> Tree:
    """Return the tree with rows, means and squared errors, which forests do not store."""
    at_leaves = np.bincount(leaf, counts, minlength=tree.n_nodes)
    n_rows = np.rint(add_to_ancestors(tree, at_leaves)).astype(np.int64)
    node_weight, mean, squares = node_target_moments(tree, leaf, rows.values, weight).T
    impurity = squares / node_weight
    return replace(
        tree, n_rows=n_rows, weight=node_weight, impurity=impurity,
        gain=gains(node_weight, impurity, tree.parent, tree.is_leaf),
        node_values=np.where(tree.is_leaf[:, None], tree.node_values, mean[:, None]),
    )  # fmt: skip


def number_by_layer(tree: Tree) -> Tree:
    """Return a binary tree with its nodes numbered layer by layer, as MATLAB does."""
    layers = [np.zeros(1, np.int64)]
    while len(layers[-1]):
        first = tree.child[layers[-1][~tree.is_leaf[layers[-1]]]]
        layers.append(np.stack([first, first + 1], axis=1).reshape(-1))
    order = np.concatenate(layers)
    new_index = np.argsort(order).astype(np.int32)
    nodes: Array = tree.nodes[order]
    inner = ~tree.is_leaf[order]
    NodeView(nodes).child[inner] = new_index[tree.child[order[inner]]]
    side: dict[str, Any] = {name: getattr(tree, name)[order] for name in NODE_ARRAYS}
    return replace(tree, nodes=nodes, **side)


@dataclass(frozen=True, slots=True, eq=False)
class TreePredictions:
    """Predictions of some trees of a forest, each with a weight, for some rows.

    ``trees`` are indices from 0. ``use``, of shape (n_rows, n_trees), is which trees of the forest
    predict which rows; None for all. Means over the trees, of class probabilities or numbers, have
    the shape (n_rows, k), and are NaN for rows without a tree.
    """

    model: Any
    table: Table
    trees: Array
    weights: Array
    use: Array | None = None

    @classmethod
    def of(
        cls, model: Any, table: Table, options: NameValue, use: Array | None = None
    ) -> TreePredictions:
        """Read the options Trees and TreeWeights."""
        trees = _tree_indices(options.of("Trees", "all"), model.forest_.n_trees)
        return cls(model, table, trees, options.weights("TreeWeights", len(trees)), use)

    def mean(self) -> Array:
        """Return the weighted mean of all trees."""
        all_trees = len(self.trees) == self.model.forest_.n_trees
        if self.use is None and all_trees and (self.weights == self.weights[0]).all():
            return _predict(self.model, self.table)
        (mean,) = self.stages("ensemble")
        return mean

    def stages(self, mode: str) -> Iterator[Array]:
        """Yield means of the first 1, 2, ... trees, of each tree alone, or of all trees."""
        total, weight = np.zeros((len(self.table), 1)), np.zeros(len(self.table))
        for number, (values, tree_weight) in enumerate(self._each(), 1):
            if mode == "individual":
                yield _mean(values * tree_weight[:, None], tree_weight)
                continue
            total, weight = total + values * tree_weight[:, None], weight + tree_weight
            if mode == "cumulative" or number == len(self.trees):
                yield _mean(total, weight)

    def standard_deviation(self, mean: Array) -> Array:
        """Return the standard deviation over the trees; NaN for rows without a tree."""
        total, weight = np.zeros(mean.shape), np.zeros(len(mean))
        for values, tree_weight in self._each():
            w = tree_weight[:, None]
            total += np.where(w > 0, w * (values - mean) ** 2, 0.0)
            weight += tree_weight
        return np.sqrt(_mean(total, weight))

    def _each(self) -> Iterator[tuple[Array, Array]]:
        """Yield the predictions of each tree, and its weight for each row."""
        for tree, weight in zip(self.trees.tolist(), self.weights.tolist(), strict=True):
            row_weight = np.full(len(self.table), weight)
            if self.use is not None:
                row_weight *= self.use[:, tree]
            yield _predict(single_tree(self.model, tree), self.table), row_weight


def single_tree(model: Any, tree: int) -> Any:
    """Return the forest of one tree."""
    return model.drop_trees([other for other in range(model.forest_.n_trees) if other != tree])


def _predict(model: Any, table: Table) -> Array:
    if model.forest_.n_classes:
        return np.asarray(model.predict_proba(table))
    numbers: Array = model.predict(table)[:, None]
    return numbers


def _mean(total: Array, weight: Array) -> Array:
    mean = np.full(total.shape, np.nan)
    np.divide(total, weight[:, None], out=mean, where=weight[:, None] > 0)
    return mean


def _tree_indices(given: Any, n: int) -> Array:
    """Return indices, from 0, of listed trees: 'all' or numbers from 1."""
    if isinstance(given, str) and given.lower() == "all":
        return np.arange(n)
    listed = np.atleast_1d(np.asarray(given)).tolist()
    for item in listed:
        if not is_whole(item) or not 1 <= item <= n:
            raise ValueError(f"Trees must be 'all' or list ints in [1, {n}], got {item!r}.")
    if not listed or len(set(listed)) < len(listed):
        raise ValueError("Trees must list at least one tree, and none twice.")
    return np.array(listed, np.int64) - 1

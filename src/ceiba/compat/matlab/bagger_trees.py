"""The trees of a bag, under MATLAB's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.bagger_rows import BaggerRows
from ceiba.compat.matlab.classification_tree import ClassificationTree
from ceiba.compat.matlab.fitted_tree import FittedTree
from ceiba.compat.matlab.regression_tree import RegressionTree
from ceiba.ensemble.common.sampling import Sampling
from ceiba.ensemble.forest.tree_view import gains
from ceiba.tree.model.traversal import summed_up
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import SIDE
from ceiba.tree.prune.held_out import held_classes, held_numbers


@dataclass(frozen=True, slots=True, eq=False)
class BaggedTrees(Sequence[FittedTree]):
    """The trees, each made when it is asked for: ``Trees[0]`` is the first.

    Parameters
    ----------
    model : RandomForestClassifier or RandomForestRegressor
    rows : BaggerRows
        What it was grown from.
    """

    model: Any
    rows: BaggerRows

    def __len__(self) -> int:
        return int(self.model.forest_.n_trees)

    @overload
    def __getitem__(self, place: int) -> FittedTree: ...
    @overload
    def __getitem__(self, place: slice) -> list[FittedTree]: ...
    def __getitem__(self, place: int | slice) -> FittedTree | list[FittedTree]:
        places = range(len(self))[place]
        return self._view(places) if isinstance(places, int) else [self._view(p) for p in places]

    def drawn(self, number: int) -> Array:
        """How often each row was drawn for a tree."""
        model, rows = self.model, self.rows
        sampling = Sampling.of(len(rows.values), rows.weights, model.max_samples, model.bootstrap)
        counts = sampling.counts(int(model.forest_.keys[number, 0]))
        # Without replacement a row is there once, with its weight.
        return counts if model.bootstrap else (counts > 0).astype(np.int64)

    def _view(self, number: int) -> FittedTree:
        tree, rows = layered(self.model.tree(number)), self.rows
        drawn, leaf = self.drawn(number), tree.apply(rows.table)
        shown: dict[str, Any] = {
            "ResponseName": rows.response, "Prune": False, "risk": "impurity", "surrogates": True,
        }  # fmt: skip
        if not rows.of_classes:
            # Rows are drawn by their weights, or have them.
            weighted = rows.weights is not None and not self.model.bootstrap
            own = drawn * rows.row_weights if weighted else drawn.astype(np.float64)
            return RegressionTree(tree=_with_errors(tree, leaf, rows, drawn, own), **shown)
        counts = held_classes(tree, leaf, rows.values, drawn).astype(np.int64)
        k = len(rows.classes)
        return ClassificationTree(
            tree=replace(tree, n_rows=counts.sum(axis=1)), **shown, ClassNames=rows.classes,
            ClassCount=counts, Prior=rows.prior, Cost=1.0 - np.eye(k),
        )  # fmt: skip


def _with_errors(tree: Tree, leaf: Array, rows: BaggerRows, drawn: Array, own: Array) -> Tree:
    """The tree with rows, means and squared errors of its nodes, which forests do not keep."""
    at_leaves = np.bincount(leaf, drawn, minlength=tree.n_nodes)
    n_rows = np.rint(summed_up(tree, at_leaves)).astype(np.int64)
    weight, mean, squares = held_numbers(tree, leaf, rows.values, own).T
    impurity = squares / weight
    return replace(
        tree, n_rows=n_rows, weight=weight, impurity=impurity,
        gain=gains(weight, impurity, tree.parent, tree.is_leaf),
        value=np.where(tree.is_leaf[:, None], tree.value, mean[:, None]),
    )  # fmt: skip


def layered(tree: Tree) -> Tree:
    """The same tree of two branches a split, its nodes numbered layer by layer."""
    layers = [np.zeros(1, np.int64)]
    while len(layers[-1]):
        first = tree.child[layers[-1][~tree.is_leaf[layers[-1]]]]
        layers.append(np.stack([first, first + 1], axis=1).reshape(-1))
    order = np.concatenate(layers)
    number = np.argsort(order).astype(np.int32)
    nodes: Array = tree.nodes[order]
    inner = ~tree.is_leaf[order]
    nodes.view(np.int32)[inner, 2] = number[tree.child[order[inner]]]
    side: dict[str, Any] = {name: getattr(tree, name)[order] for name in (*SIDE, "value")}
    return replace(tree, nodes=nodes, **side)

"""What the nodes of a tree cost as leaves, on rows that it was not grown from: a statistic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import class_places
from ceiba.stats.rows import Labelled
from ceiba.tree.model.traversal import summed_up
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.risk import costs_of, filled_values, is_of_classes, leaf_labels


def held_classes(tree: Tree, leaf: Array, label: Array, weight: Array | None = None) -> Array:
    """Class weights of held-out rows in every node of a tree.

    Parameters
    ----------
    tree : Tree
        A tree of classes.
    leaf : ndarray of int of shape (n,)
        The leaf of each row, or of each part of a row that is shared among leaves.
    label : ndarray of int of shape (n,)
        Place of its class.
    weight : ndarray of shape (n,), optional

    Returns
    -------
    ndarray of shape (n_nodes, n_classes)
    """
    n, k = tree.n_nodes, tree.leaves.shape[1]
    cell = leaf.astype(np.int64) * k + label
    at_leaves = np.bincount(cell, weight, minlength=n * k).reshape(n, k)
    return summed_up(tree, at_leaves.astype(np.float64))


def held_numbers(tree: Tree, leaf: Array, y: Array, weight: Array | None = None) -> Array:
    """Weight, mean and centred squares of held-out targets in every node of a tree of numbers.

    Parts are merged centred (Chan, Golub & LeVeque 1983), never by raw second moments.

    Parameters
    ----------
    tree : Tree
        A tree of numbers.
    leaf : ndarray of int of shape (n,)
    y : ndarray of shape (n,)
    weight : ndarray of shape (n,), optional

    Returns
    -------
    ndarray of shape (n_nodes, 3)
    """
    w = np.ones(len(y)) if weight is None else weight
    n = tree.n_nodes
    total = np.bincount(leaf, w, minlength=n)
    some = np.where(total > 0, total, 1.0)
    # Taken from the first row of the leaf, equal targets differ by exactly nothing.
    start = np.zeros(n)
    start[leaf[::-1]] = y[::-1]
    moved = y - start[leaf]
    shift = np.bincount(leaf, w * moved, minlength=n) / some
    squares = np.bincount(leaf, w * (moved - shift[leaf]) ** 2, minlength=n)
    return _merged_upwards(tree, total, start + shift, squares)


def _merged_upwards(tree: Tree, weight: Array, mean: Array, squares: Array) -> Array:
    w, m, s = weight.tolist(), mean.tolist(), squares.tolist()
    parent = tree.parent.tolist()
    for node in range(tree.n_nodes - 1, 0, -1):
        if w[node] == 0:
            continue
        up = parent[node]
        together = w[up] + w[node]
        shift, share = m[node] - m[up] if w[up] else 0.0, w[node] / together
        m[up] = m[up] + shift * share if w[up] else m[node]
        s[up] += s[node] + shift * shift * w[up] * share
        w[up] = together
    return np.stack([w, m, s], axis=1)


def class_errors(tree: Tree, held: Array, labels: Array | None = None) -> Array:
    """What every node costs as a leaf, from the class weights of held-out rows.

    ``labels`` are the classes that nodes would predict, those of their own weights unless given.
    """
    costs = costs_of(tree)
    if costs is None:
        costs = 1.0 - np.eye(tree.leaves.shape[1])
    predicted = leaf_labels(tree) if labels is None else labels
    return np.asarray((held * costs.T[predicted]).sum(axis=1))


def number_errors(tree: Tree, moments: Array) -> Array:
    """Squared error of every node as a leaf, from what `held_numbers` gives."""
    weight, mean, squares = moments.T
    return np.asarray(squares + weight * (mean - filled_values(tree)[:, 0]) ** 2)


def validation_errors(
    tree: Tree,
    table: Table,
    target: Array,
    weight: Array | None = None,
    threads: int = 1,
    labels: Array | None = None,
) -> Array:
    """What every node costs as a leaf, on the rows of a table that come through it.

    Parameters
    ----------
    tree : Tree
    table : Table
        Under the tree's schema.
    target : ndarray of shape (n_rows,)
        Places of the rows' classes (int32), or numbers (float64).
    weight : ndarray of shape (n_rows,), optional
    threads : int
    labels : ndarray of shape (n_nodes,), optional
        Places of the classes that nodes would predict; those of their own weights unless given.

    Returns
    -------
    ndarray of shape (n_nodes,)
        For `ceiba.tree.prune.reduced_error.error_cuts`.
    """
    if tree.missing == "shared":
        return _shared_errors(tree, table, target, weight, labels)
    leaf = tree.apply(table, threads)
    if is_of_classes(tree):
        return class_errors(tree, held_classes(tree, leaf, target, weight), labels)
    return number_errors(tree, held_numbers(tree, leaf, target, weight))


def _shared_errors(
    tree: Tree, table: Table, target: Array, weight: Array | None, labels: Array | None
) -> Array:
    """The same where gaps share rows among leaves: each part counts for itself."""
    classes = is_of_classes(tree)
    value = filled_values(tree)[:, 0]
    # Taken from the root's value, squares lose fewer digits.
    own = {"label": target.astype(np.int32)} if classes else {"value": target - value[0]}
    sums = np.zeros((tree.n_nodes, tree.leaves.shape[1] if classes else 3))
    _native.tree_weigh_ways(
        tree.nodes, tree.words, tree.tables, tree.share, tree.n_branches,
        *tree._native_columns(table), weight=weight, **own, out=sums,
    )  # fmt: skip
    sums = summed_up(tree, sums)
    return class_errors(tree, sums, labels) if classes else _square_errors(sums, value - value[0])


def held_errors(tree: Tree, held: Array) -> Array:
    """What every node costs as a leaf: class weights, or (w, w y, w y²), of held-out rows.

    `held_numbers` and `number_errors` keep more digits of targets far from zero than raw squares.
    """
    held = np.asarray(held, dtype=np.float64)
    width = tree.leaves.shape[1] if is_of_classes(tree) else 3
    if held.shape != (tree.n_nodes, width):
        raise ValueError(
            f"held must have a row for each of {tree.n_nodes} nodes and {width} columns, and has "
            f"the shape {held.shape}"
        )
    if is_of_classes(tree):
        return class_errors(tree, held)
    return _square_errors(held, filled_values(tree)[:, 0])


def _square_errors(sums: Array, value: Array) -> Array:
    w, wy, wyy = sums.T
    return np.asarray(np.maximum(wyy - 2 * value * wy + value * value * w, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class NodeErrors:
    """Errors of every node as a leaf, summed over rows, and the rows' number and weight."""

    errors: Array
    rows: int
    weight: float

    @classmethod
    def of(
        cls,
        batch: Any,
        tree: Tree,
        classes: Array | None = None,
        labels: Array | None = None,
        factors: Array | None = None,
    ) -> NodeErrors:
        """Of labelled rows, whose ``classes`` are the model's.

        ``labels`` are what each node would predict, ``factors`` those of the weights of classes.
        """
        rows: Labelled = batch.rows
        weight, target = rows.weight, rows.target.values
        if classes is not None:
            target = known_labels(rows, classes).astype(np.int32)
            weight = weights_of(rows, target, factors)
        errors = validation_errors(tree, rows.table, target, weight, batch.threads, labels)
        total = float(len(rows)) if weight is None else float(weight.sum())
        return cls(errors, len(rows), total)

    def merge(self, other: NodeErrors) -> NodeErrors:
        """Of both parts' rows."""
        return NodeErrors(
            self.errors + other.errors, self.rows + other.rows, self.weight + other.weight
        )


def known_labels(rows: Labelled, classes: Array) -> Array:
    """Places of the rows' classes among those of the model; others are refused."""
    own = rows.target.classes
    assert own is not None
    used = np.bincount(rows.target.values, minlength=len(own)) > 0
    among = np.isin(own, classes)
    if (used & ~among).any():
        unknown = own[used & ~among].tolist()[0]
        raise ValueError(
            f"y has the class {unknown!r}, which the tree does not know: it was grown for "
            f"{classes.tolist()!r}"
        )
    places = np.zeros(len(own), np.int64)
    places[among] = class_places(own[among], classes)
    labels: Array = places[rows.target.values]
    return labels


def weights_of(rows: Labelled, labels: Array, factors: Array | None) -> Array | None:
    """Weights of the rows times the factors of their classes; None where all are 1."""
    if factors is None:
        return rows.weight
    own: Array = factors[labels]
    return own if rows.weight is None else own * rows.weight

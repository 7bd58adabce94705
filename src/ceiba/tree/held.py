"""What a tree's nodes would cost on rows that it was not grown from."""

from __future__ import annotations

import numpy as np

from ceiba import _native
from ceiba.data.table import Table
from ceiba.stats.points import Array
from ceiba.tree.ancestry import summed_up
from ceiba.tree.risk import costs_of, filled_values, is_of_classes, leaf_labels
from ceiba.tree.structure import Tree


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
        For `ceiba.tree.reduced_error.error_cuts`.
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

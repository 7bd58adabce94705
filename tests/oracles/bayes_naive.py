"""Naive Bayesian network classifiers: counts, probabilities, posteriors, parameter counts.

A structure is a dict from each feature of the model to the tuple of its feature parents, parents
before children; the class is a parent of every feature. ``Tables`` holds one number per class and,
for every feature, an array indexed ``[parent values..., value, class]``. Counts, probabilities,
log-linear weights, mean values and residuals are all of this form. Flattened to two dimensions such
an array has one row per combination of values and one column per class.

Codes are whole numbers below the number of categories of their column. Nothing of Ceiba's
classifiers is used here.

References
----------
Friedman, N., Geiger, D. and Goldszmidt, M. (1997). Bayesian network classifiers. Machine Learning
29.
Roos, T., Wettig, H., Grünwald, P., Myllymäki, P. and Tirri, H. (2005). On discriminative Bayesian
network classifiers and logistic regression. Machine Learning 59.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from ceiba._typing import Array

Structure = dict[int, tuple[int, ...]]


@dataclass(frozen=True)
class Rows:
    """Coded rows: X (n, m), one-hot classes Y (n, K), weights w (n,), categories per column."""

    X: Array
    Y: Array
    w: Array
    categories: tuple[int, ...]

    @property
    def n_classes(self) -> int:
        return self.Y.shape[1]

    @property
    def total(self) -> float:
        return float(self.w.sum())


@dataclass(frozen=True)
class Tables:
    """One number per class (K,), and per feature an array (parents..., categories, K)."""

    classes: Array
    features: dict[int, Array]


def make_rows(
    X: Array,
    y: Array,
    w: Array | None = None,
    categories: Sequence[int] | None = None,
    n_classes: int | None = None,
) -> Rows:
    """Build rows from codes; by default a column has as many categories as its largest code."""
    X, y = np.asarray(X, dtype=int), np.asarray(y, dtype=int)
    sizes = X.max(axis=0) + 1 if categories is None else categories
    k = int(y.max()) + 1 if n_classes is None else n_classes
    weights = np.ones(len(X)) if w is None else np.asarray(w, dtype=float)
    return Rows(X, np.eye(k)[y], weights, tuple(int(r) for r in sizes))


# Structures


def informative_features(X: Array) -> list[int]:
    """Features of which at least two categories occur: only they can be in a model."""
    return [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) > 1]


def naive_structure(features: Sequence[int]) -> Structure:
    return dict.fromkeys(features, ())


def forest_structure(features: Sequence[int], arcs: Sequence[tuple[int, int]]) -> Structure:
    """Orient undirected arcs away from the lowest feature of each tree."""
    structure: Structure = {}

    def visit(j: int, parents: tuple[int, ...]) -> None:
        structure[j] = parents
        for k in sorted({k for arc in arcs if j in arc for k in arc} - set(structure)):
            if k not in structure:
                visit(k, (j,))

    for j in sorted(features):
        if j not in structure:
            visit(j, ())
    return structure


def arcs_of(structure: Structure) -> set[tuple[int, int]]:
    """Pairs (parent, child)."""
    return {(parent, child) for child, parents in structure.items() for parent in parents}


def n_parameters(structure: Structure, categories: Sequence[int], n_classes: int) -> int:
    """Free parameters of p(class | features): class terms of every interaction in a family.

    Every set of features inside a family (a feature and its parents) is one interaction with the
    class, of dimension (K - 1) times the product of (r - 1). The empty set is the class itself.
    """
    interactions = {
        subset
        for child, parents in structure.items()
        for size in range(len(parents) + 2)
        for subset in combinations(sorted((child, *parents)), size)
    } | {()}
    terms = sum(int(np.prod([categories[j] - 1 for j in subset])) for subset in interactions)
    return (n_classes - 1) * terms


def n_joint_parameters(structure: Structure, categories: Sequence[int], n_classes: int) -> int:
    """Free parameters of p(class, features): the entries of the conditional distributions."""
    groups = {
        j: n_classes * int(np.prod([categories[p] for p in parents], initial=1))
        for j, parents in structure.items()
    }
    return n_classes - 1 + sum(groups[j] * (categories[j] - 1) for j in structure)


# Counts and probabilities


def family_index(X: Array, structure: Structure, j: int) -> tuple[Array, ...]:
    """Index of each row in the table of feature j: the parents' values, then its own."""
    return tuple(X[:, k] for k in (*structure[j], j))


def sum_rows(rows: Rows, R: Array, structure: Structure) -> Tables:
    """Add a number per row and class, R (n, K), to the cells that the rows fall in.

    With R the one-hot classes these are counts, with posteriors expected counts, with the
    difference of the two residuals.
    """
    weighted = R * rows.w[:, None]
    tables = {}
    for j, parents in structure.items():
        shape = [rows.categories[k] for k in (*parents, j)]
        tables[j] = np.zeros((*shape, rows.n_classes))
        np.add.at(tables[j], family_index(rows.X, structure, j), weighted)
    return Tables(weighted.sum(axis=0), tables)


def counts(rows: Rows, structure: Structure) -> Tables:
    """Weighted counts N(c) and N(parents, value, c)."""
    return sum_rows(rows, rows.Y, structure)


def probabilities(N: Tables, alpha: float = 1.0) -> Tables:
    """Conditional distributions with alpha added to every count; 0 / 0 becomes uniform."""
    tables = {}
    for j, table in N.features.items():
        raised = table + alpha
        sums = raised.sum(axis=-2, keepdims=True)
        uniform = np.full_like(raised, 1 / table.shape[-2])
        tables[j] = np.divide(raised, sums, out=uniform, where=sums > 0)
    raised = N.classes + alpha
    return Tables(raised / raised.sum(), tables)


def to_weights(theta: Tables) -> Tables:
    """Logarithms of the probabilities, with zeros raised to 1e-290."""
    return Tables(
        np.log(np.maximum(theta.classes, 1e-290)),
        {j: np.log(np.maximum(table, 1e-290)) for j, table in theta.features.items()},
    )


def fit_generative(rows: Rows, structure: Structure, alpha: float = 1.0) -> Tables:
    """Laplace-smoothed conditional distributions."""
    return probabilities(counts(rows, structure), alpha)


def mean_values(theta: Tables, structure: Structure, total: float) -> Tables:
    """Expected counts U(c) and U(parent, value, c) of ``total`` rows drawn from a forest network.

    The margin of a parent comes before its children, so one walk down the forest is enough.
    """
    margins: dict[int, Array] = {}
    tables = {}
    for j, parents in structure.items():
        before = margins[parents[0]][:, None, :] if parents else total * theta.classes
        tables[j] = theta.features[j] * before
        margins[j] = tables[j].sum(axis=0) if parents else tables[j]
    return Tables(total * theta.classes, tables)


# Posteriors


def joint_by_products(theta: Tables, structure: Structure, x: Array) -> Array:
    """p(c, x) for every class by multiplying probabilities, one row, one class at a time."""
    joint = []
    for c in range(len(theta.classes)):
        p = theta.classes[c]
        for j, parents in structure.items():
            p = p * theta.features[j][(*(x[k] for k in parents), x[j], c)]
        joint.append(p)
    return np.array(joint)


def posterior_by_products(theta: Tables, structure: Structure, x: Array) -> Array:
    """p(c | x) of one row."""
    joint = joint_by_products(theta, structure, x)
    return joint / joint.sum()


def log_joint(weights: Tables, structure: Structure, X: Array) -> Array:
    """Sum of the weights of the cells of every row (n, K): log p(c, x) if they are log theta."""
    A = np.tile(weights.classes, (len(X), 1))
    for j, table in weights.features.items():
        A += table[family_index(X, structure, j)]
    return A


def log_sum_exp(A: Array, axis: int = -1, keepdims: bool = False) -> Array:
    top = A.max(axis=axis, keepdims=True)
    found = top + np.log(np.exp(A - top).sum(axis=axis, keepdims=True))
    return found if keepdims else np.squeeze(found, axis=axis)


def log_posteriors(weights: Tables, structure: Structure, X: Array) -> Array:
    A = log_joint(weights, structure, X)
    return A - log_sum_exp(A, keepdims=True)


def posteriors(weights: Tables, structure: Structure, X: Array) -> Array:
    return np.exp(log_posteriors(weights, structure, X))


def conditional_log_likelihood(rows: Rows, weights: Tables, structure: Structure) -> float:
    """Weighted sum over rows of log p(y | x)."""
    L = log_posteriors(weights, structure, rows.X)
    return float((rows.w[:, None] * np.where(rows.Y > 0, rows.Y * L, 0.0)).sum())


# Every cell of a small network, by enumeration


def all_rows(features: Sequence[int], categories: Sequence[int]) -> Array:
    """Every combination of values of the features; other columns are zero."""
    values = product(*(range(categories[j]) for j in features))
    grid = np.zeros((int(np.prod([categories[j] for j in features])), len(categories)), dtype=int)
    for row, x in zip(grid, values, strict=True):
        row[list(features)] = x
    return grid


def mean_values_by_enumeration(
    theta: Tables, structure: Structure, categories: Sequence[int], total: float
) -> Tables:
    """Expected counts by summing the joint distribution over every row that can occur."""
    X = all_rows(list(structure), categories)
    joint = np.array([joint_by_products(theta, structure, x) for x in X])
    rows = Rows(X, joint, np.full(len(X), total), tuple(categories))
    return sum_rows(rows, joint, structure)

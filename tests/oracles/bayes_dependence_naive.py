"""Naive mutual information and what is built from it: trees, kDB networks, and AODE.

Maximum likelihood counts, no smoothing, natural logarithms. Ties go to the lower index.

References
----------
Chow, C. K. and Liu, C. N. (1968). Approximating discrete probability distributions with dependence
trees. IEEE Transactions on Information Theory 14.
Sahami, M. (1996). Learning limited dependence Bayesian classifiers. KDD 1996.
Webb, G. I., Boughton, J. R. and Wang, Z. (2005). Not so naive Bayes: aggregating one-dependence
estimators. Machine Learning 58.
"""

from __future__ import annotations

from itertools import product
from math import log

import numpy as np

from ceiba._typing import Array
from tests.oracles.bayes_naive import (
    Rows,
    Structure,
    fit_generative,
    informative_features,
    naive_structure,
    posterior_by_products,
)

# Mutual information


def mutual_information(rows: Rows, j: int) -> float:
    """I(X_j; C), summed cell by cell."""
    mass = rows.w[:, None] * rows.Y / rows.total
    found = 0.0
    for a, c in product(range(rows.categories[j]), range(rows.n_classes)):
        p = mass[rows.X[:, j] == a, c].sum()
        if p > 0:
            found += p * log(p / (mass[rows.X[:, j] == a].sum() * mass[:, c].sum()))
    return found


def conditional_mutual_information(rows: Rows, i: int, j: int) -> float:
    """I(X_i; X_j | C), summed cell by cell."""
    mass = rows.w[:, None] * rows.Y / rows.total
    found = 0.0
    for c in range(rows.n_classes):
        p_c = mass[:, c].sum()
        for a, b in product(range(rows.categories[i]), range(rows.categories[j])):
            is_a, is_b = rows.X[:, i] == a, rows.X[:, j] == b
            p = mass[is_a & is_b, c].sum()
            if p > 0:
                found += p * log(p * p_c / (mass[is_a, c].sum() * mass[is_b, c].sum()))
    return found


def dependence_matrix(rows: Rows, features: list[int]) -> Array:
    """I(X_i; X_j | C) of every pair of the features."""
    matrix = np.zeros((len(features), len(features)))
    for a, i in enumerate(features):
        for b in range(a):
            matrix[a, b] = matrix[b, a] = conditional_mutual_information(rows, features[b], i)
    return matrix


# Trees


def maximum_spanning_tree(matrix: Array) -> list[tuple[int, int]]:
    """Prim's algorithm from node 0: arcs (parent, child) in the order in which they are added.

    The next node is the one with the largest weight, ties to the lower index, and a node changes
    its parent only for a strictly larger weight.
    """
    outside = list(range(1, len(matrix)))
    parent = dict.fromkeys(outside, 0)
    arcs = []
    while outside:
        new = max(outside, key=lambda j: (matrix[parent[j], j], -j))
        outside.remove(new)
        arcs.append((parent[new], new))
        for j in outside:
            if matrix[new, j] > matrix[parent[j], j]:
                parent[j] = new
    return arcs


def tan_structure(rows: Rows) -> Structure:
    """Tree augmented naive Bayes over the features with at least two observed categories."""
    features = informative_features(rows.X[rows.w > 0])
    structure: Structure = {features[0]: ()} if features else {}
    for a, b in maximum_spanning_tree(dependence_matrix(rows, features)):
        structure[features[b]] = (features[a],)
    return structure


def kdb_structure(rows: Rows, k: int) -> Structure:
    """Sahami's kDB: features by information about the class, each with the k best parents before.

    Parents are listed in increasing index.
    """
    features = informative_features(rows.X[rows.w > 0])
    relevance = {j: mutual_information(rows, j) for j in features}
    structure: Structure = {}
    for j in sorted(features, key=lambda j: (-relevance[j], j)):
        strength = {i: conditional_mutual_information(rows, i, j) for i in structure}
        best = sorted(strength, key=lambda i: (-strength[i], i))[:k]
        structure[j] = tuple(sorted(best))
    return structure


# Averaged one-dependence estimators


def one_dependence_joint(rows: Rows, parent: int, x: Array, alpha: float = 1.0) -> Array:
    """p(c, x) when every feature depends on the class and on one common parent.

    The class and the parent have one joint distribution, with alpha added to each of its cells.
    """
    features = informative_features(rows.X[rows.w > 0])
    same = rows.X[:, parent] == x[parent]
    joint = np.empty(rows.n_classes)
    for c in range(rows.n_classes):
        mass = rows.w * rows.Y[:, c]
        cells = rows.n_classes * rows.categories[parent]
        p = (mass[same].sum() + alpha) / (rows.total + alpha * cells)
        for j in features:
            if j != parent:
                both = mass[same & (rows.X[:, j] == x[j])].sum()
                p *= (both + alpha) / (mass[same].sum() + alpha * rows.categories[j])
        joint[c] = p
    return joint


def aode_posterior(rows: Rows, x: Array, alpha: float = 1.0, min_count: float = 1.0) -> Array:
    """Mean of the one-dependence estimators whose parent's value occurs at least min_count times.

    Without such a parent the posterior is that of naive Bayes.
    """
    features = informative_features(rows.X[rows.w > 0])
    frequent = [j for j in features if rows.w[rows.X[:, j] == x[j]].sum() >= min_count]
    if not frequent:
        structure = naive_structure(features)
        return posterior_by_products(fit_generative(rows, structure, alpha), structure, x)
    joint = sum(one_dependence_joint(rows, j, x, alpha) for j in frequent)
    return np.asarray(joint / np.sum(joint))

"""k-dependence Bayesian classifiers: each feature has up to k feature parents.

References
----------
Sahami (1996), "Learning limited dependence Bayesian classifiers", KDD.
"""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.families import Families, Structure


def class_information(families: Families, counts: Array) -> Array:
    """Return I(X_i; C) in nats from the counts of each feature alone, known values only."""
    found = []
    for family in range(len(families.shapes)):
        known = families.view(counts, family)[:-1]
        total = known.sum()
        expected = known.sum(axis=1, keepdims=True) * known.sum(axis=0, keepdims=True)
        ratio = np.divide(known * total, expected, out=np.ones_like(known), where=known > 0)
        found.append(float((known * np.log(ratio)).sum() / total) if total > 0 else 0.0)
    return np.round(np.maximum(found, 0.0), 12)


def k_dependence(relevance: Array, information: Array, max_parents: int) -> Structure:
    """Return the structure of k-dependence, with k = ``max_parents``.

    Features come in the order of their information about the class; each gets those k features
    before it whose mutual information with it, given the class, is largest. Ties go to the lower
    index.

    Parameters
    ----------
    relevance : ndarray of shape (n_features,)
        I(X_i; C).
    information : ndarray of shape (n_features, n_features)
        I(X_i; X_j | C).
    max_parents : int
    """
    order = sorted(range(len(relevance)), key=lambda j: (-relevance[j], j))
    parents = []
    for position, j in enumerate(order):
        before = sorted(order[:position], key=lambda i: (-information[i, j], i))
        parents.append(tuple(sorted(before[:max_parents])))
    return Structure(tuple(order), tuple(parents))

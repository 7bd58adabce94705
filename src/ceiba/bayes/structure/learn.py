"""Learn the arcs between the features from counts of pairs of features.

All structures start from the mutual information of pairs given the class (`Dependence`):

- ``"tree"``: its maximum spanning tree (Chow and Liu 1968; Friedman, Geiger & Goldszmidt 1997),
- ``"forest"``: the same, of the pairs that are significantly dependent,
- ``"kdb"``: the parents of largest information among the features before each one (Sahami 1996).

References
----------
Sahami (1996), "Learning limited dependence Bayesian classifiers", KDD.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.coding import CodedData
from ceiba.bayes.columns import column_index
from ceiba.bayes.families import Families, Structure
from ceiba.bayes.structure.chow_liu import maximum_spanning_tree
from ceiba.bayes.structure.dependence import Dependence


def learn_structure(
    data: CodedData,
    kind: str,
    *,
    root: Any = None,
    significance: float = 0.01,
    max_parents: int = 2,
) -> Structure:
    """Return the structure of a kind that the pairs of features suggest.

    Parameters
    ----------
    data : CodedData
    kind : {"tree", "forest", "kdb"}
    root : int, str or None
        Column at the root of its tree, with a tree or forest.
    significance : float
        Error probability of a forest.
    max_parents : int
        Number of feature parents with "kdb".
    """
    root_feature = None if root is None else _root_feature(data, root)
    n_features = data.encoding.n_features
    if n_features < 2:
        return Structure.naive(n_features)
    dependence = Dependence.of(
        data.engine,
        data.rows,
        data.sizes,
        data.n_classes,
        names=data.encoding.names,
        significance=significance if kind == "forest" else None,
    )
    if kind == "kdb":
        relevance = class_information(data.families, data.counts.table)
        return k_dependence(relevance, dependence.information, max_parents)
    features = list(range(n_features))
    significant = dependence.is_significant
    return maximum_spanning_tree(dependence.information, features, root_feature, significant)


def _root_feature(data: CodedData, root: Any) -> int:
    """Return the feature of the root's column; raise ValueError if it was left out."""
    column = column_index(root, data.schema.names, "root")
    features = data.encoding.columns.tolist()
    if column not in features:
        raise ValueError(
            f"root must be a column with two or more categories, got {root!r}, which has one."
        )
    return int(features.index(column))


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

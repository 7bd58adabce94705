"""Learn the arcs between the features from counts of pairs of features.

All structures start from the mutual information of pairs given the class (`Dependence`):

- ``"tree"``: its maximum spanning tree (Chow and Liu 1968; Friedman, Geiger & Goldszmidt 1997),
- ``"forest"``: the same, of the pairs that are significantly dependent,
- ``"kdb"``: the parents of largest information among the features before each one (Sahami 1996).
"""

from __future__ import annotations

from typing import Any

from ceiba.bayes.coding import CodedData
from ceiba.bayes.columns import column_index
from ceiba.bayes.families import Structure
from ceiba.bayes.structure.chow_liu import maximum_spanning_tree
from ceiba.bayes.structure.dependence import Dependence
from ceiba.bayes.structure.kdb import class_information, k_dependence


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

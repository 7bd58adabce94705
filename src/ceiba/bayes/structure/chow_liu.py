"""Tree-augmented naive Bayes: the maximum spanning tree of Chow and Liu, given the class.

With the mutual information given the class as weights, it is the tree of maximum likelihood.

References
----------
Chow & Liu (1968), "Approximating discrete probability distributions with dependence trees", IEEE
Transactions on Information Theory 14. Friedman, Geiger & Goldszmidt (1997), "Bayesian network
classifiers", Machine Learning 29.
"""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.families import Structure


def maximum_spanning_tree(
    weights: Array,
    features: list[int],
    root: int | None = None,
    allowed: Array | None = None,
) -> Structure:
    """Return the tree of largest total weight, by Prim's algorithm.

    The next feature is the one of largest weight to the tree, ties to the lower index; a parent is
    replaced only by one of strictly larger weight.

    Parameters
    ----------
    weights : ndarray of shape (n, n)
        Symmetric; indexed by feature.
    features : list of int
        Features of the tree, ascending.
    root : int, optional
        Root of its tree; by default the lowest feature.
    allowed : ndarray of bool of shape (n, n), optional
        Arcs that are allowed: the result is then a forest. Each tree without ``root`` has its
        lowest feature as root.
    """
    arcs: list[tuple[int, int]] = []
    index = np.array(features, np.int64)
    outside = np.ones(len(index), bool)
    best = np.full(len(index), -np.inf)
    parent = np.full(len(index), -1)
    while outside.any():
        if (best[outside] == -np.inf).all():  # a new tree
            first = root if not arcs and root is not None and outside.all() else None
            new = int(np.argmax(outside)) if first is None else features.index(first)
        else:
            new = int(np.argmax(np.where(outside, best, -np.inf)))
            arcs.append((int(parent[new]), features[new]))
        outside[new] = False
        reach = weights[features[new], index]
        if allowed is not None:
            reach = np.where(allowed[features[new], index], reach, -np.inf)
        better = outside & (reach > best)
        best[better], parent[better] = reach[better], features[new]
    return Structure.of_arcs(tuple(features), arcs)

"""Tree-augmented naive Bayes: the maximum spanning tree of Chow and Liu, given the class."""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.families import Structure
from ceiba.bayes.statistics import PairCounts


def conditional_mutual_information(counts: PairCounts, sizes: Array, n_classes: int) -> Array:
    """Return I(X_i; X_j | C) in nats for all pairs of features.

    Pairs of known values are counted, without smoothing.
    """
    matrix = np.zeros((len(sizes), len(sizes)))
    for i, j, table in counts.tables(sizes, n_classes):
        known = table[:-1, :, :-1]
        total = known.sum()
        if total == 0:
            continue
        expected = known.sum(axis=2, keepdims=True) * known.sum(axis=0, keepdims=True)
        of_class = known.sum(axis=(0, 2), keepdims=True)
        ratio = np.divide(known * of_class, expected, out=np.ones_like(known), where=known > 0)
        matrix[i, j] = matrix[j, i] = max(float((known * np.log(ratio)).sum() / total), 0.0)
    return matrix


def maximum_spanning_tree(weights: Array, features: list[int]) -> Structure:
    """Return the tree of largest total weight, rooted in the lowest feature (Prim's algorithm).

    The next feature is the one of largest weight to the tree, ties to the lower index; a parent is
    replaced only by one of strictly larger weight.
    """
    root, *left = features
    best = {f: (weights[root, f], root) for f in left}
    arcs = []
    while best:
        child = max(best, key=lambda f: (best[f][0], -f))
        arcs.append((best.pop(child)[1], child))
        for f in best:
            if weights[child, f] > best[f][0]:
                best[f] = (weights[child, f], child)
    return Structure.of_arcs(tuple(features), arcs)

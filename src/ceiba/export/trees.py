"""The trees of a model, as other libraries and languages need them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.tree import Tree


def forest_trees(model: Any) -> Iterator[Tree]:
    """Yield the trees of a random forest with the predictions of their leaves."""
    smoothing = getattr(model, "_leaf_smoothing", 0.0)
    for number in range(model.forest_.n_trees):
        yield _smoothed(model.forest_.tree(number), smoothing)


def _smoothed(tree: Tree, smoothing: float) -> Tree:
    """Return a tree with ``smoothing`` added to the weight of each class in each leaf."""
    if smoothing == 0:
        return tree
    # Leaves that share a row of probabilities may differ in weight: each gets a row of its own.
    nodes = tree.nodes.copy()
    NodeView(nodes).child[tree.is_leaf] = np.arange(tree.n_leaves)
    weights = tree.value[tree.is_leaf] + smoothing
    return replace(tree, nodes=nodes, leaves=weights / weights.sum(axis=1, keepdims=True))

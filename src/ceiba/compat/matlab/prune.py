"""Smaller trees of a grown one."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any, TypeVar

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.fitted_tree import FittedTree
from ceiba.compat.matlab.name_value import NameValue

_OPTIONS = ("Level", "Alpha", "Nodes")
_Fitted = TypeVar("_Fitted", bound=FittedTree)


def prune(tree: _Fitted, *pairs: Any, **named: Any) -> _Fitted:
    """Prune a tree to a step of its pruning sequence, to an alpha, or at some nodes.

    Parameters
    ----------
    tree : ClassificationTree or RegressionTree
        It is not changed.
    *pairs, **named
        One of the options below, as ``"Level", 1`` or ``Level=1``; without any the same tree is
        returned, with its pruning sequence shown.

    Returns
    -------
    ClassificationTree or RegressionTree
        Its nodes are numbered anew, and its pruning sequence starts at 0 again.

    Other Parameters
    ----------------
    Level : int
        Pruning step: 0 for the whole tree, up to ``max(tree.PruneList)`` for its root.
    Alpha : float
        Prune to the last step whose ``PruneAlpha`` is not above it.
    Nodes : array of int
        Numbers of nodes, from 1, that become leaves.

    Examples
    --------
    >>> from ceiba import datasets
    >>> from ceiba.compat.matlab import fitctree, prune
    >>> meas, species = datasets.load("iris", as_frame=True)
    >>> tree = fitctree(meas.to_numpy(), species)
    >>> [prune(tree, Level=k).NumNodes for k in range(5)]
    [9, 7, 5, 3, 1]

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees", chapter 3.
    """
    if not isinstance(tree, FittedTree):
        raise TypeError(f"tree must come from fitctree or fitrtree, got {type(tree).__name__}.")
    options = NameValue.read("prune", _OPTIONS, pairs, named)
    if not options.given:
        return replace(tree, Prune=True)
    if len(options.given) > 1:
        raise ValueError(f"prune takes one of Level, Alpha and Nodes, got {list(options.given)}.")
    if "Nodes" in options.given:
        return tree.collapse(_inner_nodes(tree, options.of("Nodes")))
    if "Level" in options.given:
        step = options.count("Level", 0, 0)
        if step >= tree.path.n_steps:
            raise ValueError(f"Level must be an int in [0, {tree.path.n_steps - 1}], got {step}.")
    else:
        step = tree.path.step_at(options.number("Alpha", 0.0))
    return tree.collapse(tree.path.pruned_nodes(step))


def _inner_nodes(tree: FittedTree, given: Any) -> Array:
    """Return the listed nodes that are not leaves, numbered from 0."""
    listed = np.atleast_1d(np.asarray(given)).tolist()
    for node in listed:
        is_int = isinstance(node, Integral) and not isinstance(node, bool)
        if not is_int or not 1 <= node <= tree.NumNodes:
            raise ValueError(f"Nodes must list ints in [1, {tree.NumNodes}], got {node!r}.")
    nodes = np.array(listed, np.int64) - 1
    return nodes[~tree.tree.is_leaf[nodes]]

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
_View = TypeVar("_View", bound=FittedTree)


def prune(tree: _View, *pairs: Any, **named: Any) -> _View:
    """A smaller tree: of a level of the pruning sequence, for an alpha, or cut at some nodes.

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
        Its nodes are numbered anew, and its levels begin at 0 again.

    Other Parameters
    ----------------
    Level : int
        0 for the whole tree, up to ``max(tree.PruneList)`` for its root.
    Alpha : float
        The last level whose ``PruneAlpha`` is not above it.
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
        raise TypeError(f"tree must come from fitctree or fitrtree, not {type(tree).__name__}")
    options = NameValue.read("prune", _OPTIONS, pairs, named)
    if not options.given:
        return replace(tree, Prune=True)
    if len(options.given) > 1:
        raise ValueError("prune takes one of Level, Alpha and Nodes")
    if "Nodes" in options.given:
        return tree.cut_at(_nodes(tree, options.of("Nodes")))
    path = tree.path
    if "Level" in options.given:
        level = options.count("Level", 0, 0)
    else:
        level = path.level_at(options.number("Alpha", 0.0))
    return tree.cut_at(path.cuts(level))


def _nodes(tree: FittedTree, given: Any) -> Array:
    listed = np.atleast_1d(np.asarray(given)).tolist()
    for node in listed:
        whole = isinstance(node, Integral) and not isinstance(node, bool)
        if not whole or not 1 <= node <= tree.NumNodes:
            raise ValueError(f"Nodes lists {node!r}: give numbers from 1 to {tree.NumNodes}")
    nodes = np.array(listed, np.int64) - 1
    return nodes[~tree.tree.is_leaf[nodes]]  # a leaf is one already

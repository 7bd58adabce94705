"""A tree as a flat list of nodes, for JSON at any depth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ceiba.tree.dictionary import tree_dict
from ceiba.tree.structure import Tree


def tree_nodes(tree: Tree, *, classes: Sequence[Any] | None = None) -> dict[str, Any]:
    """The tree as one list of plain records; children are numbers in that list.

    ``json`` refuses the nested form, `ceiba.tree.dictionary.tree_dict`, beyond some hundred levels;
    this one nests nothing.

    Parameters
    ----------
    tree : Tree
    classes : sequence, optional
        Labels of the classes (``classes_`` of the estimator); their numbers unless given.

    Returns
    -------
    dict
        What `tree_dict` says of the tree, and in place of ``root`` a list ``nodes``: what it says
        of each node, at the place of the node's number, with numbers in ``children`` and the
        number above in ``parent``, None for the root.

    Examples
    --------
    >>> from ceiba import DecisionTreeRegressor
    >>> from ceiba.tree.node_list import tree_nodes
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [4.0]], [0.0, 0.0, 3.0])
    >>> nodes = tree_nodes(model.tree_)["nodes"]
    >>> nodes[0]["children"], nodes[2]["parent"], nodes[2]["prediction"]
    ([1, 2], 0, 3.0)
    """
    whole = tree_dict(tree, classes=classes)
    nodes: list[dict[str, Any]] = [{}] * tree.n_nodes
    waiting: list[tuple[int | None, dict[str, Any]]] = [(None, whole.pop("root"))]
    while waiting:
        parent, record = waiting.pop()
        number, children = record["node"], record["children"]
        below = [child["node"] for child in children]
        nodes[number] = {**record, "parent": parent, "children": below}
        waiting += [(number, child) for child in children]
    return {**whole, "nodes": nodes}

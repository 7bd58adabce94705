"""A tree as a flat list of nodes, for JSON at any depth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ceiba.tree.explain.conditions import only_known
from ceiba.tree.model.split import METHODS, Split
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import REASONS


def tree_dict(tree: Tree, *, classes: Sequence[Any] | None = None) -> dict[str, Any]:
    """The tree as nested dictionaries of plain values, fit for JSON.

    Parameters
    ----------
    tree : Tree
    classes : sequence, optional
        Labels of the classes (``classes_`` of the estimator); their numbers unless given.

    Returns
    -------
    dict
        ``n_nodes``, ``n_leaves``, ``max_depth``, ``columns`` (name, kind, levels, dtype),
        ``classes`` (None for numbers), ``missing`` (what gaps do), ``costs`` (None where all
        mistakes are alike) and ``root``. A node has its number ``node``, ``depth``,
        ``n_rows``, ``weight``, ``impurity``, ``gain``, ``value`` (class weights, or a number),
        ``reason``, ``method``, ``ties``, ``runner_up`` (column, name and gain, or None), ``test``
        and ``children``; a leaf has no test but a ``prediction`` and, for classes,
        ``probabilities``. A test has its ``kind``, ``column``, ``name``, ``threshold`` (of an
        ordinal column the last level of the first branch), ``thresholds`` (of intervals),
        ``branches`` (levels of each branch) and ``gaps``, the place among the children where rows
        without a value go. The kinds are "threshold", "known" (values in the first branch, gaps in
        the second), "intervals", "levels" and "multiway". A node whose gaps follow
        surrogates lists these as ``surrogates``. An infinite threshold is the text "inf" or
        "-inf". ``json`` itself refuses trees of more than a few hundred levels: its limit, not
        this function's; `ceiba.tree.explain.dictionary.tree_nodes` is flat.

    Examples
    --------
    >>> from ceiba import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [4.0]], [0.0, 0.0, 3.0])
    >>> root = model.tree_.to_dict()["root"]
    >>> root["test"]["threshold"], [child["prediction"] for child in root["children"]]
    (3.0, [0.0, 3.0])
    """
    labels = class_labels(tree, classes)
    records = [_record(tree, node) for node in range(tree.n_nodes)]
    for node, record in enumerate(records):
        if tree.is_leaf[node]:
            record |= predicted(tree, node, labels)
        record["children"] = [records[child] for child in tree.children(node)]
    return {
        "n_nodes": tree.n_nodes,
        "n_leaves": tree.n_leaves,
        "max_depth": tree.max_depth,
        "columns": tree.schema.to_json()["columns"],
        "classes": labels,
        "missing": tree.missing,
        "costs": tree.costs.tolist() or None,
        "root": records[0],
    }


def class_labels(tree: Tree, classes: Sequence[Any] | None) -> list[Any] | None:
    """Labels of a tree's classes as plain values; their numbers unless given, None for numbers."""
    n = tree.leaves.shape[1]
    if n == 0:
        if classes is not None:
            raise ValueError("this tree predicts numbers: leave classes out")
        return None
    if classes is None:
        return list(range(n))
    if len(classes) != n:
        raise ValueError(f"the tree has {n} classes, and classes names {len(classes)}")
    return [_plain(label) for label in classes]


def _record(tree: Tree, node: int) -> dict[str, Any]:
    """What the dictionary says of any node, its children aside."""
    value = tree.value[node].tolist()
    split = None if tree.is_leaf[node] else tree.split(node)
    return {
        "node": node,
        "depth": int(tree.depth[node]),
        "n_rows": int(tree.n_rows[node]),
        "weight": float(tree.weight[node]),
        "impurity": float(tree.impurity[node]),
        "gain": float(tree.gain[node]),
        "value": value if tree.leaves.shape[1] else value[0],
        "reason": REASONS[tree.reason[node]],
        "method": METHODS[tree.method[node]],
        "ties": int(tree.ties[node]),
        "runner_up": _runner_up(tree, node),
        "test": None if split is None else _test(split),
        **_surrogates(tree, node),
    }


def _test(split: Split) -> dict[str, Any]:
    known = only_known(split)
    return {
        "kind": "known" if known else split.kind,
        "column": split.column,
        "name": split.name,
        "threshold": None if known else _plain(split.threshold),
        "thresholds": [_plain(value) for value in split.thresholds] or None,
        "branches": [[_plain(level) for level in group] for group in split.branches] or None,
        "gaps": split.gaps,
    }


def _surrogates(tree: Tree, node: int) -> dict[str, Any]:
    if tree.missing != "surrogate":
        return {}
    listed = []
    for surrogate in tree.surrogates_of(node):
        record = asdict(surrogate)
        record["threshold"] = _plain(record["threshold"])
        record["branches"] = [[_plain(v) for v in group] for group in surrogate.branches] or None
        listed.append(record)
    return {"surrogates": listed}


def _runner_up(tree: Tree, node: int) -> dict[str, Any] | None:
    column = int(tree.runner_up_column[node])
    if column < 0:
        return None
    gain = float(tree.runner_up_gain[node])
    return {"column": column, "name": tree.schema[column].name, "gain": gain}


def predicted(tree: Tree, leaf: int, labels: list[Any] | None) -> dict[str, Any]:
    """What a leaf predicts: a number, or a class with all probabilities."""
    if labels is None:
        return {"prediction": tree.nodes[leaf, :1].view(np.float64)[0].item()}
    probabilities = tree.leaves[tree.child[leaf]]
    likeliest = labels[int(tree.likeliest[tree.child[leaf]])]
    return {"prediction": likeliest, "probabilities": probabilities.tolist()}


def _plain(value: Any) -> Any:
    """A label or threshold that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | None) else str(value)


def tree_nodes(tree: Tree, *, classes: Sequence[Any] | None = None) -> dict[str, Any]:
    """The tree as one list of plain records; children are numbers in that list.

    ``json`` refuses the nested form, `tree_dict`, beyond some hundred levels;
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
    >>> from ceiba.tree.explain.dictionary import tree_nodes
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

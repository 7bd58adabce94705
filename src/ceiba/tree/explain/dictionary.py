"""A tree as nested dictionaries, or as a flat list of nodes for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ceiba.tree.model.multi_output import check_single_output
from ceiba.tree.model.split import METHODS, Split
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import REASONS


def tree_dict(tree: Tree, *, classes: Sequence[Any] | None = None) -> dict[str, Any]:
    """Return a tree as nested dictionaries of plain values.

    Parameters
    ----------
    tree : Tree
    classes : sequence, optional
        Labels of the classes (``classes_`` of the estimator); by default their indices.

    Returns
    -------
    dict
        ``n_nodes``, ``n_leaves``, ``max_depth``, ``columns`` (name, kind, categories, dtype),
        ``classes`` (None for regression), ``missing`` (routing of missing values), ``costs`` (None
        without a cost matrix) and ``root``. A node has its index ``node``, ``depth``, ``n_rows``,
        ``weight``, ``impurity``, ``gain``, ``value`` (class weights, or a number), ``reason``,
        ``method``, ``ties``, ``runner_up`` (column, name and gain, or None), ``test`` and
        ``children``; a leaf has no test but a ``prediction`` and, in classification,
        ``probabilities``. A test has its ``kind``, ``column``, ``name``, ``threshold`` (for an
        ordinal column the last category of the first branch), ``thresholds`` (of intervals),
        ``branches`` (categories of each branch) and ``missing_branch``, the index among the
        children of the branch of missing values. The kinds are "threshold", "known" (known values
        in the first branch, missing ones in the second), "intervals", "categories" and "multiway".
        In a tree with surrogates each node lists them as ``surrogates``. An infinite threshold is
        the text "inf" or "-inf". ``json`` fails for trees deeper than a few hundred splits; use
        `ceiba.tree.explain.dictionary.tree_nodes`, which is flat.

    Examples
    --------
    >>> from ceiba import DecisionTreeRegressor
    >>> model = DecisionTreeRegressor(max_depth=1).fit([[1.0], [2.0], [4.0]], [0.0, 0.0, 3.0])
    >>> root = model.tree_.to_dict()["root"]
    >>> root["test"]["threshold"], [child["prediction"] for child in root["children"]]
    (3.0, [0.0, 3.0])
    """
    whole = tree_nodes(tree, classes=classes)
    records = whole.pop("nodes")
    for record in records:
        del record["parent"]
        record["children"] = [records[child] for child in record["children"]]
    return {**whole, "root": records[0]}


def tree_nodes(tree: Tree, *, classes: Sequence[Any] | None = None) -> dict[str, Any]:
    """Return a tree as a flat list of nodes, which JSON can hold at any depth.

    As `tree_dict`, but with a list ``nodes`` instead of ``root``: the nodes in the order of their
    indices, with indices in ``children`` and ``parent`` (None for the root).
    """
    check_single_output(tree.n_outputs, "A dictionary of a tree")
    labels = class_labels(tree, classes)
    return {
        "n_nodes": tree.n_nodes,
        "n_leaves": tree.n_leaves,
        "max_depth": tree.max_depth,
        "columns": tree.schema.to_json()["columns"],
        "classes": labels,
        "missing": tree.missing,
        "costs": tree.costs.tolist() or None,
        "nodes": [_node_record(tree, node, labels) for node in range(tree.n_nodes)],
    }


def class_labels(tree: Tree, classes: Sequence[Any] | None) -> list[Any] | None:
    """Return the labels of a tree's classes as plain values, or None for regression."""
    n = tree.leaves.shape[1]
    if n == 0:
        if classes is not None:
            raise ValueError("'classes' has no effect with a regression tree: leave it out.")
        return None
    if classes is None:
        return list(range(n))
    if len(classes) != n:
        raise ValueError(
            f"classes must have one label for each of {n} classes, got {len(classes)}."
        )
    return [_plain(label) for label in classes]


def leaf_prediction(tree: Tree, leaf: int, labels: list[Any] | None) -> dict[str, Any]:
    """Return the prediction of a leaf: a number, or a class with all probabilities."""
    if labels is None:
        return {"prediction": tree.leaf_values(np.array([leaf]))[0].item()}
    probabilities = tree.leaves[tree.child[leaf]]
    label = labels[int(tree.leaf_class[tree.child[leaf]])]
    return {"prediction": label, "probabilities": probabilities.tolist()}


def _node_record(tree: Tree, node: int, labels: list[Any] | None) -> dict[str, Any]:
    value, is_leaf = tree.node_values[node].tolist(), bool(tree.is_leaf[node])
    runner_up, gain = int(tree.runner_up_column[node]), float(tree.runner_up_gain[node])
    record = {
        "node": node,
        "depth": int(tree.depth[node]),
        "n_rows": int(tree.n_rows[node]),
        "weight": float(tree.weight[node]),
        "impurity": float(tree.impurity[node]),
        "gain": float(tree.gain[node]),
        "value": value if tree.is_classification else value[0],
        "reason": REASONS[tree.reason[node]],
        "method": METHODS[tree.method[node]],
        "ties": int(tree.ties[node]),
        "runner_up": None
        if runner_up < 0
        else {"column": runner_up, "name": tree.schema[runner_up].name, "gain": gain},
        "test": None if is_leaf else _split_record(tree.split(node)),
    }
    if tree.missing == "surrogate":
        record["surrogates"] = [
            asdict(surrogate)
            | {
                "threshold": _plain(surrogate.threshold),
                "branches": _plain_groups(surrogate.branches),
            }
            for surrogate in tree.surrogates_of(node)
        ]
    if is_leaf:
        record |= leaf_prediction(tree, node, labels)
    parent = int(tree.parent[node])
    return {**record, "children": tree.children(node), "parent": None if parent < 0 else parent}


def _split_record(split: Split) -> dict[str, Any]:
    known = split.kind == "threshold" and split.threshold == np.inf
    return {
        "kind": "known" if known else split.kind,
        "column": split.column,
        "name": split.name,
        "threshold": None if known else _plain(split.threshold),
        "thresholds": [_plain(value) for value in split.thresholds] or None,
        "branches": _plain_groups(split.branches),
        "missing_branch": split.missing_branch,
    }


def _plain_groups(branches: Sequence[Sequence[Any]]) -> list[list[Any]] | None:
    return [[_plain(category) for category in group] for group in branches] or None


def _plain(value: Any) -> Any:
    """Convert a label or threshold to a value that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | None) else str(value)

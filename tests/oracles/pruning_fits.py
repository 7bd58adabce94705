"""Comparison of fitted trees with the pruning oracles."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from ceiba.data.table import Table
from ceiba.tree.prune.folds import assign_folds
from tests.oracles import pruning_errors as errors
from tests.oracles.pruning_complexity import entropy_risks, error_risks, gini_risks, squared_risks
from tests.oracles.pruning_folds import cross_validate, row_losses
from tests.oracles.pruning_nodes import (
    exact_costs,
    inner,
    make_leaves,
    node_sums,
    plain_rows,
    preorder,
    same_order,
    shape,
)
from tests.oracles.pruning_reduced import HeldOut

# Tolerance of sums, as a fraction of the risk of the root.
TOLERANCE = 1e-9
# Parameters of trees whose branches are then raised.
C45 = {
    "algorithm": "c45",
    "min_samples_split": 2,
    "above_average_gain": False,
    "mdl_correction": False,
}
GROWTH = {
    "cart": {},
    "branches": {"criterion": "entropy", "splits": "multiway", "missing": "branch"},
    "intervals": {"splits": "intervals", "n_intervals": 3, "missing": "majority"},
    "fractional": {"missing": "fractional"},
    "surrogate": {"missing": "surrogate"},
    "id3": {"algorithm": "id3"},
    "c45": C45,
}


def root_and_columns(tree):
    """Return the root of a tree as a dictionary, and the columns."""
    record = tree.to_dict()
    return record["root"], record["columns"]


def risks_of(root, kind, costs=None):
    """Return risks of nodes as leaves: "error", "gini" or "entropy"."""
    if kind == "error":
        return error_risks(root, exact_costs(costs, len(root["value"])))
    return gini_risks(root, costs) if kind == "gini" else entropy_risks(root)


def square_risks(tree, X, y, weights=None):
    """Return risks of a regression tree, from its training rows."""
    root, columns = root_and_columns(tree)
    weights = [1] * len(y) if weights is None else weights
    return squared_risks(node_sums(root, plain_rows(X), list(y), list(weights), columns))


def inner_after(root, nodes):
    """Return the inner nodes of a tree with some nodes as leaves."""
    return frozenset(inner(make_leaves(root, {int(node) for node in nodes})))


def assert_path(path, root, steps, tolerance=TOLERANCE):
    """Assert that a path has exactly these steps."""
    weight = root["weight"]
    scale = max(float(steps[-1].risk) / weight, 1e-300)
    assert list(path.n_leaves) == [step.n_leaves for step in steps]
    found = [inner_after(root, path.pruned_nodes(k)) for k in range(len(steps))]
    assert found == [step.inner for step in steps]
    risks = [float(step.risk) / weight for step in steps]
    assert list(path.risks) == pytest.approx(risks, abs=tolerance * scale)
    alphas = [float(step.alpha) / weight for step in steps]
    assert list(path.alphas) == pytest.approx(alphas, abs=tolerance * scale)
    assert path.alphas[0] == 0
    assert (np.diff(path.alphas) >= 0).all()


def assert_collapsed(tree, pruned, nodes):
    """Assert that a pruned tree is the grown one with some nodes as leaves, in order."""
    root, _ = root_and_columns(tree)
    pruned_root, _ = root_and_columns(pruned)
    expected = make_leaves(root, {int(node) for node in nodes})
    assert shape(pruned_root) == shape(expected)
    pairs = same_order(expected, pruned_root)
    assert [new for _, new in pairs] == list(range(pruned.n_nodes))
    old = {node["node"]: node for node in preorder(root)}
    new = {node["node"]: node for node in preorder(pruned_root)}
    for before, after in pairs:
        grown, node = old[before], new[after]
        made_leaf = bool(grown["children"]) and not node["children"]
        assert node["reason"] == ("pruned" if made_leaf else grown["reason"])
        assert node["impurity"] == grown["impurity"]
        assert node["gain"] == (0 if made_leaf else grown["gain"])


# Cross-validation


def naive_choice(model, X, y, path, *, risk, folds, seed, weights=None):
    """Return the errors of all steps: the tree of each fold predicts row by row."""
    table, rows = Table.of(X), plain_rows(X)
    classes = getattr(model, "classes_", None)
    codes = y.tolist() if classes is None else np.searchsorted(classes, y).tolist()
    fold = assign_folds(len(y), folds, seed, None if classes is None else np.array(codes))
    own = np.ones(len(y)) if weights is None else weights
    costs = None if classes is None else exact_costs(model.cost_matrix, len(classes))
    losses = [[0.0] * len(y) for _ in path.alphas]
    for k in range(folds):
        train, out = np.flatnonzero(fold != k), np.flatnonzero(fold == k).tolist()
        grown = clone(model).fit(table.take(train), y[train], own[train])
        root, columns = root_and_columns(grown.tree_)
        fractional = grown.tree_.missing == "fractional"
        data = HeldOut(rows, codes, own, columns, costs, fractional)
        found = row_losses(path.alphas.tolist(), fold_tree(grown, root, risk, costs), out, data)
        for step, row_loss in zip(losses, found, strict=True):
            for i, loss in zip(out, row_loss, strict=True):
                step[i] = loss
    return cross_validate(losses, own.tolist())


def fold_tree(grown, root, risk, costs):
    """Return the tree of a fold, with risks as fractions of its weight."""
    if costs is None:
        each = {n["node"]: n["impurity"] * n["weight"] for n in preorder(root)}
    else:
        each = risks_of(root, "error" if risk == "error" else "gini", costs)
    tolerance = 1e-12 * float(each[0]) / root["weight"]
    fractions = {node: float(risk) / root["weight"] for node, risk in each.items()}
    return {"root": root, "risks": fractions, "near": tolerance}


# Subtree raising


def raised(grown, X, codes, weight, confidence):
    """Return the naive tree after subtree raising, and the actions."""
    root, columns = root_and_columns(grown.tree_)
    n = len(grown.classes_)
    costs = None if grown.cost_matrix is None else exact_costs(grown.cost_matrix, n)
    fractional = grown.tree_.missing == "fractional"
    training = errors.Training(plain_rows(X), codes, n, columns, confidence, fractional, costs)
    weight = [1] * len(codes) if weight is None else weight.tolist()
    tree, actions = errors.raised(root, weight, training)
    return errors.outline(tree, costs=costs), actions


def assert_same_outline(found, expected):
    """Assert equal tests and labels, and class weights up to rounding."""
    *names, counts, below = found if len(found) == 3 else (*found, [])
    *others, sums, under = expected if len(expected) == 3 else (*expected, [])
    assert names == others
    assert counts == pytest.approx(sums, abs=1e-9)
    assert len(below) == len(under)
    for one, other in zip(below, under, strict=True):
        assert_same_outline(one, other)


def check_subtree_raising(grown, X, y, weight, confidence):
    """Compare subtree raising with the naive version; return the kinds of actions."""
    codes = np.searchsorted(grown.classes_, y).tolist()
    expected, actions = raised(grown, X, codes, weight, confidence)
    small = grown.pruned("pessimistic", X, y, weight, confidence=confidence, subtree_raising=True)
    assert_same_outline(errors.outline_of(root_and_columns(small.tree_)[0]), expected)
    found = [(frame["node"], frame["replaced_by"]) for frame in small.pruning_.trace]
    assert found == [(node, other if kind == "raise" else None) for node, kind, other in actions]
    return [kind for _, kind, _ in actions]

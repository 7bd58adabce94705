"""From fitted trees to what the pruning oracles take, and comparisons of the two."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from ceiba.data.table import Table
from ceiba.tree.prune.cross_validation import fold_of_rows
from tests.oracles import pruning_errors as errors
from tests.oracles.pruning_complexity import entropy_risks, error_risks, gini_risks, squares_risks
from tests.oracles.pruning_folds import judged, row_losses
from tests.oracles.pruning_nodes import (
    cut,
    exact_costs,
    held,
    inner,
    rows_of,
    same_order,
    shape,
    walk,
)
from tests.oracles.pruning_reduced import Held

# How near numbers are, as shares of the root's risk, whose sums are rounded.
NEAR = 1e-9
# Ways to grow trees whose branches are then raised.
C45 = {"algorithm": "c45", "min_samples_split": 2, "gain_guard": False, "mdl_correction": False}
WAYS = {
    "cart": {},
    "branches": {"criterion": "entropy", "splits": "multiway", "missing": "branch"},
    "intervals": {"splits": "intervals", "n_intervals": 3, "missing": "majority"},
    "fractional": {"missing": "fractional"},
    "surrogate": {"missing": "surrogate"},
    "id3": {"algorithm": "id3"},
    "c45": C45,
}


def opened(tree):
    """The root of a tree as a dictionary, and the columns."""
    record = tree.to_dict()
    return record["root"], record["columns"]


def risks_of(root, kind, costs=None):
    """Risks of nodes as leaves: "error", "gini" or "entropy" of a tree of classes."""
    if kind == "error":
        return error_risks(root, exact_costs(costs, len(root["value"])))
    return gini_risks(root, costs) if kind == "gini" else entropy_risks(root)


def square_risks(tree, X, y, weights=None):
    """Risks of a tree of numbers, from its training rows."""
    root, columns = opened(tree)
    weights = [1] * len(y) if weights is None else weights
    return squares_risks(held(root, rows_of(X), list(y), list(weights), columns))


def kept_after(root, nodes):
    """Nodes that are still split when these are cut."""
    return frozenset(inner(cut(root, {int(node) for node in nodes})))


def assert_path(path, root, levels, near=NEAR):
    """A path of Ceiba's has just these levels."""
    weight = root["weight"]
    scale = max(float(levels[-1].risk) / weight, 1e-300)
    assert list(path.n_leaves) == [level.n_leaves for level in levels]
    found = [kept_after(root, path.cuts(k)) for k in range(len(levels))]
    assert found == [level.inner for level in levels]
    risks = [float(level.risk) / weight for level in levels]
    assert list(path.risks) == pytest.approx(risks, abs=near * scale)
    alphas = [float(level.alpha) / weight for level in levels]
    assert list(path.alphas) == pytest.approx(alphas, abs=near * scale)
    assert path.alphas[0] == 0
    assert (np.diff(path.alphas) >= 0).all()


def assert_cut(tree, pruned, nodes):
    """A pruned tree is the grown one with these nodes as leaves, numbers in the old order."""
    root, _ = opened(tree)
    now, _ = opened(pruned)
    expected = cut(root, {int(node) for node in nodes})
    assert shape(now) == shape(expected)
    pairs = same_order(expected, now)
    assert [new for _, new in pairs] == list(range(pruned.n_nodes))
    old = {node["node"]: node for node in walk(root)}
    new = {node["node"]: node for node in walk(now)}
    for before, after in pairs:
        was, is_now = old[before], new[after]
        made_leaf = bool(was["children"]) and not is_now["children"]
        assert is_now["reason"] == ("pruned" if made_leaf else was["reason"])
        assert is_now["impurity"] == was["impurity"]
        assert is_now["gain"] == (0 if made_leaf else was["gain"])


# Cross-validation


def naive_choice(model, X, y, path, *, risk, folds, seed, weights=None):
    """Errors of all levels: trees of the folds, pruned and asked row by row."""
    table, rows = Table.of(X), rows_of(X)
    classes = getattr(model, "classes_", None)
    codes = y.tolist() if classes is None else np.searchsorted(classes, y).tolist()
    fold = fold_of_rows(len(y), folds, seed, None if classes is None else np.array(codes))
    own = np.ones(len(y)) if weights is None else weights
    costs = None if classes is None else exact_costs(model.cost_matrix, len(classes))
    losses = [[0.0] * len(y) for _ in path.alphas]
    for k in range(folds):
        train, out = np.flatnonzero(fold != k), np.flatnonzero(fold == k).tolist()
        grown = clone(model).fit(table.take(train), y[train], own[train])
        root, columns = opened(grown.tree_)
        shared = grown.tree_.missing == "shared"
        data = Held(rows, codes, own, columns, costs, shared)
        found = row_losses(path.alphas.tolist(), fold_tree(grown, root, risk, costs), out, data)
        for level, each in zip(losses, found, strict=True):
            for i, loss in zip(out, each, strict=True):
                level[i] = loss
    return judged(losses, own.tolist())


def fold_tree(grown, root, risk, costs):
    """A fold's tree, with risks as shares of its weight."""
    if costs is None:
        each = {n["node"]: n["impurity"] * n["weight"] for n in walk(root)}
    else:
        each = risks_of(root, "error" if risk == "error" else "gini", costs)
    near = 1e-12 * float(each[0]) / root["weight"]
    shares = {number: float(r) / root["weight"] for number, r in each.items()}
    return {"root": root, "risks": shares, "near": near}


# Raising


def raised(grown, X, codes, weight, confidence):
    """The naive tree after raising, and what was done."""
    root, columns = opened(grown.tree_)
    n = len(grown.classes_)
    costs = None if grown.cost_matrix is None else exact_costs(grown.cost_matrix, n)
    shared = grown.tree_.missing == "shared"
    training = errors.Training(rows_of(X), codes, n, columns, confidence, shared, costs)
    weight = [1] * len(codes) if weight is None else weight.tolist()
    tree, done = errors.raised(root, weight, training)
    return errors.outline(tree, costs=costs), done


def same_outline(found, expected):
    """Tests and labels are equal, class weights up to rounding."""
    *names, counts, below = found if len(found) == 3 else (*found, [])
    *others, sums, under = expected if len(expected) == 3 else (*expected, [])
    assert names == others
    assert counts == pytest.approx(sums, abs=1e-9)
    assert len(below) == len(under)
    for one, other in zip(below, under, strict=True):
        same_outline(one, other)


def check_raising(grown, X, y, weight, confidence):
    """Compare a model's raising with the naive one, step by step; return what was done."""
    codes = np.searchsorted(grown.classes_, y).tolist()
    expected, done = raised(grown, X, codes, weight, confidence)
    small = grown.pruned("pessimistic", X, y, weight, confidence=confidence, raising=True)
    same_outline(errors.outline_of(opened(small.tree_)[0]), expected)
    steps = [(frame["node"], frame["replacing"]) for frame in small.pruning_.trace]
    assert steps == [(node, other if kind == "raise" else None) for node, kind, other in done]
    return [kind for _, kind, _ in done]

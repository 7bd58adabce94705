"""Trees equal scikit-learn's on numeric bundled tables, up to ties of the gain."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier as PeerClassifier
from sklearn.tree import DecisionTreeRegressor as PeerRegressor

from ceiba import DecisionTreeClassifier, DecisionTreeRegressor, datasets
from ceiba._typing import Array

TABLES = [
    "iris", "wine", "glass", "vehicle", "breast_cancer_diagnostic", "diabetes",
    "balance_scale", "two_moons", "three_groups", "nonlinear_boundary",
]  # fmt: skip
LIMITS: list[dict[str, Any]] = [
    {},
    {"max_depth": 1},
    {"max_depth": 4},
    {"min_samples_leaf": 7},
    {"min_samples_leaf": 0.05, "min_samples_split": 0.2},
    {"min_impurity_decrease": 0.0123},
]
# Gains that differ by less, as a fraction of the root's impurity, are a tie.
TIE = 1e-9

tables = pytest.mark.parametrize("name", TABLES)
limits = pytest.mark.parametrize("limit", LIMITS, ids=str)


def numbers(name: str) -> tuple[Array, Array]:
    """Return rows that are exact in float32, in which scikit-learn compares."""
    X, y = datasets.load(name)
    if name == "diabetes":  # a regression target: its thirds make three classes
        y = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    return np.asarray(X, dtype=np.float32).astype(np.float64), np.asarray(y)


def measured(name: str) -> tuple[Array, Array]:
    """Return the other columns, and one column as the target."""
    X, _ = numbers(name)
    return X[:, 1:], X[:, 0]


def weights(n: int) -> Array:
    rng = np.random.default_rng(n)
    return rng.exponential(size=n) * (rng.random(n) > 0.1)


# Impurities by their definitions


def impurity(criterion: str, y: Array, w: Array) -> float:
    if criterion == "squared_error":
        mean = np.average(y, weights=w)
        return float(np.average((y - mean) ** 2, weights=w))
    shares = np.array([w[y == k].sum() for k in np.unique(y)]) / w.sum()
    shares = shares[shares > 0]
    if criterion == "gini":
        return float(1 - (shares**2).sum())
    return float(-(shares * np.log2(shares)).sum())


class Walk:
    """Compare two trees by the training rows of their nodes."""

    def __init__(self, mine: Any, peer: Any, X: Array, y: Array, w: Array | None) -> None:
        self.mine, self.peer, self.y = mine, peer, y
        self.w = np.ones(len(y)) if w is None else w
        self.criterion = mine.criterion
        self.my_rows = mine.decision_path(X).toarray().astype(bool)
        self.peer_rows = peer.decision_path(X).toarray().astype(bool)
        present = self.w > 0
        self.my_rows[~present] = self.peer_rows[~present] = False
        self.compared = self.tied = 0
        self.root = impurity(self.criterion, y[present], self.w[present])

    def run(self) -> None:
        pending = [(0, 0)]
        while pending:
            node, other = pending.pop()
            np.testing.assert_array_equal(self.my_rows[:, node], self.peer_rows[:, other])
            self.compared += 1
            mine, theirs = self.mine.tree_.children(node), self.branches(other)
            if not mine and not theirs:
                self.assert_same_leaf(node, other)
            elif mine and theirs and (pairs := self.matched(mine, theirs)):
                pending += pairs
            else:
                self.assert_tie(node, other, mine, theirs)

    def branches(self, node: int) -> list[int]:
        tree = self.peer.tree_
        if tree.children_left[node] < 0:
            return []
        return [tree.children_left[node], tree.children_right[node]]

    def matched(self, mine: list[int], theirs: list[int]) -> list[tuple[int, int]]:
        for order in (theirs, theirs[::-1]):
            pairs = list(zip(mine, order, strict=True))
            if all((self.my_rows[:, a] == self.peer_rows[:, b]).all() for a, b in pairs):
                return pairs
        return []

    def assert_same_leaf(self, node: int, other: int) -> None:
        tree, peer = self.mine.tree_, self.peer.tree_
        assert tree.n_rows[node] == peer.n_node_samples[other]
        assert tree.weight[node] == pytest.approx(peer.weighted_n_node_samples[other], rel=1e-9)
        assert tree.impurity[node] == pytest.approx(
            max(peer.impurity[other], 0), abs=1e-9 * self.root + 1e-12
        )
        value = tree.node_values[node]
        if self.criterion != "squared_error":
            value = value / value.sum()
        np.testing.assert_allclose(value, peer.value[other, 0], rtol=1e-9, atol=1e-12)

    def assert_tie(self, node: int, other: int, mine: list[int], theirs: list[int]) -> None:
        """Trees may differ only if both splits gain the same, or nothing is left to gain."""
        targets = self.y[self.my_rows[:, node]]
        if not mine and (targets == targets[0]).all():
            return  # scikit-learn may split a pure node because of rounded sums
        assert mine, "Ceiba has a leaf where scikit-learn splits"
        assert theirs, "scikit-learn has a leaf where Ceiba splits"
        gains = [
            self.gain(self.my_rows[:, node], [self.my_rows[:, b] for b in mine]),
            self.gain(self.peer_rows[:, other], [self.peer_rows[:, b] for b in theirs]),
        ]
        assert abs(gains[0] - gains[1]) <= TIE * self.root, (node, gains)
        self.tied += 1

    def gain(self, rows: Array, branches: list[Array]) -> float:
        weight = self.w[rows].sum()
        after = sum(
            self.w[b].sum() / weight * impurity(self.criterion, self.y[b], self.w[b])
            for b in branches
        )
        return impurity(self.criterion, self.y[rows], self.w[rows]) - after


def assert_same(mine: Any, peer: Any, X: Array, y: Array, w: Array | None = None) -> Walk:
    walk = Walk(mine.fit(X, y, w), peer.fit(X, y, w), X, y, w)
    walk.run()
    return walk


@tables
@limits
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_classifier_equals_sklearn(name: str, limit: dict[str, Any], criterion: str) -> None:
    X, y = numbers(name)
    options = {"criterion": criterion, "random_state": 0, **limit}
    walk = assert_same(DecisionTreeClassifier(**options), PeerClassifier(**options), X, y)
    assert walk.compared > 1 or walk.tied


@tables
@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize(
    "limit", [{}, {"max_depth": 3}, {"min_weight_fraction_leaf": 0.08}], ids=str
)
def test_weighted_classifier_equals_sklearn(
    name: str, criterion: str, limit: dict[str, Any]
) -> None:
    X, y = numbers(name)
    w = weights(len(y))
    kept = w > 0  # scikit-learn counts rows of weight zero in thresholds and limits
    options = {"criterion": criterion, "random_state": 0, **limit}
    mine, peer = DecisionTreeClassifier(**options), PeerClassifier(**options)
    assert_same(mine, peer, X[kept], y[kept], w[kept])


@tables
def test_class_weights_equal_sklearn(name: str) -> None:
    X, y = numbers(name)
    options = {"class_weight": "balanced", "max_depth": 4, "random_state": 0}
    mine = DecisionTreeClassifier(**options).fit(X, y)
    peer = PeerClassifier(**options).fit(X, y)
    counts = {k: (y == k).sum() for k in np.unique(y)}
    w = np.array([len(y) / (len(counts) * counts[k]) for k in y])
    Walk(mine, peer, X, y, w).run()


@tables
@limits
def test_regressor_equals_sklearn(name: str, limit: dict[str, Any]) -> None:
    X, y = measured(name)
    options = {"random_state": 0, **limit}
    assert_same(DecisionTreeRegressor(**options), PeerRegressor(**options), X, y)


@tables
def test_weighted_regressor_equals_sklearn(name: str) -> None:
    X, y = measured(name)
    w = weights(len(y))
    kept = w > 0
    options = {"random_state": 0, "max_depth": 5}
    mine, peer = DecisionTreeRegressor(**options), PeerRegressor(**options)
    assert_same(mine, peer, X[kept], y[kept], w[kept])


def leaf_loss(tree: Any, leaf: Array) -> float:
    weight = getattr(tree, "weighted_n_node_samples", None)
    weight = tree.weight if weight is None else weight
    return float((weight * tree.impurity)[leaf].sum() / weight[0])


@tables
@pytest.mark.parametrize("max_leaves", [2, 5, 12])
def test_best_first_growth_equals_sklearn(name: str, max_leaves: int) -> None:
    X, y = numbers(name)
    rng = np.random.default_rng(0)
    w = rng.exponential(size=len(y))  # so that hardly any gains tie
    options = {"max_leaf_nodes": max_leaves, "random_state": 0}
    mine = DecisionTreeClassifier(**options).fit(X, y, w)
    peer = PeerClassifier(**options).fit(X, y, w)
    if "max_leaf_nodes" in mine.tree_.reasons:  # otherwise all leaves are pure
        assert mine.get_n_leaves() == peer.get_n_leaves() == max_leaves
    theirs = leaf_loss(peer.tree_, peer.tree_.children_left < 0)
    assert leaf_loss(mine.tree_, mine.tree_.is_leaf) == pytest.approx(theirs, abs=1e-9)


@pytest.mark.parametrize("model", ["classifier", "regressor"])
def test_large_nodes_equal_sklearn(model: str) -> None:
    """Columns with few values use histograms, the others are sorted."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(3000, 130)).astype(np.float32).astype(float)
    X[:, ::2] = np.round(X[:, ::2] * 3)
    score = X[:, 0] + X[:, 1] * X[:, 3] + rng.normal(size=len(X)) / 4
    options = {"max_depth": 5, "random_state": 0}
    if model == "classifier":
        y = np.digitize(score, [-1, 0, 1])
        assert_same(DecisionTreeClassifier(**options), PeerClassifier(**options), X, y)
    else:
        assert_same(DecisionTreeRegressor(**options), PeerRegressor(**options), X, score)


@tables
def test_importances_equal_sklearn(name: str) -> None:
    X, y = numbers(name)
    options = {"max_depth": 3, "random_state": 0}
    mine, peer = DecisionTreeClassifier(**options), PeerClassifier(**options)
    if not assert_same(mine, peer, X, y).tied and (mine.tree_.ties == 0).all():
        np.testing.assert_allclose(
            mine.feature_importances_, peer.feature_importances_, rtol=1e-9, atol=1e-12
        )
    assert mine.feature_importances_.sum() == pytest.approx(1)

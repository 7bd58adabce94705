"""A naive tree with the accessors of a fitted one, to test the comparison itself."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tests.oracles.preset_choice import SplitChooser
from tests.oracles.preset_naive import grow, value_of
from tests.oracles.preset_sums import impurity, node_value
from tests.oracles.tree_impurity import weight


class NaiveModel:
    """The attributes of a model that `assert_preset_tree` reads, computed by `grow`."""

    def __init__(self, problem):
        self.tree_ = NaiveTree(problem, grow(problem))


class NaiveTree:
    """Arrays by node, and the description of each split."""

    def __init__(self, problem, nodes):
        self.problem, self.nodes = problem, nodes
        self.n_nodes = len(nodes)
        self.is_leaf = [node.split is None for node in nodes]
        self.reasons = [node.reason for node in nodes]
        self.depth = [node.depth for node in nodes]
        self.n_rows = [len(node.rows) for node in nodes]
        self.weight = [float(weight(problem.given(node), node.rows)) for node in nodes]
        self.impurity = [self._impurity(node) for node in nodes]
        self.gain = [self._gain(node) for node in nodes]
        self.node_values = np.array([self._value(index) for index in range(len(nodes))])

    def _impurity(self, node):
        problem = self.problem
        if not node.rows:
            return 0.0
        return float(impurity(problem.options.criterion, problem.node_target(node), node.rows))

    def _gain(self, node):
        if node.split is None:
            return 0.0
        return max(0.0, SplitChooser(self.problem, node).decision().best[0].gain)

    def _value(self, index):
        node, problem = self.nodes[index], self.problem
        if not node.rows and problem.target.n_classes:
            return [0.0] * problem.target.n_classes
        if not node.rows:
            return [float(v) for v in value_of(problem, self.nodes, node.parent)]
        own = node_value(problem.options.criterion, problem.given(node), node.rows)
        return [float(v) for v in own]

    def children(self, i):
        return self.nodes[i].children

    def surrogates_of(self, i):
        return [self._surrogate(s) for s in self.nodes[i].split.surrogates]

    def _surrogate(self, surrogate):
        test, labels = surrogate.test, self.problem.columns[surrogate.column].labels
        return SimpleNamespace(
            column=surrogate.column,
            threshold=next((labels[c] if labels else c for c in test.thresholds), None),
            flipped=surrogate.flipped,
            branches=[[labels[code] for code in group] for group in test.groups or ()],
            agreement=float(surrogate.agree),
            adjusted=float(surrogate.adj),
        )

    def split(self, i):
        test = self.nodes[i].split.test
        labels = self.problem.columns[test.column].labels
        names = tuple(labels[c] if labels and c < len(labels) else c for c in test.thresholds)
        kind = "categories" if test.groups is not None else "threshold"
        return SimpleNamespace(
            column=test.column,
            kind="intervals" if test.method == "intervals" else kind,
            threshold=names[0] if names else None,
            thresholds=names,
            branches=[[labels[code] for code in group] for group in test.groups or ()],
            missing_branch=test.missing_branch,
            n_branches=test.n_branches,
            method=test.method,
        )

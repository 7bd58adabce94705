"""A naive tree with the accessors of a fitted one, to test the comparison itself."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np

from tests.oracles.tree_impurity import gain, impurity, weight
from tests.oracles.tree_naive import grow, importances, node_value


class NaiveModel:
    """The attributes of a model that `assert_tree` reads, computed by `grow`."""

    def __init__(self, problem, nodes=None):
        self.problem = problem
        self.nodes = grow(problem) if nodes is None else nodes
        self.tree_ = NaiveTree(problem, self.nodes)
        self.feature_importances_ = np.array(importances(problem, self.nodes), dtype=float)

    def get_n_leaves(self):
        return self.tree_.n_leaves

    def get_depth(self):
        return self.tree_.max_depth


class NaiveTree:
    """Arrays by node, and the description of each split."""

    def __init__(self, problem, nodes):
        criterion, target = problem.options.criterion, problem.target
        self.problem, self.nodes = problem, nodes
        self.n_nodes = len(nodes)
        self.n_leaves = sum(not node.children for node in nodes)
        self.is_leaf = [not node.children for node in nodes]
        self.reasons = [node.reason for node in nodes]
        self.depth = [node.depth for node in nodes]
        self.max_depth = max(self.depth)
        self.n_rows = [len(node.rows) for node in nodes]
        self.weight = [float(weight(target, node.rows)) for node in nodes]
        self.impurity = [float(impurity(criterion, target, node.rows)) for node in nodes]
        self.node_values = np.array(
            [[float(v) for v in node_value(problem, n.rows)] for n in nodes]
        )
        self.column = [-1 if node.split is None else node.split.column for node in nodes]
        self.threshold = [
            math.nan if n.split is None or n.split.groups is not None else float(n.split.threshold)
            for n in nodes
        ]
        self.ties = [len(node.best) - 1 if node.split else 0 for node in nodes]
        self.gain = [
            # Rounded logarithms can make a zero negative.
            max(0.0, float(gain(criterion, target, node.split.branches))) if node.split else 0.0
            for node in nodes
        ]

    def children(self, i):
        return self.nodes[i].children

    def missing_child(self, i):
        return self.nodes[i].children[self.nodes[i].split.missing_branch]

    def split(self, i):
        split = self.nodes[i].split
        column = self.problem.columns[split.column]
        words = SimpleNamespace(
            column=split.column,
            kind="threshold" if split.groups is None else "categories",
            branches=[[column.labels[code] for code in group] for group in split.groups or []],
            threshold=split.threshold,
            missing_branch=split.missing_branch,
            n_branches=len(split.branches),
            method=split.method,
        )
        if column.kind == "ordinal" and split.threshold < math.inf:
            words.threshold = column.labels[split.threshold]
        return words

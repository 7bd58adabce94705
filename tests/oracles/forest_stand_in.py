"""A naive forest with the interface of a fitted one, to test the comparison itself."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tests.oracles.forest_naive import grow_forest
from tests.oracles.tree_naive_model import NaiveTree


class StandInMember(NaiveTree):
    """A naive tree with the arrays of a fitted tree."""

    def __init__(self, member):
        self.problem, self.nodes = member.problem, member.nodes
        self.n_nodes = len(member.nodes)
        self.is_leaf = [node.split is None for node in member.nodes]
        self.column = [-1 if node.split is None else node.split.column for node in member.nodes]
        values = [member.value(i) for i in range(self.n_nodes)]
        self.node_values = np.array([[float(v) for v in value] for value in values])


class StandInForest:
    """A naive forest with the attributes that `assert_forest` uses."""

    def __init__(self, problem):
        self.members = grow_forest(problem)
        seeds = np.array([member.seed for member in self.members], dtype=np.uint64)
        self.forest_ = SimpleNamespace(tree_seeds=seeds)
        self.trees = [StandInMember(member) for member in self.members]

    def tree(self, t):
        return self.trees[t]

"""A naive forest behind the accessors of a fitted one, so that the walk itself can be tested."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from tests.oracles.forest_naive import grow_forest
from tests.oracles.tree_stand_in import StandInTree


class StandInMember(StandInTree):
    """The arrays of a tree that a forest keeps, and the words of each split."""

    def __init__(self, member):
        self.problem, self.nodes = member.problem, member.nodes
        self.n_nodes = len(member.nodes)
        self.is_leaf = [node.split is None for node in member.nodes]
        self.column = [-1 if node.split is None else node.split.column for node in member.nodes]
        values = [member.value(i) for i in range(self.n_nodes)]
        self.value = np.array([[float(v) for v in value] for value in values])


class StandInForest:
    """What `assert_forest` asks of a model, answered from `grow_forest`."""

    def __init__(self, problem):
        self.members = grow_forest(problem)
        seeds = [[member.seed, len(problem.target.values)] for member in self.members]
        self.forest_ = SimpleNamespace(keys=np.array(seeds, dtype=np.uint64))
        self.trees = [StandInMember(member) for member in self.members]

    def tree(self, t):
        return self.trees[t]

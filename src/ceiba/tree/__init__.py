"""Decision trees: one engine for exact and binned trees, on any engine."""

from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.compare.presets import compare_presets
from ceiba.tree.compare.pruning import pruning_laboratory
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import complexity_path
from ceiba.tree.regressor import DecisionTreeRegressor

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Tree",
    "compare_presets",
    "complexity_path",
    "pruning_laboratory",
]

"""Decision trees: one engine for exact and binned trees, on any engine."""

from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.complexity import complexity_path
from ceiba.tree.laboratory import pruning_laboratory
from ceiba.tree.presets_table import compare_presets
from ceiba.tree.regressor import DecisionTreeRegressor
from ceiba.tree.structure import Tree

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Tree",
    "compare_presets",
    "complexity_path",
    "pruning_laboratory",
]

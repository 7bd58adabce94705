"""Decision trees: exact and binned, by CART, C4.5, ID3 and Hunt's presets."""

from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.compare.columns import split_scores
from ceiba.tree.compare.presets import compare_presets
from ceiba.tree.compare.pruning import compare_pruning
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import cost_complexity_path
from ceiba.tree.prune.reduced_error import TrainingRowsWarning
from ceiba.tree.regressor import DecisionTreeRegressor

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "TrainingRowsWarning",
    "Tree",
    "compare_presets",
    "compare_pruning",
    "cost_complexity_path",
    "split_scores",
]

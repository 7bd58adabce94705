"""Decision trees: one engine for exact and binned trees, on any engine."""

from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.regressor import DecisionTreeRegressor
from ceiba.tree.structure import Tree

__all__ = ["DecisionTreeClassifier", "DecisionTreeRegressor", "Tree"]

"""Ensembles: bagging, random forests, AdaBoost and gradient boosting."""

from ceiba.ensemble.adaboost.classifier import AdaBoostClassifier
from ceiba.ensemble.adaboost.regressor import AdaBoostRegressor
from ceiba.ensemble.bagging.classifier import BaggingClassifier
from ceiba.ensemble.bagging.regressor import BaggingRegressor
from ceiba.ensemble.forest.classifier import RandomForestClassifier
from ceiba.ensemble.forest.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from ceiba.ensemble.forest.regressor import RandomForestRegressor
from ceiba.ensemble.gradient_boosting.classifier import GradientBoostingClassifier
from ceiba.ensemble.gradient_boosting.regressor import GradientBoostingRegressor

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]

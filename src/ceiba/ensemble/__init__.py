"""Committees of learners: bagging, random forests, AdaBoost."""

from ceiba.ensemble.adaboost_classifier import AdaBoostClassifier
from ceiba.ensemble.adaboost_regressor import AdaBoostRegressor
from ceiba.ensemble.bagging_classifier import BaggingClassifier
from ceiba.ensemble.bagging_regressor import BaggingRegressor
from ceiba.ensemble.forest_classifier import RandomForestClassifier
from ceiba.ensemble.forest_regressor import RandomForestRegressor

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "RandomForestClassifier",
    "RandomForestRegressor",
]

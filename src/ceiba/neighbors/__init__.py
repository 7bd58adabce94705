"""Nearest neighbors: learners, distances between rows, and exact indices."""

from ceiba.neighbors.classifier import KNeighborsClassifier
from ceiba.neighbors.distance import METRICS, Distance, make_distance, make_mixed_distance
from ceiba.neighbors.index import NeighborIndex
from ceiba.neighbors.leave_one_out import LeaveOneOutCurve
from ceiba.neighbors.regressor import KNeighborsRegressor
from ceiba.neighbors.searching import NeighborCost, TrainingRows
from ceiba.neighbors.unsupervised import NearestNeighbors

__all__ = [
    "METRICS",
    "Distance",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "LeaveOneOutCurve",
    "NearestNeighbors",
    "NeighborCost",
    "NeighborIndex",
    "TrainingRows",
    "make_distance",
    "make_mixed_distance",
]

"""Prepared rows and sufficient statistics that several families share."""

from ceiba.stats.labeled import Accuracy, LabeledRows, TargetSummary, ToLabeledRows
from ceiba.stats.points import Moments, Points, PointSpace, ToPoints

__all__ = [
    "Accuracy",
    "LabeledRows",
    "Moments",
    "PointSpace",
    "Points",
    "TargetSummary",
    "ToLabeledRows",
    "ToPoints",
]

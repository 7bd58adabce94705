"""Sufficient statistics that several families share: summarized per partition, then merged."""

from ceiba.stats.moments import Moments
from ceiba.stats.rows import Labelled, Points, Space, ToLabelled, ToPoints
from ceiba.stats.target_summary import TargetSurvey

__all__ = [
    "Labelled",
    "Moments",
    "Points",
    "Space",
    "TargetSurvey",
    "ToLabelled",
    "ToPoints",
]

"""Sufficient statistics: each is summarised per partition, merged, and solved by a learner."""

from ceiba.stats.assignment import Assignment, Distances, Farthest
from ceiba.stats.centre_sums import CentreSums
from ceiba.stats.labelled import Labelled, ToLabelled
from ceiba.stats.moments import Moments
from ceiba.stats.points import Points, Space, ToPoints
from ceiba.stats.race import Draw, Race
from ceiba.stats.target_survey import TargetSurvey

__all__ = [
    "Assignment",
    "CentreSums",
    "Distances",
    "Draw",
    "Farthest",
    "Labelled",
    "Moments",
    "Points",
    "Race",
    "Space",
    "TargetSurvey",
    "ToLabelled",
    "ToPoints",
]

"""Sufficient statistics: each is summarised per partition, merged, and solved by a learner."""

from ceiba.stats.assignment import Assignment, Distances, Farthest
from ceiba.stats.centre_sums import CentreSums
from ceiba.stats.moments import Moments
from ceiba.stats.points import Points, Space, ToPoints
from ceiba.stats.race import Draw, Race

__all__ = [
    "Assignment",
    "CentreSums",
    "Distances",
    "Draw",
    "Farthest",
    "Moments",
    "Points",
    "Race",
    "Space",
    "ToPoints",
]

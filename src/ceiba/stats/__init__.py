"""Prepared rows and sufficient statistics that several families share."""

from ceiba.stats.labeled import Labeled, TargetSummary, ToLabeled
from ceiba.stats.moments import Moments
from ceiba.stats.points import Points, Space, ToPoints

__all__ = [
    "Labeled",
    "Moments",
    "Points",
    "Space",
    "TargetSummary",
    "ToLabeled",
    "ToPoints",
]

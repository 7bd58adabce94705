"""Pictures: clusters, the choice of their number, and the replay of a training trace.

Every function makes its own figure, free of global state, or draws where it is told to. They
need matplotlib: ``pip install "ceiba[app]"``.
"""

from __future__ import annotations

from ceiba.plots.centres_painter import CentresPainter
from ceiba.plots.choice import cluster_choice
from ceiba.plots.painter import Painter, register_painter
from ceiba.plots.player import Player, play
from ceiba.plots.scatter import clusters

__all__ = [
    "Painter",
    "Player",
    "cluster_choice",
    "clusters",
    "play",
    "register_painter",
]

register_painter({"centres", "inertia", "moved"}, CentresPainter)

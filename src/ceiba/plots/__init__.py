"""Pictures: clusters, mixtures, the choice of their number, and the replay of a training trace.

Every function makes its own figure, free of global state, or draws where it is told to. They
need matplotlib: ``pip install "ceiba[app]"``.
"""

from __future__ import annotations

from ceiba.plots.centres_painter import CentresPainter
from ceiba.plots.choice import cluster_choice
from ceiba.plots.covariance_forms import covariance_forms
from ceiba.plots.mixture import mixture
from ceiba.plots.mixture_choice import mixture_choice
from ceiba.plots.mixture_painter import MixturePainter
from ceiba.plots.painter import Painter, register_painter
from ceiba.plots.player import Player, play
from ceiba.plots.scatter import clusters

__all__ = [
    "Painter",
    "Player",
    "cluster_choice",
    "clusters",
    "covariance_forms",
    "mixture",
    "mixture_choice",
    "play",
    "register_painter",
]

register_painter({"centres", "inertia", "moved"}, CentresPainter)
register_painter({"weights", "means", "covariances", "log_likelihood"}, MixturePainter)

"""Pictures: clusters, mixtures, trees and their pruning, committees, the replay of a trace.

Every function makes its own figure, free of global state, or draws where it is told to. They
need matplotlib: ``pip install "ceiba[app]"``.
"""

from __future__ import annotations

from ceiba.plots.boosting import rounds
from ceiba.plots.boosting_painter import BoostingPainter
from ceiba.plots.boundaries import boundaries
from ceiba.plots.centres_painter import CentresPainter
from ceiba.plots.choice import cluster_choice
from ceiba.plots.covariance_forms import covariance_forms
from ceiba.plots.importance import importance
from ceiba.plots.impurity import impurity_curves
from ceiba.plots.margins import margins
from ceiba.plots.mixture import mixture
from ceiba.plots.mixture_choice import mixture_choice
from ceiba.plots.mixture_painter import MixturePainter
from ceiba.plots.oob_curve import oob_curve
from ceiba.plots.painter import Painter, register_painter
from ceiba.plots.player import Player, play
from ceiba.plots.presets import presets
from ceiba.plots.pruning import pruning_path, pruning_table
from ceiba.plots.regions import regions
from ceiba.plots.scatter import clusters
from ceiba.plots.steps import steps
from ceiba.plots.surface import partition, surface
from ceiba.plots.tree import tree
from ceiba.plots.tree_levels import tree_levels
from ceiba.plots.tree_painter import TreePainter
from ceiba.plots.tree_path import tree_path

__all__ = [
    "Painter",
    "Player",
    "boundaries",
    "cluster_choice",
    "clusters",
    "covariance_forms",
    "importance",
    "impurity_curves",
    "margins",
    "mixture",
    "mixture_choice",
    "oob_curve",
    "partition",
    "play",
    "presets",
    "pruning_path",
    "pruning_table",
    "regions",
    "register_painter",
    "rounds",
    "steps",
    "surface",
    "tree",
    "tree_levels",
    "tree_path",
]

register_painter({"centres", "inertia", "moved"}, CentresPainter)
register_painter({"weights", "means", "covariances", "log_likelihood"}, MixturePainter)
register_painter({"weights", "error", "alpha", "wrong"}, BoostingPainter)
register_painter({"node", "children", "gain"}, TreePainter)
register_painter({"node", "n_leaves"}, TreePainter)

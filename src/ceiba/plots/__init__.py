"""Pictures: clusters, mixtures, trees and their pruning, committees, the replay of a trace.

Every function makes its own figure, free of global state, or draws where it is told to. They
need matplotlib: ``pip install "ceiba[app]"``.
"""

from __future__ import annotations

from ceiba.plots.boosting.painter import BoostingPainter
from ceiba.plots.boosting.rounds import rounds
from ceiba.plots.clustering.choice import cluster_choice
from ceiba.plots.clustering.painter import CentresPainter
from ceiba.plots.curves.importance import importance
from ceiba.plots.curves.margins import margins
from ceiba.plots.curves.oob_curve import oob_curve
from ceiba.plots.mixtures.choice import mixture_choice
from ceiba.plots.mixtures.covariance_forms import covariance_forms
from ceiba.plots.mixtures.mixture import mixture
from ceiba.plots.mixtures.painter import MixturePainter
from ceiba.plots.planes.boundaries import boundaries
from ceiba.plots.planes.regions import regions
from ceiba.plots.planes.scatter import clusters
from ceiba.plots.planes.surface import partition, surface
from ceiba.plots.playback.painter import Painter, register_painter
from ceiba.plots.playback.player import Player, play
from ceiba.plots.trees.depths import tree_levels
from ceiba.plots.trees.impurity import impurity_curves
from ceiba.plots.trees.painter import TreePainter
from ceiba.plots.trees.path import tree_path
from ceiba.plots.trees.presets import presets
from ceiba.plots.trees.pruning import pruning_path, pruning_table
from ceiba.plots.trees.steps import steps
from ceiba.plots.trees.tree import tree

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

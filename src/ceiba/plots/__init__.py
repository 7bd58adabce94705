"""Plots of trees, ensembles, clusters, mixtures, neighbors, networks and experiments.

Every function makes its own figure without pyplot, or draws on the axes or figure that it is given.
Plots require matplotlib: ``pip install "ceiba[plots]"``.
"""

from __future__ import annotations

from ceiba.plots.boosting.adaboost_rounds import AdaBoostPainter, rounds
from ceiba.plots.boosting.gradient import GradientPainter, loss_curve, split_importance
from ceiba.plots.clustering import KMeansPainter, cluster_choice, clusters
from ceiba.plots.curves.forest import importance, oob_curve
from ceiba.plots.curves.impurity import impurity_curves
from ceiba.plots.curves.margins import margins
from ceiba.plots.experiments.calibration import calibration
from ceiba.plots.experiments.confusion import confusion
from ceiba.plots.experiments.rank_diagram import rank_diagram
from ceiba.plots.experiments.roc import roc
from ceiba.plots.experiments.score_intervals import score_intervals
from ceiba.plots.experiments.sweep_curve import sweep_curve
from ceiba.plots.experiments.time_scores import time_scores
from ceiba.plots.explanation import explanation
from ceiba.plots.intervals import intervals
from ceiba.plots.mixtures.choice import mixture_choice
from ceiba.plots.mixtures.mixture import MixturePainter, covariance_forms, mixture
from ceiba.plots.neighbors.loo_curve import loo_curve
from ceiba.plots.neighbors.neighbor_votes import neighbor_votes
from ceiba.plots.neighbors.regions_by_k import regions_by_k
from ceiba.plots.neighbors.voronoi import voronoi
from ceiba.plots.networks.network import network
from ceiba.plots.networks.nomogram import nomogram
from ceiba.plots.networks.search_path import search_path
from ceiba.plots.networks.training_curve import training_curve
from ceiba.plots.planes.partition import partition, surface
from ceiba.plots.planes.regions import boundaries, regions
from ceiba.plots.planes.step_functions import step_functions
from ceiba.plots.playback import Painter, Player, play, register_painter
from ceiba.plots.trees.comparison import presets, pruning_table
from ceiba.plots.trees.painter import TreePainter
from ceiba.plots.trees.pruning_path import pruning_path
from ceiba.plots.trees.pruning_steps import pruning_steps
from ceiba.plots.trees.tree import tree, tree_path

__all__ = [
    "Painter",
    "Player",
    "boundaries",
    "calibration",
    "cluster_choice",
    "clusters",
    "confusion",
    "covariance_forms",
    "explanation",
    "importance",
    "impurity_curves",
    "intervals",
    "loo_curve",
    "loss_curve",
    "margins",
    "mixture",
    "mixture_choice",
    "neighbor_votes",
    "network",
    "nomogram",
    "oob_curve",
    "partition",
    "play",
    "presets",
    "pruning_path",
    "pruning_steps",
    "pruning_table",
    "rank_diagram",
    "regions",
    "regions_by_k",
    "register_painter",
    "roc",
    "rounds",
    "score_intervals",
    "search_path",
    "split_importance",
    "step_functions",
    "surface",
    "sweep_curve",
    "time_scores",
    "training_curve",
    "tree",
    "tree_path",
    "voronoi",
]

register_painter({"centers", "inertia", "moved"}, KMeansPainter)
register_painter({"weights", "means", "covariances", "log_likelihood"}, MixturePainter)
register_painter({"weights", "error", "alpha", "wrong"}, AdaBoostPainter)
register_painter({"training", "gradient", "n_leaves", "gain", "round"}, GradientPainter)
register_painter({"node", "children", "gain"}, TreePainter)
register_painter({"node", "n_leaves"}, TreePainter)

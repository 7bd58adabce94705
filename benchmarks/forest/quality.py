"""Metrics of forests and other ensembles on test rows."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks.forest.peers import FittedForest
from benchmarks.tree import quality
from benchmarks.tree.data import Array, Sample, SplitSample
from benchmarks.workload import Check, Metrics

# Tolerance of accuracy and of r²: within it two forests are equally good.
POINTS = 0.003
# Where forests predict or are saved, only nonsense has to be excluded: their quality is checked in
# the workloads that grow them.
LOOSE_POINTS = 0.02
# With the few rows of --quick, forests of one library differ as much from seed to seed.
QUICK_POINTS = 0.02
QUICK_POINTS_OF_R2 = 0.06


def at_least(metric: str, tolerance: float) -> Check:
    """Return the check of a score that may be better, and worse by at most the tolerance."""
    return Check(metric, tolerance, "at least", relative=False)


CHECKS = {
    "classification": (at_least("accuracy", POINTS),),
    "regression": (at_least("r2", POINTS),),
}
LOOSE_CHECKS = {
    "classification": (at_least("accuracy", LOOSE_POINTS),),
    "regression": (at_least("r2", LOOSE_POINTS),),
}
QUICK_CHECKS = {
    "classification": (at_least("accuracy", QUICK_POINTS),),
    "regression": (at_least("r2", QUICK_POINTS_OF_R2),),
}


def score_classifier(forest: FittedForest, sample: SplitSample) -> Metrics:
    """Compute the accuracy on test rows, and the nodes per tree."""
    metrics = score_classes(forest.predict(sample.test.X), sample.test)
    return {**metrics, "nodes": forest.nodes_per_tree()}


def score_regressor(forest: FittedForest, sample: SplitSample) -> Metrics:
    """Compute r² on test rows, and the nodes per tree."""
    metrics = score_numbers(forest.predict(sample.test.X), sample.test)
    return {**metrics, "nodes": forest.nodes_per_tree()}


def score_imbalanced(forest: FittedForest, sample: SplitSample) -> Metrics:
    """Compute accuracy, area under the ROC curve, and the nodes per tree."""
    probabilities = forest.predict(sample.test.X)
    metrics = score_classes(probabilities, sample.test)
    area = auc(probabilities[:, 1], sample.test.y)
    return {**metrics, "auc": area, "nodes": forest.nodes_per_tree()}


def score_classes(predictions: Array, truth: Sample) -> Metrics:
    """Compute the accuracy of labels or of probabilities."""
    return {"accuracy": quality.score_classes(predictions, truth)["accuracy"]}


def score_numbers(predictions: Array, truth: Sample) -> Metrics:
    """Compute r² of predicted numbers."""
    return {"r2": quality.r2(predictions, truth.y)}


def auc(second: Array, y: Array) -> float:
    """Compute the area under the ROC curve from probabilities of the second class."""
    ranks = import_module("scipy.stats").rankdata(second)
    n_positive = int(np.sum(y == 1))
    above = ranks[y == 1].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (len(y) - n_positive)))


SCORE_MODEL = {"classification": score_classifier, "regression": score_regressor}
SCORE_PREDICTIONS = {"classification": score_classes, "regression": score_numbers}

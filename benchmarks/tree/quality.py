"""Metrics of trees, computed from their predictions, never from what a library reports."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from benchmarks.tree.data import Array, Sample
from benchmarks.tree.peers import FittedTree
from benchmarks.workload import Metrics

# A probability of zero for the true class would cost infinitely much.
MIN_PROBABILITY = 1e-12


class Truth(Protocol):
    """Anything that has the true targets."""

    @property
    def y(self) -> Array: ...


def score_classifier(tree: FittedTree, sample: Sample) -> Metrics:
    """Compute accuracy and log loss (nats per row) on the given rows, and the leaves."""
    second = tree.predict(sample.X)
    return {
        "accuracy": accuracy(second, sample.y),
        "log_loss": log_loss(second, sample.y),
        "leaves": float(tree.n_leaves()),
    }


def score_regressor(tree: FittedTree, sample: Sample) -> Metrics:
    """Compute r² on the given rows, and the leaves."""
    return {"r2": r2(tree.predict(sample.X), sample.y), "leaves": float(tree.n_leaves())}


def score_classes(predictions: Array, truth: Truth) -> Metrics:
    """Compute accuracy and the mean probability of the true class, of labels or probabilities."""
    if predictions.ndim == 1:
        correct = float(np.mean(predictions == truth.y))
        return {"accuracy": correct, "true_class": correct}
    of_true_class = predictions[np.arange(len(predictions)), truth.y]
    correct = float(np.mean(predictions.argmax(axis=1) == truth.y))
    return {"accuracy": correct, "true_class": float(of_true_class.mean())}


def score_numbers(predictions: Array, truth: Truth) -> Metrics:
    """Compute r² of predicted numbers."""
    return {"r2": r2(predictions, truth.y)}


def accuracy(second: Array, y: Array) -> float:
    """Compute the accuracy from probabilities of the second class; 0.5 is the first class."""
    return float(np.mean((second > 0.5) == (y == 1)))


def log_loss(second: Array, y: Array) -> float:
    """Compute the log loss from probabilities of the second class."""
    true = np.where(y == 1, second, 1 - second)
    return float(np.mean(np.log(1 / np.maximum(true, MIN_PROBABILITY))))


def r2(predictions: Array, y: Array) -> float:
    """Compute one minus the mean squared error as a fraction of the variance."""
    return 1 - float(np.mean((predictions - y) ** 2) / np.var(y))

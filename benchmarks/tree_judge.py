"""One judge for every tree: numbers from its answers, never from what it says of itself."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from benchmarks.tree_data import Array, Sample
from benchmarks.tree_peers import Grown
from benchmarks.workload import Numbers

# A leaf that is sure and wrong would cost infinitely much.
LEAST_PROBABILITY = 1e-12


class Truth(Protocol):
    """Anything that knows the true targets."""

    @property
    def y(self) -> Array: ...


def of_classes(tree: Grown, sample: Sample) -> Numbers:
    """Accuracy and log-loss (nats a row) on the rows it was grown from, and its leaves."""
    second = tree.answer(sample.X)
    return {
        "accuracy": accuracy(second, sample.y),
        "log_loss": log_loss(second, sample.y),
        "leaves": float(tree.leaves()),
    }


def of_numbers(tree: Grown, sample: Sample) -> Numbers:
    """Share of the variance explained on the rows it was grown from, and its leaves."""
    return {"r2": r2(tree.answer(sample.X), sample.y), "leaves": float(tree.leaves())}


def of_answers(answers: Array, truth: Truth) -> Numbers:
    """Accuracy, and the mean probability of the true class, of labels or of probabilities."""
    if answers.ndim == 1:
        right = float(np.mean(answers == truth.y))
        return {"accuracy": right, "true_class": right}
    on_truth = answers[np.arange(len(answers)), truth.y]
    right = float(np.mean(answers.argmax(axis=1) == truth.y))
    return {"accuracy": right, "true_class": float(on_truth.mean())}


def of_answered_numbers(answers: Array, truth: Truth) -> Numbers:
    """Share of the variance explained."""
    return {"r2": r2(answers, truth.y)}


def accuracy(second: Array, y: Array) -> float:
    """Share of rows on the right side of one half; one half itself is the first class."""
    return float(np.mean((second > 0.5) == (y == 1)))


def log_loss(second: Array, y: Array) -> float:
    """Mean of minus the logarithm of the true class's probability."""
    true = np.where(y == 1, second, 1 - second)
    return float(np.mean(np.log(1 / np.maximum(true, LEAST_PROBABILITY))))


def r2(answers: Array, y: Array) -> float:
    """One minus the mean squared error as a share of the variance."""
    return 1 - float(np.mean((answers - y) ** 2) / np.var(y))

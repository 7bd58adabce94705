"""One judge for every committee: what it says about rows that it has not seen."""

from __future__ import annotations

from importlib import import_module

import numpy as np

from benchmarks import tree_judge
from benchmarks.forest_peers import Forest
from benchmarks.tree_data import Array, Parted, Sample
from benchmarks.workload import Check, Numbers

# Of accuracy and of the variance explained: what makes two forests equally good.
POINTS = 0.003
# Where forests are kept or asked it is enough that nobody answers nonsense: how good they are is
# told where they are grown.
LOOSE_POINTS = 0.02
# On the few rows of --quick, forests of the same library with other seeds differ by as much.
QUICK_POINTS = 0.02
QUICK_POINTS_OF_R2 = 0.06


def no_less(number: str, tolerance: float) -> Check:
    """A score that may be better, and worse by no more than this, in its own unit."""
    return Check(number, tolerance, "no less", relative=False)


CHECKS = {
    "classes": (no_less("accuracy", POINTS),),
    "numbers": (no_less("r2", POINTS),),
}
LOOSE_CHECKS = {
    "classes": (no_less("accuracy", LOOSE_POINTS),),
    "numbers": (no_less("r2", LOOSE_POINTS),),
}
QUICK_CHECKS = {
    "classes": (no_less("accuracy", QUICK_POINTS),),
    "numbers": (no_less("r2", QUICK_POINTS_OF_R2),),
}


def of_classes(forest: Forest, sample: Parted) -> Numbers:
    """Accuracy on new rows, and nodes a tree."""
    right = answered_classes(forest.answer(sample.new.X), sample.new)
    return {**right, "nodes": forest.nodes()}


def of_numbers(forest: Forest, sample: Parted) -> Numbers:
    """Share of the variance of new rows explained, and nodes a tree."""
    right = answered_numbers(forest.answer(sample.new.X), sample.new)
    return {**right, "nodes": forest.nodes()}


def of_rare(forest: Forest, sample: Parted) -> Numbers:
    """As for classes, and how well the second of two is told from the first whatever the cut."""
    shares = forest.answer(sample.new.X)
    right = answered_classes(shares, sample.new)
    return {**right, "auc": auc(shares[:, 1], sample.new.y), "nodes": forest.nodes()}


def answered_classes(answers: Array, truth: Sample) -> Numbers:
    """Accuracy of labels or of probabilities."""
    return {"accuracy": tree_judge.of_answers(answers, truth)["accuracy"]}


def answered_numbers(answers: Array, truth: Sample) -> Numbers:
    """Share of the variance explained."""
    return {"r2": tree_judge.r2(answers, truth.y)}


def auc(second: Array, y: Array) -> float:
    """Chance that a row of the second class is told to be likelier than one of the first."""
    ranks = import_module("scipy.stats").rankdata(second)
    count = int(np.sum(y == 1))
    above = ranks[y == 1].sum() - count * (count + 1) / 2
    return float(above / (count * (len(y) - count)))


QUALITY = {"classes": of_classes, "numbers": of_numbers}
ANSWERED = {"classes": answered_classes, "numbers": answered_numbers}

"""A naive AdaBoost: exhaustive search of stumps, weights as fractions.

With a learning rate of 1 the discrete algorithms multiply weights by rational numbers, so that
every weight is a fraction.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import exp, log


@dataclass(frozen=True)
class Stump:
    """Rows with x[column] <= threshold go left; both sides predict a class."""

    column: int
    threshold: float
    left: int
    right: int

    def predict(self, row):
        return self.left if row[self.column] <= self.threshold else self.right


def class_weights(rows, labels, weights, n_classes):
    found = [Fraction(0)] * n_classes
    for i in rows:
        found[labels[i]] += weights[i]
    return found


def gini_terms(cell):
    """Return the weight of a node minus its weighted Gini impurity."""
    total = sum(cell)
    return sum(w * w for w in cell) / total if total else Fraction(0)


def heaviest(cell):
    return max(range(len(cell)), key=lambda k: (cell[k], -k))


def all_stumps(X, labels, weights, n_classes):
    """Yield every stump and the class weights of its sides, by column and threshold."""
    for column in range(len(X[0])):
        values = sorted({row[column] for row in X})
        for below, above in pairwise(values):
            threshold = (below + above) / 2
            sides = [i for i, row in enumerate(X) if row[column] <= threshold]
            others = [i for i, row in enumerate(X) if row[column] > threshold]
            left = class_weights(sides, labels, weights, n_classes)
            right = class_weights(others, labels, weights, n_classes)
            stump = Stump(column, threshold, heaviest(left), heaviest(right))
            yield gini_terms(left) + gini_terms(right), stump, (left, right)


def error_of(wrong, weights):
    return sum((w for w, bad in zip(weights, wrong, strict=True) if bad), Fraction(0))


def estimator_weight(error, n_classes):
    """Return alpha of SAMME, which for two classes is that of AdaBoost.M1."""
    return log((1 - error) / error) + log(n_classes - 1)


def next_weights(wrong, weights, n_classes):
    """Multiply the weights of wrong rows by e^alpha and normalize all."""
    error = error_of(wrong, weights)
    factor = (1 - error) / error * (n_classes - 1)
    grown = [w * factor if bad else w for w, bad in zip(weights, wrong, strict=True)]
    total = sum(grown)
    return [w / total for w in grown]


def samme_r_weights(probabilities, labels, weights, rate):
    """Compute step 2 (d) of SAMME.R as written in the paper, in floats."""
    n_classes, eps = len(probabilities[0]), 2.0**-52
    grown = []
    for p, label, weight in zip(probabilities, labels, weights, strict=True):
        coded = [1.0 if k == label else -1.0 / (n_classes - 1) for k in range(n_classes)]
        inner = sum(c * log(max(q, eps)) for c, q in zip(coded, p, strict=True))
        grown.append(weight * exp(-rate * (n_classes - 1) / n_classes * inner))
    total = sum(grown)
    return [w / total for w in grown]


def r2_weights(predicted, target, weights, rate, loss):
    """Compute a round of AdaBoost.R2: average loss, estimator weight and next weights."""
    residuals = [abs(a - b) for a, b in zip(predicted, target, strict=True)]
    relative = [r / max(residuals) for r in residuals]
    kinds = {"linear": lambda r: r, "square": lambda r: r * r, "exponential": lambda r: 1 - exp(-r)}
    losses = [kinds[loss](r) for r in relative]
    average = sum(w * x for w, x in zip(weights, losses, strict=True))
    beta = average / (1 - average)
    grown = [w * beta ** (rate * (1 - x)) for w, x in zip(weights, losses, strict=True)]
    return average, rate * log(1 / beta), [w / sum(grown) for w in grown]

"""AdaBoost as a student would write it: stumps by trying all, weights as fractions.

With a learning rate of 1 the discrete rules multiply weights by rational numbers, so that every
weight is a fraction.
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
    """Weight of a node less its weighted Gini impurity."""
    total = sum(cell)
    return sum(w * w for w in cell) / total if total else Fraction(0)


def heaviest(cell):
    return max(range(len(cell)), key=lambda k: (cell[k], -k))


def all_stumps(X, labels, weights, n_classes):
    """Every stump with what its two sides come to, from the first column and the lowest cut on."""
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


def say(error, n_guesses):
    """What a member has to say: SAMME's alpha, which for two classes is that of M1."""
    return log((1 - error) / error) + log(n_guesses - 1)


def next_weights(wrong, weights, n_guesses):
    """Wrong rows times e^alpha, then all as shares of 1."""
    error = error_of(wrong, weights)
    factor = (1 - error) / error * (n_guesses - 1)
    grown = [w * factor if bad else w for w, bad in zip(weights, wrong, strict=True)]
    total = sum(grown)
    return [w / total for w in grown]


def real_weights(shares, labels, weights, rate):
    """SAMME.R, step 2 d, word for word; floats."""
    n_classes, eps = len(shares[0]), 2.0**-52
    grown = []
    for p, label, weight in zip(shares, labels, weights, strict=True):
        coded = [1.0 if k == label else -1.0 / (n_classes - 1) for k in range(n_classes)]
        inner = sum(c * log(max(q, eps)) for c, q in zip(coded, p, strict=True))
        grown.append(weight * exp(-rate * (n_classes - 1) / n_classes * inner))
    total = sum(grown)
    return [w / total for w in grown]


def r2_weights(told, target, weights, rate, loss):
    """One round of AdaBoost.R2: average loss, say, next weights; floats."""
    residuals = [abs(a - b) for a, b in zip(told, target, strict=True)]
    shares = [r / max(residuals) for r in residuals]
    kinds = {"linear": lambda s: s, "square": lambda s: s * s, "exponential": lambda s: 1 - exp(-s)}
    losses = [kinds[loss](s) for s in shares]
    average = sum(w * x for w, x in zip(weights, losses, strict=True))
    beta = average / (1 - average)
    grown = [w * beta ** (rate * (1 - x)) for w, x in zip(weights, losses, strict=True)]
    return average, rate * log(1 / beta), [w / sum(grown) for w in grown]

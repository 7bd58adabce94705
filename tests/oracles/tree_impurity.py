"""Impurity of some rows and gain of a partition, one formula at a time.

Weights and targets are integers or fractions, so only logarithms are rounded. A *branch* is a list
of row numbers, a *partition* a list of branches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


def exact(number):
    """Return the exact number: an int if it is an integer (faster), else a fraction."""
    number = Fraction(number)
    return number.numerator if number.denominator == 1 else number


@dataclass(frozen=True)
class Target:
    """Target and weight of each row.

    ``values`` are classes 0, 1, ... below ``n_classes``, or numbers if ``n_classes`` is None.
    """

    values: list
    weights: list
    n_classes: int | None = None


# Sums over rows


def weight(target, rows):
    return sum(target.weights[i] for i in rows)


def class_weights(target, rows):
    """Return the weight of each class."""
    sums = [0] * target.n_classes
    for i in rows:
        sums[target.values[i]] += target.weights[i]
    return sums


def mean(target, rows):
    return Fraction(sum(target.weights[i] * target.values[i] for i in rows)) / weight(target, rows)


def lower_median(target, rows):
    """Return the smallest value such that the rows up to it have half of the weight."""
    below, half = 0, Fraction(weight(target, rows)) / 2
    for i in sorted(rows, key=lambda i: target.values[i]):
        below += target.weights[i]
        if below >= half:
            return target.values[i]
    raise ValueError("the median needs at least one row")


# Impurities


def fractions(counts):
    return [Fraction(count) / sum(counts) for count in counts]


def gini(counts):
    return 1 - Fraction(sum(c * c for c in counts)) / sum(counts) ** 2


def entropy(counts):
    """In bits; a class without weight adds nothing."""
    total = float(sum(counts))
    return -math.fsum(c / total * math.log2(c / total) for c in map(float, counts) if c > 0)


def error(counts):
    return 1 - Fraction(max(counts)) / sum(counts)


def squared_error(target, rows):
    center = mean(target, rows)
    total = sum(target.weights[i] * (target.values[i] - center) ** 2 for i in rows)
    return total / weight(target, rows)


def absolute_error(target, rows):
    center = lower_median(target, rows)
    total = sum(target.weights[i] * abs(target.values[i] - center) for i in rows)
    return Fraction(total) / weight(target, rows)


OF_COUNTS = {"gini": gini, "entropy": entropy, "gain_ratio": entropy, "error": error}
OF_NUMBERS = {"squared_error": squared_error, "absolute_error": absolute_error}


def impurity(criterion, target, rows):
    if criterion in OF_COUNTS:
        return OF_COUNTS[criterion](class_weights(target, rows))
    return OF_NUMBERS[criterion](target, rows)


def is_pure(target, rows):
    return len({target.values[i] for i in rows}) == 1


# Partitions


def together(branches):
    return [i for branch in branches for i in branch]


def gain(criterion, target, branches):
    """Return the decrease of the mean impurity by the branches."""
    rows = together(branches)
    total = weight(target, rows)
    after = [
        Fraction(weight(target, branch)) / total * impurity(criterion, target, branch)
        for branch in branches
    ]
    return impurity(criterion, target, rows) - sum(after)


def split_info(target, branches):
    """Return the entropy of the branches' weights, in bits."""
    return entropy([weight(target, branch) for branch in branches])


def score(criterion, target, branches):
    """Return the score that the best candidate maximizes: gain, or its ratio to the split info."""
    found = gain(criterion, target, branches)
    return found / split_info(target, branches) if criterion == "gain_ratio" else found


def sums(criterion, target, branch):
    """Return the sums of a branch on which a criterion depends."""
    if criterion in OF_COUNTS:
        return tuple(class_weights(target, branch))
    pairs = [(target.values[i], target.weights[i]) for i in branch]
    if criterion == "absolute_error":
        return tuple(sorted(pairs))
    return sum(w for _, w in pairs), sum(w * y for y, w in pairs), sum(w * y * y for y, w in pairs)


def fingerprint(criterion, target, branches):
    """Return a key that is equal for partitions with equal sums, or with two branches swapped.

    More than two branches are not sorted: a sum of three rounded numbers depends on their order.
    """
    found = [sums(criterion, target, branch) for branch in branches]
    return tuple(sorted(found)) if len(found) == 2 else tuple(found)

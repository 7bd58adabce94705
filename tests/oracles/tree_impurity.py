"""Impurity of some rows and gain of a partition, one formula at a time.

Weights and targets are whole numbers or fractions, so nothing is rounded but logarithms. Rows are
numbers of rows; a *branch* is a list of them, a *partition* a list of branches.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


def exact(number):
    """The number itself, without rounding: an int where it is whole (faster), else a fraction."""
    number = Fraction(number)
    return number.numerator if number.denominator == 1 else number


@dataclass(frozen=True)
class Target:
    """What is to be predicted, and the weight of each row.

    ``values`` are classes 0, 1, ... below ``n_classes``, or numbers where ``n_classes`` is None.
    """

    values: list
    weights: list
    n_classes: int | None = None


# Sums over rows


def weight(target, rows):
    return sum(target.weights[i] for i in rows)


def class_weights(target, rows):
    """The weight of each class."""
    sums = [0] * target.n_classes
    for i in rows:
        sums[target.values[i]] += target.weights[i]
    return sums


def mean(target, rows):
    return Fraction(sum(target.weights[i] * target.values[i] for i in rows)) / weight(target, rows)


def lower_median(target, rows):
    """The least value such that the rows up to it have half of the weight."""
    below, half = 0, Fraction(weight(target, rows)) / 2
    for i in sorted(rows, key=lambda i: target.values[i]):
        below += target.weights[i]
        if below >= half:
            return target.values[i]
    raise ValueError("No rows have no median.")


# Impurities


def shares(counts):
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
    centre = mean(target, rows)
    total = sum(target.weights[i] * (target.values[i] - centre) ** 2 for i in rows)
    return total / weight(target, rows)


def absolute_error(target, rows):
    centre = lower_median(target, rows)
    total = sum(target.weights[i] * abs(target.values[i] - centre) for i in rows)
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
    """By how much the mean impurity of the branches is below that of all rows."""
    rows = together(branches)
    total = weight(target, rows)
    after = [
        Fraction(weight(target, branch)) / total * impurity(criterion, target, branch)
        for branch in branches
    ]
    return impurity(criterion, target, rows) - sum(after)


def split_info(target, branches):
    """Entropy of the branches' own weights, in bits."""
    return entropy([weight(target, branch) for branch in branches])


def score(criterion, target, branches):
    """What the best candidate has most of: gain, or its ratio to the split info."""
    found = gain(criterion, target, branches)
    return found / split_info(target, branches) if criterion == "gain_ratio" else found


def sums(criterion, target, branch):
    """All that a criterion needs to know of a branch."""
    if criterion in OF_COUNTS:
        return tuple(class_weights(target, branch))
    pairs = [(target.values[i], target.weights[i]) for i in branch]
    if criterion == "absolute_error":
        return tuple(sorted(pairs))
    return sum(w for _, w in pairs), sum(w * y for y, w in pairs), sum(w * y * y for y, w in pairs)


def fingerprint(criterion, target, branches):
    """Equal for partitions that no arithmetic can tell apart: equal sums, or two branches swapped.

    More than two branches are not sorted, as a sum of three rounded numbers depends on their order.
    """
    found = [sums(criterion, target, branch) for branch in branches]
    return tuple(sorted(found)) if len(found) == 2 else tuple(found)

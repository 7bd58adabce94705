"""Fayyad and Irani's thresholds by recursion over rows, with exact comparison of entropies.

n times the entropy is the logarithm of n^n divided by the product of c^c over the class counts c,
so that integer counts are compared as fractions.
"""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from math import log2, prod


def entropy_power(labels):
    """Return two to the power of n times the entropy, as a fraction."""
    counts = Counter(labels).values()
    return Fraction(len(labels) ** len(labels), prod(c**c for c in counts))


def entropy(labels):
    """Return the entropy in bits."""
    n = len(labels)
    return -sum(c / n * log2(c / n) for c in Counter(labels).values())


def naive_thresholds(values, labels):
    """Return the thresholds of exact values (ints or fractions), as fractions."""
    rows = sorted(zip(map(Fraction, values), labels, strict=True))
    best = None
    for i in range(1, len(rows)):
        if rows[i - 1][0] == rows[i][0]:
            continue
        left, right = [c for _, c in rows[:i]], [c for _, c in rows[i:]]
        power = entropy_power(left) * entropy_power(right)
        if best is None or power < best[0]:
            best = power, i, left, right
    if best is None:
        return []
    _, i, left, right = best
    n, k = len(rows), len({c for _, c in rows})
    h, h1, h2 = entropy([c for _, c in rows]), entropy(left), entropy(right)
    gain = h - len(left) / n * h1 - len(right) / n * h2
    delta = log2(3**k - 2) - (k * h - len(set(left)) * h1 - len(set(right)) * h2)
    if not gain > (log2(n - 1) + delta) / n:
        return []
    values, labels = zip(*rows, strict=True)
    return [
        *naive_thresholds(values[:i], labels[:i]),
        (values[i - 1] + values[i]) / 2,
        *naive_thresholds(values[i:], labels[i:]),
    ]

"""Naive cluster validity: loops over rows, one formula at a time."""

from __future__ import annotations

import math


def distance(a, b):
    """Partial distance, or None where the rows share no column."""
    shared = [(x, y) for x, y in zip(a, b, strict=True) if not (math.isnan(x) or math.isnan(y))]
    if not shared:
        return None
    return math.sqrt(sum((x - y) ** 2 for x, y in shared) * len(a) / len(shared))


def mean(values):
    return math.fsum(values) / len(values)


def silhouette(rows, labels):
    """Silhouette of every row."""
    return [_coefficient(rows, labels, i) for i in range(len(rows))]


def _coefficient(rows, labels, i):
    measured = {}
    for j in range(len(rows)):
        d = distance(rows[i], rows[j])
        if j != i and d is not None:
            measured.setdefault(labels[j], []).append(d)
    own = measured.pop(labels[i], None)
    if own is None or not measured:
        return 0.0
    a, b = mean(own), min(mean(values) for values in measured.values())
    return (b - a) / max(a, b) if max(a, b) > 0 else 0.0


def center(rows):
    """Mean of the observed values of each column; NaN where there is none."""
    columns = [[x for x in column if not math.isnan(x)] for column in zip(*rows, strict=True)]
    return [mean(column) if column else math.nan for column in columns]


def groups(rows, labels):
    return [
        [row for row, own in zip(rows, labels, strict=True) if own == label]
        for label in sorted(set(labels))
    ]


def inertia(rows, labels):
    total = 0.0
    for group in groups(rows, labels):
        middle = center(group)
        total += math.fsum(
            (x - m) ** 2 for row in group for x, m in zip(row, middle, strict=True) if x == x
        )
    return total


def calinski_harabasz(rows, labels):
    parts, middle = groups(rows, labels), center(rows)
    within = between = 0.0
    for group in parts:
        own = center(group)
        between += len(group) * (distance(own, middle) or 0.0) ** 2
        within += math.fsum((distance(row, own) or 0.0) ** 2 for row in group)
    freedom = (len(rows) - len(parts)) / (len(parts) - 1)
    return between / within * freedom if within > 0 else math.inf


def davies_bouldin(rows, labels):
    centers, spreads = [], []
    for group in groups(rows, labels):
        own = center(group)
        steps = [step for row in group if (step := distance(row, own)) is not None]
        centers.append(own)
        spreads.append(mean(steps) if steps else 0.0)
    return mean([_worst(centers, spreads, i) for i in range(len(centers))])


def _worst(centers, spreads, i):
    worst = 0.0
    for j in range(len(centers)):
        apart = distance(centers[i], centers[j])
        if j == i or apart is None:
            continue
        worst = max(worst, (spreads[i] + spreads[j]) / apart if apart > 0 else math.inf)
    return worst

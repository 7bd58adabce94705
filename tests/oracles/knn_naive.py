"""Learners of nearest neighbors as a student would write them, one pair of rows at a time.

A row is a list: numbers, ranks of ordinal categories, nominal categories as text, and None where a
value is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

from tests.oracles.neighbors_naive import DISTANCES, nearest

Row = list[Any]
Neighbors = list[tuple[float, int]]
Weights = str | Callable[[Any], Any]

# Power of the differences inside the sum over the columns; the largest one for Chebyshev.
_POWERS = {
    "euclidean": 2.0,
    "sqeuclidean": 2.0,
    "heom": 2.0,
    "manhattan": 1.0,
    "gower": 1.0,
    "chebyshev": math.inf,
}
COORDINATE = ("euclidean", "sqeuclidean", "manhattan", "chebyshev", "minkowski")
MIXED = ("gower", "heom")


# Distances


@dataclass
class NaiveDistance:
    """A distance between rows, with all that it takes from the training rows."""

    rows: list[Row]
    kinds: Sequence[str]
    metric: str | Callable[..., float] = "minkowski"
    p: float = 2.0
    scale: str | None = None
    feature_weights: Sequence[float] | None = None
    missing: str = "auto"
    divisors: list[float] = field(init=False)

    def __post_init__(self) -> None:
        self.divisors = [self._divisor(j) for j in range(len(self.kinds))]

    def _divisor(self, j: int) -> float:
        scale = "range" if self.metric in MIXED else self.scale
        known = [row[j] for row in self.rows if row[j] is not None]
        if self.kinds[j] == "nominal" or scale is None or len(set(known)) < 2:
            return 1.0
        if scale == "range":
            return float(max(known) - min(known))
        mean = math.fsum(known) / len(known)
        return math.sqrt(math.fsum((value - mean) ** 2 for value in known) / len(known))

    def __call__(self, x: Row, y: Row) -> float:
        """Return the distance of two rows."""
        if callable(self.metric):
            return self.metric(x, y)
        if self.metric not in COORDINATE + MIXED:
            return DISTANCES[self.metric](x, y)
        return self._over_columns(x, y)

    def _over_columns(self, x: Row, y: Row) -> float:
        weights = self.feature_weights or [1.0] * len(self.kinds)
        is_mismatch = self.missing == "mismatch" or (
            self.missing == "auto" and self.metric == "heom"
        )
        terms, known = [], 0.0
        for j, (a, b, weight) in enumerate(zip(x, y, weights, strict=True)):
            if a is not None and b is not None:
                different = float(a != b) if self.kinds[j] == "nominal" else abs(a - b)
                terms.append((weight, different / self.divisors[j]))
                known += weight
            elif is_mismatch:
                terms.append((weight, 1.0))
                known += weight
        if not known:
            return math.inf
        power = self.p if self.metric == "minkowski" else _POWERS[str(self.metric)]
        if power == math.inf:
            return max(weight * different for weight, different in terms)
        total = math.fsum(weight * different**power for weight, different in terms)
        total *= math.fsum(weights) / known
        if self.metric == "gower":
            return total / math.fsum(weights)
        return total if self.metric == "sqeuclidean" else float(total ** (1 / power))

    def nearest(self, query: Row, k: int, excluded: int | None = None) -> Neighbors:
        """Return (distance, row) of the k nearest training rows; equal distances by row."""
        return nearest(self.rows, query, k, self, excluded)

    def within(self, query: Row, radius: float, excluded: int | None = None) -> Neighbors:
        """Return (distance, row) of all training rows within a radius."""
        found = self.nearest(query, len(self.rows), excluded)
        return [pair for pair in found if pair[0] <= radius]


def standardized(V: Sequence[float]) -> Callable[[Row, Row], float]:
    """Return the Euclidean distance of columns that are divided by standard deviations."""

    def distance(x: Row, y: Row) -> float:
        return math.sqrt(math.fsum((a - b) ** 2 / v for a, b, v in zip(x, y, V, strict=True)))

    return distance


def mahalanobis(VI: Sequence[Sequence[float]]) -> Callable[[Row, Row], float]:
    """Return the distance whose square is the quadratic form of the inverse covariances."""

    def distance(x: Row, y: Row) -> float:
        d = [a - b for a, b in zip(x, y, strict=True)]
        pairs = ((i, j) for i in range(len(d)) for j in range(len(d)))
        return math.sqrt(max(0.0, math.fsum(d[i] * VI[i][j] * d[j] for i, j in pairs)))

    return distance


# Predictions


def neighbor_weights(distances: Sequence[float], weights: Weights) -> list[float]:
    """Return how much each neighbor counts; those at infinite distance do not."""
    if callable(weights):
        own = np.asarray(weights(np.array([distances])))[0].tolist()
    elif weights == "uniform":
        own = [1.0] * len(distances)
    elif 0.0 in distances:
        own = [float(distance == 0) for distance in distances]
    else:
        # Times the smallest distance, which leaves the shares as they are and cannot overflow.
        own = [min(distances) / distance for distance in distances]
    return [0.0 if math.isinf(d) else weight for d, weight in zip(distances, own, strict=True)]


def class_shares(
    neighbors: Neighbors, labels: Sequence[Any], classes: Sequence[Any], weights: Weights
) -> list[float]:
    """Return the share of each class in the votes of the neighbors."""
    distances = [distance for distance, _ in neighbors]
    if all(map(math.isinf, distances)):
        return [list(labels).count(c) / len(labels) for c in classes]
    own = neighbor_weights(distances, weights)
    total = math.fsum(own)
    voters = [labels[row] for _, row in neighbors]
    return [
        math.fsum(w for w, voter in zip(own, voters, strict=True) if voter == c) / total
        for c in classes
    ]


def vote(shares: Sequence[float], classes: Sequence[Any]) -> Any:
    """Return the class with the largest share; the first one of equal shares."""
    return classes[list(shares).index(max(shares))]


def mean_target(neighbors: Neighbors, targets: Sequence[float], weights: Weights) -> float:
    """Return the weighted mean of the neighbors' targets."""
    distances = [distance for distance, _ in neighbors]
    if all(map(math.isinf, distances)):
        return math.fsum(targets) / len(targets)
    own = neighbor_weights(distances, weights)
    pairs = zip(own, (targets[row] for _, row in neighbors), strict=True)
    return math.fsum(w * y for w, y in pairs) / math.fsum(own)


# Number of neighbors by leave-one-out


@dataclass
class LooPoint:
    """Mean loss of a number of neighbors, with its standard error."""

    k: int
    loss: float
    standard_error: float


def loo_losses(
    distance: NaiveDistance, targets: Sequence[Any], max_neighbors: int, weights: Weights
) -> list[list[float]]:
    """Return for each k the loss of each row, predicted by its neighbors among the others.

    The loss is 0 or 1 for labels that are text, and the squared error for numbers.
    """
    classes = sorted(set(targets)) if isinstance(targets[0], str) else None
    losses = []
    for k in range(1, max_neighbors + 1):
        own = []
        for row, target in enumerate(targets):
            found = distance.nearest(distance.rows[row], k, excluded=row)
            if classes is None:
                own.append((mean_target(found, targets, weights) - target) ** 2)
            else:
                shares = class_shares(found, targets, classes, weights)
                own.append(float(vote(shares, classes) != target))
        losses.append(own)
    return losses


def loo_curve(losses: list[list[float]]) -> list[LooPoint]:
    """Return the mean loss of each k and its standard error."""
    curve = []
    for k, own in enumerate(losses, start=1):
        mean = math.fsum(own) / len(own)
        variance = math.fsum((loss - mean) ** 2 for loss in own) / (len(own) - 1)
        curve.append(LooPoint(k, mean, math.sqrt(variance / len(own))))
    return curve


def one_standard_error(curve: Sequence[LooPoint], tolerance: float = 0.0) -> int:
    """Return the largest k whose loss is within one standard error of the smallest loss."""
    best = min(curve, key=lambda point: (point.loss, point.k))
    limit = best.loss + best.standard_error + tolerance
    return max(point.k for point in curve if point.loss <= limit or point is best)


# R's class::knn


@dataclass
class ClassVotes:
    """Votes of R's ``class::knn`` with ``l=0`` and ``use.all=TRUE``."""

    votes: dict[Any, int]
    n_voters: int

    @property
    def winners(self) -> list[Any]:
        """The classes with the largest number of votes, of which R draws one."""
        return [c for c, count in self.votes.items() if count == max(self.votes.values())]

    @property
    def prob(self) -> float:
        """The winner's proportion of the votes."""
        return max(self.votes.values()) / self.n_voters


@cache
def _decimal(value: float) -> Fraction:
    """Return the digits as printed: distances of tenths are equal or not, without rounding."""
    return Fraction(repr(value))


def class_knn(
    rows: Iterable[Sequence[float]],
    labels: Sequence[Any],
    query: Sequence[float],
    k: int,
    excluded: int | None = None,
) -> ClassVotes:
    """Count the votes of all rows that are not farther away than the k-th one.

    Squared distances are equal in R if they differ by less than 1e-4 of the k-th one.
    """

    def exact(row: Sequence[float]) -> Fraction:
        pairs = zip(row, query, strict=True)
        return sum(((_decimal(a) - _decimal(b)) ** 2 for a, b in pairs), Fraction(0))

    found = sorted((exact(row), i) for i, row in enumerate(rows) if i != excluded)
    limit = found[k - 1][0] * (1 + Fraction(1, 10**4))
    voters = [labels[i] for distance, i in found if distance <= limit]
    return ClassVotes({c: voters.count(c) for c in sorted(set(voters))}, len(voters))

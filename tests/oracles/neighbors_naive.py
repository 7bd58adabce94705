"""Nearest neighbors as a student would write them: all distances, one pair at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

Row = Sequence[float]


def _counts(x: Row, y: Row) -> tuple[int, int, int, int]:
    """Return in how many columns both rows are true, only the first, only the second, neither."""
    pairs = [(bool(a), bool(b)) for a, b in zip(x, y, strict=True)]
    kinds = ((True, True), (True, False), (False, True), (False, False))
    return tuple(sum(pair == kind for pair in pairs) for kind in kinds)  # type: ignore[return-value]


def _ratio(a: float, b: float) -> float:
    return a / b if b else 0.0


def _jaccard(x: Row, y: Row) -> float:
    both, first, second, _ = _counts(x, y)
    return _ratio(first + second, both + first + second)


def _dice(x: Row, y: Row) -> float:
    both, first, second, _ = _counts(x, y)
    return _ratio(first + second, 2 * both + first + second)


def _rogers_tanimoto(x: Row, y: Row) -> float:
    _, first, second, _ = _counts(x, y)
    return 2 * (first + second) / (len(x) + first + second)


def _russell_rao(x: Row, y: Row) -> float:
    return (len(x) - _counts(x, y)[0]) / len(x)


def _sokal_sneath(x: Row, y: Row) -> float:
    both, first, second, _ = _counts(x, y)
    return _ratio(first + second, first + second + 0.5 * both)


def _yule(x: Row, y: Row) -> float:
    both, first, second, neither = _counts(x, y)
    return _ratio(2 * first * second, both * neither + first * second)


def _cosine(x: Row, y: Row) -> float:
    zero = [not any(x), not any(y)]
    if any(zero):
        return float(not all(zero))
    # The directions alone matter, and neither squares nor products may underflow.
    x, y = ([value / max(map(abs, row)) for value in row] for row in (x, y))
    product = math.fsum(a * b for a, b in zip(x, y, strict=True))
    return max(0.0, 1 - product / (math.hypot(*x) * math.hypot(*y)))


def _correlation(x: Row, y: Row) -> float:
    def centered(row: Row) -> list[float]:
        return [value - math.fsum(row) / len(row) if len(set(row)) > 1 else 0.0 for value in row]

    return _cosine(centered(x), centered(y))


def _haversine(x: Row, y: Row) -> float:
    a, b = math.sin((x[0] - y[0]) / 2), math.sin((x[1] - y[1]) / 2)
    return 2 * math.asin(math.sqrt(min(1.0, a * a + math.cos(x[0]) * math.cos(y[0]) * b * b)))


DISTANCES: dict[str, Callable[[Row, Row], float]] = {
    "euclidean": math.dist,
    "sqeuclidean": lambda x, y: math.dist(x, y) ** 2,
    "manhattan": lambda x, y: math.fsum(abs(a - b) for a, b in zip(x, y, strict=True)),
    "chebyshev": lambda x, y: max(abs(a - b) for a, b in zip(x, y, strict=True)),
    "canberra": lambda x, y: math.fsum(
        _ratio(abs(a - b), abs(a) + abs(b)) for a, b in zip(x, y, strict=True)
    ),
    "braycurtis": lambda x, y: _ratio(
        math.fsum(abs(a - b) for a, b in zip(x, y, strict=True)),
        math.fsum(abs(a) + abs(b) for a, b in zip(x, y, strict=True)),
    ),
    "hamming": lambda x, y: sum(a != b for a, b in zip(x, y, strict=True)) / len(x),
    "jaccard": _jaccard,
    "dice": _dice,
    "rogerstanimoto": _rogers_tanimoto,
    "sokalmichener": _rogers_tanimoto,
    "russellrao": _russell_rao,
    "sokalsneath": _sokal_sneath,
    "yule": _yule,
    "cosine": _cosine,
    "correlation": _correlation,
    "haversine": _haversine,
}


def gower(x: Row, y: Row, nominal: Sequence[bool], ranges: Row, weights: Row) -> float:
    """Return the weighted mean over the columns that both rows have."""
    total = known = 0.0
    for a, b, is_nominal, spread, weight in zip(x, y, nominal, ranges, weights, strict=True):
        if not (math.isnan(a) or math.isnan(b)):
            known += weight
            total += weight * (float(a != b) if is_nominal else abs(a - b) / (spread or 1.0))
    return total / known if known else math.inf


def heom(x: Row, y: Row, nominal: Sequence[bool], ranges: Row, weights: Row) -> float:
    """Return the root of the sum of squares; a missing value counts as the largest difference."""
    total = 0.0
    for a, b, is_nominal, spread, weight in zip(x, y, nominal, ranges, weights, strict=True):
        if math.isnan(a) or math.isnan(b):
            own = 1.0
        else:
            own = float(a != b) if is_nominal else abs(a - b) / (spread or 1.0)
        total += weight * own * own
    return math.sqrt(total)


def nearest(
    rows: Sequence[Row],
    query: Row,
    k: int,
    distance: Callable[[Row, Row], float],
    excluded: int | None = None,
) -> list[tuple[float, int]]:
    """Return (distance, row) of the k nearest rows; equal distances by row."""
    found = [(distance(row, query), i) for i, row in enumerate(rows) if i != excluded]
    return sorted(found)[:k]

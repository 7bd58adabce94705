"""How time grows: ours timed on a logarithmic grid, and the slope of the line through it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.harness import timed


@dataclass(frozen=True)
class Scaling:
    """Least seconds at each size, and the exponent b of seconds = a · size^b."""

    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    slope: float


def grid(first: int, last: int, points: int) -> tuple[int, ...]:
    """Whole numbers evenly spaced by ratio, both ends included, none twice."""
    values = np.geomspace(first, last, points).round().astype(int)
    return tuple(dict.fromkeys(values.tolist()))


def scaling(
    run: Callable[[Any], Any],
    data: Callable[[int], Any],
    sizes: Sequence[int],
    *,
    rounds: int = 3,
) -> Scaling:
    """Time ``run(data(size))`` for every size, of rows or of columns as ``data`` reads it.

    Examples
    --------
    >>> from benchmarks.scaling import grid, scaling
    >>> found = scaling(sorted, lambda n: list(range(n))[::-1], grid(10_000, 100_000, 3))
    >>> found.sizes
    (10000, 31623, 100000)
    """
    seconds = tuple(_least(run, data(size), rounds) for size in sizes)
    return Scaling(tuple(sizes), seconds, slope(sizes, seconds))


def slope(sizes: Sequence[int], seconds: Sequence[float]) -> float:
    """Least-squares slope of log seconds over log size."""
    if len(set(sizes)) < 2:
        raise ValueError("a slope needs at least two different sizes")
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def _least(run: Callable[[Any], Any], data: Any, rounds: int) -> float:
    run(data)
    return min(timed(run, data)[0] for _ in range(rounds))

"""Check the values of intervals and tests, and rank them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array

# Rounding errors of a difference of two decimal fractions, relative to the larger one.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    """Raise ValueError unless a value is one of the choices of a parameter."""
    if value not in choices:
        listed = ", ".join(map(repr, choices))
        raise ValueError(f"{name} must be one of {listed}, got {value!r}.")


def check_finite(array: Array, name: str) -> None:
    """Raise ValueError if an array has NaN or infinity."""
    if not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite: leave out NaN and infinity.")


def finite_vector(values: Any, name: str, min_size: int = 2) -> Array:
    """Convert values to a vector of finite numbers with at least ``min_size`` entries."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < min_size:
        size = {1: "one entry", 2: "two entries"}.get(min_size, f"{min_size} entries")
        raise ValueError(f"{name} must be 1D with at least {size}, got shape {array.shape}.")
    check_finite(array, name)
    return array


def finite_differences(first: Any, second: Any, min_size: int = 2) -> tuple[Array, float]:
    """Subtract paired values, and return the size of their rounding errors too.

    Differences that only rounding separates become equal.
    """
    first = finite_vector(first, "first", min_size)
    second = finite_vector(second, "second", min_size)
    if len(first) != len(second):
        raise ValueError(
            "first and second must have the same length, because their values are pairs, "
            f"got {len(first)} and {len(second)}."
        )
    with np.errstate(over="ignore"):
        differences = first - second
    if not np.isfinite(differences).all():
        raise ValueError("first - second must be finite: scale the values down.")
    tolerance = ROUNDING * float(max(np.abs(first).max(), np.abs(second).max()))
    # 0.936 - 0.931 and 0.768 - 0.763 are not equal bits, although they are the same difference.
    sizes = merge_close(np.abs(differences), tolerance)
    sizes[sizes <= tolerance] = 0.0
    return np.copysign(sizes, differences), tolerance


def merge_close(values: Array, tolerance: float) -> Array:
    """Replace sorted values that follow each other within a tolerance by the first of them."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    starts = np.concatenate([[True], np.diff(ordered) > tolerance])
    merged = np.empty_like(ordered)
    merged[order] = ordered[starts][np.cumsum(starts) - 1]
    return merged


def middle_ranks(values: Array) -> tuple[Array, Array]:
    """Return ranks from 1, tied values sharing their mean rank, and the sizes of the ties.

    Values that only rounding separates are tied: means of the same values in another order are.
    """
    merged = merge_close(values, ROUNDING * np.abs(values).max())
    _, inverse, counts = np.unique(merged, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[inverse], counts


def mean_and_deviation(array: Array) -> tuple[float, float]:
    """Return mean and standard deviation (of n - 1) of values of any size."""
    # Scaled by a power of two, squares of values of any size are representable.
    exponent = int(np.frexp(np.abs(array).max())[1])
    scaled = np.ldexp(array, -exponent)
    mean = float(scaled.mean())
    deviation = math.sqrt(float(((scaled - mean) ** 2).sum()) / (len(array) - 1))
    # The mean of n equal values can differ from them by rounding.
    if scaled.min() == scaled.max():
        mean, deviation = float(scaled[0]), 0.0
    mean, deviation = np.ldexp([mean, deviation], exponent).tolist()
    return mean, deviation


def rows_ratio(n_train: float, n_test: float) -> float:
    """Return test rows per training row."""
    for name, size in (("n_train", n_train), ("n_test", n_test)):
        if not (math.isfinite(size) and size > 0):
            raise ValueError(f"{name} must be a positive, finite number of rows, got {size!r}.")
    return n_test / n_train

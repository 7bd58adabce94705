"""Thresholds as exact numbers: between two values, in the type of a column, and as labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Column

Number = int | float

# Integers up to here are float64 exactly.
_MAX_EXACT = 2**53
# Nanoseconds of a day.
_DAY = 86_400 * 10**9


def between(a: Any, b: Any) -> Number:
    """Return the midpoint t of two values a < b of a column, such that a < t <= b.

    Integers whose midpoint float64 cannot represent have it rounded up.

    Examples
    --------
    >>> between(2.4, 2.5), between(np.int64(2), np.int64(5)), between(2**60, 2**60 + 1)
    (2.45, 3.5, 1152921504606846977)
    """
    if isinstance(a, int | np.integer):
        total = int(a) + int(b)
        return total / 2 if abs(total) <= _MAX_EXACT else -(-total // 2)
    low, high = float(a), float(b)
    middle = (low + high) / 2
    if not math.isfinite(middle):
        middle = low / 2 + high / 2
    return middle if low < middle <= high else high


def threshold_array(numbers: Sequence[Number], column: Column) -> Array:
    """Return ascending thresholds as one array: float64, or the integers of the column's dtype.

    Thresholds of integers and times are float64 where float64 holds all of them exactly, and are
    else rounded up, which separates the same integers.
    """
    whole = column.temporal or any(
        isinstance(t, int) and abs(t) > _MAX_EXACT for t in numbers
    )  # fmt: skip
    if not whole or column.dtype.startswith("float"):
        return np.array([float(t) for t in numbers], np.float64)
    dtype = np.dtype("uint64" if column.dtype == "uint64" else "int64")
    limits = np.iinfo(dtype)
    rounded = [t if isinstance(t, int) else math.ceil(t) for t in numbers]
    clipped = sorted({min(max(t, limits.min), limits.max) for t in rounded})
    return np.array(clipped, dtype)


def largest_below(threshold: Number, dtype: np.dtype[Any]) -> Any:
    """Return the largest value of a dtype that is less than a threshold; None if there is none.

    Python compares ints with floats exactly, whatever their size.
    """
    if dtype.kind == "f":
        nearest = dtype.type(_to_float32(threshold) if dtype.itemsize == 4 else threshold)
        below = float(nearest) < threshold
        with np.errstate(over="ignore"):  # below the smallest float is -inf
            return nearest if below else np.nextafter(nearest, dtype.type(-np.inf))
    limits = np.iinfo(dtype)
    if threshold > limits.max:
        return dtype.type(limits.max)
    largest = math.ceil(threshold) - 1
    return None if largest < limits.min else dtype.type(largest)


def _to_float32(threshold: Number) -> Any:
    with np.errstate(over="ignore"):
        return np.float64(threshold).astype(np.float32)


def edges_below(thresholds: Array, dtype: np.dtype[Any]) -> tuple[Array, int]:
    """Return thresholds as upper edges of bins in the dtype of some values, as 64-bit words.

    A value of that dtype is right of a threshold if it is greater than the edge. The second result
    is the number of first thresholds that are below all values of the dtype, and have no edge.
    """
    edges = [largest_below(t, dtype) for t in thresholds.tolist()]
    known = [edge for edge in edges if edge is not None]
    wide = np.float64 if dtype.kind == "f" else dtype
    return np.array(known, wide).view(np.uint64), len(edges) - len(known)


def interval_labels(thresholds: Array, dtype: str) -> list[str]:
    """Return the label of each interval: ``< 2.45``, ``[2.45, 4.75)``, ``>= 4.75``.

    Examples
    --------
    >>> interval_labels(np.array([2.45, 4.75]), "float64")
    ['< 2.45', '[2.45, 4.75)', '>= 4.75']
    """
    if not len(thresholds):
        return ["(-inf, inf)"]
    texts = _threshold_texts(thresholds, dtype)
    inner = [f"[{a}, {b})" for a, b in pairwise(texts)]
    return [f"< {texts[0]}", *inner, f">= {texts[-1]}"]


def _threshold_texts(thresholds: Array, dtype: str) -> list[str]:
    """Return the thresholds as text, with six digits, or more where these do not differ."""
    if dtype == "datetime64[ns]":
        return [_shorten_time(str(t)) for t in thresholds.view(dtype)]
    if dtype == "timedelta64[ns]":
        return [f"{text} days" for text in _distinct_texts(thresholds.tolist(), _format_days)]
    if thresholds.dtype.kind != "f":
        return [str(t) for t in thresholds.tolist()]
    return _distinct_texts(thresholds.tolist(), lambda t, digits: f"{t + 0.0:.{digits}g}")


def _distinct_texts(thresholds: list[Any], to_text: Callable[[Any, int], str]) -> list[str]:
    """Return the texts with the fewest digits that differ; 17 separate any float64."""
    for digits in (6, 9, 17, 20):
        texts = [to_text(t, digits) for t in thresholds]
        if len(set(texts)) == len(texts):
            break
    return texts


def _format_days(nanoseconds: int, digits: int) -> str:
    """Return a duration in days; 20 digits separate any nanoseconds of int64."""
    if digits <= 17:
        return f"{nanoseconds / _DAY:.{digits}g}"
    # Beyond 104 days float64 does not represent every nanosecond.
    return f"{Decimal(nanoseconds) / _DAY:.{digits}g}"


def _shorten_time(text: str) -> str:
    """Return a time without the zeros at its end: a date, or a time of day."""
    day, _, clock = text.partition("T")
    clock = clock.rstrip("0").rstrip(".") if "." in clock else clock
    return day if clock in ("00:00:00", "") else f"{day}T{clock}"

"""Confidence intervals of a mean and of a proportion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimate with its confidence interval.

    Parameters
    ----------
    estimate : float
    lower, upper : float
        Ends of the interval.
    confidence_level : float
        Such as 0.95.

    Examples
    --------
    >>> print(Interval(0.25, 0.125, 0.5, 0.95))
    0.25 [0.125, 0.5]
    >>> 0.3 in Interval(0.25, 0.125, 0.5, 0.95)
    True
    """

    estimate: float
    lower: float
    upper: float
    confidence_level: float

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        return f"{self.estimate:.4g} [{self.lower:.4g}, {self.upper:.4g}]"


def check_confidence_level(confidence_level: float) -> None:
    """Raise ValueError unless a confidence level lies between 0 and 1."""
    if not 0 < confidence_level < 1:
        raise ValueError(f"confidence_level must be a float in (0, 1), got {confidence_level!r}.")


def t_interval(values: Any, confidence_level: float = 0.95) -> Interval:
    """Compute Student's t interval of the mean of independent values.

    Parameters
    ----------
    values : array of shape (n,)
        At least two finite numbers.
    confidence_level : float

    Returns
    -------
    Interval

    References
    ----------
    Student (1908), "The probable error of a mean", Biometrika 6.

    Examples
    --------
    >>> print(t_interval([4.0, 5.0, 6.0, 5.0]))
    5 [3.701, 6.299]
    """
    check_confidence_level(confidence_level)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise ValueError(f"values must be 1D with at least two entries, got shape {array.shape}.")
    if not np.isfinite(array).all():
        raise ValueError("values must be finite: leave out NaN and infinity.")
    n = len(array)
    # Scaled by a power of two, squares of values of any size are representable.
    exponent = int(np.frexp(np.abs(array).max())[1])
    scaled = np.ldexp(array, -exponent)
    mean = float(scaled.mean())
    error = float(np.sqrt(((scaled - mean) ** 2).sum() / (n - 1) / n))
    half = float(stdtrit(n - 1, 0.5 + confidence_level / 2)) * error
    mean, lower, upper = np.ldexp([mean, mean - half, mean + half], exponent).tolist()
    return Interval(mean, lower, upper, confidence_level)


def wilson(successes: float, n: float, confidence_level: float = 0.95) -> Interval:
    """Compute Wilson's score interval of a proportion.

    It keeps its coverage for small counts and proportions near 0 or 1, and stays in [0, 1].

    Parameters
    ----------
    successes : float
        Number or weight of the successes; need not be an integer.
    n : float
        Number or weight of all trials; greater than 0.
    confidence_level : float

    Returns
    -------
    Interval

    References
    ----------
    Wilson (1927), "Probable inference, the law of succession, and statistical inference", Journal
    of the American Statistical Association 22.

    Examples
    --------
    >>> print(wilson(3, 50))
    0.06 [0.02061, 0.1622]
    """
    check_confidence_level(confidence_level)
    if not (math.isfinite(n) and n > 0):
        raise ValueError(f"n must be a positive, finite number, got {n!r}.")
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be in [0, n] with n={n!r}, got {successes!r}.")
    proportion = successes / n
    z = float(ndtri(0.5 + confidence_level / 2))
    scale = 1 + z * z / n
    center = (proportion + z * z / (2 * n)) / scale
    half = z * math.sqrt(proportion * (1 - proportion) / n + (z / (2 * n)) ** 2) / scale
    # At 0 and n the bound is exact, which rounding would miss.
    lower = 0.0 if successes == 0 else max(0.0, center - half)
    upper = 1.0 if successes == n else min(1.0, center + half)
    return Interval(proportion, lower, upper, confidence_level)

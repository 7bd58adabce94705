"""An estimate and the interval in which the true number lies with a stated confidence."""

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
    level : float
        Its confidence, as 0.95.

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
    level: float

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __str__(self) -> str:
        return f"{self.estimate:.4g} [{self.lower:.4g}, {self.upper:.4g}]"


def check_level(level: float) -> None:
    """Refuse what is no confidence."""
    if not 0 < level < 1:
        raise ValueError(f"level={level!r}: a confidence lies between 0 and 1, as 0.95")


def t_interval(values: Any, level: float = 0.95) -> Interval:
    """Student's t interval of the mean of independent values.

    Parameters
    ----------
    values : array of shape (n,)
        At least two finite numbers.
    level : float
        Confidence.

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
    check_level(level)
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1 or len(array) < 2:
        raise ValueError("the interval of a mean needs at least two values in one dimension")
    if not np.isfinite(array).all():
        raise ValueError("the interval of a mean needs finite values: leave out NaN and infinity")
    n = len(array)
    # Scaled by a power of two, squares of numbers of any size can be held.
    exponent = int(np.frexp(np.abs(array).max())[1])
    scaled = np.ldexp(array, -exponent)
    mean = float(scaled.mean())
    error = float(np.sqrt(((scaled - mean) ** 2).sum() / (n - 1) / n))
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    mean, lower, upper = np.ldexp([mean, mean - half, mean + half], exponent).tolist()
    return Interval(mean, lower, upper, level)


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share.

    It holds its confidence for small counts and shares near 0 or 1, and never leaves [0, 1].

    Parameters
    ----------
    successes : float
        How many, or their weight; need not be whole.
    n : float
        Of how many, or of what weight; more than 0.
    level : float
        Confidence.

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
    check_level(level)
    if not (math.isfinite(n) and n > 0):
        raise ValueError(f"n={n!r}: a share is one of a positive, finite number of cases")
    if not 0 <= successes <= n:
        raise ValueError(f"successes={successes!r} do not lie between 0 and n={n!r}")
    share = successes / n
    z = float(ndtri(0.5 + level / 2))
    scale = 1 + z * z / n
    centre = (share + z * z / (2 * n)) / scale
    half = z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2) / scale
    # At the ends the bound is the end itself, which rounding would miss.
    lower = 0.0 if successes == 0 else max(0.0, centre - half)
    upper = 1.0 if successes == n else min(1.0, centre + half)
    return Interval(share, lower, upper, level)

"""The interval of a mean, from the values themselves."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import stdtrit

from ceiba.inference.interval import Interval, check_level


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

"""Confidence intervals of a mean and of a proportion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from scipy.special import betaincinv, ndtri, stdtrit

from ceiba.inference.values import finite_vector, mean_and_deviation, rows_ratio


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
    return _mean_interval(values, 0.0, confidence_level)


def corrected_t_interval(
    values: Any, n_train: float, n_test: float, confidence_level: float = 0.95
) -> Interval:
    """Compute the t interval of a mean over resampled training and test rows.

    Repeated splits of the same rows share many of their training rows, so that their results are
    correlated and Student's t interval is too narrow. The variance of the mean of J results is
    taken as (1 / J + n_test / n_train) times their variance, which does not go to zero with J.
    Only the ratio of the numbers of rows matters: 1 / (k - 1) for k folds.

    Parameters
    ----------
    values : array of shape (J,)
        At least two finite numbers, one for each split.
    n_train, n_test : float
        Numbers of training and test rows of a split; means if they vary.
    confidence_level : float

    Returns
    -------
    Interval
        Without width if all values are equal.

    References
    ----------
    Nadeau and Bengio (2003), "Inference for the generalization error", Machine Learning 52.

    Examples
    --------
    >>> print(corrected_t_interval([0.90, 0.94, 0.92, 0.96], n_train=90, n_test=10))
    0.93 [0.8806, 0.9794]
    >>> print(t_interval([0.90, 0.94, 0.92, 0.96]))
    0.93 [0.8889, 0.9711]
    """
    return _mean_interval(values, rows_ratio(n_train, n_test), confidence_level)


def _mean_interval(values: Any, ratio: float, confidence_level: float) -> Interval:
    """Compute a t interval; ``ratio`` is added to 1 / n in the variance of the mean."""
    check_confidence_level(confidence_level)
    array = finite_vector(values, "values")
    mean, deviation = mean_and_deviation(array)
    n = len(array)
    error = deviation * math.sqrt(1 / n + ratio)
    half = float(stdtrit(n - 1, 0.5 + confidence_level / 2)) * error
    return Interval(mean, mean - half, mean + half, confidence_level)


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


def clopper_pearson(successes: int, n: int, confidence_level: float = 0.95) -> Interval:
    """Compute the exact interval of a proportion by Clopper and Pearson.

    Its coverage is never below the confidence level, for any proportion and n; it is wider than
    Wilson's for that.

    Parameters
    ----------
    successes : int
        Number of successes.
    n : int
        Number of trials; at least 1.
    confidence_level : float

    Returns
    -------
    Interval

    References
    ----------
    Clopper and Pearson (1934), "The use of confidence or fiducial limits illustrated in the case
    of the binomial", Biometrika 26.

    Examples
    --------
    >>> print(clopper_pearson(3, 50))
    0.06 [0.01255, 0.1655]
    >>> print(clopper_pearson(0, 50))
    0 [0, 0.07112]
    """
    check_confidence_level(confidence_level)
    for name, count in (("n", n), ("successes", successes)):
        if not (math.isfinite(count) and count == int(count)):
            raise ValueError(f"{name} must be an int, got {count!r}. wilson accepts weights.")
    if n < 1:
        raise ValueError(f"n must be at least 1, got {n!r}.")
    if not 0 <= successes <= n:
        raise ValueError(f"successes must be in [0, n] with n={n!r}, got {successes!r}.")
    tail = (1 - confidence_level) / 2
    failures = n - successes
    lower = 0.0 if successes == 0 else float(betaincinv(successes, failures + 1, tail))
    upper = 1.0 if failures == 0 else float(betaincinv(successes + 1, failures, 1 - tail))
    return Interval(float(successes / n), lower, upper, confidence_level)

"""Bootstrap intervals of any statistic of rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr, ndtri

from ceiba._typing import Array
from ceiba.inference.intervals import Interval, check_confidence_level
from ceiba.inference.values import check_choice, check_finite

# Entries of a block of resamples: 8 MB for one column.
_BLOCK_ENTRIES = 2**20
# Statistics of the jackknife. More rows are left out in groups, which estimates the same
# acceleration: n statistics of n rows would take minutes from 100,000 rows on.
_MAX_JACKKNIFE = 1000


def bootstrap_interval(
    values: Any,
    statistic: Callable[..., Any] = np.mean,
    method: Literal["bca", "percentile"] = "bca",
    confidence_level: float = 0.95,
    n_resamples: int = 2000,
    random_state: int | np.random.Generator = 0,
) -> Interval:
    """Compute a bootstrap interval of a statistic of rows.

    Rows are drawn with replacement. ``"percentile"`` takes quantiles of the resampled statistics;
    ``"bca"`` shifts them by the bias (the share of resamples below the estimate) and by the
    skewness (the acceleration, from leaving out one row at a time, or one of 1,000 random groups
    where there are more rows).

    Parameters
    ----------
    values : array of shape (n,) or (n, n_columns)
        At least two rows of finite numbers: losses of rows, or columns that belong together, such
        as the true and the predicted value of each row.
    statistic : callable
        Function of an array of rows that returns a finite number. One with a parameter ``axis``,
        such as ``np.mean``, is called for many resamples at a time.
    method : {"bca", "percentile"}
    confidence_level : float
    n_resamples : int
        Number of bootstrap samples; at least 100.
    random_state : int or Generator
        Seed of the draws; the same seed gives the same interval.

    Returns
    -------
    Interval
        Without width if all resamples have the statistic of the rows.

    References
    ----------
    Efron (1987), "Better bootstrap confidence intervals", Journal of the American Statistical
    Association 82.

    Examples
    --------
    >>> print(bootstrap_interval([1.0, 2.0, 2.0, 3.0, 9.0], method="percentile"))
    3.4 [1.6, 6.2]
    >>> print(bootstrap_interval([1.0, 2.0, 2.0, 3.0, 9.0]))
    3.4 [1.8, 7.4]
    """
    check_confidence_level(confidence_level)
    check_choice("method", method, ("bca", "percentile"))
    if n_resamples < 100:
        raise ValueError(f"n_resamples must be an int of at least 100, got {n_resamples!r}.")
    rows = np.asarray(values, dtype=np.float64)
    if rows.ndim not in (1, 2) or len(rows) < 2:
        raise ValueError(f"values must be 1D or 2D with at least two rows, got shape {rows.shape}.")
    check_finite(rows, "values")
    rng = np.random.default_rng(random_state)
    estimate = float(_statistics(statistic, rows[None])[0])
    resampled = np.concatenate(
        [_statistics(statistic, rows[drawn]) for drawn in _draws(rng, n_resamples, len(rows))]
    )
    tail = (1 - confidence_level) / 2
    probabilities = np.array([tail, 1 - tail])
    if method == "bca":
        below = ((resampled < estimate).mean() + (resampled <= estimate).mean()) / 2
        # If all resamples are on one side, the bias is that of half a resample on the other.
        half = 0.5 / n_resamples
        bias = ndtri(np.clip(below, half, 1 - half))
        acceleration = _acceleration(statistic, rows, rng)
        shifted = bias + ndtri(probabilities)
        # Of a strong bias and skewness the transformed end is infinite: the extreme resample.
        scale = np.maximum(1 - acceleration * shifted, 1e-12)
        probabilities = ndtr(bias + shifted / scale)
    lower, upper = np.quantile(resampled, probabilities).tolist()
    return Interval(estimate, lower, upper, confidence_level)


def _draws(rng: np.random.Generator, n_resamples: int, n: int) -> Iterator[Array]:
    """Yield blocks of row indices; the draws do not depend on the size of the blocks."""
    block = max(1, _BLOCK_ENTRIES // n)
    for start in range(0, n_resamples, block):
        yield rng.integers(0, n, (min(block, n_resamples - start), n))


def _statistics(statistic: Callable[..., Any], samples: Array) -> Array:
    """Compute the statistic of each sample, an array of rows, and check that it is a number."""
    if _has_axis(statistic) and samples.ndim == 2:
        found = np.asarray(statistic(samples, axis=1), dtype=np.float64)
    else:
        found = np.array([statistic(sample) for sample in samples], dtype=np.float64)
    if found.shape != (len(samples),):
        raise ValueError(f"statistic must return one number, got shape {found.shape[1:]}.")
    if not np.isfinite(found).all():
        n_bad = int((~np.isfinite(found)).sum())
        raise ValueError(
            f"statistic must return a finite number, got NaN or infinity for {n_bad} of "
            f"{len(found)} samples: define it for samples that lack a class or have equal values."
        )
    return found


def _has_axis(statistic: Callable[..., Any]) -> bool:
    try:
        return "axis" in inspect.signature(statistic).parameters
    except (TypeError, ValueError):  # built-in functions without a signature
        return False


def _acceleration(statistic: Callable[..., Any], rows: Array, rng: np.random.Generator) -> float:
    """Estimate the acceleration of BCa by the jackknife."""
    n = len(rows)
    if n <= _MAX_JACKKNIFE:
        groups = [np.array([row]) for row in range(n)]
    else:
        groups = np.array_split(rng.permutation(n), _MAX_JACKKNIFE)
    found = np.concatenate(
        [_statistics(statistic, np.delete(rows, group, axis=0)[None]) for group in groups]
    )
    influences = found.mean() - found
    scale = np.abs(influences).max()
    if scale == 0:
        return 0.0
    influences /= scale
    return float((influences**3).sum() / (6 * (influences**2).sum() ** 1.5))

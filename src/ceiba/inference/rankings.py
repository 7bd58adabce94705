"""Comparisons of learners over many datasets by their ranks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr

from ceiba._typing import Array
from ceiba.inference.pairwise import HypothesisTest
from ceiba.inference.values import check_choice, check_finite, finite_vector, middle_ranks


@dataclass(frozen=True, slots=True)
class RankComparison:
    """Comparison of the average ranks of two learners.

    Parameters
    ----------
    first, second : int
        Indices of the learners.
    rank_difference : float
        Average rank of the first minus that of the second; negative if the first is better.
    statistic : float
        The difference in standard errors.
    p_value : float
        Two-sided, of this comparison alone.
    adjusted_p_value : float
        Corrected for the number of comparisons.

    Examples
    --------
    >>> found, *_ = compare_all_pairs([[0.9, 0.8], [0.7, 0.6], [0.8, 0.7], [0.6, 0.9]])
    >>> found.first, found.second, found.rank_difference, found.statistic
    (0, 1, -0.5, -1.0)
    """

    first: int
    second: int
    rank_difference: float
    statistic: float
    p_value: float
    adjusted_p_value: float


def average_ranks(scores: Any, greater_is_better: bool = True) -> Array:
    """Compute the average rank of each learner over datasets; rank 1 is the best.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_learners)
        Finite numbers. Scores of a dataset that only rounding separates share their mean rank.
    greater_is_better : bool
        False for errors and losses.

    Returns
    -------
    float64 array of shape (n_learners,)

    Examples
    --------
    >>> average_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]])
    array([1.25, 1.75, 3.  ])
    """
    found: Array = _ranks(scores, greater_is_better)[0].mean(axis=0)
    return found


def friedman_test(
    scores: Any,
    statistic: Literal["f", "chi_square"] = "f",
    tie_correction: bool = True,
) -> HypothesisTest:
    """Test whether all learners have the same average rank.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_learners)
        Finite numbers; at least two datasets and two learners. Their direction does not matter.
    statistic : {"f", "chi_square"}
        Iman and Davenport's F, or Friedman's chi-square, which finds fewer differences.
    tie_correction : bool
        Divide chi-square by the share of its variance that ties leave. Demšar's formulas have no
        such correction.

    Returns
    -------
    HypothesisTest
        p = 1 if all scores of every dataset are equal. If all datasets have the same ranks, F is
        infinite, and the p-value is the exact probability of this agreement by chance.

    References
    ----------
    | Friedman (1937), "The use of ranks to avoid the assumption of normality implicit in the
      analysis of variance", Journal of the American Statistical Association 32.
    | Iman and Davenport (1980), "Approximations of the critical region of the Friedman statistic",
      Communications in Statistics 9.
    | Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of
      Machine Learning Research 7.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.6, 0.7, 0.5], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8]]
    >>> print(friedman_test(scores))
    Friedman, F: statistic 3.857, p = 0.0837, n = 4
    """
    check_choice("statistic", statistic, ("f", "chi_square"))
    ranks, n_tied = _ranks(scores, True)
    n, k = ranks.shape
    if n < 2:
        raise ValueError(f"scores must have at least two datasets (rows), got {n}.")
    name = "Friedman, F" if statistic == "f" else "Friedman, chi-square"
    # Share of the variance of the ranks that ties leave.
    share = 1 - n_tied / (n * k * (k * k - 1))
    if share <= 0:
        return HypothesisTest(name, 0.0, 1.0, n, ("All scores of every dataset are equal.",))
    deviations = ranks.mean(axis=0) - (k + 1) / 2
    chi_square = 12 * n / (k * (k + 1)) * float((deviations**2).sum())
    if tie_correction:
        chi_square /= share
    if statistic == "chi_square":
        assumptions: tuple[str, ...] = ()
        if n <= 10 or k <= 5:
            assumptions = (
                f"{n} datasets and {k} learners: chi-square requires more than 10 and 5.",
            )
        return HypothesisTest(name, chi_square, float(chdtrc(k - 1, chi_square)), n, assumptions)
    if (ranks == ranks[0]).all() and (tie_correction or n_tied == 0):
        _, ties = np.unique(ranks[0], return_counts=True)
        n_orders = math.factorial(k) // math.prod(math.factorial(int(size)) for size in ties)
        return HypothesisTest(name, math.inf, float(n_orders) ** (1 - n), n)
    f = (n - 1) * chi_square / (n * (k - 1) - chi_square)
    return HypothesisTest(name, f, float(fdtrc(k - 1, (k - 1) * (n - 1), f)), n)


def nemenyi_critical_difference(n_learners: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Compute the difference of average ranks from which two of many learners differ.

    Parameters
    ----------
    n_learners, n_datasets : int
        At least 2, and at least 1.
    alpha : float
        Probability of any error among all pairs.

    Returns
    -------
    float

    References
    ----------
    | Nemenyi (1963), Distribution-free multiple comparisons, PhD thesis, Princeton University.
    | Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of
      Machine Learning Research 7.

    Examples
    --------
    >>> [round(nemenyi_critical_difference(4, 14, alpha), 2) for alpha in (0.05, 0.1)]
    [1.25, 1.12]
    """
    if n_learners < 2:
        raise ValueError(f"n_learners must be an int of at least 2, got {n_learners!r}.")
    if n_datasets < 1:
        raise ValueError(f"n_datasets must be an int of at least 1, got {n_datasets!r}.")
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be a float in (0, 1), got {alpha!r}.")
    lower, upper = 0.0, 40.0
    while upper - lower > 1e-12:
        middle = (lower + upper) / 2
        if _range_tail(middle, n_learners) > alpha:
            lower = middle
        else:
            upper = middle
    return (lower + upper) / 2 / math.sqrt(2) * _rank_error(n_learners, n_datasets)


def holm(p_values: Any) -> Array:
    """Adjust p-values for their number by Holm's step-down method.

    An adjusted p-value is the smallest alpha at which its hypothesis is rejected while the
    probability of any false rejection is at most alpha, whatever the dependence of the tests.

    Parameters
    ----------
    p_values : array of shape (n,)
        In [0, 1].

    Returns
    -------
    float64 array of shape (n,)

    References
    ----------
    Holm (1979), "A simple sequentially rejective multiple test procedure", Scandinavian Journal of
    Statistics 6.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    array([0.03, 0.06, 0.06])
    """
    array = finite_vector(p_values, "p_values", 1)
    if array.min() < 0 or array.max() > 1:
        raise ValueError("p_values must be in [0, 1].")
    order = np.argsort(array, kind="stable")
    steps = array[order] * np.arange(len(array), 0, -1)
    adjusted = np.empty_like(array)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(steps))
    return adjusted


def compare_with_control(
    scores: Any, control: int, greater_is_better: bool = True
) -> tuple[RankComparison, ...]:
    """Compare the average rank of each learner with a control, adjusted by Holm's method.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_learners)
    control : int
        Index of the learner with which the others are compared.
    greater_is_better : bool
        False for errors and losses.

    Returns
    -------
    tuple of RankComparison
        One for each other learner, by index; ``second`` is the control.

    References
    ----------
    Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of
    Machine Learning Research 7.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.7, 0.6, 0.5], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8]]
    >>> for found in compare_with_control(scores, control=0):
    ...     print(found.first, found.rank_difference, round(found.adjusted_p_value, 3))
    1 1.25 0.077
    2 1.75 0.027
    """
    ranks = _ranks(scores, greater_is_better)[0]
    k = ranks.shape[1]
    if control not in range(k):
        raise ValueError(
            f"control must be the index of a learner in [0, {k - 1}], got {control!r}."
        )
    pairs = [(other, control) for other in range(k) if other != control]
    return _compare(ranks, pairs, "holm")


def compare_all_pairs(
    scores: Any,
    greater_is_better: bool = True,
    method: Literal["holm", "nemenyi"] = "holm",
) -> tuple[RankComparison, ...]:
    """Compare the average ranks of all pairs of learners.

    Parameters
    ----------
    scores : array of shape (n_datasets, n_learners)
    greater_is_better : bool
        False for errors and losses.
    method : {"holm", "nemenyi"}
        Adjustment of the p-values: Holm's, or by the distribution of the largest of all
        differences, as in Nemenyi's critical difference.

    Returns
    -------
    tuple of RankComparison
        In the order (0, 1), (0, 2), ..., (1, 2), ...

    References
    ----------
    García and Herrera (2008), "An extension on 'Statistical comparisons of classifiers over
    multiple data sets' for all pairwise comparisons", Journal of Machine Learning Research 9.

    Examples
    --------
    >>> scores = [[0.9, 0.8, 0.7], [0.7, 0.6, 0.5], [0.8, 0.7, 0.6], [0.9, 0.7, 0.8]]
    >>> for found in compare_all_pairs(scores):
    ...     print(found.first, found.second, round(found.adjusted_p_value, 3))
    0 1 0.154
    0 2 0.04
    1 2 0.48
    """
    check_choice("method", method, ("holm", "nemenyi"))
    ranks = _ranks(scores, greater_is_better)[0]
    return _compare(ranks, list(combinations(range(ranks.shape[1]), 2)), method)


def rank_groups(average_ranks: Any, critical_difference: float) -> list[tuple[int, ...]]:
    """Find the groups of learners whose average ranks do not differ.

    They are the bars of a critical-difference diagram: largest sets of at least two learners, all
    of whose differences are below the critical one. A learner can be in several.

    Parameters
    ----------
    average_ranks : array of shape (n_learners,)
    critical_difference : float
        Of :func:`nemenyi_critical_difference`; or the smallest significant ``rank_difference`` of
        :func:`compare_all_pairs`, infinity if there is none.

    Returns
    -------
    list of tuple of int
        Indices of the learners of each group, the best first.

    References
    ----------
    Demšar (2006), "Statistical comparisons of classifiers over multiple data sets", Journal of
    Machine Learning Research 7.

    Examples
    --------
    >>> rank_groups([3.1, 2.0, 2.9, 1.2], critical_difference=1.0)
    [(3, 1), (1, 2), (2, 0)]
    """
    ranks = finite_vector(average_ranks, "average_ranks", 1)
    if not critical_difference > 0:
        raise ValueError(f"critical_difference must be positive, got {critical_difference!r}.")
    order = np.argsort(ranks, kind="stable")
    ordered = ranks[order]
    # Rank differences are multiples of 1 / (2 n_datasets): a smaller tolerance is only rounding.
    ends = np.searchsorted(ordered, ordered + critical_difference - 1e-9, side="left")
    groups = []
    last = 0
    for start, end in enumerate(ends.tolist()):
        if end > last and end - start > 1:
            groups.append(tuple(order[start:end].tolist()))
        last = max(last, end)
    return groups


def _ranks(scores: Any, greater_is_better: bool) -> tuple[Array, float]:
    """Return the ranks of the learners on each dataset, and the sum of t^3 - t over all ties."""
    array = np.asarray(scores, dtype=np.float64)
    if array.ndim != 2 or array.shape[0] < 1 or array.shape[1] < 2:
        raise ValueError(
            "scores must be 2D, with a row for each dataset and a column for each of at least two "
            f"learners, got shape {array.shape}."
        )
    check_finite(array, "scores")
    ranks = np.empty_like(array)
    n_tied = 0.0
    for row, values in enumerate(-array if greater_is_better else array):
        ranks[row], ties = middle_ranks(values)
        n_tied += float((ties**3 - ties).sum())
    return ranks, n_tied


def _rank_error(n_learners: int, n_datasets: int) -> float:
    """Return the standard error of the difference of two average ranks."""
    return math.sqrt(n_learners * (n_learners + 1) / (6 * n_datasets))


def _compare(
    ranks: Array, pairs: list[tuple[int, int]], method: Literal["holm", "nemenyi"]
) -> tuple[RankComparison, ...]:
    n, k = ranks.shape
    averages = ranks.mean(axis=0)
    first, second = np.array(pairs).T
    differences = averages[first] - averages[second]
    z = differences / _rank_error(k, n)
    p_values = 2 * ndtr(-np.abs(z))
    if method == "holm":
        adjusted = holm(p_values)
    else:
        adjusted = np.array([_range_tail(abs(value) * math.sqrt(2), k) for value in z])
    columns = (differences, z, p_values, adjusted)
    numbers = zip(*(column.tolist() for column in columns), strict=True)
    return tuple(
        RankComparison(*pair, *values) for pair, values in zip(pairs, numbers, strict=True)
    )


# The trapezoidal rule on a fine grid is exact to rounding for smooth functions that vanish at both
# ends of the range.
_GRID = np.linspace(-9.0, 9.0, 721)
_DENSITY = np.exp(-(_GRID**2) / 2) * (_GRID[1] - _GRID[0]) / math.sqrt(2 * math.pi)


def _range_tail(width: float, k: int) -> float:
    """Return the probability that the range of k standard normal variables exceeds a width."""
    # Given the largest one, the others are within the width below it.
    within = ndtr(_GRID) - ndtr(_GRID - width)
    return min(1.0, max(0.0, 1 - k * float((_DENSITY * within ** (k - 1)).sum())))

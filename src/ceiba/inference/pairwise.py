"""Tests of the difference between two learners."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import bdtr, chdtrc, ndtr, stdtr

from ceiba._typing import Array
from ceiba.inference.values import (
    check_choice,
    check_finite,
    finite_differences,
    finite_vector,
    mean_and_deviation,
    middle_ranks,
    rows_ratio,
)

# The exact distribution of signed ranks is computed up to this number of differences; there its
# normal approximation differs by at most 0.0013 where p <= 0.1.
_MAX_EXACT = 50


@dataclass(frozen=True, slots=True)
class HypothesisTest:
    """The result of a test with a two-sided p-value.

    Parameters
    ----------
    name : str
        Such as "paired t".
    statistic : float
        Positive infinity or negative infinity where a variance is zero and a difference is not.
    p_value : float
        In [0, 1], never NaN.
    n : int
        Number of values, pairs, rows or datasets of the test.
    assumptions : tuple of str
        Assumptions of the test that the values do not meet; empty if none was found.

    Examples
    --------
    >>> print(HypothesisTest("paired t", 2.5, 0.034, 10))
    paired t: statistic 2.5, p = 0.034, n = 10
    """

    name: str
    statistic: float
    p_value: float
    n: int
    assumptions: tuple[str, ...] = ()

    def __str__(self) -> str:
        line = f"{self.name}: statistic {self.statistic:.4g}, p = {self.p_value:.3g}, n = {self.n}"
        return "\n".join([line, *(f"  {assumption}" for assumption in self.assumptions)])


def mark(p_value: float) -> str:
    """Return the mark of a p-value in a table of results.

    Parameters
    ----------
    p_value : float

    Returns
    -------
    str
        "•" for p <= 0.05, "○" for p <= 0.1, otherwise "".

    Examples
    --------
    >>> [mark(p) for p in (0.03, 0.05, 0.08, 0.3)]
    ['•', '•', '○', '']
    """
    if not 0 <= p_value <= 1:
        raise ValueError(f"p_value must be a float in [0, 1], got {p_value!r}.")
    return "•" if p_value <= 0.05 else "○" if p_value <= 0.1 else ""


def mann_whitney_test(first: Any, second: Any) -> HypothesisTest:
    """Test whether values of two learners differ in rank, without pairs.

    The p-value is that of the normal approximation with correction for ties and without correction
    for continuity. All values tied gives p = 1.

    Parameters
    ----------
    first, second : array of shape (n_first,), (n_second,)
        Finite numbers, such as accuracies of folds; at least one of each. Values that only
        rounding separates are tied.

    Returns
    -------
    HypothesisTest
        Its statistic is U: the pairs in which ``first`` is greater, ties counting half.

    References
    ----------
    Mann and Whitney (1947), "On a test of whether one of two random variables is stochastically
    larger than the other", Annals of Mathematical Statistics 18.

    Examples
    --------
    >>> test = mann_whitney_test([100, 100, 100, 100, 100], [100, 100, 100, 100, 96])
    >>> test.statistic, round(test.p_value, 3)
    (15.0, 0.317)
    >>> test.assumptions
    ('5 and 5 values: the normal approximation requires 8 of each.',)
    """
    first, second = finite_vector(first, "first", 1), finite_vector(second, "second", 1)
    n_first, n_second = len(first), len(second)
    n = n_first + n_second
    ranks, ties = middle_ranks(np.concatenate([first, second]))
    u = float(ranks[:n_first].sum()) - n_first * (n_first + 1) / 2
    assumptions = []
    if min(n_first, n_second) < 8:
        assumptions.append(
            f"{n_first} and {n_second} values: the normal approximation requires 8 of each."
        )
    if len(ties) == 1:
        return HypothesisTest("Mann-Whitney", u, 1.0, n, (*assumptions, "All values are equal."))
    sizes = ties.astype(np.float64)
    correction = float((sizes**3 - sizes).sum()) / (n * (n - 1))
    deviation = math.sqrt(n_first * n_second / 12 * (n + 1 - correction))
    z = (u - n_first * n_second / 2) / deviation
    return HypothesisTest("Mann-Whitney", u, _two_sided(z), n, tuple(assumptions))


def wilcoxon_test(
    first: Any,
    second: Any,
    zero_method: Literal["wilcox", "pratt", "zsplit"] = "wilcox",
    method: Literal["auto", "exact", "approx"] = "auto",
) -> HypothesisTest:
    """Test whether paired differences are symmetric about zero, by their signed ranks.

    Parameters
    ----------
    first, second : array of shape (n,)
        Paired finite numbers, such as the accuracies on n datasets. Differences that only rounding
        separates are tied.
    zero_method : {"wilcox", "pratt", "zsplit"}
        Treatment of differences of zero: left out before the others are ranked; ranked, and then
        left out; or ranked, with half of their ranks for each sign. All differences zero gives
        p = 1.
    method : {"auto", "exact", "approx"}
        The distribution of the rank sums over all signs of the given ranks, ties included, or its
        normal approximation without correction for continuity. "auto" is exact up to 50
        differences.

    Returns
    -------
    HypothesisTest
        Its statistic is the smaller sum of ranks, its n the number of ranked differences.

    References
    ----------
    | Wilcoxon (1945), "Individual comparisons by ranking methods", Biometrics Bulletin 1.
    | Pratt (1959), "Remarks on zeros and ties in the Wilcoxon signed rank procedures", Journal of
      the American Statistical Association 54.

    Examples
    --------
    >>> print(wilcoxon_test([0.9, 0.8, 0.7, 0.95, 0.85, 0.6], [0.8, 0.75, 0.72, 0.9, 0.7, 0.5]))
    Wilcoxon signed-rank: statistic 1, p = 0.0625, n = 6
    """
    check_choice("zero_method", zero_method, ("wilcox", "pratt", "zsplit"))
    check_choice("method", method, ("auto", "exact", "approx"))
    name = "Wilcoxon signed-rank"
    differences, _ = finite_differences(first, second, 1)
    if zero_method == "wilcox":
        differences = differences[differences != 0]
    if not differences.any():
        return HypothesisTest(name, 0.0, 1.0, len(differences), ("All differences are zero.",))
    ranks, _ = middle_ranks(np.abs(differences))
    zero = differences == 0
    half = float(ranks[zero].sum()) / 2 if zero_method == "zsplit" else 0.0
    above = float(ranks[differences > 0].sum()) + half
    below = float(ranks[differences < 0].sum()) + half
    statistic = min(above, below)
    signed = ranks if zero_method == "zsplit" else ranks[~zero]
    assumptions = []
    if method == "exact" or (method == "auto" and len(signed) <= _MAX_EXACT):
        p_value = _signed_rank_p_value(signed, statistic)
        # With n differences no p-value is below 2 / 2^n.
        if len(signed) < 6:
            assumptions.append(
                f"{len(signed)} differences: p <= 0.05 is impossible with fewer than 6."
            )
    else:
        deviation = math.sqrt(float((signed**2).sum())) / 2
        p_value = _two_sided((statistic - float(signed.sum()) / 2) / deviation)
        if len(signed) < 10:
            assumptions.append(f"{len(signed)} differences: the normal approximation requires 10.")
    return HypothesisTest(name, statistic, p_value, len(differences), tuple(assumptions))


def _signed_rank_p_value(ranks: Array, statistic: float) -> float:
    """Return the probability of a sum at most this small or its mirror, over all signs."""
    doubled = np.rint(2 * ranks).astype(np.int64)  # middle ranks are multiples of one half
    probabilities = np.zeros(int(doubled.sum()) + 1)
    probabilities[0] = 1.0
    for rank in doubled:
        probabilities[rank:] += probabilities[:-rank].copy()
        probabilities /= 2
    return min(1.0, 2 * float(probabilities[: round(2 * statistic) + 1].sum()))


def paired_t_test(first: Any, second: Any) -> HypothesisTest:
    """Test whether the mean of independent paired differences is zero.

    The differences of the folds of a cross-validation are not independent: use
    :func:`corrected_t_test` for them.

    Parameters
    ----------
    first, second : array of shape (n,)
        At least two paired finite numbers.

    Returns
    -------
    HypothesisTest
        Equal differences have no variance: p = 1 if they are zero, otherwise p = 0 and an infinite
        statistic, with an entry in ``assumptions``.

    References
    ----------
    Student (1908), "The probable error of a mean", Biometrika 6.

    Examples
    --------
    >>> print(paired_t_test([0.90, 0.94, 0.92, 0.97], [0.88, 0.93, 0.92, 0.94]))
    paired t: statistic 2.324, p = 0.103, n = 4
    """
    return _t_test("paired t", finite_differences(first, second)[0], 0.0)


def corrected_t_test(first: Any, second: Any, n_train: float, n_test: float) -> HypothesisTest:
    """Test paired differences of resampled training and test rows.

    The variance of the mean of J differences is (1 / J + n_test / n_train) times their variance,
    because splits of the same rows share training rows.

    Parameters
    ----------
    first, second : array of shape (J,)
        Results of two learners on the same splits; at least two finite pairs.
    n_train, n_test : float
        Numbers of training and test rows of a split; only their ratio matters.

    Returns
    -------
    HypothesisTest
        Equal differences are treated as by :func:`paired_t_test`.

    References
    ----------
    Nadeau and Bengio (2003), "Inference for the generalization error", Machine Learning 52.

    Examples
    --------
    >>> first, second = [0.90, 0.94, 0.92, 0.97], [0.88, 0.93, 0.92, 0.94]
    >>> print(corrected_t_test(first, second, n_train=75, n_test=25))
    corrected resampled t: statistic 1.521, p = 0.226, n = 4
    """
    ratio = rows_ratio(n_train, n_test)
    return _t_test("corrected resampled t", finite_differences(first, second)[0], ratio)


def _t_test(name: str, differences: Array, ratio: float) -> HypothesisTest:
    n = len(differences)
    mean, deviation = mean_and_deviation(differences)
    if deviation == 0:
        return _without_variance(name, mean, n)
    statistic = mean / deviation / math.sqrt(1 / n + ratio)
    p_value = 2 * float(stdtr(n - 1, -abs(statistic)))
    return HypothesisTest(name, statistic, p_value, n, _skewness(differences, mean, deviation))


def _without_variance(name: str, difference: float, n: int) -> HypothesisTest:
    note = "The differences have no variance, which does not estimate that of new rows."
    if difference == 0:
        return HypothesisTest(name, 0.0, 1.0, n, (note,))
    return HypothesisTest(name, math.copysign(math.inf, difference), 0.0, n, (note,))


def _skewness(differences: Array, mean: float, deviation: float) -> tuple[str, ...]:
    """Return a note if differences are more skewed than 95% of normal samples of their size."""
    n = len(differences)
    if n < 8:  # too few to find any skewness
        return ()
    cubes = float((((differences - mean) / deviation) ** 3).mean())
    skewness = cubes * (n / (n - 1)) ** 1.5
    error = math.sqrt(6 * (n - 2) / ((n + 1) * (n + 3)))
    if abs(skewness) <= 1.96 * error:
        return ()
    return (
        f"Differences are skewed (skewness {skewness:.2f}), not normal: "
        "compare with the Wilcoxon signed-rank test.",
    )


def five_by_two_t_test(first: Any, second: Any) -> HypothesisTest:
    """Test paired differences of five replications of 2-fold cross-validation.

    Parameters
    ----------
    first, second : array of shape (5, 2)
        Results of two learners on the same folds: a row for each replication.

    Returns
    -------
    HypothesisTest
        Its statistic is the first difference over the root of the mean variance of a replication,
        with 5 degrees of freedom: exchange of the first fold with another one changes it. Equal
        differences within all replications are treated as by :func:`paired_t_test`.

    References
    ----------
    Dietterich (1998), "Approximate statistical tests for comparing supervised classification
    learning algorithms", Neural Computation 10.

    Examples
    --------
    >>> first = [[0.80, 0.82], [0.81, 0.79], [0.83, 0.80], [0.78, 0.84], [0.80, 0.81]]
    >>> second = [[0.77, 0.80], [0.80, 0.75], [0.81, 0.78], [0.77, 0.79], [0.78, 0.77]]
    >>> print(five_by_two_t_test(first, second))
    5x2cv paired t: statistic 1.732, p = 0.144, n = 10
    """
    folds = []
    for name, values in (("first", first), ("second", second)):
        array = np.asarray(values, dtype=np.float64)
        if array.shape != (5, 2):
            raise ValueError(f"{name} must have shape (5, 2), got {array.shape}.")
        check_finite(array, name)
        folds.append(array)
    name = "5x2cv paired t"
    differences = finite_differences(folds[0].ravel(), folds[1].ravel())[0].reshape(5, 2)
    # A replication has two differences, and the sum of their squared deviations is (a - b)^2 / 2.
    deviation = float(np.linalg.norm(differences[:, 0] - differences[:, 1])) / math.sqrt(10)
    if deviation == 0:
        return _without_variance(name, float(differences[0, 0]), 10)
    statistic = float(differences[0, 0]) / deviation
    return HypothesisTest(name, statistic, 2 * float(stdtr(5, -abs(statistic))), 10)


def mcnemar_test(
    first_correct: Any, second_correct: Any, method: Literal["exact", "chi_square"] = "exact"
) -> HypothesisTest:
    """Test whether two classifiers have the same error rate on the same rows.

    Only the rows that one classifier predicts correctly and the other one does not matter. It
    tests two fitted models, not two learners: training rows do not vary.

    Parameters
    ----------
    first_correct, second_correct : bool array of shape (n_rows,)
        Whether each row was predicted correctly.
    method : {"exact", "chi_square"}
        Binomial distribution, or chi-square with correction for continuity (the absolute
        difference is lowered by 1, not below 0).

    Returns
    -------
    HypothesisTest
        Its statistic is the smaller of the two counts, or chi-square. p = 1 if no row differs.

    References
    ----------
    McNemar (1947), "Note on the sampling error of the difference between correlated proportions or
    percentages", Psychometrika 12.

    Examples
    --------
    >>> first = [True] * 90 + [False] * 10
    >>> second = [True] * 78 + [False] * 18 + [True] * 4
    >>> print(mcnemar_test(first, second))
    McNemar, exact: statistic 4, p = 0.0768, n = 100
    >>> print(mcnemar_test(first, second, method="chi_square"))
    McNemar, chi-square: statistic 3.062, p = 0.0801, n = 100
      16 rows differ: chi-square requires 25.
    """
    check_choice("method", method, ("exact", "chi_square"))
    first = _flags(first_correct, "first_correct")
    second = _flags(second_correct, "second_correct")
    if len(first) != len(second):
        raise ValueError(
            "first_correct and second_correct must have the same length, "
            f"got {len(first)} and {len(second)}."
        )
    n_first = int((first & ~second).sum())
    n_second = int((~first & second).sum())
    n_different = n_first + n_second
    name = f"McNemar, {method.replace('_', '-')}"
    if n_different == 0:
        return HypothesisTest(name, 0.0, 1.0, len(first), ("No row differs.",))
    if method == "exact":
        smaller = min(n_first, n_second)
        p_value = min(1.0, 2 * float(bdtr(smaller, n_different, 0.5)))
        return HypothesisTest(name, float(smaller), p_value, len(first))
    chi_square = max(0, abs(n_first - n_second) - 1) ** 2 / n_different
    assumptions: tuple[str, ...] = ()
    if n_different < 25:
        assumptions = (f"{n_different} rows differ: chi-square requires 25.",)
    return HypothesisTest(name, chi_square, float(chdtrc(1, chi_square)), len(first), assumptions)


def _flags(values: Any, name: str) -> Array:
    array = np.asarray(values)
    if array.ndim != 1 or len(array) == 0:
        raise ValueError(f"{name} must be 1D with at least one row, got shape {array.shape}.")
    if array.dtype != np.bool_ and not np.isin(array, (0, 1)).all():
        raise ValueError(f"{name} must be bool, such as y == predictions, got {array.dtype}.")
    return array.astype(np.bool_)


def _two_sided(z: float) -> float:
    return 2 * float(ndtr(-abs(z)))

"""Tests of two learners beside SciPy's, published examples and naive enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import binomtest, mannwhitneyu, rankdata, t, ttest_rel, wilcoxon

from ceiba.inference import (
    corrected_t_test,
    five_by_two_t_test,
    mann_whitney_test,
    mark,
    mcnemar_test,
    paired_t_test,
    wilcoxon_test,
)
from tests.budget import examples

SCORES = st.lists(st.integers(0, 20), min_size=2, max_size=25)
PAIRS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=25)

# Demšar (2006), table 2: accuracies of C4.5 without and with the minimal number of rows in leaves.
# fmt: off
C45 = [.763, .599, .954, .628, .882, .936, .661, .583, .775, 1., .940, .619, .972, .957]
C45_M = [.768, .591, .971, .661, .888, .931, .668, .583, .838, 1., .962, .666, .981, .978]
# fmt: on


@examples(100)
@given(SCORES, SCORES)
def test_mann_whitney_is_scipys(first, second):
    found = mann_whitney_test(first, second)
    assume(len({*first, *second}) > 1)
    theirs = mannwhitneyu(first, second, method="asymptotic", use_continuity=False)
    assert found.statistic == theirs.statistic
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-10)
    assert found.n == len(first) + len(second)


def test_mann_whitney_of_five_folds():
    assert mann_whitney_test([100] * 5, [100] * 4 + [96]).p_value == pytest.approx(
        0.317310507863, abs=1e-12
    )
    equal = mann_whitney_test([100] * 5, [100] * 5)
    assert (equal.statistic, equal.p_value) == (12.5, 1.0)
    assert "All values are equal." in equal.assumptions
    assert not mann_whitney_test(range(8), range(8)).assumptions


@examples(60)
@given(SCORES, SCORES, st.integers(-30, 30))
def test_mann_whitney_symmetry_and_scale(first, second, exponent):
    found = mann_whitney_test(first, second)
    mirrored = mann_whitney_test(second, first)
    scaled = mann_whitney_test(np.ldexp(first, exponent), np.ldexp(second, exponent))
    assert mirrored.p_value == pytest.approx(found.p_value, rel=1e-12)
    assert found.statistic + mirrored.statistic == len(first) * len(second)
    assert scaled == found


@examples(100)
@given(PAIRS, st.sampled_from(["wilcox", "pratt", "zsplit"]))
def test_wilcoxon_approximation_is_scipys(pairs, zero_method):
    first, second = np.array(pairs, dtype=float).T
    assume((first != second).any())
    found = wilcoxon_test(first, second, zero_method, "approx")
    theirs = wilcoxon(first, second, zero_method, method="asymptotic")
    assert found.statistic == theirs.statistic
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


@pytest.mark.parametrize("n", [5, 14, 50])
def test_wilcoxon_exact_is_scipys_without_ties(n):
    first, second = np.random.default_rng(n).normal(0.2, 1, (2, n))
    theirs = wilcoxon(first, second, method="exact")
    found = wilcoxon_test(first, second)
    assert (found.statistic, found.n) == (theirs.statistic, n)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


@examples(40)
@given(
    st.lists(st.integers(-4, 4), min_size=1, max_size=8),
    st.sampled_from(["wilcox", "pratt", "zsplit"]),
)
def test_wilcoxon_exact_is_the_share_of_all_signs(differences, zero_method):
    d = np.array(differences, dtype=float)
    if zero_method == "wilcox":
        d = d[d != 0]
    assume(d.any())
    ranks = rankdata(np.abs(d))
    half = ranks[d == 0].sum() / 2 if zero_method == "zsplit" else 0
    statistic = min(ranks[d > 0].sum(), ranks[d < 0].sum()) + half
    signed = ranks if zero_method == "zsplit" else ranks[d != 0]
    sums = [signed @ signs for signs in itertools.product([0, 1], repeat=len(signed))]
    expected = min(1, 2 * np.mean(np.array(sums) <= statistic))
    found = wilcoxon_test(differences, np.zeros(len(differences)), zero_method)
    assert found.statistic == statistic
    assert found.p_value == pytest.approx(expected, rel=1e-12)


def test_wilcoxon_of_demsar():
    found = wilcoxon_test(C45, C45_M, zero_method="zsplit")
    # Ranks of 93 and 12; the critical value of 14 differences is 21 for alpha = 0.05.
    assert found.statistic == 12
    assert found.p_value < 0.05
    assert found.n == 14
    assert wilcoxon_test(C45, C45_M).n == 12


def test_wilcoxon_ties_differences_that_only_rounding_separates():
    found = wilcoxon_test([0.3, 0.4, 0.9], [0.1 + 0.2, 0.3, 0.8], zero_method="pratt")
    assert found.statistic == 0
    assert found.n == 3
    assert found == wilcoxon_test([0, 1, 1], [0, 0, 0], zero_method="pratt")


def test_wilcoxon_reports_its_assumptions():
    assert wilcoxon_test([1, 2], [1, 2]).p_value == 1.0
    assert wilcoxon_test([1, 2], [1, 2]).assumptions == ("All differences are zero.",)
    assert "impossible" in wilcoxon_test([1, 2, 3], [0, 0, 0]).assumptions[0]
    assert "requires 10" in wilcoxon_test([1, 2, 3], [0, 0, 0], method="approx").assumptions[0]


@examples(60)
@given(PAIRS)
def test_paired_t_is_scipys(pairs):
    first, second = np.array(pairs, dtype=float).T
    assume(len(np.unique(first - second)) > 1)
    found, theirs = paired_t_test(first, second), ttest_rel(first, second)
    assert found.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-12)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)
    mirrored = paired_t_test(second, first)
    assert mirrored.statistic == pytest.approx(-found.statistic, rel=1e-12)
    assert mirrored.p_value == pytest.approx(found.p_value, rel=1e-12)


@examples(60)
@given(PAIRS, st.integers(1, 500), st.integers(1, 500))
def test_corrected_t_is_the_formula(pairs, n_train, n_test):
    first, second = np.array(pairs, dtype=float).T
    d = first - second
    assume(len(np.unique(d)) > 1)
    found = corrected_t_test(first, second, n_train, n_test)
    statistic = d.mean() / math.sqrt(d.var(ddof=1) * (1 / len(d) + n_test / n_train))
    assert found.statistic == pytest.approx(statistic, rel=1e-9, abs=1e-12)
    assert found.p_value == pytest.approx(2 * t.sf(abs(statistic), len(d) - 1), rel=1e-9)
    assert found.p_value >= paired_t_test(first, second).p_value * (1 - 1e-9)


@pytest.mark.parametrize("test", [paired_t_test, lambda a, b: corrected_t_test(a, b, 9, 1)])
def test_differences_without_variance(test):
    equal = test([0.3, 0.9], [0.1 + 0.2, 0.9])
    assert (equal.statistic, equal.p_value) == (0.0, 1.0)
    better = test([0.9, 0.8, 0.7], [0.8, 0.7, 0.6])
    assert (better.statistic, better.p_value) == (math.inf, 0.0)
    assert test([0.8, 0.7], [0.9, 0.8]).statistic == -math.inf
    assert "no variance" in better.assumptions[0]


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_t_of_any_scale(scale):
    first, second = np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.5, 1.0, 3.75, 1.0])
    found = paired_t_test(first * scale, second * scale)
    assert found.p_value == pytest.approx(paired_t_test(first, second).p_value, rel=1e-9)


def test_skewed_differences_are_reported():
    skewed = paired_t_test([0] * 11 + [9, 0.5], [0.0] * 13)
    assert "skewed (skewness 3." in skewed.assumptions[0]
    assert not paired_t_test(range(13), np.zeros(13)).assumptions


def test_five_by_two_is_dietterichs_formula():
    rng = np.random.default_rng(5)
    first, second = rng.random((2, 5, 2))
    p = first - second
    means = p.mean(axis=1)
    variances = (p[:, 0] - means) ** 2 + (p[:, 1] - means) ** 2
    statistic = p[0, 0] / math.sqrt(variances.sum() / 5)
    found = five_by_two_t_test(first, second)
    assert found.statistic == pytest.approx(statistic, rel=1e-12)
    assert found.p_value == pytest.approx(2 * t.sf(abs(statistic), 5), rel=1e-10)
    # The critical value of 5 degrees of freedom, as in the paper.
    assert t.ppf(0.975, 5) == pytest.approx(2.571, abs=5e-4)


def test_five_by_two_without_variance():
    ones = np.ones((5, 2))
    assert five_by_two_t_test(ones, ones).p_value == 1.0
    assert five_by_two_t_test(ones, 0 * ones).statistic == math.inf


def correctness(both, first_only, second_only, neither):
    first = [True] * (both + first_only) + [False] * (second_only + neither)
    second = [True] * both + [False] * first_only + [True] * second_only + [False] * neither
    return first, second


@examples(60)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 5))
def test_mcnemar(b, c, others):
    assume(b + c + others > 0)
    flags = correctness(others, b, c, 0)
    exact, chi_square = mcnemar_test(*flags), mcnemar_test(*flags, method="chi_square")
    assert exact.n == chi_square.n == b + c + others
    if b + c == 0:
        assert exact.p_value == chi_square.p_value == 1.0
        return
    assert exact.p_value == pytest.approx(binomtest(b, b + c).pvalue, rel=1e-9)
    assert exact.statistic == min(b, c)
    expected = (abs(b - c) - 1) ** 2 / (b + c) if b != c else 0
    assert chi_square.statistic == pytest.approx(expected)
    assert bool(chi_square.assumptions) == (b + c < 25)
    assert mcnemar_test(*flags[::-1]) == exact


def test_mcnemar_chi_square_has_its_critical_value():
    # Chi-square of 1 degree of freedom exceeds 3.841459 with probability 0.05, as Dietterich has.
    found = mcnemar_test(*correctness(0, 60, 40, 0), method="chi_square")
    assert found.statistic == pytest.approx(3.61)
    assert found.p_value == pytest.approx(0.05743, abs=1e-5)


def test_marks():
    assert [mark(p) for p in (0, 0.05, 0.0501, 0.1, 0.1001, 1)] == ["•", "•", "○", "○", "", ""]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: paired_t_test([1, 2], [1, 2, 3]), "same length.*got 2 and 3"),
        (lambda: paired_t_test([1], [2]), "first must be 1D with at least two"),
        (lambda: paired_t_test([1, 2], [1, math.nan]), "second must be finite"),
        (lambda: paired_t_test([1e308, 1], [-1e308, 1]), "first - second must be finite"),
        (lambda: corrected_t_test([1, 2], [1, 3], 0, 1), "n_train"),
        (lambda: mann_whitney_test([], [1]), "first must be 1D with at least one entry"),
        (lambda: mann_whitney_test([1], [math.inf]), "second must be finite"),
        (lambda: wilcoxon_test([1], [2], "drop"), "zero_method must be one of"),
        (lambda: wilcoxon_test([1], [2], method="normal"), "method must be one of"),
        (lambda: five_by_two_t_test(np.ones((2, 5)), np.ones((5, 2))), "first must have shape"),
        (lambda: five_by_two_t_test(np.full((5, 2), np.nan), np.ones((5, 2))), "finite"),
        (lambda: mcnemar_test([True], [True, False]), "same length"),
        (lambda: mcnemar_test(["a"], ["b"]), "first_correct must be bool"),
        (lambda: mcnemar_test([], []), "at least one row"),
        (lambda: mcnemar_test([1.0], [math.nan]), "second_correct must be bool"),
        (lambda: mcnemar_test([True], [True], "mid_p"), "method must be one of"),
        (lambda: mark(math.nan), "p_value must be a float"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()

"""Rankings over datasets beside SciPy's and the tables of Demšar (2006)."""

from __future__ import annotations

import math
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import f, friedmanchisquare, norm, rankdata, studentized_range

from ceiba.inference import (
    average_ranks,
    compare_all_pairs,
    compare_with_control,
    friedman_test,
    holm,
    nemenyi_critical_difference,
    rank_groups,
)
from tests.budget import examples

# Demšar (2006), table 6: ranks of C4.5, with m, with cf, and with both, on 14 datasets.
DEMSAR = np.array(
    [
        [4, 3, 2, 1], [1, 2, 3, 4], [4, 1, 2, 3], [4, 1, 3, 2], [4, 2, 3, 1], [1, 2.5, 4, 2.5],
        [3, 2, 4, 1], [2.5, 2.5, 4, 1], [4, 3, 2, 1], [2.5, 2.5, 2.5, 2.5], [4, 2.5, 1, 2.5],
        [3, 2, 4, 1], [4, 1, 2, 3], [3, 1, 4, 2],
    ]
)  # fmt: skip
SCORES = st.integers(2, 6).flatmap(
    lambda k: st.lists(
        st.lists(st.integers(0, 6), min_size=k, max_size=k), min_size=2, max_size=12
    )
).map(np.array)  # fmt: skip


def test_demsars_ranks_and_friedman_statistics():
    assert average_ranks(DEMSAR, greater_is_better=False) == pytest.approx(
        [3.143, 2.000, 2.893, 1.964], abs=5e-4
    )
    chi_square = friedman_test(DEMSAR, "chi_square", tie_correction=False)
    assert chi_square.statistic == pytest.approx(9.28, abs=0.005)
    found = friedman_test(DEMSAR, tie_correction=False)
    assert found.statistic == pytest.approx(3.69, abs=0.005)
    assert found.p_value == pytest.approx(f.sf(found.statistic, 3, 39), rel=1e-10)
    assert found.n == 14


# Demšar (2006), table 5a.
@pytest.mark.parametrize(
    ("alpha", "values"),
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_critical_values_of_nemenyi(alpha, values):
    for k, q in enumerate(values, 2):
        difference = nemenyi_critical_difference(k, 10, alpha)
        assert difference / math.sqrt(k * (k + 1) / 60) == pytest.approx(q, abs=0.0011)


@pytest.mark.parametrize(("k", "alpha"), [(3, 0.05), (12, 0.01), (40, 0.3)])
def test_critical_difference_is_scipys(k, alpha):
    expected = studentized_range.ppf(1 - alpha, k, np.inf) / math.sqrt(2)
    found = nemenyi_critical_difference(k, 7, alpha) / math.sqrt(k * (k + 1) / 42)
    assert found == pytest.approx(expected, rel=1e-6)


def test_demsars_critical_differences():
    assert nemenyi_critical_difference(4, 14, 0.05) == pytest.approx(1.25, abs=0.005)
    assert nemenyi_critical_difference(4, 14, 0.10) == pytest.approx(1.12, abs=0.005)


def test_demsars_comparison_with_a_control():
    found = {c.first: c for c in compare_with_control(DEMSAR, 0, greater_is_better=False)}
    # The published z of 2.416, 2.342 and 0.512 are of rounded ranks.
    expected = {3: (-2.416, 0.016), 1: (-2.342, 0.019), 2: (-0.512, 0.607)}
    for learner, (z, p) in expected.items():
        assert found[learner].statistic == pytest.approx(z, abs=0.002)
        assert found[learner].p_value == pytest.approx(p, abs=0.0016)
        assert found[learner].second == 0
    # Holm's method rejects the first two hypotheses for alpha = 0.05.
    assert found[3].adjusted_p_value <= found[1].adjusted_p_value < 0.05
    assert found[2].adjusted_p_value == pytest.approx(0.608, abs=1e-3)


@examples(80)
@given(SCORES)
def test_friedman_is_scipys(scores):
    found = friedman_test(scores, "chi_square")
    if (scores == scores[:, :1]).all():
        assert (found.statistic, found.p_value) == (0.0, 1.0)
        return
    assume(scores.shape[1] >= 3)
    theirs = friedmanchisquare(*scores.T)
    assert found.statistic == pytest.approx(theirs.statistic, rel=1e-9, abs=1e-9)
    assert found.p_value == pytest.approx(theirs.pvalue, rel=1e-9)


@examples(60)
@given(SCORES, st.integers(-20, 20))
def test_ranks_and_friedman_do_not_depend_on_scale_or_direction(scores, exponent):
    ranks = average_ranks(scores)
    n_learners = scores.shape[1]
    naive = np.mean([rankdata(-row) for row in scores], axis=0)
    assert ranks == pytest.approx(naive, rel=1e-12)
    assert average_ranks(np.ldexp(scores, exponent)) == pytest.approx(ranks)
    assert average_ranks(scores, False) == pytest.approx(n_learners + 1 - ranks)
    found, mirrored = friedman_test(scores), friedman_test(-scores)
    assert mirrored.statistic == pytest.approx(found.statistic, rel=1e-9, abs=1e-9)
    assert 0 <= found.p_value <= 1


def test_means_of_the_same_folds_in_another_order_are_tied():
    folds = [0.1, 0.2, 0.3, 0.7]
    sums = {sum(order) / 4 for order in permutations(folds)}
    assert len(sums) > 1
    assert (average_ranks([sorted(sums)]) == (len(sums) + 1) / 2).all()


def test_agreement_of_all_datasets():
    found = friedman_test([[3, 2, 1]] * 4)
    assert found.statistic == math.inf
    assert found.p_value == pytest.approx(6.0**-3)
    assert friedman_test([[3, 2, 1]] * 4, tie_correction=False).statistic == math.inf
    # Three orders of two tied learners and another one.
    assert friedman_test([[1, 1, 0]] * 3).p_value == pytest.approx(3.0**-2)
    assert math.isfinite(friedman_test([[1, 1, 0]] * 3, tie_correction=False).statistic)
    assert friedman_test([[1, 1], [2, 2]]).p_value == 1.0


@examples(60)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_is_the_naive_procedure(p_values):
    adjusted = holm(p_values)
    order = np.argsort(p_values, kind="stable")
    largest = 0.0
    for step, index in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - step) * p_values[index]))
        assert adjusted[index] == pytest.approx(largest, rel=1e-12)
    assert (adjusted >= p_values).all()


def test_all_pairs():
    scores = np.random.default_rng(2).random((9, 4)) + np.array([0, 0.1, 0.3, 0.9])
    ranks = average_ranks(scores)
    by_holm, by_nemenyi = compare_all_pairs(scores), compare_all_pairs(scores, method="nemenyi")
    assert [(c.first, c.second) for c in by_holm] == list(combinations(range(4), 2))
    for one, two in zip(by_holm, by_nemenyi, strict=True):
        z = (ranks[one.first] - ranks[one.second]) / math.sqrt(20 / 54)
        assert one.statistic == two.statistic == pytest.approx(z)
        assert one.p_value == pytest.approx(2 * norm.sf(abs(z)))
        tail = studentized_range.sf(abs(z) * math.sqrt(2), 4, np.inf)
        assert two.adjusted_p_value == pytest.approx(tail, abs=1e-7)
        difference = nemenyi_critical_difference(4, 9)
        assert (two.adjusted_p_value <= 0.05) == (abs(two.rank_difference) >= difference)
    assert [c.adjusted_p_value for c in by_holm] == holm([c.p_value for c in by_holm]).tolist()


@examples(60)
@given(st.lists(st.integers(2, 30), min_size=1, max_size=8), st.integers(1, 20))
def test_groups_are_all_largest_sets_without_a_difference(doubled, difference):
    ranks = np.array(doubled) / 2
    size = difference / 4 + 0.01
    sets = [
        set(members)
        for n in range(2, len(ranks) + 1)
        for members in combinations(range(len(ranks)), n)
        if np.ptp(ranks[list(members)]) < size
    ]
    largest = [one for one in sets if not any(one < other for other in sets)]
    groups = rank_groups(ranks, size)
    assert sorted(map(sorted, groups)) == sorted(map(sorted, largest))
    assert all(list(ranks[list(group)]) == sorted(ranks[list(group)]) for group in groups)


def test_groups_of_demsar():
    ranks = average_ranks(DEMSAR, greater_is_better=False)
    # For alpha = 0.1, C4.5 differs from both learners with m, and no other pair differs.
    assert rank_groups(ranks, nemenyi_critical_difference(4, 14, 0.1)) == [(3, 1, 2), (2, 0)]
    assert rank_groups(ranks, nemenyi_critical_difference(4, 14, 0.05)) == [(3, 1, 2, 0)]
    assert rank_groups(ranks, math.inf) == [(3, 1, 2, 0)]
    assert rank_groups([1.0, 2.0], 1.0) == []


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: average_ranks([1, 2]), "scores must be 2D"),
        (lambda: average_ranks([[1], [2]]), "at least two learners"),
        (lambda: average_ranks([[1, math.nan]]), "scores must be finite"),
        (lambda: friedman_test([[1, 2]]), "at least two datasets"),
        (lambda: friedman_test([[1, 2], [2, 1]], "F"), "statistic must be one of"),
        (lambda: nemenyi_critical_difference(1, 5), "n_learners"),
        (lambda: nemenyi_critical_difference(2, 0), "n_datasets"),
        (lambda: nemenyi_critical_difference(2, 5, 0), "alpha"),
        (lambda: holm([0.5, 1.5]), r"p_values must be in \[0, 1\]"),
        (lambda: holm([math.nan]), "p_values must be finite"),
        (lambda: compare_with_control([[1, 2]], 2), r"control must be .* in \[0, 1\], got 2"),
        (lambda: compare_all_pairs([[1, 2]], method="none"), "method must be one of"),
        (lambda: rank_groups([1, 2], 0), "critical_difference must be positive"),
        (lambda: rank_groups([1, 2], math.nan), "critical_difference must be positive"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()

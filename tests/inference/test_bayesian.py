"""Bayesian comparisons beside integrals, naive sampling and the tests with the same scale."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from ceiba.inference import (
    RopeProbabilities,
    bayesian_correlated_t,
    bayesian_signed_rank,
    corrected_t_test,
)
from tests.budget import examples

PAIRS = st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=2, max_size=12)


@examples(60)
@given(PAIRS, st.integers(1, 100), st.integers(1, 100), st.integers(0, 5))
def test_correlated_t_is_the_posterior(pairs, n_train, n_test, rope):
    first, second = np.array(pairs, dtype=float).T
    d = first - second
    found = bayesian_correlated_t(first, second, n_train, n_test, rope)
    assert sum(found) == pytest.approx(1)
    mirrored = bayesian_correlated_t(second, first, n_train, n_test, rope)
    assert mirrored[::-1] == pytest.approx(found, abs=1e-12)
    if np.ptp(d) == 0:
        return
    correlation = n_test / (n_train + n_test)
    variance = (1 / len(d) + correlation / (1 - correlation)) * d.var(ddof=1)
    posterior = t(len(d) - 1, d.mean(), math.sqrt(variance))
    assert found.left == pytest.approx(posterior.cdf(-rope), rel=1e-7)
    assert found.right == pytest.approx(posterior.sf(rope), rel=1e-7)


def test_without_a_rope_it_is_the_one_sided_corrected_test():
    first, second = [0.9, 0.8, 0.7, 0.9], [0.8, 0.75, 0.72, 0.8]
    found = bayesian_correlated_t(first, second, 75, 25, rope=0)
    assert found.rope == 0.0
    assert 2 * found.left == pytest.approx(corrected_t_test(first, second, 75, 25).p_value)


def test_equal_differences():
    ones = np.ones(5)
    assert bayesian_correlated_t(ones, ones, 4, 1) == (0.0, 1.0, 0.0)
    assert bayesian_correlated_t(ones, ones, 4, 1, rope=0) == (0.5, 0.0, 0.5)
    assert bayesian_correlated_t(ones, 0 * ones, 4, 1) == (0.0, 0.0, 1.0)
    assert bayesian_correlated_t(0 * ones, ones, 4, 1) == (1.0, 0.0, 0.0)
    # 0.31 - 0.3 is a little more than 0.01.
    assert bayesian_correlated_t([0.31, 0.31], [0.3, 0.3], 4, 1) == (0.0, 1.0, 0.0)


def naive_signed_rank(differences, rope, prior_strength, n_samples):
    z = np.array([0.0, *differences])
    rng = np.random.default_rng(123)
    wins = np.zeros(3)
    for _ in range(n_samples):
        w = rng.dirichlet([prior_strength] + [1.0] * len(differences))
        regions = np.zeros(3)
        for i in range(len(z)):
            for j in range(len(z)):
                mean = (z[i] + z[j]) / 2
                regions[0 if mean < -rope else 2 if mean > rope else 1] += w[i] * w[j]
        wins[np.argmax(regions)] += 1
    return wins / n_samples


@pytest.mark.parametrize("prior_strength", [0.5, 3.0])
def test_signed_rank_is_the_naive_sampling(prior_strength):
    differences = [0.5, 2.5, -1.5, 1.0, 3.0]
    found = bayesian_signed_rank(differences, [0.0] * 5, 1.0, prior_strength, n_samples=40_000)
    expected = naive_signed_rank(differences, 1.0, prior_strength, 1500)
    # Four standard errors of the naive sampling.
    assert found == pytest.approx(expected, abs=4 * 0.5 / math.sqrt(1500))
    assert sum(found) == pytest.approx(1)


@examples(30)
@given(PAIRS, st.integers(0, 3), st.integers(-10, 10))
def test_signed_rank_symmetry_and_scale(pairs, rope, exponent):
    first, second = np.array(pairs, dtype=float).T
    found = bayesian_signed_rank(first, second, rope, n_samples=4000)
    mirrored = bayesian_signed_rank(second, first, rope, n_samples=4000)
    # Other weights are drawn for a difference if its index among the sorted ones changes.
    assert mirrored[::-1] == pytest.approx(found, abs=5 * 0.71 / math.sqrt(4000))
    scaled = bayesian_signed_rank(
        np.ldexp(first, exponent), np.ldexp(second, exponent), math.ldexp(rope, exponent),
        n_samples=4000,
    )  # fmt: skip
    assert scaled == found
    assert sum(found) == pytest.approx(1)


def test_signed_rank_of_clear_cases():
    zeros, ones = np.zeros(8), np.ones(8)
    assert bayesian_signed_rank(zeros, zeros) == (0.0, 1.0, 0.0)
    assert bayesian_signed_rank(zeros, zeros, rope=0) == (0.5, 0.0, 0.5)
    assert bayesian_signed_rank(ones, zeros).right > 0.99
    assert bayesian_signed_rank(zeros, ones).left > 0.99
    # On the end of the rope up to rounding.
    assert bayesian_signed_rank(0.31 * ones, 0.3 * ones, rope=0.01).rope == 1.0
    assert bayesian_signed_rank(ones, zeros, rope=0).rope == 0.0


def test_signed_rank_is_seeded():
    first, second = np.random.default_rng(0).random((2, 6))
    found = bayesian_signed_rank(first, second, random_state=5)
    assert found == bayesian_signed_rank(first, second, random_state=np.random.default_rng(5))
    assert found != bayesian_signed_rank(first, second, random_state=6)
    assert isinstance(found, RopeProbabilities)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: bayesian_correlated_t([1, 2], [1], 2, 1), "same length|second must be 1D"),
        (lambda: bayesian_correlated_t([1, 2], [1, 3], 2, 1, -1), "rope must be"),
        (lambda: bayesian_correlated_t([1, 2], [1, 3], 2, 0), "n_test"),
        (lambda: bayesian_correlated_t([1, math.nan], [1, 3], 2, 1), "first must be finite"),
        (lambda: bayesian_signed_rank([1], [2]), "at least two"),
        (lambda: bayesian_signed_rank([1, 2], [2, 3], math.nan), "rope must be"),
        (lambda: bayesian_signed_rank([1, 2], [2, 3], prior_strength=-1), "prior_strength"),
        (lambda: bayesian_signed_rank([1, 2], [2, 3], n_samples=0), "n_samples"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()

"""Intervals beside SciPy's, closed forms and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, binomtest, norm, t

from ceiba.inference import Interval, clopper_pearson, corrected_t_interval, t_interval, wilson

CONFIDENCE = st.floats(0.01, 0.999)
SOME = settings(deadline=None)


@SOME
@given(st.integers(1, 500), st.data(), CONFIDENCE)
def test_wilson_is_scipys_for_counts(n, data, confidence_level):
    successes = data.draw(st.integers(0, n))
    theirs = binomtest(successes, n).proportion_ci(confidence_level, method="wilson")
    mine = wilson(successes, n, confidence_level)
    assert mine.estimate == successes / n
    assert mine.lower == pytest.approx(theirs.low, rel=1e-9, abs=1e-12)
    assert mine.upper == pytest.approx(theirs.high, rel=1e-9, abs=1e-12)


@SOME
@given(st.floats(0.5, 1e6), st.floats(0.01, 0.99), CONFIDENCE)
def test_wilson_ends_solve_the_score_equation(n, share, confidence_level):
    found = wilson(share * n, n, confidence_level)
    z = norm.ppf(0.5 + confidence_level / 2)

    def score(p):
        return (share - p) - z * math.sqrt(p * (1 - p) / n)

    assert found.lower == pytest.approx(brentq(score, 1e-300, share, xtol=1e-14), abs=1e-9)
    assert found.upper == pytest.approx(
        1 - brentq(lambda q: (1 - share - q) - z * math.sqrt(q * (1 - q) / n), 0, 1 - share),
        abs=1e-9,
    )


def test_wilson_covers_and_stays_within_bounds():
    n, p = 40, 0.1
    counts = np.arange(n + 1)
    covers = [p in wilson(k, n, 0.95) for k in counts]
    assert 0.92 < binom.pmf(counts, n, p)[covers].sum() < 0.99
    assert wilson(0, n).lower == 0.0
    assert wilson(n, n).upper == 1.0
    assert wilson(2.5, 7.25).lower > 0


@SOME
@given(st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 6)), min_size=2), CONFIDENCE)
def test_t_interval_is_scipys(values, confidence_level):
    array = np.array(values)
    found = t_interval(array, confidence_level)
    error = array.std(ddof=1) / math.sqrt(len(array))
    half = error * t.ppf(0.5 + confidence_level / 2, len(array) - 1)
    low, high = array.mean() - half, array.mean() + half
    scale = np.abs(array).max()
    assert found.lower == pytest.approx(low, abs=1e-9 * scale)
    assert found.upper == pytest.approx(high, abs=1e-9 * scale)
    assert found.estimate == pytest.approx(array.mean(), abs=1e-12 * scale)


@pytest.mark.parametrize("scale", [1e-200, 1e-30, 1e200])
def test_t_interval_of_any_scale(scale):
    plain = t_interval([1.0, 2.0, 4.0])
    scaled = t_interval(np.array([1.0, 2.0, 4.0]) * scale)
    assert scaled.lower / scale == pytest.approx(plain.lower, rel=1e-12)
    assert scaled.upper / scale == pytest.approx(plain.upper, rel=1e-12)


@SOME
@given(st.integers(1, 500), st.data(), CONFIDENCE)
def test_clopper_pearson_is_scipys(n, data, confidence_level):
    successes = data.draw(st.integers(0, n))
    theirs = binomtest(successes, n).proportion_ci(confidence_level, method="exact")
    mine = clopper_pearson(successes, n, confidence_level)
    assert mine.lower == pytest.approx(theirs.low, rel=1e-9, abs=1e-12)
    assert mine.upper == pytest.approx(theirs.high, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("p", [0.01, 0.1, 0.37, 0.5])
def test_clopper_pearson_never_covers_less_than_its_confidence(p):
    counts = np.arange(31)
    covers = [p in clopper_pearson(k, 30) for k in counts]
    assert binom.pmf(counts, 30, p)[covers].sum() >= 0.95


@SOME
@given(
    st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 6)), min_size=2, max_size=30),
    st.integers(1, 1000),
    st.integers(1, 1000),
)
def test_corrected_t_interval_is_the_formula(values, n_train, n_test):
    found = corrected_t_interval(values, n_train, n_test)
    n = len(values)
    error = math.sqrt(np.var(values, ddof=1) * (1 / n + n_test / n_train))
    half = t.ppf(0.975, n - 1) * error
    scale = np.abs(values).max()
    assert found.upper - found.estimate == pytest.approx(half, rel=1e-9, abs=1e-9 * scale)
    assert found.estimate - found.lower == pytest.approx(half, rel=1e-9, abs=1e-9 * scale)
    assert found.lower <= t_interval(values).lower


def test_corrected_t_interval_keeps_its_width_with_many_splits():
    few, many = [0.8, 0.9] * 5, [0.8, 0.9] * 5000
    ends = [corrected_t_interval(values, 90, 10) for values in (few, many)]
    widths = [found.upper - found.lower for found in ends]
    # Student's interval has a thirtieth of the width.
    assert 0.5 < widths[1] / widths[0] < 0.7


def test_equal_values_have_no_width():
    assert corrected_t_interval([0.1, 0.1, 0.1], 2, 1) == Interval(0.1, 0.1, 0.1, 0.95)
    assert t_interval([3.0, 3.0, 3.0]) == Interval(3.0, 3.0, 3.0, 0.95)
    assert t_interval([0.0, 0.0]) == Interval(0.0, 0.0, 0.0, 0.95)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: wilson(1, 0), "positive"),
        (lambda: wilson(1, math.inf), "finite"),
        (lambda: wilson(-1, 5), "successes must be in"),
        (lambda: wilson(6, 5), "successes must be in"),
        (lambda: wilson(math.nan, 5), "successes must be in"),
        (lambda: wilson(1, 5, 1.0), "confidence"),
        (lambda: t_interval([1.0]), "at least two"),
        (lambda: t_interval([[1.0, 2.0]]), "must be 1D"),
        (lambda: t_interval([1.0, math.nan]), "finite"),
        (lambda: t_interval([1.0, 2.0], 0), "confidence"),
        (lambda: corrected_t_interval([1.0, 2.0], 0, 10), "n_train must be a positive"),
        (lambda: corrected_t_interval([1.0, 2.0], 10, math.nan), "n_test must be a positive"),
        (lambda: corrected_t_interval([1.0], 10, 1), "at least two"),
        (lambda: clopper_pearson(1.5, 3), "successes must be an int"),
        (lambda: clopper_pearson(0, 0), "n must be at least 1"),
        (lambda: clopper_pearson(4, 3), "successes must be in"),
        (lambda: clopper_pearson(math.nan, 3), "successes must be an int"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()

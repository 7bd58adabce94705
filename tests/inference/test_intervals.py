"""Intervals beside SciPy's, closed forms and coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binom, binomtest, norm, t

from ceiba.inference import Interval, t_interval, wilson

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


def test_equal_values_have_no_width():
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
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()

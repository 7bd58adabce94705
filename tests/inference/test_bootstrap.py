"""Bootstrap intervals beside SciPy's, and in the cases that it leaves as NaN."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import bootstrap

from ceiba.inference import Interval, bootstrap_interval
from tests.budget import examples

ROWS = np.random.default_rng(1).gamma(2.0, size=(40, 2))


def slope(rows):
    centered = rows - rows.mean(axis=0)
    return (centered[:, 0] * centered[:, 1]).sum() / (centered[:, 0] ** 2).sum()


@pytest.mark.parametrize(("mine", "theirs"), [("bca", "BCa"), ("percentile", "percentile")])
@pytest.mark.parametrize("statistic", [np.mean, np.median, np.std])
@pytest.mark.parametrize("confidence_level", [0.8, 0.99])
def test_same_draws_give_scipys_ends(mine, theirs, statistic, confidence_level):
    values = ROWS[:, 0]
    found = bootstrap_interval(values, statistic, mine, confidence_level, 500, random_state=7)
    expected = bootstrap(
        (values,), statistic, n_resamples=500, method=theirs, confidence_level=confidence_level,
        rng=np.random.default_rng(7),
    ).confidence_interval  # fmt: skip
    assert found.estimate == pytest.approx(statistic(values), rel=1e-14)
    assert found.lower == pytest.approx(expected.low, rel=1e-9)
    assert found.upper == pytest.approx(expected.high, rel=1e-9)


@pytest.mark.parametrize(("mine", "theirs"), [("bca", "BCa"), ("percentile", "percentile")])
def test_rows_of_several_columns_stay_together(mine, theirs):
    found = bootstrap_interval(ROWS, slope, mine, n_resamples=300)
    expected = bootstrap(
        (ROWS[:, 0], ROWS[:, 1]), lambda x, y: slope(np.column_stack([x, y])), paired=True,
        vectorized=False, n_resamples=300, method=theirs, rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high), rel=1e-9)


def test_a_statistic_without_axis_gives_the_same():
    plain = bootstrap_interval(ROWS[:, 0], lambda rows: rows.mean(), n_resamples=200)
    assert plain.lower == pytest.approx(bootstrap_interval(ROWS[:, 0], n_resamples=200).lower)


def test_draws_do_not_depend_on_blocks(monkeypatch):
    whole = bootstrap_interval(ROWS[:, 0], n_resamples=200)
    monkeypatch.setattr("ceiba.inference.bootstrap._BLOCK_ENTRIES", 130)
    assert bootstrap_interval(ROWS[:, 0], n_resamples=200) == whole


def test_groups_of_rows_estimate_the_same_acceleration(monkeypatch):
    values = np.random.default_rng(3).exponential(size=900)
    whole = bootstrap_interval(values, n_resamples=2000)
    monkeypatch.setattr("ceiba.inference.bootstrap._MAX_JACKKNIFE", 300)
    grouped = bootstrap_interval(values, n_resamples=2000)
    width = whole.upper - whole.lower
    assert grouped.lower == pytest.approx(whole.lower, abs=0.05 * width)
    assert grouped.upper == pytest.approx(whole.upper, abs=0.05 * width)


@pytest.mark.parametrize("method", ["bca", "percentile"])
def test_equal_values_have_no_width(method):
    assert bootstrap_interval([2.0] * 9, method=method) == Interval(2.0, 2.0, 2.0, 0.95)


def test_resamples_on_one_side_give_finite_ends():
    # The number of different values of a resample is nearly always smaller than that of the rows.
    found = bootstrap_interval(np.arange(30.0), lambda rows: float(len(np.unique(rows))))
    assert found.estimate == 30
    assert 0 < found.lower <= found.upper <= 30


def test_strong_bias_and_skewness_give_ordered_ends():
    def shifted_mean(rows):
        return rows.mean() - 5.0 * (len(np.unique(rows)) == 12)

    found = bootstrap_interval([*range(11), 1e6], shifted_mean, confidence_level=0.9999)
    assert np.isfinite([found.lower, found.upper]).all()
    assert found.lower <= found.upper


@examples(30)
@given(
    st.lists(st.integers(-50, 50), min_size=3, max_size=20),
    st.sampled_from(["bca", "percentile"]),
    st.integers(-3, 3),
)
def test_scale_and_order_of_ends(values, method, exponent):
    array = np.array(values, dtype=float)
    found = bootstrap_interval(array, method=method, n_resamples=100)
    scaled = bootstrap_interval(np.ldexp(array, exponent), method=method, n_resamples=100)
    assert array.min() <= found.lower <= found.upper <= array.max()
    assert np.ldexp(found.lower, exponent) == scaled.lower
    assert np.ldexp(found.upper, exponent) == scaled.upper


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([1.0],), "at least two rows"),
        (([1.0, np.nan],), "values must be finite"),
        (([1.0, 2.0], np.mean, "basic"), "method must be one of 'bca', 'percentile', got 'basic'"),
        (([1.0, 2.0], np.mean, "bca", 2.0), "confidence_level"),
        (([1.0, 2.0], np.mean, "bca", 0.9, 10), "n_resamples must be an int of at least 100"),
        (([1.0, 2.0], lambda rows: rows), "one number"),
        (([1.0, 2.0, 3.0], lambda rows: 1.0 if len(set(rows)) > 1 else np.nan), "lack a class"),
    ],
)
def test_refusals(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        bootstrap_interval(*arguments)

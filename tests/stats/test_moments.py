"""Moments beside exact arithmetic, at odd scales, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ceiba import KMeans
from ceiba.engine import Batch
from ceiba.stats import Moments, Points, PointSpace
from tests.budget import examples
from tests.oracles import kmeans_naive as naive
from tests.oracles.kmeans_tables import groups, matrices, ones

FIELDS = ("weight", "mean", "squares", "min", "max")


def moments(X, weight=None, threads=1):
    return Moments.of(Batch(Points(np.ascontiguousarray(X), weight), 0, threads))


def assert_exact(found, X, weight):
    """Equal to exact arithmetic, but for the rounding of sums of numbers of this size."""
    for j, (w, mean, squares, low, high) in enumerate(naive.moments(X.tolist(), ones(X, weight))):
        size = max(abs(low), abs(high))
        assert found.weight[j] == pytest.approx(w, rel=1e-13)
        assert found.mean[j] == pytest.approx(mean, rel=1e-13, abs=1e-13 * size)
        assert found.squares[j] == pytest.approx(
            squares, rel=1e-10, abs=1e-13 * w * (high - low) ** 2
        )
        assert (found.min[j], found.max[j]) == (low, high)


@examples(120)
@given(data=st.data(), missing=st.booleans(), single=st.booleans())
def test_moments_are_those_of_exact_arithmetic(data, missing, single):
    X = data.draw(matrices(missing=missing, whole=data.draw(st.booleans())))
    weight = None
    if data.draw(st.booleans()):
        some = st.one_of(st.integers(1, 3).map(float), st.floats(0.01, 100.0))
        weight = np.array(data.draw(st.lists(some, min_size=len(X), max_size=len(X))))
    X = X.astype(np.float32) if single else X
    found = moments(X, weight)
    assert_exact(found, X, weight)
    assert found.n_missing == np.isnan(X).sum()
    assert found.rows == (len(X),)


@pytest.mark.parametrize("scale", [1e-140, 1e-30, 1.0, 1e30, 1e140])
@pytest.mark.parametrize("shift", [0.0, 1e9])
def test_a_common_shift_and_scale_cost_no_digits(scale, shift):
    X = (groups(1, 200, 3, 2).round(6) + shift) * scale
    assert_exact(moments(X), X, None)


def test_a_column_of_equal_values_has_no_variance_at_all():
    X = np.full((5000, 2), 1e9 + 0.1)
    X[::7, 1] = np.nan
    weight = np.random.default_rng(0).exponential(size=5000)
    assert moments(X, weight).squares.tolist() == [0.0, 0.0]


@pytest.mark.parametrize(("middle", "spread"), [(1e155, 1e145), (-1e300, 0.0)])
def test_the_variance_far_from_zero_is_a_number(middle, spread):
    X = middle + spread * groups(2, 60, 2, 2)
    found = moments(X)
    assert np.isfinite(found.variance).all()
    assert_exact(found, X, None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_no_bit(dtype):
    X = groups(3, 20_000, 5, 3).astype(dtype)
    X[::11, 2] = np.nan
    weight = np.random.default_rng(1).exponential(size=len(X))
    one = moments(X, weight)
    for threads in (2, 3):
        other = moments(X, weight, threads)
        for name in FIELDS:
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
        assert other.n_missing == one.n_missing
    observed = ~np.isnan(X)
    total = np.where(observed, weight[:, None], 0.0).sum(axis=0)
    mean = np.where(observed, X * weight[:, None], 0.0).sum(axis=0, dtype=float) / total
    np.testing.assert_allclose(one.weight, total, rtol=1e-12)
    np.testing.assert_allclose(one.mean, mean, rtol=1e-6 if dtype == np.float32 else 1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("index", [(0, 0), (600, 1), (4999, 2)])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
def test_infinity_is_refused_with_its_index(index, value, dtype):
    X = groups(4, 5000, 3, 2).astype(dtype)
    X[index] = value
    with pytest.raises(ValueError, match=f"infinity: row {index[0]}, column {index[1]}"):
        moments(X)


def test_of_several_infinities_the_first_row_is_named():
    X = groups(4, 50, 3, 2)
    X[30, 0] = X[20, 2] = np.inf
    with pytest.raises(ValueError, match="row 20, column 2"):
        moments(X)


def test_a_row_of_infinity_is_named_as_the_user_counts():
    X = groups(5, 20, 3, 2)
    X[10, 1] = np.inf
    weight = np.where(np.arange(20) < 5, 0.0, 1.0)
    with pytest.raises(ValueError, match="row 10, column 'x1'"):
        KMeans(2).fit(X, sample_weight=weight)


def test_a_column_without_a_value_has_no_weight():
    X = groups(6, 10, 3, 2)
    X[:, 1] = np.nan
    found = moments(X)
    assert (found.weight > 0).tolist() == [True, False, True]
    assert (found.min[1], found.max[1]) == (np.inf, -np.inf)


@pytest.mark.parametrize("scale", [1e-160, 1e101, 1e300])
def test_differences_whose_squares_cannot_be_held_have_no_space(scale):
    with pytest.raises(ValueError, match="rescale X"):
        PointSpace.of(moments(np.array([[0.0], [scale]])))

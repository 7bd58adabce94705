"""Thresholds without classes: equal width, equal frequency, k-means."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.preprocessing import KBinsDiscretizer

from ceiba import Discretizer, datasets

METHODS = ("equal_width", "equal_frequency", "kmeans")


def thresholds(x, method, n_bins=5, **options):
    model = Discretizer(method, n_bins=n_bins, n_jobs=1)
    return model.fit(np.asarray(x)[:, None], **options).thresholds_["x0"].tolist()


def test_equal_width():
    assert thresholds([0.0, 1.0, 10.0], "equal_width") == [2.0, 4.0, 6.0, 8.0]
    assert thresholds([0, 1, 10], "equal_width", 3) == pytest.approx([10 / 3, 20 / 3])
    assert thresholds([7.0, 7.0], "equal_width") == []


def test_equal_frequency():
    assert thresholds(np.arange(10.0), "equal_frequency") == [1.5, 3.5, 5.5, 7.5]
    # A value that is half of all rows takes two of four intervals.
    assert thresholds([1, 2, 2, 3], "equal_frequency", 4) == [1.5, 2.5]
    assert thresholds([1, 9, 9, 9], "equal_frequency", 4) == [5.0]


def test_equal_frequency_of_weights():
    found = thresholds([1.0, 2.0, 3.0], "equal_frequency", 2, sample_weight=[5.0, 1.0, 1.0])
    assert found == [1.5]


@pytest.mark.parametrize("n_bins", [2, 3, 5])
@pytest.mark.parametrize(("method", "strategy"), [("equal_width", "uniform"), ("kmeans", "kmeans")])
def test_edges_of_scikit_learn(method, strategy, n_bins):
    X = np.asarray(datasets.load("iris").table)
    expected = KBinsDiscretizer(n_bins, encode="ordinal", strategy=strategy).fit(X)
    found = Discretizer(method, n_bins=n_bins).fit(X)
    for own, edges in zip(found.thresholds_.values(), expected.bin_edges_, strict=True):
        np.testing.assert_allclose(own, edges[1:-1], rtol=1e-12)
    if method == "kmeans":
        np.testing.assert_array_equal(found.transform(X), expected.transform(X))


def test_weights_move_the_centers_of_kmeans():
    x = [0.0, 1.0, 2.0, 10.0, 11.0]
    assert thresholds(x, "kmeans", 2) == [5.75]
    assert thresholds(x, "kmeans", 2, sample_weight=[1, 1, 10, 1, 1]) == pytest.approx([6.125])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1.7e308])
def test_any_scale_of_floats(method, scale):
    x = np.array([-1.0, -0.9, 0.0, 0.9, 1.0])
    model = Discretizer(method, n_bins=3).fit(x[:, None] * scale)
    expected = [0.0, 0.0, 1.0, 2.0, 2.0] if method != "equal_frequency" else [0, 0, 1, 1, 2]
    assert model.transform(x[:, None] * scale)[:, 0].tolist() == expected


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers(method, dtype):
    x = np.array([2**62, 2**62 + 1, 2**62 + 8, 2**62 + 9], dtype)[:, None]
    model = Discretizer(method, n_bins=2).fit(x)
    assert model.transform(x)[:, 0].tolist() == [0, 0, 1, 1]
    assert model.thresholds_["x0"].dtype == dtype


def test_the_whole_range_of_integers():
    x = np.array([-(2**63), -1, 0, 2**63 - 1])[:, None]
    for method in ("equal_width", "equal_frequency"):
        codes = Discretizer(method, n_bins=2).fit_transform(x)[:, 0]
        assert codes.tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("method", ["equal_width", "kmeans"])
def test_infinity_is_refused(method):
    with pytest.raises(ValueError, match=r"X contains infinity in column 'x0', which method="):
        Discretizer(method).fit([[1.0], [np.inf]])


def test_infinity_has_a_rank():
    assert thresholds([-np.inf, 1.0, np.inf], "equal_frequency", 3) == [1.0, np.inf]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
    st.sampled_from(METHODS),
    st.integers(2, 6),
)
def test_thresholds_separate_values(x, method, n_bins):
    found = thresholds(x, method, n_bins)
    assert len(found) < n_bins
    assert found == sorted(set(found))
    assert all(min(x) < t <= max(x) for t in found)
    if method != "equal_width":
        codes = np.searchsorted(found, x, side="right")
        assert set(codes.tolist()) == set(range(len(found) + 1))


@given(st.lists(st.integers(0, 50), min_size=10, max_size=60, unique=True), st.integers(2, 5))
def test_intervals_of_distinct_values_have_equal_frequency(x, n_bins):
    counts = np.bincount(np.searchsorted(thresholds(x, "equal_frequency", n_bins), x, side="right"))
    assert len(counts) == n_bins
    assert counts.max() - counts.min() <= 1

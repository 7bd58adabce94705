"""Validity indices against scikit-learn and loops, and edge cases."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import nan_euclidean_distances

from ceiba.cluster.selection.silhouette import (
    sample_rows,
    silhouette_estimate,
    silhouette_samples,
    silhouette_score,
)
from ceiba.cluster.selection.validity import (
    calinski_harabasz_score,
    davies_bouldin_score,
    inertia_score,
    nearest_centers,
    squared_distances,
)
from tests.budget import examples
from tests.oracles import validity_oracle as oracle

INDICES = [silhouette_score, calinski_harabasz_score, davies_bouldin_score]


def blobs(n=300, d=4, k=4, seed=0, missing=0.0):
    X, y = make_blobs(n, d, centers=k, cluster_std=3.0, random_state=seed)
    if missing:
        X[np.random.default_rng(seed).random(X.shape) < missing] = np.nan
    return X, y


@pytest.mark.parametrize(("n", "d", "k"), [(3, 1, 2), (50, 1, 3), (300, 4, 4), (1500, 20, 7)])
@pytest.mark.parametrize("index", INDICES)
def test_index_matches_scikit_learn(index, n, d, k):
    X, y = blobs(n, d, k)
    expected = getattr(metrics, index.__name__)(X, y)
    assert index(X, y) == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_silhouette_samples_match_scikit_learn():
    X, y = blobs(700, 5, 6)
    y[:1] = 99  # alone
    ours = silhouette_samples(X, y)
    np.testing.assert_allclose(ours, metrics.silhouette_samples(X, y), atol=1e-10)
    assert ours[0] == 0.0


def test_labels_may_be_strings():
    X, y = blobs()
    words = np.array(["oak", "elm", "fir", "yew"])[y]
    for index in [*INDICES, inertia_score]:
        assert index(X, words) == pytest.approx(index(X, y), rel=1e-12)


cells = st.sampled_from([0.0, 1.0, 2.0, 5.0, -3.5, np.nan])


@st.composite
def labeled_tables(draw):
    n, d = draw(st.integers(3, 9)), draw(st.integers(1, 4))
    rows = draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n))
    labels = draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))
    assume(2 <= len(set(labels)) < n)
    return rows, labels


@examples(150)
@given(labeled_tables(), st.sampled_from([1.0, 1e-30, 2.0**500]))
@example(([[1.0], [1.0], [1.0], [1.0], [1.0], [5.0]], [0, 0, 0, 1, 1, 2]), 1.0)
def test_indices_match_the_naive_ones(table, unit):
    rows, labels = table
    X = np.array(rows) * unit
    np.testing.assert_allclose(
        silhouette_samples(X, labels), oracle.silhouette(rows, labels), atol=1e-10
    )
    overlap = oracle.davies_bouldin(rows, labels)
    ours = davies_bouldin_score(X, labels)
    # Centers that should coincide differ by rounding: the index is infinite or nearly so.
    assert ours == pytest.approx(overlap, rel=1e-9, abs=1e-9) or min(ours, overlap) > 1e12
    ratio = oracle.calinski_harabasz(rows, labels)
    if ratio < 1e12:
        assert calinski_harabasz_score(X, labels) == pytest.approx(ratio, rel=1e-9, abs=1e-9)


@examples(100)
@given(labeled_tables(), st.sampled_from([1.0, 1e-30, 2.0**400]))
def test_inertia_matches_the_naive_one(table, unit):
    rows, labels = table
    expected = oracle.inertia(rows, labels) * unit**2
    assert inertia_score(np.array(rows) * unit, labels) == pytest.approx(
        expected, rel=1e-9, abs=1e-12 * unit**2
    )


@pytest.mark.parametrize("index", INDICES)
def test_index_is_shift_invariant(index):
    X, y = blobs()
    X = np.round(X * 64) / 64  # the shift below then loses no digit
    assert index(X + 2.0**30, y) == pytest.approx(index(X, y), rel=1e-10)
    assert index(X * 1e200, y) == pytest.approx(index(X, y), rel=1e-10)


@pytest.mark.parametrize("index", INDICES)
def test_too_few_or_too_many_clusters_raise(index):
    X, _ = blobs(10)
    with pytest.raises(ValueError, match="Number of labels is 1"):
        index(X, np.zeros(10))
    with pytest.raises(ValueError, match="Number of labels is 10"):
        index(X, np.arange(10))


def test_wrong_labels_and_infinity_raise():
    X, y = blobs(10)
    with pytest.raises(ValueError, match=r"shape \(10,\)"):
        silhouette_score(X, y[:9])
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match="row 3"):
        silhouette_score(X, y)


def test_perfect_and_coincident_clusters_have_extreme_indices():
    X = np.array([[0.0, 1.0], [0.0, 1.0], [4.0, 4.0], [4.0, 4.0]])
    assert calinski_harabasz_score(X, [0, 0, 1, 1]) == np.inf
    assert davies_bouldin_score(X, [0, 0, 1, 1]) == 0.0
    assert silhouette_score(X, [0, 0, 1, 1]) == 1.0
    assert davies_bouldin_score(X, [0, 1, 1, 0]) == np.inf
    with pytest.raises(ValueError, match="got equal rows"):
        calinski_harabasz_score(np.ones((4, 2)), [0, 0, 1, 1])
    assert silhouette_score(np.ones((4, 2)), [0, 0, 1, 1]) == 0.0


def test_overflowing_inertia_raises():
    with pytest.raises(ValueError, match="overflows"):
        inertia_score([[1e200], [-1e200]], [0, 0])


def test_pairs_without_shared_columns_are_left_out():
    nan = np.nan
    X = np.array([[0.0, nan], [1.0, nan], [nan, 5.0], [9.0, 6.0], [nan, nan]])
    labels = [0, 0, 0, 1, 1]
    expected = oracle.silhouette(X.tolist(), labels)
    np.testing.assert_allclose(silhouette_samples(X, labels), expected, atol=1e-12)
    assert silhouette_samples(X, labels)[4] == 0.0


def test_nominal_columns_count_as_indicators():
    X, y = blobs(60, 2, 3)
    color = np.array(["red", "blue", None], dtype=object)[np.arange(60) % 3]
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "color": color})
    root = np.sqrt(0.5)
    blue, red = np.array([[0, root], [root, 0], [np.nan, np.nan]])[np.arange(60) % 3].T
    encoded = np.column_stack([X, blue, red])
    for index in [*INDICES, inertia_score]:
        assert index(frame, y) == pytest.approx(index(encoded, y), rel=1e-12)


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_threads_change_no_bit(missing):
    X, y = blobs(2000, 5, 4, missing=missing)
    one, two, three = (silhouette_samples(X, y, n_jobs=n) for n in (1, 2, 3))
    np.testing.assert_array_equal(one, two)
    np.testing.assert_array_equal(one, three)


def test_memory_does_not_grow_quadratically():
    X, y = blobs(4000, 2, 3)
    tracemalloc.start()
    silhouette_samples(X, y, n_jobs=1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4000 * 4000 * 8 / 8


def test_sampled_silhouette_is_the_mean_of_exact_values():
    X, y = blobs(900, 3, 4, missing=0.1)
    exact = silhouette_samples(X, y)
    found = silhouette_estimate(X, y, sample_size=200, random_state=5)
    chosen = exact[sample_rows(900, 200, 5)]
    assert found.n_rows == 200
    assert found.score == pytest.approx(chosen.mean(), abs=1e-12)
    expected = chosen.std(ddof=1) / np.sqrt(200) * np.sqrt(1 - 200 / 900)
    assert found.standard_error == pytest.approx(expected, rel=1e-12)


def test_standard_error_covers_the_exact_value():
    X, y = blobs(600, 3, 4)
    exact = silhouette_score(X, y)
    found = [silhouette_estimate(X, y, sample_size=60, random_state=s) for s in range(60)]
    z = np.array([(one.score - exact) / one.standard_error for one in found])
    assert len(np.unique(z)) == 60
    assert np.mean(np.abs(z) < 2) > 0.85
    assert abs(z.mean()) < 0.6


def test_sample_of_all_rows_is_exact():
    X, y = blobs(100)
    assert silhouette_estimate(X, y, sample_size=100) == silhouette_estimate(X, y, sample_size=None)
    assert silhouette_estimate(X, y, sample_size=100).standard_error == 0.0
    with pytest.raises(ValueError, match=r"sample_size must be .* got 1"):
        silhouette_score(X, y, sample_size=1)


def test_partial_distances_match_scikit_learn():
    X, _ = blobs(200, 6, missing=0.3)
    ours = squared_distances(X[:50], X)
    np.testing.assert_allclose(
        np.sqrt(ours), nan_euclidean_distances(X[:50], X), atol=1e-6, equal_nan=True
    )


def test_close_rows_with_missing_values_keep_their_digits():
    A = np.array([[1e8, np.nan, 0.1], [3e8, 7.0, 0.3]])
    B = np.array([[np.nan, 5.0, 0.1 + 1e-7], [2e8, np.nan, 0.3]])
    expected = [[oracle.distance(a, b) for b in B.tolist()] for a in A.tolist()]
    np.testing.assert_allclose(np.sqrt(squared_distances(A, B)), expected, rtol=1e-12)


def test_nearest_center_ignores_missing_values():
    centers = np.array([[0.0, 0.0], [10.0, 10.0]])
    rows = np.array([[np.nan, 9.0], [1.0, np.nan], [np.nan, np.nan], [5.0, 5.0]])
    assert nearest_centers(rows, centers).tolist() == [1, 0, 0, 0]

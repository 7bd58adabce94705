"""Initial centers of k-means against a naive draw, and relocation of empty clusters."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster import kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import nan_euclidean_distances

import ceiba
from ceiba.cluster import EmptyClusterWarning, KMeans
from tests.oracles import kmeans_naive as naive
from tests.oracles.kmeans_frames import assert_frames
from tests.oracles.kmeans_tables import groups

# Initialization


@pytest.mark.parametrize("seed", [0, 1, 2**63 + 5])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("k", [1, 2, 7])
def test_initial_centers_match_the_naive_draw(k, missing, seed):
    X = groups(seed % 7, 60, 3, 5)
    if missing:
        X[::5, 0] = X[1::6, 2] = np.nan
    weight = np.random.default_rng(seed % 11).exponential(size=60)
    for init, draw in (("k-means++", naive.kmeans_plusplus), ("random", naive.random_rows)):
        model = KMeans(k, init=init, n_init=1, max_iter=1, trace=True, random_state=seed)
        model.fit(X, sample_weight=weight)
        expected = draw(X.tolist(), weight.tolist(), k, seed)
        np.testing.assert_allclose(model.trace_[0]["centers"], expected, rtol=1e-12, atol=1e-12)


def test_runs_draw_different_centers_and_the_best_is_kept():
    X = groups(11, 60, 2, 6)
    model = KMeans(6, init="random", n_init=4, tol=0).fit(X)
    rows, weights = X.tolist(), [1.0] * 60
    starts = [naive.random_rows(rows, weights, 6, 0, run) for run in range(4)]
    ends = [naive.lloyd(rows, weights, start, 0.0, 300)[1] for start in starts]
    inertias = [naive.inertia(rows, weights, end) for end in ends]
    assert len({round(inertia, 6) for inertia in inertias}) > 1
    assert model.inertia_ == pytest.approx(min(inertias), rel=1e-9)


def test_initial_inertia_is_as_good_as_scikit_learns():
    X = groups(12, 1500, 4, 15, spread=0.6)
    ours, theirs = [], []
    for seed in range(30):
        first = KMeans(15, max_iter=1, trace=True, random_state=seed).fit(X).trace_[0]
        ours.append(first["inertia"])
        centers, _ = kmeans_plusplus(X, 15, random_state=seed)
        theirs.append((nan_euclidean_distances(X, centers).min(axis=1) ** 2).sum())
    assert np.mean(ours) <= 1.05 * np.mean(theirs)
    assert np.std(ours) > 0


# Empty clusters


def test_empty_cluster_is_relocated_with_a_warning():
    X = groups(16, 200, 2, 5)
    centers = np.vstack([X[:3], [[500.0, 500.0], [600.0, -900.0]]])
    with pytest.warns(EmptyClusterWarning, match="empty cluster"):
        model = KMeans(5, init=centers, trace=True).fit(X)
    assert model.n_relocations_ == 2
    assert len(set(model.labels_)) == 5
    assert np.abs(model.cluster_centers_).max() < 20
    assert_frames(model, X, None)


def test_empty_cluster_is_relocated_to_the_same_row_in_chunks(tmp_path):
    pd = pytest.importorskip("pandas")
    X = groups(16, 200, 2, 5)
    frame = pd.DataFrame(X, columns=["a", "b"])
    for part in range(3):
        frame.iloc[part * 70 : part * 70 + 70].to_parquet(tmp_path / f"{part}.parquet")
    centers = np.vstack([X[:3], [[500.0, 500.0], [600.0, -900.0]]])
    with pytest.warns(EmptyClusterWarning):
        whole = KMeans(5, init=centers).fit(frame)
    with pytest.warns(EmptyClusterWarning):
        parts = KMeans(5, init=centers).fit(ceiba.scan(str(tmp_path / "*.parquet")))
    np.testing.assert_allclose(parts.cluster_centers_, whole.cluster_centers_, rtol=1e-9)
    assert parts.n_relocations_ == whole.n_relocations_ == 2


LEFT = np.concatenate([np.full(20, -1.5), [-1.0, 1.0], np.full(20, 1.5)])[:, None] + 0.3


@pytest.mark.parametrize("pair", [(1.0, 1.0), (0.1, 0.2), (0.7, 0.6)])
def test_cluster_that_becomes_empty_is_relocated_for_any_weights(pair):
    weight = np.full(42, 0.1)
    weight[20:22] = pair
    model = KMeans(3, init=np.array([[-2.2], [0.3], [2.8]]), trace=True)
    with pytest.warns(EmptyClusterWarning):
        model.fit(LEFT, sample_weight=weight)
    assert model.trace_[1]["counts"][1] == 0
    assert set(model.labels_) == {0, 1, 2}
    assert_frames(model, LEFT, weight)


def test_fewer_distinct_rows_than_clusters_warn():
    X = np.repeat([[0.0, 1.0], [5.0, 5.0]], 10, axis=0)
    for init in ("k-means++", "random", np.array([[0.0, 0.0], [1.0, 1.0], [9.0, 9.0], [8.0, 8.0]])):
        with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(2\)"):
            model = KMeans(4, init=init).fit(X)
        assert np.isfinite(model.cluster_centers_).all()
        assert model.inertia_ == pytest.approx(0.0, abs=1e-20)
        assert len(set(model.labels_)) == 2


def test_relocation_leaves_no_rounding_in_unobserved_columns():
    """Several rows leave a cluster; a column that only they had keeps its coordinate."""
    X = np.full((12, 2), np.nan)
    X[:, 0] = [*np.linspace(-0.1, 0.1, 9), 50.0, 60.0, 0.0]
    X[9:11, 1] = [7.0, 9.0]
    weight = np.full(12, 1.0)
    weight[9:11] = [0.1, 0.2]
    centers = np.array([[0.0, 8.0], [1e4, 1e4], [2e4, 2e4]])
    with pytest.warns(EmptyClusterWarning):
        model = KMeans(3, init=centers, max_iter=1).fit(X, sample_weight=weight)
    assert model.n_relocations_ == 2
    assert model.cluster_centers_[0, 1] == pytest.approx(8.0)


def test_function_of_another_signature_raises():
    with pytest.raises(TypeError, match=r"init must be a function .* got <built-in function len>"):
        KMeans(2, init=len).fit(np.eye(4))
    with pytest.raises(TypeError, match=r"called as init\(X, n_clusters, random_state=...\)"):
        KMeans(2, init=lambda X: X[:2]).fit(np.eye(4))


@pytest.mark.parametrize("result", ["centers", None, [["a", "b"]]])
def test_function_that_returns_no_centers_raises(result):
    with pytest.raises(ValueError, match="initial centers"):
        KMeans(2, init=lambda X, k, random_state: result).fit(np.eye(4))

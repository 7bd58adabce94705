"""Fits of k-means against loops and scikit-learn."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from threadpoolctl import threadpool_limits

import ceiba
from ceiba.cluster import KMeans
from tests.budget import examples
from tests.oracles import kmeans_naive as naive
from tests.oracles.kmeans_frames import assert_frames
from tests.oracles.kmeans_tables import groups, ones, problems

TABLES = {
    "iris": lambda: load_iris(return_X_y=True)[0],
    "wine": lambda: load_wine(return_X_y=True)[0],
    "breast cancer": lambda: load_breast_cancer(return_X_y=True)[0],
    "digits": lambda: load_digits(return_X_y=True)[0],
    "groups": lambda: groups(1, 3000, 8, 12),
    "noise": lambda: np.random.default_rng(2).normal(size=(500, 3)),
    "far away": lambda: groups(3, 400, 4, 5) + 1e6,
}


@pytest.fixture(params=TABLES)
def table(request):
    return TABLES[request.param]()


@pytest.fixture(autouse=True)
def one_thread():
    """Limit small problems to one thread."""
    with threadpool_limits(1):
        yield


def some_rows(X, k, seed=0):
    return X[np.random.default_rng(seed).choice(len(X), size=k, replace=False)]


# Against loops


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("k", [1, 2, 5, 13, 40])
def test_every_iteration_matches_the_naive_one(k, weighted):
    X = groups(k, 40, 3, 4)
    weight = np.random.default_rng(1).exponential(size=40) if weighted else None
    model = KMeans(k, trace=True, init="random", n_init=1, tol=0).fit(X, sample_weight=weight)
    assert_frames(model, X, weight)
    assert [frame.step for frame in model.trace_] == list(range(1, len(model.trace_) + 1))
    assert model.labels_.tolist() == naive.labels(X.tolist(), model.cluster_centers_.tolist())


@pytest.mark.parametrize("tol", [0.0, 1e-4, 1e-2, 0.5])
@pytest.mark.parametrize("seed", range(4))
def test_fit_matches_the_naive_one(seed, tol):
    X = groups(seed, 80, 3, 5, spread=2.0)
    weight = np.random.default_rng(seed).exponential(size=80)
    centers = some_rows(X, 6, seed)
    model = KMeans(6, init=centers, tol=tol, trace=True).fit(X, sample_weight=weight)
    rows, weights = X.tolist(), weight.tolist()
    limit = naive.tolerance(rows, weights, tol)
    frames, last = naive.lloyd(rows, weights, centers.tolist(), limit, 300)
    assert model.n_iter_ == len(frames)
    for frame, expected in zip(model.trace_[: len(frames)], frames, strict=True):
        np.testing.assert_allclose(frame["centers"], expected["centers"], rtol=1e-9, atol=1e-9)
        assert frame["inertia"] == pytest.approx(expected["inertia"], rel=1e-12)
        assert frame["moved"] == expected["moved"]
    np.testing.assert_allclose(model.cluster_centers_, last, rtol=1e-9, atol=1e-9)
    assert model.inertia_ == pytest.approx(naive.inertia(rows, weights, last), rel=1e-9)


@examples(60)
@given(problem=problems(whole=True), single=st.booleans())
def test_fits_with_many_ties_are_valid(problem, single):
    """Rounding may break a tie between iterations, never within one: each is checked alone."""
    X, weight, centers = problem
    if weight is None or np.count_nonzero(weight) >= len(centers) <= len(X):
        centers = centers[: len(X)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = KMeans(len(centers), init=centers, trace=True, max_iter=6)
            model.fit(X.astype(np.float32) if single else X, sample_weight=weight)
        check_valid(model, X, weight)


def check_valid(model, X, weight):
    assert np.isfinite(model.cluster_centers_).all()
    inertias = [frame["inertia"] for frame in model.trace_]
    room = 1e-6 * (inertias[0] + np.abs(X).max() ** 2)
    assert all(b <= a + room for a, b in pairwise(inertias))
    centers = model.cluster_centers_.astype(float).tolist()
    best = naive.inertia(X.tolist(), ones(X, weight), centers)
    assert model.inertia_ == pytest.approx(best, rel=1e-5, abs=room)
    for row, label in zip(X.tolist(), model.labels_, strict=True):
        squares = [naive.squared(row, center) for center in centers]
        assert squares[label] <= min(squares) * (1 + 1e-6) + 1e-9


# Against scikit-learn


@pytest.mark.parametrize("k", [3, 20])
def test_float64_fit_matches_scikit_learn(table, k):
    centers = some_rows(table, k)
    ours = KMeans(k, init=centers).fit(table)
    theirs = SklearnKMeans(k, init=centers, n_init=1).fit(table)
    size = np.abs(table - table.mean(axis=0)).max()
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, 1e-9, 1e-9 * size)
    np.testing.assert_array_equal(ours.labels_, theirs.labels_)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
    assert ours.n_iter_ == theirs.n_iter_
    np.testing.assert_array_equal(ours.predict(table), theirs.predict(table))
    centers = ours.cluster_centers_
    distances = np.array([np.linalg.norm(table - center, axis=1) for center in centers]).T
    np.testing.assert_allclose(ours.transform(table), distances, rtol=1e-9, atol=1e-12 * size)
    assert ours.score(table) == pytest.approx(theirs.score(table), rel=1e-9)


@pytest.mark.parametrize("k", [10])
def test_float32_fit_matches_scikit_learn(table, k):
    X = (table - table.mean(axis=0)).astype(np.float32)
    centers = some_rows(X, k)
    ours = KMeans(k, init=centers).fit(X)
    theirs = SklearnKMeans(k, init=centers, n_init=1).fit(X.astype(float))
    assert ours.cluster_centers_.dtype == ours.transform(X).dtype == np.float32
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-4)
    size = np.abs(X).max()
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, 1e-4, 1e-4 * size)


def test_weighted_fit_matches_scikit_learn():
    X = groups(7, 600, 5, 6, spread=3.0)
    weight = np.random.default_rng(3).exponential(size=600)
    centers = some_rows(X, 6)
    ours = KMeans(6, init=centers, tol=0).fit(X, sample_weight=weight)
    theirs = SklearnKMeans(6, init=centers, n_init=1, tol=0).fit(X, sample_weight=weight)
    np.testing.assert_allclose(ours.cluster_centers_, theirs.cluster_centers_, rtol=1e-9)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-9)
    assert ours.n_iter_ == theirs.n_iter_


# Trace


def test_traced_inertia_never_rises_and_ends_at_the_model():
    X = groups(8, 500, 4, 6, spread=2.0)
    model = KMeans(9, init="random", n_init=1, trace=True, tol=0).fit(X)
    inertias = [frame["inertia"] for frame in model.trace_]
    assert all(b <= a * (1 + 1e-12) for a, b in pairwise(inertias))
    assert model.n_iter_ > 3
    np.testing.assert_array_equal(model.trace_[-1]["centers"], model.cluster_centers_)
    assert model.inertia_ == pytest.approx(inertias[-1], rel=1e-12)
    assert set(model.trace_[0].values) == {"centers", "counts", "inertia", "moved"}


def test_no_trace_by_default():
    X = groups(8, 60, 2, 3)
    model = KMeans(3, trace=True).fit(X)
    assert len(model.trace_) >= model.n_iter_
    assert not hasattr(model.set_params(trace=False).fit(X), "trace_")
    untraced = KMeans(3).fit(X)
    assert not hasattr(untraced, "trace_")
    np.testing.assert_array_equal(untraced.cluster_centers_, model.cluster_centers_)


@pytest.mark.parametrize("seed", range(4))
def test_first_iteration_of_the_best_run_moves_every_row(seed):
    """Rows have no cluster before the first iteration of any run."""
    X = groups(9, 200, 3, 5, spread=3.0)
    model = KMeans(5, init="random", n_init=5, trace=True, random_state=seed).fit(X)
    assert model.trace_[0]["moved"] == 200
    assert_frames(model, X, None)


@pytest.mark.parametrize("missing", [False, True])
def test_trace_of_chunks_equals_trace_in_memory(tmp_path, missing):
    pd = pytest.importorskip("pandas")
    X = groups(10, 3000, 3, 4, spread=2.0)
    if missing:
        X[::7, 1] = np.nan
    frame = pd.DataFrame(X, columns=[*"abc"])
    for part in range(3):
        frame.iloc[part * 1000 : part * 1000 + 1000].to_parquet(tmp_path / f"{part}.parquet")
    model = KMeans(5, trace=True, tol=0, max_iter=12)
    whole = list(model.fit(frame).trace_)
    parts = list(model.fit(ceiba.scan(str(tmp_path / "*.parquet"))).trace_)
    assert len(whole) == len(parts)
    for one, other in zip(whole, parts, strict=True):
        assert one["moved"] == other["moved"]
        assert one["inertia"] == pytest.approx(other["inertia"], rel=1e-12)
        np.testing.assert_array_equal(one["counts"], other["counts"])
        np.testing.assert_allclose(one["centers"], other["centers"], rtol=1e-9, atol=1e-9)


# Weights


def test_weight_is_equivalent_to_repeated_rows():
    """Draws are keyed by row, so models may differ; their quality must not."""
    X = groups(13, 120, 2, 7, spread=1.5)
    times = np.random.default_rng(4).integers(0, 4, size=120)
    weighted, repeated = [], []
    for seed in range(60):
        model = KMeans(7, random_state=seed)
        weighted.append(model.fit(X, sample_weight=times).inertia_)
        repeated.append(model.fit(np.repeat(X, times, axis=0)).inertia_)
    assert ks_2samp(weighted, repeated).pvalue > 0.01
    error = np.hypot(np.std(weighted), np.std(repeated)) / np.sqrt(60)
    assert abs(np.mean(weighted) - np.mean(repeated)) < 3 * error
    # From the same centers the fits are deterministic.
    given = KMeans(7, init=X[:7], tol=0)
    one = given.fit(X, sample_weight=times).cluster_centers_.copy()
    other = given.fit(np.repeat(X, times, axis=0)).cluster_centers_
    np.testing.assert_allclose(one, other, rtol=1e-9)


@pytest.mark.parametrize("n", [300, 12_000])
def test_rows_of_weight_zero_are_ignored_bit_for_bit(n):
    X = groups(14, n, 3, 4, spread=2.0)
    weight = np.random.default_rng(5).integers(0, 3, size=n) / 10
    there = weight > 0
    model = KMeans(6)
    model.fit(X, sample_weight=weight)
    whole = (model.cluster_centers_.copy(), model.labels_[there], model.n_iter_, model.inertia_)
    model.fit(X[there], sample_weight=weight[there])
    part = (model.cluster_centers_, model.labels_, model.n_iter_, model.inertia_)
    for one, other in zip(whole, part, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_rows_of_weight_zero_may_have_any_value(value):
    X = groups(15, 60, 3, 3)
    odd = np.vstack([X, np.full((1, 3), value), [[value, 0.0, 0.0]]])
    model = KMeans(3).fit(X)
    centers, inertia = model.cluster_centers_.copy(), model.inertia_
    model.fit(odd, sample_weight=np.r_[np.ones(60), 0.0, 0.0])
    np.testing.assert_array_equal(model.cluster_centers_, centers)
    assert model.inertia_ == inertia
    assert len(model.labels_) == 62


def test_rows_of_weight_zero_have_their_predicted_label():
    X = groups(18, 200, 3, 4)
    weight = np.random.default_rng(8).integers(0, 2, size=200).astype(float)
    for rows in (
        X,
        X.astype(np.float32),
        np.where(np.arange(200)[:, None] % 5 > 0, X, [[np.nan, 1, 2]]),
    ):
        model = KMeans(4).fit(rows, sample_weight=weight)
        np.testing.assert_array_equal(model.labels_, model.predict(rows))

"""Learners of nearest neighbors give scikit-learn's results on tables of numbers."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.neighbors as peers
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from ceiba import KNeighborsClassifier, KNeighborsRegressor, NearestNeighbors
from ceiba._typing import Array
from ceiba.neighbors import METRICS
from tests.budget import first_of

BOOLEAN = ("jaccard", "dice", "rogerstanimoto", "sokalmichener", "russellrao", "sokalsneath",
           "yule")  # fmt: skip
# Removed from scikit-learn; the same formula as rogerstanimoto.
PEER_METRICS = [metric for metric in METRICS if metric != "sokalmichener"]
K = 7


@cache
def numbers(metric: str) -> tuple[Array, Array, Array, Array]:
    """Return training rows, queries, labels and numbers, such that few distances are equal."""
    rng = np.random.default_rng(5)
    d = {"haversine": 2}.get(metric, 60 if metric in (*BOOLEAN, "hamming") else 5)
    X, Q = rng.random((150, d)), rng.random((25, d))
    if metric in (*BOOLEAN, "hamming"):
        X, Q = X > 0.6, Q > 0.6
    score = X[:, 0] * 2 + X[:, 1]
    return X, Q, np.digitize(score, [0.8, 1.7]), score + rng.normal(size=150)


def options(metric: str, X: Array) -> dict[str, Any]:
    """Return the parameters of a metric."""
    own: dict[str, Any] = {"metric": metric}
    if metric == "seuclidean":
        own["metric_params"] = {"V": X.var(axis=0, ddof=1)}
    elif metric == "mahalanobis":
        own["metric_params"] = {"VI": np.linalg.inv(np.cov(X.T))}
    elif metric in ("minkowski", "p"):
        own["p"] = 3
    return own


def peer_options(metric: str, X: Array) -> dict[str, Any]:
    """Return the same parameters by the names that scikit-learn's brute force accepts."""
    names = {"p": "minkowski", "infinity": "chebyshev"}
    return {**options(metric, X), "metric": names.get(metric, metric), "algorithm": "brute"}


def as_bool(metric: str, X: Array) -> Array:
    return X if metric in BOOLEAN else X.astype(float)


def without_ties(distances: Array) -> Array:
    """Return which queries have a k-th neighbor that is nearer than the next one."""
    return distances[:, K] - distances[:, K - 1] > 1e-9


@pytest.mark.parametrize("metric", PEER_METRICS)
def test_neighbors(metric: str) -> None:
    X, Q, _, _ = numbers(metric)
    peer = peers.NearestNeighbors(n_neighbors=K, **peer_options(metric, X)).fit(as_bool(metric, X))
    model = NearestNeighbors(K, **options(metric, X)).fit(as_bool(metric, X))
    for queries in (as_bool(metric, Q), None):
        wanted, wanted_rows = peer.kneighbors(queries, n_neighbors=K + 1)
        found, rows = model.kneighbors(queries, n_neighbors=K + 1)
        assert rows.dtype == np.int64
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-7)
        clear = without_ties(wanted)
        assert clear.any()
        for own, other in zip(rows[clear], wanted_rows[clear], strict=True):
            assert set(own[:K].tolist()) == set(other[:K].tolist())
        np.testing.assert_array_equal(model.kneighbors(queries, return_distance=False), rows[:, :K])


@pytest.mark.parametrize("weights", first_of(["distance", "uniform", lambda d: np.exp(-d)]))
@pytest.mark.parametrize("metric", PEER_METRICS)
def test_predictions(metric: str, weights: Any) -> None:
    X, Q, y, number = numbers(metric)
    X_own, Q_own = as_bool(metric, X), as_bool(metric, Q)
    peer = peers.KNeighborsClassifier(K, weights=weights, **peer_options(metric, X)).fit(X_own, y)
    model = KNeighborsClassifier(K, weights=weights, **options(metric, X)).fit(X_own, y)
    clear = without_ties(peer.kneighbors(Q_own, n_neighbors=K + 1)[0])
    np.testing.assert_array_equal(model.classes_, peer.classes_)
    found, wanted = model.predict_proba(Q_own)[clear], peer.predict_proba(Q_own)[clear]
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-9)
    # Votes that are equal but for rounding.
    top = np.sort(wanted, axis=1)
    decided = top[:, -1] - top[:, -2] > 1e-9
    same = model.predict(Q_own)[clear] == peer.predict(Q_own)[clear]
    assert same[decided].all()
    regressor = KNeighborsRegressor(K, weights=weights, **options(metric, X)).fit(X_own, number)
    other = peers.KNeighborsRegressor(K, weights=weights, **peer_options(metric, X))
    np.testing.assert_allclose(
        regressor.predict(Q_own)[clear],
        other.fit(X_own, number).predict(Q_own)[clear],
        rtol=1e-6,
    )


def test_scores() -> None:
    X, Q, y, number = numbers("euclidean")
    labels, numbers_of_queries = y[:25], number[:25]
    assert KNeighborsClassifier().fit(X, y).score(Q, labels) == pytest.approx(
        peers.KNeighborsClassifier().fit(X, y).score(Q, labels)
    )
    assert KNeighborsRegressor().fit(X, number).score(Q, numbers_of_queries) == pytest.approx(
        peers.KNeighborsRegressor().fit(X, number).score(Q, numbers_of_queries)
    )


def test_predictions_without_rows_are_those_of_leave_one_out() -> None:
    X, _, y, number = numbers("euclidean")
    model, peer = KNeighborsClassifier(K).fit(X, y), peers.KNeighborsClassifier(K).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(None), peer.predict_proba(None))
    np.testing.assert_array_equal(model.predict(None), peer.predict(None))
    regressor = KNeighborsRegressor(K).fit(X, number)
    wanted = peers.KNeighborsRegressor(K).fit(X, number).predict(None)
    np.testing.assert_allclose(regressor.predict(None), wanted)


@pytest.mark.parametrize("mode", ["connectivity", "distance"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "canberra"])
def test_graphs(metric: str, mode: str) -> None:
    X, Q, _, _ = numbers(metric)
    radius = 0.1 if metric == "cosine" else 0.7
    model = NearestNeighbors(K, radius=radius, **options(metric, X)).fit(X)
    peer = peers.NearestNeighbors(n_neighbors=K, radius=radius, **peer_options(metric, X)).fit(X)
    for queries in (Q, None):
        for name in ("kneighbors_graph", "radius_neighbors_graph"):
            found = getattr(model, name)(queries, mode=mode)
            wanted = getattr(peer, name)(queries, mode=mode)
            assert found.format == "csr"
            assert found.shape == wanted.shape
            assert found.nnz == wanted.nnz
            np.testing.assert_allclose(found.toarray(), wanted.toarray(), rtol=1e-7, atol=1e-12)
    three = model.kneighbors_graph(Q, n_neighbors=3, mode=mode)
    assert three.nnz == 3 * len(Q)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "hamming"])
def test_rows_within_a_radius(metric: str) -> None:
    X, Q, _, _ = numbers(metric)
    X, Q = X.astype(float), Q.astype(float)
    peer = peers.NearestNeighbors(**peer_options(metric, X)).fit(X)
    model = NearestNeighbors(**options(metric, X)).fit(X)
    radius = float(np.median(peer.kneighbors(Q, n_neighbors=10)[0])) + 1e-6
    for queries in (Q, None):
        wanted = peer.radius_neighbors(queries, radius, sort_results=True)
        found = model.radius_neighbors(queries, radius)
        assert found[0].dtype == found[1].dtype == object
        assert found[0].shape == found[1].shape == wanted[0].shape
        for own, rows, other, other_rows in zip(*found, *wanted, strict=True):
            np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-9)
            assert set(rows.tolist()) == set(other_rows.tolist())
        only = model.radius_neighbors(queries, radius, return_distance=False)
        for own, rows in zip(only, found[1], strict=True):
            np.testing.assert_array_equal(own, rows)
    if metric in ("euclidean", "manhattan", "chebyshev"):
        far = model.radius_neighbors(Q[:3] + 99.0, 0.5)[1]
        assert [len(rows) for rows in far] == [0, 0, 0]


def test_examples_of_the_documentation() -> None:
    X, y = [[0], [1], [2], [3]], [0, 0, 1, 1]
    model = KNeighborsClassifier(n_neighbors=3).fit(X, y)
    assert model.predict([[1.1]]).tolist() == [0]
    np.testing.assert_allclose(model.predict_proba([[0.9]]), [[2 / 3, 1 / 3]])
    assert KNeighborsRegressor(n_neighbors=2).fit(X, y).predict([[1.5]]).tolist() == [0.5]
    samples = [[0, 0, 2], [1, 0, 0], [0, 0, 1]]
    neighbors = NearestNeighbors(n_neighbors=2, radius=0.4).fit(samples)
    found = neighbors.kneighbors([[0, 0, 1.3]], 2, return_distance=False)
    assert found.tolist() == [[2, 0]]
    near = neighbors.radius_neighbors([[0, 0, 1.3]], 0.4, return_distance=False)
    assert np.asarray(near[0]).tolist() == [2]


@pytest.mark.parametrize("learner", [KNeighborsClassifier, KNeighborsRegressor])
def test_too_many_neighbors_raise_as_in_scikit_learn(learner: Any) -> None:
    X, y = [[0.0], [1.0], [2.0]], [0, 1, 1]
    peer = getattr(peers, learner.__name__)(n_neighbors=4).fit(X, y)
    with pytest.raises(ValueError, match="Expected n_neighbors <= n_samples_fit") as wanted:
        peer.predict(X)
    with pytest.raises(ValueError, match=r"Expected n_neighbors <= n_samples_fit") as found:
        learner(4).fit(X, y).predict(X)
    start = str(wanted.value).split(", n_samples = ")[0]
    assert str(found.value).startswith(start)
    model = learner(3).fit(X, y)
    with pytest.raises(ValueError, match="Expected n_neighbors <= n_samples_fit"):
        model.kneighbors(X, n_neighbors=4)
    # A row is not its own neighbor.
    with pytest.raises(ValueError, match=r"Expected n_neighbors <.* n_samples_fit = 3"):
        model.kneighbors(n_neighbors=3)


def test_they_are_estimators() -> None:
    X, _, y, number = numbers("euclidean")
    grid = {"n_neighbors": [1, 5], "weights": ["uniform", "distance"]}
    search = GridSearchCV(KNeighborsClassifier(), grid, cv=3).fit(X, y)
    wanted = GridSearchCV(peers.KNeighborsClassifier(), grid, cv=3).fit(X, y)
    assert search.best_params_ == wanted.best_params_
    assert search.best_score_ == pytest.approx(wanted.best_score_)
    for model in (KNeighborsRegressor("loo", scale="std"), NearestNeighbors(3, metric="gower")):
        copy = clone(model)
        assert copy.get_params() == model.get_params()
        assert copy.fit(X, number) is copy


def test_fitted_attributes() -> None:
    X, _, y, _ = numbers("euclidean")
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(5)])
    for model in (KNeighborsClassifier(3), KNeighborsRegressor(3), NearestNeighbors(3)):
        model.fit(frame, y)
        assert model.n_samples_fit_ == 150
        assert model.n_features_in_ == 5
        assert list(model.feature_names_in_) == list(frame.columns)
        assert model.schema_.names == list(frame.columns)
        assert isinstance(model.index_report_, str)
        with pytest.raises(ValueError, match="feature names should match"):
            model.kneighbors(frame[frame.columns[::-1]])
        assert not hasattr(model.fit(X, y), "feature_names_in_")
        with pytest.raises(ValueError, match="X has 4 features"):
            model.kneighbors(X[:, :4])

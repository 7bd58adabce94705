"""k-means with missing values and categories: partial distances against loops."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics.pairwise import nan_euclidean_distances

from ceiba import KMeans, datasets
from tests.oracles import kmeans_naive as naive
from tests.oracles.kmeans_tables import groups


def test_fit_with_missing_values_matches_the_naive_one():
    X = groups(17, 80, 4, 4)
    rng = np.random.default_rng(6)
    holes = rng.random(X.shape) < 0.25
    holes[np.arange(80), rng.integers(4, size=80)] = False
    X[holes] = np.nan
    weight = rng.exponential(size=80)
    centers = groups(17, 5, 4, 4)
    model = KMeans(5, init=centers, tol=0).fit(X, sample_weight=weight)
    frames, last = naive.lloyd(X.tolist(), weight.tolist(), centers.tolist(), 0.0, 300)
    np.testing.assert_allclose(model.cluster_centers_, last, rtol=1e-9)
    assert model.n_iter_ == len(frames)
    assert model.labels_.tolist() == naive.labels(X.tolist(), last)
    assert model.inertia_ == pytest.approx(
        naive.inertia(X.tolist(), weight.tolist(), last), rel=1e-9
    )
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(
        model.transform(X), nan_euclidean_distances(X, np.array(last)), rtol=1e-7
    )


def test_fit_and_predict_break_ties_alike_with_missing_values():
    rng = np.random.default_rng(7)
    for seed in range(40):
        X = rng.integers(0, 6, size=(31, 3)).astype(float)
        X[rng.random(X.shape) < 0.3] = np.nan
        X = X[~np.isnan(X).all(axis=1)]
        model = KMeans(4, random_state=seed).fit(X)
        np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_row_without_values_moves_no_center_and_gets_the_first_label():
    X = groups(18, 20, 3, 2)
    blank = np.vstack([X, np.full((1, 3), np.nan)])
    start = X[:2].copy()
    model, other = KMeans(2, init=start).fit(X), KMeans(2, init=start).fit(blank)
    np.testing.assert_allclose(other.cluster_centers_, model.cluster_centers_, rtol=1e-12)
    assert other.inertia_ == pytest.approx(model.inertia_)
    assert other.labels_[-1] == other.predict(blank)[-1] == 0
    assert other.transform(blank)[-1].tolist() == [0.0, 0.0]
    assert other.score(blank) == pytest.approx(-other.inertia_)


def test_table_with_a_blank_row_is_accepted():
    model = KMeans(2).fit(datasets.load("vote").X)
    assert np.isfinite(model.cluster_centers_).all()


def test_column_without_values_raises():
    X = groups(18, 20, 3, 2)
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="column 'x2' has no value"):
        KMeans(2).fit(X)


def test_mismatch_of_categories_adds_one():
    pd = pytest.importorskip("pandas")
    size = pd.Categorical(["S", "L", None, "M"], categories=["S", "M", "L"], ordered=True)
    frame = pd.DataFrame(
        {"color": ["red", "blue", "red", None], "size": size, "x": [0.0, 3.0, 1.0, np.nan]}
    )
    root = np.sqrt(0.5)
    # One center for each of the first two rows: x, blue, red, size.
    centers = np.array([[0.0, root, 0.0, 0.0], [root, 0.0, 1.0, 3.0]])
    model = KMeans(2, init=centers, max_iter=1).fit(frame)
    assert model.encoded_names_ == ["color=blue", "color=red", "size", "x"]
    assert model.labels_.tolist() == [0, 1, 0, 0]
    model.cluster_centers_ = centers
    squared = model.transform(frame) ** 2
    expected = [
        [0.0, 1.0 + 1.0 + 9.0],
        [1.0 + 1.0 + 9.0, 0.0],
        [(0.0 + 1.0) * 4 / 3, (1.0 + 4.0) * 4 / 3],
        [0.25 * 4, 0.25 * 4],
    ]
    np.testing.assert_allclose(squared, expected, rtol=1e-12)
    unseen = pd.DataFrame({"color": ["green"], "size": size[:1], "x": [0.5]})
    np.testing.assert_allclose(model.transform(unseen) ** 2, [[0.25 * 2, (1 + 6.25) * 2]])

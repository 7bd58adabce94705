"""partial_fit of k-means against loops, after a fit and after loading a model file."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import ceiba
from ceiba import KMeans
from tests.oracles import kmeans_naive as naive
from tests.oracles.kmeans_tables import groups


@pytest.mark.parametrize("missing", [False, True])
def test_batches_move_centers_to_running_means(missing):
    X = groups(1, 200, 3, 5, spread=2.0)
    if missing:
        X[::7, 0] = X[3::11, 2] = np.nan
    weight = np.random.default_rng(0).exponential(size=200)
    start = groups(1, 5, 3, 5)
    model = KMeans(5, init=start)
    centers, seen = start.tolist(), np.zeros((5, 3)).tolist()
    for batch in np.array_split(np.arange(200), 8):
        model.partial_fit(X[batch], sample_weight=weight[batch])
        rows, weights = X[batch].tolist(), weight[batch].tolist()
        centers, seen = naive.running_mean(centers, seen, rows, weights)
        np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-9, atol=1e-9)
        assert model.labels_.tolist() == naive.labels(rows, centers)
        assert model.inertia_ == pytest.approx(naive.inertia(rows, weights, centers), rel=1e-9)
    assert model.n_iter_ == 8


def test_first_batch_initializes_as_fit_does():
    X = groups(2, 80, 3, 4)
    first = KMeans(4, random_state=5).partial_fit(X)
    fitted = KMeans(4, random_state=5, max_iter=1).fit(X)
    np.testing.assert_allclose(first.cluster_centers_, fitted.cluster_centers_, rtol=1e-12)


def test_one_pass_is_close_to_a_fit():
    X = np.random.default_rng(1).permutation(groups(3, 6000, 4, 6))
    fitted = KMeans(6).fit(X)
    model = KMeans(6, init=fitted.cluster_centers_ + 0.7)
    for batch in np.array_split(X, 30):
        model.partial_fit(batch)
    assert -model.score(X) <= 1.02 * fitted.inertia_


def test_partial_fit_continues_after_fit():
    X, more = groups(4, 300, 2, 3), groups(5, 40, 2, 3)
    model = KMeans(3, tol=0).fit(X)
    centers, own = model.cluster_centers_.tolist(), model.labels_.tolist()
    seen = naive.column_weights(X.tolist(), [1.0] * 300, own, 3)
    model.partial_fit(more)
    expected, _ = naive.running_mean(centers, seen, more.tolist(), [1.0] * 40)
    np.testing.assert_allclose(model.cluster_centers_, expected, rtol=1e-9)


def test_fit_discards_earlier_batches():
    X = groups(6, 100, 2, 3)
    model = KMeans(3).partial_fit(X[:10]).partial_fit(X[10:20])
    np.testing.assert_array_equal(model.fit(X).cluster_centers_, KMeans(3).fit(X).cluster_centers_)


@pytest.mark.parametrize("other", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("first", [np.float32, np.float64])
def test_dtype_of_the_first_batch_is_kept(first, other):
    X = (10 * groups(7, 60, 3, 2)).round()
    model = KMeans(2).partial_fit(X.astype(first)).partial_fit(X.astype(other))
    assert model.cluster_centers_.dtype == first
    assert model.schema_[0].dtype == np.dtype(first).name


def test_batch_may_be_one_row_with_missing_values():
    X = groups(8, 50, 3, 2)
    model = KMeans(2).partial_fit(X)
    before = model.cluster_centers_.copy()
    row = np.array([[X[0, 0], np.nan, np.nan]])
    model.partial_fit(row)
    own = naive.label(row[0].tolist(), before.tolist())
    assert model.cluster_centers_[own, 0] != before[own, 0]
    np.testing.assert_array_equal(model.cluster_centers_[:, 1:], before[:, 1:])
    assert np.isfinite(model.inertia_)


def test_later_batch_out_of_range_raises():
    X = groups(8, 50, 3, 2)
    model = KMeans(2).partial_fit(X)
    before = model.cluster_centers_.copy()
    with pytest.raises(ValueError, match="rescale"):
        model.partial_fit(X * 1e200)
    np.testing.assert_array_equal(model.cluster_centers_, before)


def test_later_batch_may_be_equal_rows():
    X = groups(8, 50, 3, 2)
    model = KMeans(2).partial_fit(X)
    model.partial_fit(X * 1e-200)
    assert np.isfinite(model.cluster_centers_).all()
    assert model.inertia_ == pytest.approx(50 * (model.cluster_centers_**2).sum(axis=1).min())


def test_first_batch_needs_n_clusters_rows():
    with pytest.raises(ValueError, match="n_clusters=8"):
        KMeans(8).partial_fit(groups(9, 5, 2, 1))


def test_categories_are_those_of_the_first_batch():
    pd = pytest.importorskip("pandas")
    first = pd.DataFrame({"color": ["red", "blue"] * 5, "x": np.arange(10.0)})
    model = KMeans(2).partial_fit(first)
    model.partial_fit(pd.DataFrame({"color": ["green", "red"], "x": [1.0, 9.0]}))
    assert model.encoded_names_ == ["color=blue", "color=red", "x"]
    assert np.isfinite(model.cluster_centers_).all()


def test_batch_may_be_a_scan(tmp_path):
    X = groups(10, 900, 3, 4)
    paths = [tmp_path / f"{part}.csv" for part in range(3)]
    for path, rows in zip(paths, np.split(X, 3), strict=True):
        np.savetxt(path, rows, delimiter=",", header="a,b,c", comments="", fmt="%.17g")
    pd = pytest.importorskip("pandas")
    scanned, held = KMeans(4), KMeans(4)
    for path, rows in zip(paths, np.split(X, 3), strict=True):
        scanned.partial_fit(ceiba.scan(path, partition_bytes=4000))
        held.partial_fit(pd.DataFrame(rows, columns=[*"abc"]))
        np.testing.assert_allclose(scanned.cluster_centers_, held.cluster_centers_, rtol=1e-9)
        assert scanned.inertia_ == pytest.approx(held.inertia_, rel=1e-9)
    assert not hasattr(scanned, "labels_")


# Model files


def fitted_models():
    X = groups(11, 100, 3, 4)
    holed = X.copy()
    holed[::5, 1] = np.nan
    yield "float64", KMeans(4, trace=True).fit(X), X
    yield "float32", KMeans(4).fit(X.astype(np.float32)), X.astype(np.float32)
    yield "missing", KMeans(4, init="random", tol=0.0).fit(holed), holed
    yield "batches", KMeans(4).partial_fit(X[:50]).partial_fit(X[50:]), X
    yield "given", KMeans(4, init=X[:4], random_state=None, n_jobs=2).fit(X), X


def through_a_file(model, folder):
    ceiba.save(model, folder / "model.ceiba")
    return ceiba.load(folder / "model.ceiba")


@pytest.mark.parametrize("again", ["file", "pickle", "copy"])
@pytest.mark.parametrize(
    ("name", "model", "X"), list(fitted_models()), ids=lambda value: str(value)[:8]
)
def test_model_round_trips(tmp_path, again, name, model, X):
    roads = {
        "file": lambda: through_a_file(model, tmp_path),
        "pickle": lambda: pickle.loads(pickle.dumps(model)),
        "copy": lambda: copy.deepcopy(model),
    }
    other = roads[again]()
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    np.testing.assert_array_equal(other.transform(X), model.transform(X))
    assert other.score(X) == model.score(X)
    assert other.inertia_ == model.inertia_
    assert other.n_iter_ == model.n_iter_
    np.testing.assert_array_equal(other.labels_, model.labels_)
    # And partial_fit continues in the same way.
    ours, theirs = copy.deepcopy(model).partial_fit(X[:20]), other.partial_fit(X[:20])
    np.testing.assert_array_equal(theirs.cluster_centers_, ours.cluster_centers_)


def test_written_file_can_be_read_after_set_params(tmp_path):
    """Parameters may have been changed since the fit."""
    X = groups(12, 40, 2, 3)
    model = KMeans(3).fit(X).set_params(n_clusters=5)
    try:
        ceiba.save(model, tmp_path / "model.ceiba")
    except ValueError:
        return
    again = ceiba.load(tmp_path / "model.ceiba")
    np.testing.assert_array_equal(again.predict(X), model.labels_)

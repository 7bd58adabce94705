"""``KMeans(scale=...)``: columns divided by their spread, on every engine."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans as SklearnKMeans
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ceiba import KMeans, datasets, load, save, scan
from ceiba.cluster import DominantColumnWarning, choose_n_clusters
from ceiba.stats import Moments
from tests.oracles.kmeans_tables import groups

X = groups(1, 90, 3, 3) * [1.0, 1e4, 1e-3] + [0.0, 5e5, 1.0]
SCALERS = [("std", StandardScaler), ("range", MinMaxScaler)]


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("scale", "scaler"), SCALERS)
def test_scale_equals_a_scaler_before_k_means(scale, scaler, dtype):
    before = scaler().fit(X)
    rows = before.transform(X)
    model = KMeans(4, scale=scale).fit(X.astype(dtype))
    start = before.transform(model.cluster_centers_.astype(float))
    expected = SklearnKMeans(4, init=start, n_init=1).fit(rows)
    np.testing.assert_array_equal(model.labels_, expected.labels_)
    close = 1e-9 if dtype == np.float64 else 1e-4
    centers = before.inverse_transform(expected.cluster_centers_)
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=close)
    assert model.inertia_ == pytest.approx(expected.inertia_, rel=close)
    np.testing.assert_allclose(model.transform(X), expected.transform(rows), rtol=1e3 * close)
    np.testing.assert_array_equal(model.predict(X), expected.labels_)
    assert model.score(X) == pytest.approx(-expected.inertia_, rel=close)


@pytest.mark.parametrize("scale", ["std", "range"])
def test_every_way_to_fit_gives_the_same_model(tmp_path, scale):
    rows = np.where(np.random.default_rng(3).random(X.shape) < 0.1, np.nan, X)
    model = KMeans(4, scale=scale, trace=True).fit(rows)
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="a,b,c", comments="")
    scanned = KMeans(4, scale=scale).fit(scan(tmp_path / "rows.csv"))
    np.testing.assert_allclose(scanned.cluster_centers_, model.cluster_centers_, rtol=1e-12)
    save(model, tmp_path / "model.ceiba")
    np.testing.assert_array_equal(load(tmp_path / "model.ceiba").predict(rows), model.labels_)
    np.testing.assert_allclose(model.trace_[-1]["centers"], model.cluster_centers_, rtol=1e-12)
    assert model.trace_[-1]["inertia"] == pytest.approx(model.inertia_, rel=1e-12)
    given = KMeans(4, scale=scale, init=model.cluster_centers_).fit(rows)
    np.testing.assert_allclose(given.cluster_centers_, model.cluster_centers_, rtol=1e-12)
    called = KMeans(4, scale=scale, n_init=1, init=lambda X, k, random_state: X[:k]).fit(X)
    first = KMeans(4, scale=scale, init=X[:4]).fit(X)
    np.testing.assert_allclose(called.cluster_centers_, first.cluster_centers_, rtol=1e-9)
    online = KMeans(4, scale=scale).partial_fit(X[:45]).partial_fit(X[45:])
    assert np.isfinite(online.inertia_)


@pytest.mark.filterwarnings("ignore:1 empty cluster")
def test_distant_centers_are_compared_in_float64():
    """Squares of the distances to the second center overflow in float32."""
    init = np.array([X.mean(axis=0), [1e25, 0.0, 0.0]])
    single, double = (
        KMeans(2, scale="std", init=init, n_init=1, max_iter=1).fit(X.astype(dtype))
        for dtype in (np.float32, np.float64)
    )
    np.testing.assert_array_equal(single.labels_, double.labels_)
    assert single.inertia_ == pytest.approx(double.inertia_, rel=1e-4)


def test_a_batch_in_float64_takes_one_pass(monkeypatch):
    """No dtype is wider, however distant the rows."""
    passes = []
    summarize = Moments.of.__func__
    monkeypatch.setattr(
        Moments, "of", classmethod(lambda *args: passes.append(1) or summarize(*args))
    )
    model = KMeans(2).partial_fit(X)
    passes.clear()
    with pytest.raises(ValueError, match="whose squares are representable"):
        model.partial_fit(1e120 * X)
    assert len(passes) == 1


def test_refit_without_scale_forgets_it():
    model = KMeans(4, scale="std").fit(X)
    model.set_params(scale=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DominantColumnWarning)
        np.testing.assert_array_equal(model.fit(X).labels_, KMeans(4).fit(X).labels_)
    assert model._units is None


def test_nominal_columns_keep_their_units_and_constant_columns_are_harmless():
    frame = pd.DataFrame({"a": X[:, 1], "kind": ["u", "v"] * 45, "same": 7.0})
    model = KMeans(3, scale="range").fit(frame)
    by_hand = frame.assign(a=(frame["a"] - frame["a"].min()) / np.ptp(frame["a"]))
    np.testing.assert_array_equal(model.labels_, KMeans(3).fit(by_hand).labels_)


@pytest.mark.parametrize("scale", ["std", "range"])
def test_scale_of_extreme_columns(scale):
    plain = KMeans(4, scale=scale).fit(X)
    model = KMeans(4, scale=scale).fit(X * [2.0**-700, 1.0, 2.0**600])
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.inertia_ == pytest.approx(plain.inertia_, rel=1e-12)


def test_dominant_column_warns_at_the_call_with_share_and_advice():
    with pytest.warns(DominantColumnWarning) as caught:
        KMeans(4).fit(X)
    message = str(caught[0].message)
    assert "column 'x1' has more than 99.9 % of the variance" in message
    assert "set scale='std'" in message
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KMeans(4, scale="std").fit(X)
        KMeans(4).fit(X[:, 1:2])
        KMeans(4).fit(np.c_[X[:, 1], np.ones(90)])


@pytest.mark.parametrize("name", ["iris", "vehicle", "cleveland", "two_moons", "zoo"])
def test_ordinary_tables_do_not_warn(name):
    with warnings.catch_warnings():
        warnings.simplefilter("error", DominantColumnWarning)
        KMeans(2).fit(datasets.load(name).table)


def test_selection_warns_once_and_measures_in_the_units_of_the_model():
    with pytest.warns(DominantColumnWarning) as caught:
        choose_n_clusters(X, range(2, 5), n_references=2)
    assert len(caught) == 1
    scaled = choose_n_clusters(X, range(2, 5), n_references=2, estimator=KMeans(scale="std"))
    by_hand = choose_n_clusters(
        StandardScaler().fit_transform(X), range(2, 5), n_references=2, estimator=KMeans()
    )
    np.testing.assert_allclose(scaled.table["silhouette"], by_hand.table["silhouette"], rtol=1e-9)


def test_centers_of_mixed_tables_are_a_table():
    size = pd.Categorical(["s", "s", "l", "m"] * 10, categories=["s", "m", "l"], ordered=True)
    frame = pd.DataFrame(
        {
            "height": [1.0, 2.0, 8.0, 9.0] * 10,
            "color": ["red", "red", "blue", "blue"] * 10,
            "size": size,
            "count": [1, 2, 7, 8] * 10,
            "day": pd.to_datetime(["2020-01-01", "2020-01-03", "2020-03-01", "2020-03-03"] * 10),
        }
    )
    model = KMeans(2, scale="range").fit(frame)
    table = model.centers_table_.to_pandas().sort_values("height").reset_index(drop=True)
    assert table["height"].tolist() == pytest.approx([1.5, 8.5])
    assert table["color"].tolist() == ["red", "blue"]
    assert [str(value) for value in table["size"]] == ["s", "l"]
    assert table["count"].tolist() == pytest.approx([1.5, 7.5])
    assert [str(day.date()) for day in table["day"]] == ["2020-01-02", "2020-03-02"]
    assert sorted(model.predict(model.centers_table_).tolist()) == [0, 1]

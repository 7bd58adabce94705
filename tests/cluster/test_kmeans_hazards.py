"""Data that break arithmetic give the same clusters as plain data, or a clear error."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning

from ceiba import KMeans
from ceiba.cluster import DominantColumnWarning
from tests.oracles.kmeans_tables import groups

X = groups(1, 90, 3, 3)
WEIGHT = np.random.default_rng(1).integers(1, 9, size=90) / 4.0
PLAIN = KMeans(4).fit(X)


def assert_finite(model, rows):
    """Fitted attributes and predictions are finite."""
    for name in ("cluster_centers_", "_center_weights"):
        assert np.isfinite(getattr(model, name)).all(), name
    assert np.isfinite(model.transform(rows)).all()
    assert -model.score(rows) == pytest.approx(model.inertia_, rel=1e-6)
    np.testing.assert_array_equal(model.predict(rows), model.labels_)


def assert_same_or_raises(rows, scale=1.0, weight=None, close=1e-6):
    """A fit gives the clusters of the plain rows, scaled; weights may raise an error."""
    base = PLAIN if weight is None else KMeans(4).fit(X, sample_weight=weight / weight.max())
    try:
        model = KMeans(4).fit(rows, sample_weight=weight)
    except ValueError as error:
        assert weight is not None
        assert "sample_weight" in str(error)  # noqa: PT017
        return
    np.testing.assert_array_equal(model.labels_, base.labels_)
    assert model.n_iter_ == base.n_iter_
    total = 1.0 if weight is None else weight.max()
    expected = base.inertia_ * scale * total * scale  # infinite or zero beyond float64
    assert model.inertia_ == pytest.approx(expected, rel=close, abs=5e-324)
    if weight is None:
        assert_finite(model, rows)
    assert np.isfinite(model.cluster_centers_).all()


# Scales


@pytest.mark.parametrize("power", [-1000, -700, -320, -100, -50, 50, 100, 320, 340, 700, 1015])
def test_power_of_two_scale_changes_no_bit(power):
    model = KMeans(4).fit(np.ldexp(X, power))
    np.testing.assert_array_equal(model.labels_, PLAIN.labels_)
    np.testing.assert_array_equal(model.cluster_centers_, np.ldexp(PLAIN.cluster_centers_, power))
    with np.errstate(over="ignore", under="ignore"):
        assert model.inertia_ == np.ldexp(PLAIN.inertia_, 2 * power)
    assert model.n_iter_ == PLAIN.n_iter_
    assert_finite(model, np.ldexp(X, power))


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e-160, 1e-30, 1e30, 1e148, 1e160, 1e200, 1e300])
def test_any_scale_gives_the_same_clusters(scale):
    assert_same_or_raises(X * scale, scale)


def test_denormal_numbers_are_clustered():
    whole = np.round(X * 1000)
    plain = KMeans(4).fit(whole)
    model = KMeans(4).fit(whole * 5e-324)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(whole * 5e-324), plain.labels_)
    np.testing.assert_allclose(model.cluster_centers_ / 5e-324, plain.cluster_centers_, atol=0.51)
    assert model.inertia_ == 0.0


@pytest.mark.parametrize("value", [1e101, 1e150, 1e200, -1e308])
def test_huge_outlier_is_a_cluster_of_its_own(value):
    rows = X.copy()
    rows[17, 1] = value
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DominantColumnWarning)
        model = KMeans(2).fit(rows)
    assert np.flatnonzero(model.labels_ == model.labels_[17]).tolist() == [17]
    np.testing.assert_array_equal(model.predict(rows), model.labels_)
    center = model.cluster_centers_[model.labels_[0]]
    np.testing.assert_allclose(center, np.delete(rows, 17, axis=0).mean(axis=0), atol=abs(value))


def test_trace_of_rescaled_rows_is_in_their_units():
    model = KMeans(4, trace=True).fit(np.ldexp(X, 500))
    plain = KMeans(4, trace=True).fit(X)
    for frame, expected in zip(model.trace_, plain.trace_, strict=True):
        np.testing.assert_array_equal(frame["centers"], np.ldexp(expected["centers"], 500))
        assert frame["inertia"] == np.ldexp(expected["inertia"], 1000)


def test_batches_of_rescaled_rows():
    model, plain = KMeans(4), KMeans(4)
    for part in (slice(0, 45), slice(45, 90)):
        model.partial_fit(np.ldexp(X[part], -700))
        plain.partial_fit(X[part])
    np.testing.assert_array_equal(model.cluster_centers_, np.ldexp(plain.cluster_centers_, -700))
    np.testing.assert_array_equal(model.predict(np.ldexp(X, -700)), plain.predict(X))


@pytest.mark.parametrize("power", [-120, -100, -60, 60, 100])
def test_float32_of_any_scale_gives_the_same_clusters(power):
    single = X.astype(np.float32)
    plain = KMeans(4).fit(single)
    rows = np.ldexp(single, power)
    model = KMeans(4).fit(rows)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.cluster_centers_.dtype == np.float32
    centers = np.ldexp(plain.cluster_centers_, power)
    np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-5)
    assert model.inertia_ == pytest.approx(np.ldexp(plain.inertia_, 2 * power), rel=1e-4)
    assert_finite(model, rows)
    distances = np.ldexp(plain.transform(single), power)
    np.testing.assert_allclose(model.transform(rows), distances, rtol=1e-3)


@pytest.mark.parametrize("shift", [1e9, -1e12, np.array([1e9, -1e6, 1e3])])
def test_common_shift_gives_the_same_clusters(shift):
    model = KMeans(4).fit(X + shift)
    np.testing.assert_array_equal(model.labels_, PLAIN.labels_)
    assert model.inertia_ == pytest.approx(PLAIN.inertia_, rel=1e-3)
    assert_finite(model, X + shift)


def test_groups_one_apart_at_a_billion_are_found():
    rows = np.repeat([[1e9], [1e9 + 1], [1e9 + 2]], 20, axis=0)
    model = KMeans(3).fit(rows)
    assert model.inertia_ == 0.0
    assert sorted(model.cluster_centers_[:, 0]) == [1e9, 1e9 + 1, 1e9 + 2]


def test_float32_groups_far_from_zero_are_found():
    rows = (np.repeat([[0.0], [1e5], [2e5]], 20, axis=0) + 1e9).astype(np.float32)
    model = KMeans(3).fit(rows)
    assert len({tuple(model.labels_[i : i + 20]) for i in (0, 20, 40)}) == 3
    assert_finite(model, rows)


def test_mean_with_overflowing_square_is_harmless():
    assert_same_or_raises(1e155 + 1e145 * X, 1e145)


@pytest.mark.parametrize("value", [0.0, 1e9, 1e200, 1.7e308, -1.7e308])
def test_constant_column_changes_nothing(value):
    rows = np.column_stack([X, np.full(90, value)])
    model = KMeans(4).fit(rows)
    np.testing.assert_array_equal(model.labels_, PLAIN.labels_)
    assert model.inertia_ == pytest.approx(PLAIN.inertia_)
    np.testing.assert_allclose(model.cluster_centers_[:, 3], value, rtol=1e-15)
    np.testing.assert_allclose(model.transform(rows), PLAIN.transform(X), rtol=1e-6)
    assert_finite(model, rows)


def test_columns_of_very_different_scales_are_handled():
    rows = X * np.array([1.0, 1e-200, 1e-300])
    model = KMeans(4).fit(rows)
    assert_finite(model, rows)


# Weights


@pytest.mark.parametrize("scale", [1e-320, 1e-300, 1e-100, 1e100, 1e300, 1e305, 1.7e308 / 4])
def test_weights_of_any_scale_give_the_same_clusters(scale):
    assert_same_or_raises(X, 1.0, WEIGHT * scale)


@pytest.mark.parametrize(("scale", "heavy"), [(1e100, 1e150), (1e148, 1e50), (1e-100, 1e-200)])
def test_extreme_weights_and_values_together_are_handled(scale, heavy):
    assert_same_or_raises(X * scale, scale, WEIGHT * heavy)


def test_one_row_may_outweigh_all_others():
    weight = np.ones(90)
    weight[7] = 1e20
    model = KMeans(4).fit(X, sample_weight=weight)
    np.testing.assert_allclose(model.cluster_centers_[model.labels_[7]], X[7], rtol=1e-9)
    assert_finite(KMeans(4).fit(X), X)
    assert np.isfinite(model.inertia_)


# Shapes


def test_single_row_is_a_cluster():
    model = KMeans(1).fit([[3.0, 4.0]])
    assert model.cluster_centers_.tolist() == [[3.0, 4.0]]
    assert (model.inertia_, model.labels_.tolist()) == (0.0, [0])


def test_fewer_rows_than_columns_can_be_fitted():
    wide = np.random.default_rng(2).normal(size=(6, 200))
    wide[3:] += 5.0
    model = KMeans(2).fit(wide)
    assert len(set(model.labels_[:3])) == len(set(model.labels_[3:])) == 1
    assert_finite(model, wide)


@pytest.mark.parametrize("value", [0.0, -7.5, 1e300, 5e-324])
@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_equal_rows_warn(value, init):
    rows = np.full((20, 2), value)
    with pytest.warns(ConvergenceWarning, match=r"distinct clusters \(1\)"):
        model = KMeans(3, init=init).fit(rows)
    assert model.inertia_ == 0.0
    np.testing.assert_array_equal(model.cluster_centers_, np.full((3, 2), value))
    assert set(model.labels_) == {0}
    np.testing.assert_array_equal(model.transform(rows), np.zeros((20, 3)))


def test_fewer_rows_than_clusters_raise():
    with pytest.raises(ValueError, match="n_samples=3 should be >= n_clusters=4"):
        KMeans(4).fit(X[:3])


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (0, 0)])
def test_empty_table_raises(shape):
    with pytest.raises(ValueError, match=r"0 (row|sample|feature|column)"):
        KMeans(1).fit(np.empty(shape))
    if shape[1] == 3:
        with pytest.raises(ValueError, match=r"0 (row|sample)"):
            PLAIN.predict(np.empty(shape))


@pytest.mark.parametrize("method", ["predict", "transform", "score", "partial_fit"])
def test_other_number_of_columns_raises(method):
    model = KMeans(4).fit(X)
    with pytest.raises(ValueError, match="X has 2 features, but KMeans is expecting 3"):
        getattr(model, method)(X[:, :2])


@pytest.mark.parametrize("method", ["fit", "predict", "transform", "score", "partial_fit"])
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_infinity_raises_and_names_its_row(method, value, dtype):
    model = KMeans(4).fit(X.astype(dtype))
    rows = X.astype(dtype)
    rows[41, 2] = value
    with pytest.raises(ValueError, match="infinity: row 41"):
        getattr(model, method)(rows)


# Prediction of rows unlike those of training


@pytest.mark.parametrize("scale", [1e100, 1e160, 1e200, 1e307])
@pytest.mark.parametrize("method", ["predict", "transform", "score"])
def test_distant_rows_have_distances(method, scale):
    found = getattr(PLAIN, method)(X * scale / 10)
    if method == "score":  # minus infinity where the sum of squares overflows
        assert found < -1e190
    else:
        assert np.isfinite(found).all()


def test_distant_rows_do_not_change_the_labels_of_others():
    rows = np.vstack([X[:5], np.full((1, 3), 1e250), X[5:10], np.full((1, 3), -1e150)])
    found = PLAIN.predict(rows)
    np.testing.assert_array_equal(found[[0, 1, 2, 3, 4, 6, 7, 8, 9, 10]], PLAIN.labels_[:10])
    direction = PLAIN.cluster_centers_.sum(axis=1)
    assert found[5] == np.argmax(direction)
    assert found[11] == np.argmin(direction)
    distances = PLAIN.transform(rows)
    np.testing.assert_allclose(distances[5], np.sqrt(3) * 1e250, rtol=1e-12)
    np.testing.assert_allclose(distances[:5], PLAIN.transform(X[:5]), rtol=1e-14)


@pytest.mark.parametrize("scale", [1e95, 1e99, 1e110, 1e155, 1e200])
def test_distant_rows_are_distinguished(scale):
    ends = np.array([[-1e90], [1e90]])
    model = KMeans(2, init=ends).fit(ends)
    found = model.predict([[-scale], [scale]])
    assert found.tolist() == [0, 1]


@pytest.mark.parametrize("scale", [1e20, 1e30, 1e37])
def test_distant_float32_rows_have_distances(scale):
    model = KMeans(4).fit(X.astype(np.float32))
    far = (X * scale).astype(np.float32)
    try:
        found = model.transform(far), model.score(far)
    except ValueError:
        return
    assert np.isfinite(found[0]).all()
    assert np.isfinite(found[1])
    expected = np.linalg.norm(far.astype(float), axis=1)
    np.testing.assert_allclose(found[0], np.tile(expected[:, None], 4), rtol=1e-4)


@pytest.mark.parametrize("far", [1e30, 1e100, 1e200])
def test_distant_initial_centers_are_relocated(far):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            model = KMeans(4, init=np.vstack([X[:2], np.full((2, 3), far)])).fit(X)
        except ValueError:
            return
    assert np.abs(model.cluster_centers_).max() < 20
    assert_finite(model, X)


# Integers


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_large_integers_far_apart_are_clustered(dtype):
    rows = np.array([[0], [1], [2], [1001], [1002], [1003]], dtype) + dtype(2**53)
    labels = KMeans(2).fit(rows).labels_
    assert labels.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])


@pytest.mark.parametrize("factor", [1, 20, 100])
@pytest.mark.parametrize("shift", [2**60, 2**63 - 2**20, 2**64 - 2**20, -(2**62)])
def test_large_integers_equal_in_float64_are_clustered(shift, factor):
    """The groups of the same numbers without the common shift."""
    dtype = np.uint64 if shift >= 2**63 - 2**20 else np.int64
    small = factor * np.array([[0], [2], [4], [120], [125], [126], [130], [250], [253], [255]])
    plain = KMeans(3).fit(small)
    rows = (small.astype(dtype) + dtype(shift)) if shift > 0 else small + np.int64(shift)
    model = KMeans(3).fit(rows)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_array_equal(model.predict(rows), plain.labels_)
    assert model.inertia_ == pytest.approx(plain.inertia_, rel=1e-9)
    np.testing.assert_allclose(model.cluster_centers_, plain.cluster_centers_ + shift, rtol=1e-15)


def test_large_integers_beside_other_columns():
    """A column that float64 rounds to one value still separates the rows."""
    rng = np.random.default_rng(0)
    which = rng.integers(0, 2, 60)
    table = pd.DataFrame({"id": 2**60 + 40 * which, "noise": rng.normal(size=60)})
    model = KMeans(2, scale="std").fit(table)
    assert len(set(zip(which.tolist(), model.labels_.tolist(), strict=True))) == 2


@pytest.mark.filterwarnings("ignore:Column 'id' has a different")
@pytest.mark.parametrize("names", [["t", "id"], ["id", "t"]])
def test_large_integers_beside_an_identifier(names):
    """An identifier is left out, wherever it is: it has no column in the matrix."""
    table = pd.DataFrame({"t": np.arange(60) + 2**60, "id": [f"u{i}" for i in range(60)]})
    alone = KMeans(2).fit(table[["t"]])
    model = KMeans(2).fit(table[names])
    np.testing.assert_array_equal(model.labels_, alone.labels_)
    np.testing.assert_array_equal(model.predict(table[names]), alone.labels_)


@pytest.mark.parametrize("part", [slice(0, 1), slice(0, 2), slice(500, 503)])
def test_predictions_do_not_depend_on_the_other_rows(part):
    """Whether integers are distinguishable does not depend on the other rows."""
    rows = 2**60 + 1000 * np.arange(1000)[:, None]
    model = KMeans(5).fit(rows)
    np.testing.assert_array_equal(model.predict(rows[part]), model.labels_[part])


def test_small_integers_are_clustered():
    rows = (10 * X).round()
    for dtype in (np.int8, np.int32, np.uint16):
        whole = (rows - rows.min()).clip(0, 127).astype(dtype)
        one, other = KMeans(4).fit(whole), KMeans(4).fit(whole.astype(float))
        np.testing.assert_array_equal(one.cluster_centers_, other.cluster_centers_)

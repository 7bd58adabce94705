"""Rows of every kind: weights, distant rows, many columns, frames, dates."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pytest

import ceiba
from ceiba import GaussianMixture, KMeans
from ceiba.data.table import Table
from ceiba.engine import Batch
from ceiba.mixture.densities import log_densities as kernel_log_densities
from ceiba.mixture.statistics import Gaussians
from ceiba.stats import Points
from tests.mixture.parts import (
    FORMS,
    assert_same_mixture,
    assert_valid,
    drop_values,
    fitted,
    groups,
    matrices,
    quiet,
    shares,
)

X = groups(1, 90, 3, 3)
WITH_MISSING = drop_values(X)
INITS = ["kmeans", "k-means++", "random_from_data", "random"]
FITTED = ("weights_", "means_", "covariances_", "log_likelihood_", "n_iter_", "lower_bound_")


# Weights


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1e-45, 1e-12, 1e12, 1e45])
def test_scale_of_weights_does_not_matter(form, size):
    weight = np.random.default_rng(1).integers(1, 9, size=90) / 4.0
    plain, model = (fitted(X, weight=weight * s, covariance_type=form) for s in (1.0, size))
    assert_same_mixture(model, plain, 1e-9)
    assert model.log_likelihood_ == pytest.approx(plain.log_likelihood_ * size, rel=1e-9)
    assert model.lower_bound_ == pytest.approx(plain.lower_bound_, rel=1e-9)
    assert model.n_iter_ == plain.n_iter_


@pytest.mark.parametrize("form", ["full", "diag", "EEV"])
@pytest.mark.parametrize("init", INITS)
def test_weights_of_very_different_sizes(form, init):
    weight = 10.0 ** np.random.default_rng(2).uniform(-49, 49, size=90)
    model = quiet(
        GaussianMixture(3, covariance_type=form, init_params=init), X, sample_weight=weight
    )
    assert_valid(model, X)


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("rows", [X, WITH_MISSING], ids=["whole", "missing"])
@pytest.mark.parametrize("form", ["full", "diag", "VEE"])
def test_rows_of_weight_zero_are_ignored(init, rows, form):
    keep = np.random.default_rng(4).random(90) < 0.7
    weight = np.where(keep, np.random.default_rng(5).exponential(size=90), 0.0)
    options = {"covariance_type": form, "init_params": init}
    model = quiet(GaussianMixture(3, **options), rows, sample_weight=weight)
    without = quiet(GaussianMixture(3, **options), rows[keep], sample_weight=weight[keep])
    for name in FITTED:
        np.testing.assert_array_equal(getattr(model, name), getattr(without, name), err_msg=name)
    for name in ("score", "bic", "aic", "icl"):
        one = getattr(model, name)(rows, sample_weight=weight)
        assert one == getattr(model, name)(rows[keep], sample_weight=weight[keep])


def test_rows_of_weight_zero_may_have_any_finite_value():
    rows, weight = np.vstack([X, np.full((2, 3), 1e300)]), np.r_[np.ones(90), 0.0, 0.0]
    given = np.vstack([shares(90, 3), np.full((2, 3), 1 / 3)])
    model = fitted(rows, weight=weight, responsibilities_init=given)
    np.testing.assert_array_equal(model.means_, fitted(X, weight=np.ones(90)).means_)


@pytest.mark.parametrize("method", ["fit", "partial_fit", "score", "bic"])
@pytest.mark.parametrize(
    "weight", [np.zeros(90), np.full(90, -1.0), np.full(90, np.nan), np.full(90, np.inf),
               np.ones(89), np.ones((90, 2)), np.r_[np.ones(89), 1e60]],
    ids=["zero", "negative", "nan", "infinite", "few", "two", "huge"],
)  # fmt: skip
def test_invalid_weights_raise(method, weight):
    model = fitted(X)
    with pytest.raises(ValueError, match=r"weight"):
        getattr(model, method)(X, sample_weight=weight)


def test_unit_weights_are_equivalent_to_none():
    for rows in (X, WITH_MISSING):
        plain, weighed = fitted(rows), fitted(rows, weight=np.ones(90))
        np.testing.assert_allclose(weighed.means_, plain.means_, rtol=1e-12)


# Many columns


def log_densities(rows, weights, means, covariances):
    joint = []
    for weight, mean, covariance in zip(weights, means, covariances, strict=True):
        away = rows - mean
        distance = (away * np.linalg.solve(covariance, away.T).T).sum(axis=1)
        size = rows.shape[1] * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1]
        joint.append(np.log(weight) - 0.5 * (size + distance))
    return np.logaddexp.reduce(joint)


def test_full_covariances_of_a_thousand_columns():
    rng = np.random.default_rng(8)
    roots = np.eye(1000) + 0.02 * rng.normal(size=(2, 1000, 1000))
    weights, means = np.array([0.3, 0.7]), rng.normal(size=(2, 1000))
    model = Gaussians.of(weights, means, roots @ roots.transpose(0, 2, 1))
    rows = means[np.arange(30) % 2] + rng.normal(size=(30, 1000))
    found = kernel_log_densities(Batch(Points(rows), 0), model)
    wanted = log_densities(rows, weights, means, model.covariances)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)
    # Some columns only.
    rows[:, 40:] = np.nan
    found = kernel_log_densities(Batch(Points(rows), 0), model)
    wanted = log_densities(rows[:, :40], weights, means[:, :40], model.covariances[:, :40, :40])
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


@pytest.mark.parametrize(
    ("form", "d"),
    [("diag", 1000), ("spherical", 1000), ("EVI", 1000), ("full", 150), ("tied", 150),
     ("EVV", 150), ("ppca", 150)],
)  # fmt: skip
def test_fit_of_many_columns(form, d):
    rng = np.random.default_rng(8)
    wide = rng.normal(size=(60, d)) * rng.uniform(0.5, 2.0, size=d)
    wide[::2] += 0.5
    model = fitted(wide, k=2, covariance_type=form, max_iter=3)
    wanted = log_densities(wide, model.weights_, model.means_, matrices(model))
    np.testing.assert_allclose(model.score_samples(wide), wanted, rtol=1e-7)


# Prediction of rows unlike those of training


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e3, 1e10, 1e100, 1e150, 1e160, 1e200, 1e308])
def test_distant_rows_have_densities_or_raise(form, scale):
    model = fitted(X, covariance_type=form)
    far = np.full((3, 3), scale) * [[1.0, 1.0, 1.0], [-1.0, 1.0, 0.1], [1.0, 0.0, np.nan]]
    try:
        densities, posteriors = model.score_samples(far), model.predict_proba(far)
    except ValueError as error:
        assert scale > 1e140
        assert "row 0" in str(error)  # noqa: PT017 - one of two right outcomes
        return
    assert (densities < -scale).all()
    assert np.isfinite(densities).all()
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0)


def test_posteriors_of_distant_rows_match_log_densities():
    """Densities that underflow still have a ratio."""
    ends = np.array([[-1.0], [-0.8], [-1.2], [1.0], [0.9], [1.1]])
    model = quiet(
        GaussianMixture(
            2, covariance_type="tied", responsibilities_init=np.repeat(np.eye(2), 3, 0)
        ),
        ends,
    )
    far = np.array([[-1e3], [1e3], [-1e8], [1e8]])
    assert model.predict(far).tolist() == [0, 1, 0, 1]
    np.testing.assert_array_equal(model.predict_proba(far).max(axis=1), 1.0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distant_row_is_named(dtype):
    rows = X.astype(dtype)
    model = fitted(rows)
    rows[17] = 3e38
    if dtype == np.float32:
        assert np.isfinite(model.score_samples(rows)).all()
        return
    rows[17] = 1e300
    with pytest.raises(ValueError, match="density of row 17 underflows"):
        model.predict(rows)


def test_wrong_number_of_columns_raises():
    model = fitted(X)
    for method in ("predict", "score_samples", "impute", "bic", "partial_fit"):
        with pytest.raises(
            ValueError, match="X has 2 features, but GaussianMixture is expecting 3"
        ):
            getattr(model, method)(X[:, :2])


# Arrays and frames


def test_arrays_of_every_layout_give_the_same_bits():
    plain = fitted(X)
    locked = X.copy()
    locked.flags.writeable = False
    strided = np.zeros((180, 6))
    strided[::2, ::2] = X
    for rows in (locked, np.asfortranarray(X), strided[::2, ::2], X.tolist(), X.astype(">f8")):
        model = fitted(rows)
        np.testing.assert_array_equal(model.means_, plain.means_)
        np.testing.assert_array_equal(model.covariances_, plain.covariances_)
        np.testing.assert_array_equal(model.predict_proba(rows), plain.predict_proba(X))
    assert not locked.flags.writeable
    np.testing.assert_array_equal(locked, X)


@pytest.mark.parametrize("method", ["predict", "score_samples", "impute"])
def test_rows_are_not_modified(method):
    rows = WITH_MISSING.copy()
    getattr(fitted(rows), method)(rows)
    np.testing.assert_array_equal(rows, WITH_MISSING)


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int64])
def test_integers_are_accepted(dtype):
    whole = (4 * X - (4 * X).min()).round().clip(0, 127)
    one, other = fitted(whole.astype(dtype)), fitted(whole)
    np.testing.assert_array_equal(one.means_, other.means_)


@pytest.mark.parametrize("kind", ["pandas", "polars", "Table"])
def test_frames_are_equivalent_to_arrays(kind):
    frames = {"Table": lambda rows: Table.of(rows)}
    if kind != "Table":
        library = pytest.importorskip(kind)
        frames[kind] = lambda rows: library.DataFrame(dict(zip("abc", rows.T, strict=True)))
    plain, model = fitted(WITH_MISSING), fitted(frames[kind](WITH_MISSING))
    np.testing.assert_array_equal(model.means_, plain.means_)
    for name in ("predict", "score_samples", "impute"):
        found = getattr(model, name)(frames[kind](WITH_MISSING))
        np.testing.assert_array_equal(found, getattr(plain, name)(WITH_MISSING))
    if kind != "Table":
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]


def test_bundled_table():
    table = ceiba.datasets.load("iris").table
    model = GaussianMixture(2).fit(table)
    assert_valid(model, table)


# Columns that are not numbers


def test_nominal_columns_raise_and_name_the_alternative():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(
        {"a": X[:, 0], "color": ["red", "green", "blue"] * 30, "b": ["x", "y"] * 45}
    )
    for method in ("fit", "partial_fit"):
        with pytest.raises(
            ValueError, match=r"'color' and 1 more: leave it out, or.*ceiba\.KMeans"
        ):
            getattr(GaussianMixture(2), method)(frame)
    assert len(KMeans(2).fit(frame).labels_) == len(frame)


def test_ordinal_columns_count_as_ranks_from_zero_to_one():
    pd = pytest.importorskip("pandas")
    ranks = np.arange(90) % 3
    categories = pd.Categorical.from_codes(ranks, ["low", "mid", "high"], ordered=True)
    frame = pd.DataFrame({"a": X[:, 0], "size": categories})
    model = fitted(frame)
    plain = fitted(np.c_[X[:, 0], ranks / 2])
    np.testing.assert_allclose(model.means_, plain.means_, rtol=1e-12)
    np.testing.assert_array_equal(model.predict(frame), plain.predict(np.c_[X[:, 0], ranks / 2]))


def test_dates_count_in_days_and_may_be_missing():
    pd = pytest.importorskip("pandas")
    days = np.round(100 * np.arange(90) % 7 + 50.0 * (np.arange(90) % 3))
    dates = [dt.datetime(2020, 1, 1) + dt.timedelta(days=float(day)) for day in days]
    dates[4] = None
    frame = pd.DataFrame({"when": pd.to_datetime(dates), "a": X[:, 0]})
    days[4] = np.nan
    model, plain = fitted(frame), fitted(np.c_[days, X[:, 0]])
    start = model.means_[0, 0] - plain.means_[0, 0]
    assert_same_mixture(model, plain, 1e-6, shift=np.array([start, 0.0]))
    assert start == pytest.approx(18262, abs=1e-3)  # days from 1970 to 2020
    assert np.isfinite(model.impute(frame)).all()

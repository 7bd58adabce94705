"""Data that break arithmetic give the same mixture as plain data, or a clear error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from ceiba import GaussianMixture
from ceiba.mixture import DegenerateColumnWarning
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
# Forms that are closed under scaling of single columns.
BY_COLUMN = ("full", "tied", "diag", "EEI", "VEI", "EVI", "VEE", "EVV")


# Scales


@pytest.mark.parametrize("form", ["full", "tied", "diag", "EVI", "spherical"])
@pytest.mark.parametrize("rows", [X, WITH_MISSING], ids=["whole", "missing"])
@pytest.mark.parametrize("power", [-300, -100, 50, 160])
def test_power_of_two_scale_changes_no_parameter(form, rows, power):
    options = {"covariance_type": form, "tol": 0.0, "max_iter": 8}
    plain, model = fitted(rows, **options), fitted(np.ldexp(rows, power), **options)
    # Log densities have another constant, and responsibilities its rounding error.
    np.testing.assert_allclose(model.weights_, plain.weights_, rtol=1e-11)
    np.testing.assert_allclose(np.ldexp(model.means_, -power), plain.means_, rtol=1e-11)
    back = np.ldexp(model.covariances_, -2 * power)
    np.testing.assert_allclose(back, plain.covariances_, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("scale", [1e-90, 1e-30, 1e50, 1e90])
def test_any_scale_gives_the_same_mixture(form, scale):
    plain, model = (fitted(X * s, covariance_type=form) for s in (1.0, scale))
    assert_same_mixture(model, plain, 1e-7, scale)
    assert model.n_iter_ == plain.n_iter_
    densities = plain.score_samples(X) - 3 * np.log(scale)
    np.testing.assert_allclose(model.score_samples(X * scale), densities, rtol=1e-9)


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random_from_data", "random"])
@pytest.mark.parametrize("scale", [1e-30, 1e50])
def test_any_scale_gives_the_same_mixture_for_every_init(init, scale):
    plain, model = (quiet(GaussianMixture(3, init_params=init), X * s) for s in (1.0, scale))
    assert_same_mixture(model, plain, 1e-6, scale)


@pytest.mark.parametrize("form", BY_COLUMN)
@pytest.mark.parametrize("rows", [X, WITH_MISSING], ids=["whole", "missing"])
@pytest.mark.parametrize("scale", [[1e-15, 1e12, 1.0], [1e-60, 1e40, 1e3]], ids=str)
def test_very_different_column_scales_give_the_same_mixture(form, rows, scale):
    plain, model = (fitted(rows * np.array(s), covariance_type=form) for s in (1.0, scale))
    assert_same_mixture(model, plain, 1e-6, scale)


@pytest.mark.parametrize("scale", [1e-160, 1e-170, 1e-250])
@pytest.mark.parametrize("form", ["full", "diag"])
def test_column_with_underflowing_squares_can_be_fitted(form, scale):
    rows = X * np.array([1.0, scale, 1.0])
    model = quiet(GaussianMixture(2, covariance_type=form), rows)
    assert np.isfinite(model.lower_bound_)
    assert model.score(rows) == pytest.approx(model.lower_bound_, rel=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [X, WITH_MISSING], ids=["whole", "missing"])
def test_common_shift_gives_the_same_mixture(form, rows):
    shift = np.array([1e9, -1e9, 1e6])
    plain, model = (fitted(rows + s, covariance_type=form) for s in (0.0, shift))
    assert_same_mixture(model, plain, 1e-5, shift=shift)
    densities = plain.score_samples(rows)
    np.testing.assert_allclose(model.score_samples(rows + shift), densities, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("form", ["full", "diag", "tied"])
@pytest.mark.parametrize("offset", [0.0, 1e4, 3e5])
def test_float32_rows_far_from_the_origin_give_the_same_mixture(form, offset):
    """float32 rows are summed in float64: the model equals that of the same float64 numbers."""
    single = (X + offset).astype(np.float32)
    model = fitted(single, covariance_type=form)
    double = fitted(single.astype(float), covariance_type=form)
    for name in ("weights_", "means_", "covariances_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(double, name))
    assert model.means_.dtype == np.float64
    np.testing.assert_array_equal(model.score_samples(single), double.score_samples(single))


# Few rows, equal rows, flat columns


@pytest.mark.parametrize("form", FORMS)
def test_fewer_rows_than_columns_can_be_fitted(form):
    wide = groups(2, 9, 20, 3)
    assert_valid(fitted(wide, covariance_type=form), wide)


@pytest.mark.parametrize("form", FORMS)
def test_repeated_rows_are_equivalent_to_weights(form):
    times = np.random.default_rng(3).integers(1, 5, size=90)
    options = {"covariance_type": form, "tol": 0.0, "max_iter": 6}
    more = fitted(
        np.repeat(X, times, axis=0),
        responsibilities_init=np.repeat(shares(90, 3), times, axis=0),
        **options,
    )
    weighed = fitted(X, weight=times, **options)
    assert_same_mixture(more, weighed, 1e-10)
    assert more.log_likelihood_ == pytest.approx(weighed.log_likelihood_, rel=1e-12)


@pytest.mark.parametrize("value", [0.0, -7.5, 1e9])
@pytest.mark.parametrize("k", [1, 3])
def test_equal_rows_raise_without_reg_covar(value, k):
    rows = np.full((20, 2), value)
    with pytest.raises(ValueError, match=r"equal rows.*reg_covar"):
        GaussianMixture(k).fit(rows)
    model = quiet(GaussianMixture(k, reg_covar=0.25), rows)
    np.testing.assert_allclose(model.means_, np.full((k, 2), value))
    np.testing.assert_allclose(matrices(model), np.broadcast_to(0.25 * np.eye(2), (k, 2, 2)))
    np.testing.assert_allclose(model.score_samples(rows), -np.log(2 * np.pi * 0.25))


def test_single_row_raises_without_reg_covar():
    with pytest.raises(ValueError, match="equal rows"):
        GaussianMixture(1).fit(X[:1])
    model = quiet(GaussianMixture(1, reg_covar=2.0), X[:1])
    np.testing.assert_array_equal(model.means_, X[:1])
    with pytest.raises(ValueError, match="n_samples >= n_components"):
        GaussianMixture(2, reg_covar=1.0).fit(X[:1])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore::ceiba.mixture.CollapsedComponentWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_constant_column_warns(form):
    flat = np.c_[X, np.full(90, 1e6)]
    model = GaussianMixture(3, covariance_type=form, responsibilities_init=shares(90, 3))
    with pytest.warns(DegenerateColumnWarning, match="constant columns: x3") as caught:
        model.fit(flat)
    assert caught[0].filename == __file__
    assert_valid(model, flat)
    np.testing.assert_allclose(model.means_[:, 3], 1e6)


def test_constant_column_does_not_change_the_others():
    flat = np.c_[X, np.full(90, 5.0)]
    plain, model = (fitted(rows, covariance_type="diag") for rows in (X, flat))
    np.testing.assert_allclose(model.means_[:, :3], plain.means_, rtol=1e-9)
    np.testing.assert_allclose(model.covariances_[:, :3], plain.covariances_, rtol=1e-9)
    stand_in = X.var(axis=0).mean()
    np.testing.assert_allclose(model.covariances_[:, 3], 1e-6 * stand_in, rtol=1e-9)


def test_constant_column_with_reg_covar_does_not_warn():
    flat = np.c_[X, np.full(90, 5.0)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DegenerateColumnWarning)
        model = GaussianMixture(2, reg_covar=0.1).fit(flat)
    np.testing.assert_allclose(matrices(model)[:, 3, 3], 0.1, rtol=1e-9)


def test_one_column_has_two_forms():
    """In one column a covariance is a variance: own or common."""
    column = X[:, :1]
    for names in (["full", "diag", "spherical", "VEV", "VEI"], ["tied", "EII", "EEI", "EVV"]):
        models = [fitted(column, covariance_type=name, tol=0.0, max_iter=9) for name in names]
        for model in models[1:]:
            assert_same_mixture(model, models[0], 1e-9)
    with pytest.raises(ValueError, match="n_latent"):
        GaussianMixture(2, covariance_type="ppca").fit(column)


@pytest.mark.parametrize("form", FORMS)
def test_as_many_components_as_rows_can_be_fitted(form):
    rows = X[:7]
    model = quiet(GaussianMixture(7, covariance_type=form, max_iter=20), rows)
    assert_valid(model, rows)


@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random_from_data", "random"])
def test_more_components_than_weighted_rows_raise(init):
    with pytest.raises(ValueError, match="n_components = 8, n_samples = 7"):
        GaussianMixture(8, init_params=init).fit(X[:7])
    with pytest.raises(ValueError, match="n_components = 4, n_samples = 3"):
        GaussianMixture(4, init_params=init).fit(X, sample_weight=np.arange(90) < 3)


@pytest.mark.parametrize("shape", [(0, 3), (5, 0), (0, 0)])
def test_empty_table_raises(shape):
    with pytest.raises(ValueError, match=r"0 (row|sample|feature|column)"):
        GaussianMixture(1).fit(np.empty(shape))
    if shape[1] == 3:
        with pytest.raises(ValueError, match=r"0 (row|sample)"):
            fitted(X).predict(np.empty(shape))


# Infinity


@pytest.mark.parametrize(
    "method", ["fit", "predict", "predict_proba", "score_samples", "score", "bic", "icl", "impute",
               "partial_fit"],
)  # fmt: skip
@pytest.mark.parametrize("value", [np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", ["full", "diag"])
def test_infinity_raises_and_names_its_row(method, value, dtype, form):
    model = quiet(GaussianMixture(2, covariance_type=form), X.astype(dtype))
    rows = WITH_MISSING.astype(dtype)
    rows[41, 2] = value
    with pytest.raises(ValueError, match="contains infinity: row 41"):
        getattr(model, method)(rows)


# Missing values


def test_column_without_values_raises_and_is_named():
    rows = X.copy()
    rows[:, 1] = np.nan
    with pytest.raises(ValueError, match="'x1' has no value"):
        GaussianMixture(2).fit(rows)
    rows[5, 1] = 3.0
    with pytest.raises(ValueError, match="'x1' has no value"):
        GaussianMixture(2).fit(rows, sample_weight=np.arange(90) != 5)


@pytest.mark.parametrize("form", FORMS)
def test_column_without_values_at_prediction_is_integrated_out(form):
    model = fitted(X, covariance_type=form)
    rows = X.copy()
    rows[:, 1] = np.nan
    seen = [0, 2]
    wanted = [
        multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).pdf(X[:, seen])
        for mean, covariance in zip(model.means_, matrices(model), strict=True)
    ]
    np.testing.assert_allclose(
        model.score_samples(rows), np.log(model.weights_ @ np.array(wanted)), rtol=1e-9
    )


@pytest.mark.parametrize("form", FORMS)
def test_row_without_values_does_not_change_the_model(form):
    rows = WITH_MISSING.copy()
    rows[[4, 50]] = np.nan
    model = fitted(rows, covariance_type=form)
    assert_valid(model, rows)
    np.testing.assert_allclose(model.score_samples(rows)[[4, 50]], 0.0, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(rows)[4], model.weights_, rtol=1e-12)
    np.testing.assert_allclose(model.impute(rows)[50], model.weights_ @ model.means_, rtol=1e-9)


@pytest.mark.parametrize("form", FORMS)
def test_every_pattern_of_missing_values_at_once(form):
    rows = np.tile(groups(5, 1, 5, 1), (32, 1)) + np.random.default_rng(6).normal(size=(32, 5))
    missing = (np.arange(32)[:, None] >> np.arange(5)) & 1 == 1
    model = fitted(groups(5, 200, 5, 2), k=2, covariance_type=form)
    found = model.score_samples(np.where(missing, np.nan, rows))
    for row, gone, density in zip(rows, missing, found, strict=True):
        seen = np.flatnonzero(~gone)
        parts = [
            multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).logpdf(row[seen])
            for mean, covariance in zip(model.means_, matrices(model), strict=True)
        ] if len(seen) else [0.0, 0.0]  # fmt: skip
        wanted = np.logaddexp.reduce(np.log(model.weights_) + parts)
        assert density == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_fit_where_every_row_misses_another_column():
    rows = groups(7, 64, 6, 2)
    missing = (np.arange(64)[:, None] >> np.arange(6)) & 1 == 1
    rows = np.where(missing, np.nan, rows)
    for form in ("full", "diag", "tied", "ppca"):
        assert_valid(fitted(rows, k=2, covariance_type=form), rows)

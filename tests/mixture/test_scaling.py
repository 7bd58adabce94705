"""Mixtures in other units: extreme values, integers beyond 2^53 and ``scale``."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ceiba import GaussianMixture, GaussianMixtureClassifier, load, save, scan
from ceiba.mixture import ConjugatePrior, choose_components
from tests.mixture.parts import groups, quiet

X = groups(1, 90, 3, 3)
HOLED = np.where(np.random.default_rng(2).random(X.shape) < 0.1, np.nan, X)
FORMS = ["full", "tied", "diag", "spherical", "EII", "ppca", "VEV"]
LOG2 = np.log(2.0)


def fit(rows, form="full", **options):
    return quiet(GaussianMixture(3, covariance_type=form, **options), rows)


def observed(rows):
    return (~np.isnan(rows)).sum(axis=1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("power", [-1020, -650, 500, 1015])
def test_extreme_power_of_two_gives_the_scaled_mixture(form, power):
    rows = np.ldexp(HOLED, power)
    plain = fit(HOLED, form, max_iter=20)
    with np.errstate(all="raise"):
        model = fit(rows, form, max_iter=20)
        densities = model.score_samples(rows)
        np.testing.assert_array_equal(model.predict(rows), plain.predict(HOLED))
    moved = plain.score_samples(HOLED) - observed(HOLED) * power * LOG2
    np.testing.assert_allclose(densities, moved, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.ldexp(model.means_, -power), plain.means_, rtol=1e-7)
    assert model.score(rows) == pytest.approx(model.lower_bound_, rel=1e-9)
    assert model.bic(rows) == pytest.approx(
        plain.bic(HOLED) + 2 * observed(HOLED).sum() * power * LOG2
    )
    filled = model.impute(rows)
    np.testing.assert_allclose(np.ldexp(filled, -power), plain.impute(HOLED), rtol=1e-7)
    np.testing.assert_array_equal(filled[~np.isnan(rows)], rows[~np.isnan(rows)])
    drawn, expected = model.sample(4)[0], plain.sample(4)[0]
    np.testing.assert_allclose(np.ldexp(drawn, -power), expected, rtol=1e-6)


def test_covariances_beyond_float64_are_infinite_or_zero():
    large, small = fit(X * 1e200), fit(X * 1e-200)
    assert np.isinf(np.diagonal(large.covariances_, axis1=1, axis2=2)).all()
    assert (large.precisions_ == 0).all()
    assert (small.covariances_ == 0).all()


def test_denormal_numbers_can_be_fitted():
    whole = np.round(1000 * X)
    plain, model = fit(whole), fit(whole * 5e-324)
    np.testing.assert_array_equal(model.predict(whole * 5e-324), plain.predict(whole))


def test_columns_of_extreme_ratio_have_units_of_their_own():
    factors = np.array([1e-200, 1.0, 1e150])
    model = fit(X * factors, max_iter=300)
    assert model.score(X * factors) == pytest.approx(model.lower_bound_, rel=1e-9)
    means = model.means_ / factors
    assert np.isfinite(means).all()
    assert (means >= X.min(axis=0)).all()
    assert (means <= X.max(axis=0)).all()


@pytest.mark.parametrize("form", ["full", "diag", "spherical"])
@pytest.mark.parametrize("value", [1e101, 1e200, -1e308])
def test_huge_outlier_is_a_component_of_its_own(form, value):
    rows = X.copy()
    rows[17, 1] = value
    model = quiet(GaussianMixture(2, covariance_type=form), rows)
    labels = model.predict(rows)
    assert np.flatnonzero(labels == labels[17]).tolist() == [17]
    assert np.isfinite(model.lower_bound_)


def test_integers_beyond_two_to_the_53():
    which = np.repeat([0, 1, 2], 30)
    small = np.c_[20 * which + np.random.default_rng(0).integers(0, 5, 90), np.arange(90) % 7]
    rows = small + np.array([2**61, 0])
    plain, model = fit(small), fit(rows)
    np.testing.assert_array_equal(model.predict(rows), plain.predict(small))
    assert model.lower_bound_ == pytest.approx(plain.lower_bound_, rel=1e-9)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("scale", "scaler"), [("std", StandardScaler), ("range", MinMaxScaler)])
def test_scale_equals_a_scaler_before_the_mixture(form, scale, scaler):
    rows = X * [1.0, 1e5, 1e-4] + [0.0, 1e6, 1.0]
    before = scaler().fit(rows)
    expected = fit(before.transform(rows), form)
    model = fit(rows, form, scale=scale)
    np.testing.assert_array_equal(model.predict(rows), expected.predict(before.transform(rows)))
    np.testing.assert_allclose(model.means_, before.inverse_transform(expected.means_), rtol=1e-6)
    factors = before.scale_ if scale == "std" else 1.0 / before.scale_
    moved = expected.lower_bound_ - np.log(factors).sum()
    assert model.lower_bound_ == pytest.approx(moved, rel=1e-6)
    if model.covariances_.ndim == 3:
        inverses = np.linalg.inv(model.covariances_)
        np.testing.assert_allclose(model.precisions_, inverses, rtol=1e-4, atol=1e-9)
    if form in ("spherical", "EII"):
        ratio = model.covariances_ / factors**2
        np.testing.assert_allclose(ratio, np.tile(expected.covariances_[:, None], 3), rtol=1e-6)


def test_scale_on_files_with_batches_and_in_model_files(tmp_path):
    rows = HOLED * [1.0, 1e5, 1e-4]
    model = fit(rows, scale="std", trace=True)
    np.savetxt(tmp_path / "rows.csv", rows, delimiter=",", header="a,b,c", comments="")
    scanned = fit(scan(tmp_path / "rows.csv"), scale="std")
    np.testing.assert_allclose(scanned.means_, model.means_, rtol=1e-6)
    np.testing.assert_allclose(model.trace_[-1]["means"], model.means_, rtol=1e-12)
    assert model.trace_[-1]["log_likelihood"] == pytest.approx(model.log_likelihood_)
    save(model, tmp_path / "model.ceiba")
    loaded = load(tmp_path / "model.ceiba")
    np.testing.assert_array_equal(loaded.score_samples(rows), model.score_samples(rows))
    again = quiet(loaded.set_params(warm_start=True), rows)
    assert again.n_iter_ <= 2
    online = GaussianMixture(3, scale="std")
    for part in (rows[:45], rows[45:]):
        quiet_partial = online.partial_fit(part)
    assert np.isfinite(quiet_partial.score(rows))


def test_given_parameters_are_in_the_columns_own_units():
    """An initialization, a prior and reg_covar have the same effect at any power of two."""
    plain = fit(X, max_iter=3)
    options = {"weights_init": plain.weights_, "max_iter": 5, "tol": 0.0}
    prior = {"mean": X.mean(axis=0), "scale": np.eye(3)}
    for form in ("full", "tied", "diag", "spherical"):
        start = fit(X, form, max_iter=3)
        one, other = (
            fit(
                np.ldexp(X, power),
                form,
                means_init=np.ldexp(start.means_, power),
                precisions_init=np.ldexp(start.precisions_, -2 * power),
                prior=ConjugatePrior(
                    mean=np.ldexp(prior["mean"], power), scale=np.ldexp(prior["scale"], 2 * power)
                ),
                reg_covar=float(np.ldexp(0.01, 2 * power)),
                **options,
            )
            for power in (0, 400)
        )
        np.testing.assert_allclose(np.ldexp(other.means_, -400), one.means_, rtol=1e-9)
        np.testing.assert_allclose(np.ldexp(other.covariances_, -800), one.covariances_, rtol=1e-8)


def test_incomparable_reg_covar_raises():
    with pytest.raises(ValueError, match="reg_covar must be comparable with the variances"):
        GaussianMixture(2, reg_covar=1e-6).fit(X * 1e-200)


def test_classifier_and_selection_with_scale():
    rows, y = X * [1.0, 1e5, 1e-4], np.arange(90) % 2
    model = quiet(GaussianMixtureClassifier(2, scale="range"), rows, y=y)
    ranged = MinMaxScaler().fit_transform(rows)
    expected = quiet(GaussianMixtureClassifier(2), ranged, y=y)
    found = model.predict_proba(rows)
    np.testing.assert_allclose(found, expected.predict_proba(ranged), atol=1e-6)
    assert model.score(rows, y) == pytest.approx(np.mean(model.predict(rows) == y))
    choice = choose_components(rows, [1, 3], ["spherical"], scale="std")
    standard = choose_components(StandardScaler().fit_transform(rows), [1, 3], ["spherical"])
    moved = standard.log_likelihood - 90 * np.log(rows.std(axis=0)).sum()
    np.testing.assert_allclose(choice.log_likelihood, moved, rtol=1e-8)

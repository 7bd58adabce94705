"""Fitted mixtures: samples, imputation, engines, copies, and failed fits."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone

import ceiba
from ceiba import GaussianMixture
from ceiba.mixture import ConjugatePrior
from tests.mixture.parts import FORMS, drop_values, fitted, groups, in_partitions, matrices, quiet

X = groups(1, 120, 3, 3)
WITH_MISSING = drop_values(X, 3, 0.3)
MODEL = fitted(X)
FITTED = ("weights_", "means_", "covariances_", "log_likelihood_", "n_iter_", "converged_")


def state(model):
    return {name: pickle.dumps(value) for name, value in vars(model).items() if name[-1] == "_"}


# Samples


@pytest.mark.parametrize("form", FORMS)
def test_sampled_rows_follow_the_mixture(form):
    model = fitted(X, covariance_type=form)
    rows, labels = model.sample(60_000)
    assert (np.diff(labels) >= 0).all()
    shares = np.bincount(labels, minlength=3) / 60_000
    np.testing.assert_allclose(shares, model.weights_, atol=0.01)
    for k, covariance in enumerate(matrices(model)):
        own = rows[labels == k]
        spread = np.sqrt(np.diag(covariance))
        assert np.abs((own.mean(axis=0) - model.means_[k]) / spread).max() < 0.05
        apart = (np.cov(own.T) - covariance) / np.outer(spread, spread)
        assert np.abs(apart).max() < 0.05
    # The likelihood of the sample is that of the model.
    assert model.score(rows) == pytest.approx(model.score(model.sample(20_000)[0]), abs=0.05)


def test_samples_depend_on_the_seed():
    model = fitted(X, random_state=5)
    np.testing.assert_array_equal(model.sample(9)[0], model.sample(9)[0])
    other = fitted(X, random_state=6)
    assert not np.array_equal(model.sample(9)[0], other.sample(9)[0])
    fresh = fitted(X, random_state=np.random.default_rng(1))
    assert not np.array_equal(fresh.sample(9)[0], fresh.sample(9)[0])


@pytest.mark.parametrize("n", [0, -1])
def test_wrong_number_of_samples_raises(n):
    with pytest.raises(ValueError, match="n_samples"):
        MODEL.sample(n)
    rows, labels = MODEL.sample()
    assert rows.shape == (1, 3)
    assert labels.shape == (1,)


# Imputation


@pytest.mark.parametrize("form", FORMS)
def test_imputed_draws_have_the_conditional_moments(form):
    """Draws for many copies of one row have the conditional mean and covariance."""
    model = fitted(X, covariance_type=form)
    row = np.array([[np.nan, X[:, 1].mean(), np.nan]])
    (mean,), (covariance,) = model.impute(row, return_cov=True)
    many = model.impute(np.repeat(row, 3_000, axis=0), draw=True)
    assert (many[:, 1] == row[0, 1]).all()
    gone = [0, 2]
    spread = np.sqrt(np.diag(covariance)[gone])
    assert np.abs((many.mean(axis=0) - mean)[gone] / spread).max() < 0.08
    apart = (np.cov(many[:, gone].T) - covariance[np.ix_(gone, gone)]) / np.outer(spread, spread)
    assert np.abs(apart).max() < 0.12
    np.testing.assert_array_equal(covariance[1], 0.0)


def test_imputed_draws_with_very_different_scales():
    scale = np.array([1e12, 1.0, 1e-12])
    plain, wild = fitted(X), fitted(X * scale)
    rows = np.repeat([[np.nan, 0.5, np.nan]], 2_000, axis=0)
    spread = plain.impute(rows, draw=True).std(axis=0)
    found = wild.impute(rows * scale, draw=True).std(axis=0) / scale
    np.testing.assert_allclose(found, spread, rtol=0.15)


def test_imputed_draws_are_keyed_by_seed_and_row():
    first = MODEL.impute(WITH_MISSING, draw=True, random_state=1)
    np.testing.assert_array_equal(first, MODEL.impute(WITH_MISSING, draw=True, random_state=1))
    other = MODEL.impute(WITH_MISSING, draw=True, random_state=2)
    gone = np.isnan(WITH_MISSING)
    assert not np.isclose(first[gone], other[gone]).any()
    np.testing.assert_array_equal(first[~gone], WITH_MISSING[~gone])
    np.testing.assert_array_equal(MODEL.impute(X), X)


@pytest.mark.parametrize("splits", [[50], [1, 2, 90]])
def test_imputed_draws_are_keyed_by_the_global_row(splits):
    whole = MODEL.impute(WITH_MISSING, draw=True, random_state=4)
    parts = MODEL.impute(in_partitions(WITH_MISSING, splits), draw=True, random_state=4)
    np.testing.assert_allclose(parts, whole, rtol=1e-12)


# Engines


def assert_same_use(source, frame, form):
    model = quiet(GaussianMixture(3, covariance_type=form), frame)
    found = quiet(GaussianMixture(3, covariance_type=form), source)
    np.testing.assert_allclose(found.means_, model.means_, rtol=1e-9)
    np.testing.assert_array_equal(found.predict(source), model.predict(frame))
    for name in ("predict_proba", "score_samples", "impute"):
        one, other = (getattr(m, name)(rows) for m, rows in ((model, frame), (found, source)))
        np.testing.assert_allclose(other, one, rtol=1e-8, atol=1e-12, err_msg=name)
    for name in ("score", "bic", "aic", "icl"):
        assert getattr(found, name)(source) == pytest.approx(getattr(model, name)(frame))


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("form", ["full", "diag"])
def test_files_give_the_same_predictions(kind, form, tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(WITH_MISSING, columns=[*"abc"])
    write = pd.DataFrame.to_csv if kind == "csv" else pd.DataFrame.to_parquet
    paths = [tmp_path / f"{part}.{kind}" for part in range(3)]
    for path, rows in zip(paths, (slice(0, 50), slice(50, 51), slice(51, None)), strict=True):
        write(frame[rows], path, index=False)
    assert_same_use(ceiba.scan(paths), frame, form)


@pytest.mark.dask
@pytest.mark.xdist_group("dask in process")
def test_dask_gives_the_same_predictions(client):
    pd = pytest.importorskip("pandas")
    dd = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame(WITH_MISSING, columns=[*"abc"])
    with client.as_current():
        for form in ("full", "diag"):
            assert_same_use(dd.from_pandas(frame, npartitions=3), frame, form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rows", [X, WITH_MISSING], ids=["whole", "missing"])
def test_partitions_without_weight_are_harmless(form, rows):
    weight = np.ones(120)
    weight[:40] = 0.0
    whole = quiet(GaussianMixture(3, covariance_type=form), rows, sample_weight=weight)
    for splits in ([40], [20, 30, 100], [0, 80]):
        parts = quiet(GaussianMixture(3, covariance_type=form), in_partitions(rows, splits, weight))
        np.testing.assert_allclose(parts.means_, whole.means_, rtol=1e-9)
        assert parts.log_likelihood_ == pytest.approx(whole.log_likelihood_)


# Online


def test_batches_come_close_to_a_fit():
    rows = groups(2, 6_000, 3, 3)[np.random.default_rng(2).permutation(6_000)]
    model = GaussianMixture(3, n_init=1)
    for part in np.array_split(rows, 60):
        model.partial_fit(part)
    whole = GaussianMixture(3).fit(rows)
    assert model.score(rows) > whole.score(rows) - 0.1
    assert model.n_iter_ == 60


@pytest.mark.parametrize("options", [{}, {"reg_covar": 0.5}], ids=str)
@pytest.mark.parametrize("form", ["full", "diag", "tied", "EVI"])
def test_batch_of_the_training_rows_changes_nothing(form, options):
    """EM has converged: the same rows again are one more iteration."""
    model = fitted(X, covariance_type=form, tol=1e-12, max_iter=2_000, **options)
    means, covariances = model.means_, model.covariances_
    for _ in range(5):
        quiet_partial(model, X)
    np.testing.assert_allclose(model.means_, means, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(model.covariances_, covariances, rtol=1e-2, atol=1e-2)


def quiet_partial(model, rows, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return model.partial_fit(rows, **given)


def test_batch_may_miss_a_column():
    model = GaussianMixture(3).fit(X)
    rows = X[:30].copy()
    rows[:, 1] = np.nan
    quiet_partial(model, rows)
    assert np.isfinite(model.means_).all()
    assert np.isfinite(model.covariances_).all()


def test_partial_fit_with_a_criterion_raises():
    with pytest.raises(ValueError, match="n_components"):
        GaussianMixture("bic").partial_fit(X)


# Copies


def test_copies_are_equal():
    prior = ConjugatePrior(shrinkage=0.3)
    model = quiet(GaussianMixture("bic", max_components=3, prior=prior, trace=True), X)
    copy = pickle.loads(pickle.dumps(model))
    for name in FITTED:
        np.testing.assert_array_equal(getattr(copy, name), getattr(model, name))
    np.testing.assert_array_equal(
        copy.predict_proba(WITH_MISSING), model.predict_proba(WITH_MISSING)
    )
    assert copy.fit_events_ == model.fit_events_
    assert repr(copy.choice_) == repr(model.choice_)
    bare = clone(model)
    assert not hasattr(bare, "means_")
    assert bare.get_params().keys() == model.get_params().keys()
    assert bare.prior.shrinkage == 0.3
    np.testing.assert_array_equal(quiet(bare, X).means_, model.means_)


def test_get_params_returns_the_given_values():
    given = {"means_init": X[:3], "n_components": 3, "prior": ConjugatePrior(), "trace": True}
    model = GaussianMixture(**given)
    for name, value in given.items():
        assert model.get_params()[name] is value
    quiet(model, X)
    assert model.means_init is given["means_init"]
    np.testing.assert_array_equal(model.means_init, X[:3])
    assert "GaussianMixture" in repr(model)


# Failed fits

FAILURES = {
    "infinity": (np.vstack([X, [[np.inf, 0, 0]]]), {}),
    "too few rows": (X[:2], {}),
    "a column without values": (np.c_[X[:, :2], np.full(120, np.nan)], {}),
    "all equal": (np.ones((5, 3)), {}),
    "a bad option": (X, {"covariance_floor": -1.0}),
    "a bad start": (X, {"weights_init": [1.0, 1.0, 1.0]}),
    "another width": (X[:, :2], {"means_init": X[:3]}),
    "words": (np.array([["a", "b", "c"]] * 9), {}),
}


@pytest.mark.parametrize("name", FAILURES)
def test_failed_fit_leaves_the_model_unchanged(name):
    rows, options = FAILURES[name]
    model = fitted(X, trace=True)
    before, scores = state(model), model.score_samples(X)
    good = model.get_params()
    with pytest.raises((ValueError, TypeError)):
        model.set_params(responsibilities_init=None, **options).fit(rows)
    assert state(model) == before
    model.set_params(**good)
    np.testing.assert_array_equal(model.score_samples(X), scores)


def test_failed_batch_leaves_the_model_unchanged():
    model = GaussianMixture(3).partial_fit(X)
    before = state(model)
    for rows in (X[:, :2], np.full((4, 3), np.inf), np.zeros((0, 3))):
        with pytest.raises(ValueError):
            model.partial_fit(rows)
    with pytest.raises(ValueError, match="weight"):
        model.partial_fit(X, sample_weight=np.zeros(120))
    assert state(model) == before


@pytest.mark.parametrize(
    "call", ["predict", "predict_proba", "score_samples", "score", "bic", "aic", "icl", "impute"]
)
def test_unfitted_mixture_raises(call):
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        getattr(GaussianMixture(2), call)(X)
    with pytest.raises(NotFittedError):
        GaussianMixture(2).sample(3)

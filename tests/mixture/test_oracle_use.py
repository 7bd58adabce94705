"""Densities, criteria, imputation and batches against the naive mixture."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba import GaussianMixture
from tests.mixture.checks import CLOSE, assert_close, fitted, parameters_of
from tests.mixture.tables import (
    KINDS,
    case,
    given,
    overlapping,
    single,
    some_weights,
    start,
    with_missing,
)
from tests.oracles import mixture_naive as naive
from tests.oracles.mixture_forms import FORMS
from tests.oracles.mixture_online import online
from tests.oracles.mixture_rows import impute, log_densities, responsibilities


def model_of(form, kind="weights+missing", d=3, **options):
    table = case(kind, seed=20, d=d)
    return fitted(table.X, table.w, start(table.X, table.w, table.k, form), form, 2, **options)


def new_rows(d=3, n=30):
    """New rows with missing values, one without any value."""
    return with_missing(overlapping(21, n, d, 3, apart=3.0), 22, share=0.35)


@pytest.mark.parametrize("form", FORMS)
def test_densities_and_posteriors_match(form):
    model, X = model_of(form), new_rows()
    known = parameters_of(model)
    np.testing.assert_allclose(
        model.score_samples(X), log_densities(X, known), rtol=1e-10, atol=1e-12
    )
    posteriors = responsibilities(X, known)
    np.testing.assert_allclose(model.predict_proba(X), posteriors, rtol=1e-9, atol=1e-15)
    np.testing.assert_array_equal(model.predict(X), posteriors.argmax(axis=1))
    w = some_weights(len(X), 23)
    mean = np.average(log_densities(X, known), weights=w)
    assert model.score(X, sample_weight=w) == pytest.approx(mean, rel=1e-10)
    assert model.score(X) == pytest.approx(log_densities(X, known).mean(), rel=1e-10)


@pytest.mark.parametrize("form", FORMS)
def test_float32_rows_are_evaluated_in_float64(form):
    model, X = model_of(form), single(new_rows())
    expected = log_densities(X.astype(float), parameters_of(model))
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-10, atol=1e-12)


def test_posteriors_of_a_row_without_values_are_the_weights():
    model = model_of("VVV")
    X = np.full((2, 3), np.nan)
    np.testing.assert_allclose(model.predict_proba(X), [model.weights_] * 2, rtol=1e-14)
    np.testing.assert_allclose(model.score_samples(X), 0.0, atol=1e-14)
    assert model.predict(X).tolist() == [model.weights_.argmax()] * 2


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_criteria_match(form, weighted):
    d, q = 4, 2
    table = case("missing", seed=24, d=d)
    model = fitted(table.X, None, start(table.X, None, 3, form, q), form, 1, n_latent=q)
    X = new_rows(d)
    w = some_weights(len(X), 25) if weighted else None
    config, known = naive.Config(form, q), parameters_of(model)
    for name in ("bic", "aic", "icl"):
        expected = getattr(naive, name)(X, w, known, config)
        assert getattr(model, name)(X, sample_weight=w) == pytest.approx(expected, rel=CLOSE)


@pytest.mark.parametrize("form", FORMS)
def test_imputed_values_are_conditional_means(form):
    model, X = model_of(form), new_rows()
    before = X.copy()
    filled, covariance = model.impute(X, return_cov=True)
    mean, spread = impute(X, parameters_of(model))
    np.testing.assert_allclose(filled, mean, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(covariance, spread, rtol=1e-8, atol=1e-10)
    observed = ~np.isnan(X)
    np.testing.assert_array_equal(filled[observed], X[observed])
    assert not covariance[observed].any()
    np.testing.assert_array_equal(model.impute(X), filled)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("form", ["VVV", "VVI", "ppca"])
def test_imputed_draws_have_the_conditional_moments(form):
    """2,000 draws of one row: means within four standard errors, covariances approximately."""
    model = model_of(form)
    row = np.array([0.4, np.nan, np.nan])
    X = np.repeat(row[None], 2000, axis=0)
    drawn = model.impute(X, draw=True, random_state=1)
    mean, spread = impute(row[None], parameters_of(model))
    error = np.sqrt(np.diag(spread[0])[1:] / len(X))
    assert (np.abs(drawn.mean(axis=0) - mean[0])[1:] < 4 * error).all()
    scale = np.sqrt(np.outer(np.diag(spread[0]), np.diag(spread[0])))[1:, 1:]
    apart = np.abs(np.cov(drawn.T, bias=True) - spread[0])[1:, 1:]
    assert (apart < 0.15 * scale).all()
    assert (drawn[:, 0] == 0.4).all()
    np.testing.assert_array_equal(drawn[:9], model.impute(X[:9], draw=True, random_state=1))
    assert (drawn[:9, 1:] != model.impute(X[:9], draw=True, random_state=2)[:, 1:]).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_batches_match_online_em(form, kind):
    table = case(kind, seed=26, n=96)
    first = start(table.X, table.w, table.k, form)
    w = naive.ones(table.X, table.w)
    parts = [slice(0, 40), slice(40, 52), slice(52, 96)]
    batches = [(table.X[part], w[part]) for part in parts]
    model = GaussianMixture(3, covariance_type=form, learning_decay=0.6, **given(form, first))
    for (X, v), expected in zip(
        batches, online(batches, first, naive.Config(form), 0.6), strict=True
    ):
        model.partial_fit(X, sample_weight=None if table.w is None else v)
        assert_close(parameters_of(model), expected)


def test_learning_decay_matches():
    table = case("plain", seed=27)
    first = start(table.X, None, 3, "VVV")
    found = []
    for decay in (0.6, 1.0):
        model = GaussianMixture(3, learning_decay=decay, **given("full", first))
        model.partial_fit(table.X[:40]).partial_fit(table.X[40:])
        batches = [(table.X[:40], None), (table.X[40:], None)]
        assert_close(parameters_of(model), online(batches, first, naive.Config("VVV"), decay)[-1])
        found.append(model.means_)
    assert np.abs(found[0] - found[1]).max() > 1e-3

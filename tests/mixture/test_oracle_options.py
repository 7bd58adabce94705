"""Priors, reg_covar and the floor against naive EM, in every form."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from ceiba.mixture import ConjugatePrior, DegenerateColumnWarning
from tests.mixture.checks import assert_iterations, fitted
from tests.mixture.tables import KINDS, case, start
from tests.oracles import mixture_naive as naive
from tests.oracles.mixture_forms import DIAGONAL, FORMS, SPHERICAL

STEPS = 3


def check(table, config, **options):
    """Compare the iterations with the naive ones, frame by frame."""
    first = start(table.X, table.w, table.k, config.form)
    model = fitted(table.X, table.w, first, config.form, STEPS, trace=True, **options)
    assert_iterations(model, table.X, table.w, first, config)
    return model


def differs(table, model):
    """Whether the same iterations without the options give another model."""
    form = model.covariance_type
    plain = fitted(table.X, table.w, start(table.X, table.w, table.k, form), form, STEPS)
    return np.abs(model.covariances_ - plain.covariances_).max() > 1e-3


# Priors


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_default_prior_matches(form, kind):
    table = case(kind, n=48, seed=30)
    config = naive.Config(form, prior=naive.default_prior(table.X, table.w, form, table.k))
    model = check(table, config, prior="default")
    assert differs(table, model)
    first = start(table.X, table.w, table.k, form)
    again = fitted(table.X, table.w, first, form, STEPS, prior=ConjugatePrior())
    np.testing.assert_array_equal(again.covariances_, model.covariances_)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_given_prior_matches(form, kind):
    table = case(kind, n=48, seed=31)
    scale = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, -0.2], [0.0, -0.2, 0.5]])
    if form in DIAGONAL:
        scale = np.diag([2.0, 1.0, 0.5])
    if form in SPHERICAL:
        scale = 1.5 * np.eye(3)
    mean = np.array([0.5, -1.0, 0.0])
    config = naive.Config(form, prior=naive.Prior(mean, 2.0, 7.0, scale))
    given = ConjugatePrior(mean=mean, shrinkage=2.0, degrees_of_freedom=7.0, scale=scale)
    check(table, config, prior=given)


# Against collapse


@pytest.mark.parametrize("kind", ["plain", "weights+missing"])
@pytest.mark.parametrize("form", FORMS)
def test_reg_covar_matches(form, kind):
    table = case(kind, n=48, seed=32)
    config = naive.Config(form, reg_covar=0.25)
    assert differs(table, check(table, config, reg_covar=0.25))


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("kind", ["plain", "weights+missing"])
@pytest.mark.parametrize("form", FORMS)
def test_active_floor_matches(form, kind, prior):
    table = case(kind, n=48, seed=33)
    table.X[:] *= [1.0, 10.0, 0.1] if form not in (*SPHERICAL, "ppca") else 1.0
    known = ConjugatePrior(mean=np.zeros(3), degrees_of_freedom=5.0, scale=np.eye(3))
    naive_prior = naive.Prior(np.zeros(3), 0.01, 5.0, np.eye(3))
    # A covariance shared by all components is nearly that of the table.
    floor = 0.95 if form in ("EII", "EEI") else 0.6
    config = naive.Config(form, floor=floor, prior=naive_prior if prior else None)
    options = {"covariance_floor": floor, "prior": known if prior else None}
    assert differs(table, check(table, config, **options))


@pytest.mark.parametrize("form", FORMS)
def test_reg_covar_with_the_floor_matches(form):
    table = case("plain", n=48, seed=34)
    config = naive.Config(form, reg_covar=0.2, floor=0.5)
    check(table, config, reg_covar=0.2, covariance_floor=0.5)


@pytest.mark.parametrize("form", FORMS)
def test_constant_column_gets_the_mean_variance(form):
    table = case("plain", n=48, seed=35)
    table.X[:, 1] = 2.5
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check(table, naive.Config(form, floor=0.01), covariance_floor=0.01)
    assert DegenerateColumnWarning in {each.category for each in caught}

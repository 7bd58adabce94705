"""Gaussian mixtures against naive EM, iteration by iteration, and against scikit-learn."""

from __future__ import annotations

import warnings
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture
from threadpoolctl import threadpool_limits

from ceiba import GaussianMixture
from tests.budget import examples
from tests.mixture.checks import (
    assert_close,
    assert_iterations,
    fitted,
    form_options,
    letters,
    parameters_of,
    quiet,
)
from tests.mixture.tables import (
    ALIASES,
    KINDS,
    SHIFT,
    case,
    glass,
    iris,
    overlapping,
    problems,
    shifted,
    single,
    start,
)
from tests.mixture.tables import given as as_given
from tests.oracles import mixture_naive as naive
from tests.oracles.mixture_forms import FORMS
from tests.oracles.mixture_rows import Parameters

STEPS = (1, 2, 3, 7)


@pytest.fixture(autouse=True)
def one_thread():
    """Limit small problems to one thread."""
    with threadpool_limits(1):
        yield


# Iteration by iteration


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_every_iteration_matches_the_naive_one(form, kind):
    table = case(kind)
    first = start(table.X, table.w, table.k, form)
    models = [fitted(table.X, table.w, first, form, steps, trace=True) for steps in STEPS]
    expected = assert_iterations(models[-1], table.X, table.w, first, naive.Config(form))
    for steps, model in zip(STEPS, models, strict=True):
        assert model.n_iter_ == steps
        assert not model.converged_
        assert_close(parameters_of(model), expected[steps])


@pytest.mark.parametrize("kind", ["plain", "weights+missing"])
@pytest.mark.parametrize(("d", "k"), [(1, 1), (1, 2), (2, 4), (4, 1), (6, 2)])
@pytest.mark.parametrize("form", FORMS)
def test_other_numbers_of_columns_and_components_match(form, d, k, kind):
    if form == "ppca" and d == 1:
        pytest.skip("one column leaves no room for noise beside a latent axis")
    table = case(kind, seed=3, n=50, d=d, k=k)
    q = max(1, d // 2)
    first = start(table.X, table.w, k, form, q)
    expected = naive.run(table.X, table.w, first, naive.Config(form, q), 2)
    model = fitted(table.X, table.w, first, form, 2, n_latent=q)
    assert_close(parameters_of(model), expected[-1])


@examples(60)
@given(problem=problems())
def test_random_tables_match_iteration_by_iteration(problem):
    table, form, q = problem
    config = naive.Config(form, q)
    first = start(table.X, table.w, table.k, form, q)
    expected = naive.run(table.X, table.w, first, config, 2)
    # A component of less than a row would be reseeded: skip it.
    assume(all(each.weights.min() * len(table.X) > 1 for each in expected))
    model = fitted(table.X, table.w, first, form, 2, n_latent=q, trace=True)
    assert_close(parameters_of(model), expected[-1], 1e-8)
    assert len(model.trace_) == 3


@pytest.mark.parametrize("form", FORMS)
def test_float32_rows_are_summed_in_float64(form):
    table = case("weights+missing", seed=5)
    X = single(table.X)
    first = start(table.X, table.w, table.k, form)
    expected = naive.run(X.astype(float), table.w, first, naive.Config(form), 3)
    assert_close(parameters_of(fitted(X, table.w, first, form, 3)), expected[-1])


@pytest.mark.parametrize("kind", ["plain", "weights+missing"])
@pytest.mark.parametrize("form", FORMS)
def test_rows_far_from_the_origin_match(form, kind):
    """float64 numbers near 1e9 are 1e-7 apart, and so are means; nothing else may be lost."""
    table = case(kind, seed=6)
    X = shifted(table.X)
    near = X - SHIFT
    first = start(near, table.w, table.k, form)
    # A mean that is exact in both tables.
    first = Parameters(first.weights, first.means + SHIFT - SHIFT, first.covariances)
    expected = naive.run(near, table.w, first, naive.Config(form), 3)[-1]
    far = Parameters(first.weights, first.means + SHIFT, first.covariances)
    found = parameters_of(fitted(X, table.w, far, form, 3))
    np.testing.assert_allclose(found.means - SHIFT, expected.means, rtol=0, atol=1e-6)
    assert_close(Parameters(found.weights, expected.means, found.covariances), expected, 2e-6)


@pytest.mark.parametrize("form", FORMS)
def test_iris_and_glass_match(form):
    for X, k in ((iris(), 3), (glass()[:, :5], 2)):
        first = start(X, None, k, form, q=2)
        expected = naive.run(X, None, first, naive.Config(form, 2), 3)
        assert_close(parameters_of(fitted(X, None, first, form, 3, n_latent=2)), expected[-1])


@pytest.mark.parametrize("kind", ["weights", "weights+missing"])
@pytest.mark.parametrize("form", FORMS)
def test_weights_are_equivalent_to_repeated_rows(form, kind):
    X = case(kind, seed=7).X
    w = np.arange(len(X)) % 4
    first = start(X, w, 3, form)
    ours = parameters_of(fitted(X, w, first, form, 4))
    assert_close(ours, parameters_of(fitted(np.repeat(X, w, axis=0), None, first, form, 4)))
    some = w > 0
    assert_close(ours, parameters_of(fitted(X[some], w[some], first, form, 4)), 1e-12)


# Names and shapes


@pytest.mark.parametrize("name", ALIASES)
def test_aliases_of_a_form_are_equal(name):
    table = case("weights+missing", seed=8)
    first = start(table.X, table.w, table.k, letters(name))
    one = fitted(table.X, table.w, first, name, 2)
    other = fitted(table.X, table.w, first, letters(name), 2)
    np.testing.assert_array_equal(one.covariances_, other.covariances_)
    np.testing.assert_array_equal(one.means_, other.means_)


SHAPES = dict.fromkeys(FORMS, (3, 2, 2)) | dict.fromkeys(("EEI", "VEI", "EVI", "VVI"), (3, 2))
SHAPES |= {"EEE": (2, 2), "EII": (3,), "VII": (3,)}


@pytest.mark.parametrize("form", FORMS)
def test_covariances_have_the_shape_of_the_form(form):
    table = case("plain", d=2)
    model = fitted(table.X, None, start(table.X, None, 3, form), form, 1, trace=True)
    assert model.covariances_.shape == SHAPES[form]
    assert model.precisions_.shape == SHAPES[form]
    assert model.trace_[0]["covariances"].shape in ((3, 2, 2), (3, 2))
    found = parameters_of(model)
    inverse = np.linalg.inv(found.covariances)
    model.covariances_ = model.precisions_
    np.testing.assert_allclose(parameters_of(model).covariances, inverse, rtol=1e-8, atol=1e-10)


def test_ppca_attributes_match_the_covariances():
    table = case("plain", d=4)
    model = fitted(table.X, None, start(table.X, None, 3, "ppca", 2), "ppca", 2, n_latent=2)
    for k in range(3):
        axes, noise = model.latent_axes_[k], model.noise_variances_[k]
        np.testing.assert_allclose(axes.T @ axes, np.eye(2), atol=1e-12)
        excess = np.diag(model.latent_variances_[k] - noise)
        again = axes @ excess @ axes.T + noise * np.eye(4)
        np.testing.assert_allclose(again, model.covariances_[k], rtol=1e-10, atol=1e-12)


# Against scikit-learn


@pytest.mark.parametrize("n", [1, 2, 5, 20])
@pytest.mark.parametrize("name", ALIASES)
def test_iterations_match_scikit_learn(name, n):
    for X, k in ((iris(), 3), (case("plain", seed=9, n=200, d=4).X, 3)):
        first = start(X, None, k, letters(name), seed=1)
        ours = fitted(X, None, first, name, n)
        theirs = quiet_sklearn(X, k, name, n, first)
        # Relative to the scale of the numbers: entries near zero have few digits in both.
        for found, expected in (
            (ours.weights_, theirs.weights_),
            (ours.means_, theirs.means_),
            (ours.covariances_, theirs.covariances_),
            (ours.precisions_, theirs.precisions_),
            (ours.precisions_cholesky_, theirs.precisions_cholesky_),
            (ours.score_samples(X), theirs.score_samples(X)),
            (ours.predict_proba(X), theirs.predict_proba(X)),
        ):
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * expected.std())
        assert ours.bic(X) == pytest.approx(theirs.bic(X), rel=1e-8)
        assert ours.aic(X) == pytest.approx(theirs.aic(X), rel=1e-8)
        assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-8)


def quiet_sklearn(X, k, name, n, first):
    model = SklearnMixture(
        k, covariance_type=name, reg_covar=0.0, tol=0.0, max_iter=n, **as_given(name, first)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X)


# Whole fits


def assert_increases(model):
    """The objective never decreases; no component of these tables is lost."""
    values = [frame["objective"] for frame in model.trace_]
    assert len(values) > 2
    assert not any(event.kind in ("reseeded", "dropped") for event in model.fit_events_)
    assert all(b >= a - 1e-9 * abs(a) for a, b in pairwise(values))


@pytest.mark.parametrize("prior", [None, "default"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_objective_never_decreases(form, kind, prior):
    table = case(kind, seed=10, n=150)
    model = GaussianMixture(3, covariance_type=form, prior=prior, trace=True, tol=1e-7)
    assert_increases(quiet(model, table.X, table.w))


@pytest.mark.parametrize("form", FORMS)
def test_objective_never_decreases_on_iris(form):
    model = GaussianMixture(3, trace=True, **form_options(form, 2))
    assert_increases(quiet(model, iris()))


@pytest.mark.parametrize("form", ["EII", "VII", "EEI", "VVI", "EEE", "VVV", "ppca"])
def test_objective_never_decreases_at_the_floor(form):
    """Glass has columns of mostly zeros; in these forms the floor is the constrained maximum."""
    model = GaussianMixture(4, trace=True, covariance_floor=0.05, **form_options(form, 3))
    assert_increases(quiet(model, glass()))


@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("form", FORMS)
def test_columns_in_very_different_units_match(form, k):
    """Column scales 1e8 apart, in no order."""
    X = overlapping(0, 120, 4, 2) * np.array([5e-2, 1e-4, 20.0, 1e4])
    model = quiet(GaussianMixture(k, covariance_type=form, trace=True, tol=0.0, max_iter=10), X)
    assert np.isfinite(model.covariances_).all()
    assert np.isfinite(model.log_likelihood_)
    assert_increases(model)


@pytest.mark.parametrize("tol", [1e-3, 1e-5])
@pytest.mark.parametrize("kind", ["plain", "weights+missing"])
@pytest.mark.parametrize("form", ["VVV", "VEV"])
def test_fit_ends_at_the_same_iteration(form, kind, tol):
    table = case(kind, seed=11)
    units = np.array([1e-2, 1.0, 1e3])
    X = table.X * units
    first = start(X, table.w, table.k, form)
    expected, steps, converged = naive.fit_until_converged(
        X, table.w, first, naive.Config(form), tol, 40
    )
    model = fitted(X, table.w, first, form, 40, tol=tol)
    assert (model.n_iter_, model.converged_) == (steps, converged)
    assert_close(parameters_of(model), expected, 1e-8)


def test_too_few_iterations_warn():
    table = case("plain")
    with pytest.warns(ConvergenceWarning):
        GaussianMixture(3, max_iter=1, tol=1e-12).fit(table.X)

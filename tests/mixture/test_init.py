"""Initial parameters, warm start and priors."""

from __future__ import annotations

import numpy as np
import pytest

from ceiba import GaussianMixture
from ceiba.mixture import ConjugatePrior
from tests.mixture.parts import (
    FORMS,
    assert_same_mixture,
    fitted,
    groups,
    in_partitions,
    matrices,
    quiet,
    shares,
)

X = groups(1, 120, 3, 3)
CLOUD = groups(4, 200, 3, 4, apart=1.0)
EYES = np.stack([np.eye(3)] * 3)


# Initial parameters


def start_of(model):
    return {
        "weights_init": model.weights_,
        "means_init": model.means_,
        "precisions_init": model.precisions_,
    }


@pytest.mark.parametrize("form", FORMS)
def test_fitted_mixture_can_be_the_initialization(form):
    model = fitted(CLOUD, k=4, covariance_type=form, tol=0.0, max_iter=4)
    further = fitted(CLOUD, k=4, covariance_type=form, tol=0.0, max_iter=9)
    options = {"covariance_type": form, "tol": 0.0, "max_iter": 5}
    again = quiet(GaussianMixture(4, **options, **start_of(model)), CLOUD)
    assert_same_mixture(again, further, 1e-7)
    # On partitions of a source as well.
    parts = quiet(GaussianMixture(4, **options, **start_of(model)), in_partitions(CLOUD, [3, 77]))
    assert_same_mixture(parts, again, 1e-9)


@pytest.mark.parametrize("name", ["weights_init", "means_init", "precisions_init"])
def test_each_init_parameter_replaces_its_part(name):
    given = {
        "weights_init": np.array([0.2, 0.3, 0.5]),
        "means_init": X[:3] + 0.5,
        "precisions_init": 0.25 * EYES,
    }
    options = {"tol": 0.0, "max_iter": 1, "trace": True}
    plain = quiet(GaussianMixture(3, **options), X).trace_[0]
    model = quiet(GaussianMixture(3, **options, **{name: given[name]}), X).trace_[0]
    wanted = {
        "weights": given["weights_init"] if name == "weights_init" else plain["weights"],
        "means": given["means_init"] if name == "means_init" else plain["means"],
        "covariances": 4 * EYES if name == "precisions_init" else plain["covariances"],
    }
    for part, value in wanted.items():
        np.testing.assert_allclose(model[part], value, rtol=1e-12, err_msg=part)


INVALID = {
    "weights too few": {"weights_init": [0.5, 0.5]},
    "weights beyond one": {"weights_init": [0.5, 0.5, 0.5]},
    "weights below one": {"weights_init": [0.1, 0.1, 0.1]},
    "a negative weight": {"weights_init": [-0.5, 0.5, 1.0]},
    "a weight of NaN": {"weights_init": [np.nan, 0.5, 0.5]},
    "weights in a matrix": {"weights_init": [[0.5, 0.25, 0.25]]},
    "means too few": {"means_init": X[:2]},
    "means too narrow": {"means_init": X[:3, :2]},
    "an infinite mean": {"means_init": np.full((3, 3), np.inf)},
    "means of words": {"means_init": [["a", "b", "c"]] * 3},
    "ragged means": {"means_init": [[1.0], [1.0, 2.0], [3.0]]},
    "one precision": {"precisions_init": np.eye(3)},
    "precisions of another form": {"precisions_init": np.ones((3, 3))},
    "not symmetric": {"precisions_init": EYES + np.triu(np.ones((3, 3)), 1)},
    "not symmetric, small": {"precisions_init": 1e-9 * (EYES + np.triu(np.ones((3, 3)), 1))},
    "not definite": {"precisions_init": EYES * np.array([1.0, 1.0, -1.0])},
    "singular": {"precisions_init": np.ones((3, 3, 3))},
    "zero": {"precisions_init": np.zeros((3, 3, 3))},
    "NaN": {"precisions_init": np.full((3, 3, 3), np.nan)},
    "responsibilities too few": {"responsibilities_init": shares(119, 3)},
    "responsibilities too narrow": {"responsibilities_init": shares(120, 2)},
    "negative responsibilities": {"responsibilities_init": shares(120, 3) - 0.2},
    "a row without responsibility": {"responsibilities_init": np.eye(120, 3)},
    "responsibilities of NaN": {"responsibilities_init": np.full((120, 3), np.nan)},
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid_init_raises_and_names_the_parameter(name):
    ((option, _),) = INVALID[name].items()
    with pytest.raises(ValueError, match=option):
        GaussianMixture(3, **INVALID[name]).fit(X)


@pytest.mark.parametrize(
    ("form", "good"), [("diag", (3, 3)), ("tied", (3, 3)), ("spherical", (3,)), ("EII", (3,))]
)
def test_precisions_have_the_shape_of_their_form(form, good):
    wanted = np.eye(3) if form == "tied" else np.ones(good)
    quiet(GaussianMixture(3, covariance_type=form, precisions_init=wanted), X)
    for bad in (np.ones((3, 3, 3)), np.ones(2), -wanted, 0 * wanted):
        with pytest.raises(ValueError, match="precisions_init"):
            GaussianMixture(3, covariance_type=form, precisions_init=bad).fit(X)


def test_responsibilities_are_normalized_and_used():
    model, scaled = (
        fitted(X, responsibilities_init=shares(120, 3) * s, trace=True) for s in (1.0, 17.0)
    )
    np.testing.assert_array_equal(model.means_, scaled.means_)
    first = model.trace_[0]
    r = shares(120, 3)
    np.testing.assert_allclose(first["weights"], r.mean(axis=0))
    np.testing.assert_allclose(first["means"], r.T @ X / r.sum(axis=0)[:, None])


def test_responsibilities_apply_to_the_first_batch_only():
    model = GaussianMixture(3, responsibilities_init=shares(60, 3)).partial_fit(X[:60])
    model.partial_fit(X[60:90]).partial_fit(X[90:])
    assert model.n_iter_ == 3


@pytest.mark.parametrize("far", [1e6, 1e60, 1e120, 1e160, 1e200, 1e300])
@pytest.mark.parametrize("form", ["full", "diag"])
def test_distant_initial_means_recover_or_raise(form, far):
    """All of them or one: a valid model or a clear error, never NaN."""
    one = {"full": EYES, "diag": np.ones((3, 3))}[form]
    for means in (np.vstack([X[:2], np.full(3, far)]), far * np.eye(3)):
        for more in ({}, {"weights_init": np.full(3, 1 / 3), "precisions_init": one}):
            model = GaussianMixture(3, covariance_type=form, means_init=means, **more)
            try:
                quiet(model, X)
            except ValueError as error:
                assert "means_init" in str(error)  # noqa: PT017 - one of two right outcomes
                continue
            for name in ("weights_", "means_", "covariances_", "log_likelihood_"):
                assert np.isfinite(getattr(model, name)).all(), name
            assert np.abs(model.means_).max() < 100


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_extreme_precisions_fit_or_raise(size):
    given = {"weights_init": np.full(3, 1 / 3), "means_init": X[:3]}
    model = GaussianMixture(3, precisions_init=size * EYES, **given)
    try:
        quiet(model, X)
    except ValueError as error:
        assert "precisions_init" in str(error)  # noqa: PT017 - one of two right outcomes
        return
    assert np.isfinite(model.log_likelihood_)
    assert np.isfinite(model.covariances_).all()


def test_criterion_with_init_parameters_raises():
    for name, value in (("means_init", X[:3]), ("responsibilities_init", shares(120, 3))):
        with pytest.raises(ValueError, match=name):
            GaussianMixture("bic", **{name: value}).fit(X)


# Warm start


def test_warm_start_continues():
    options = {"tol": 0.0, "max_iter": 3, "init_params": "random"}
    model = GaussianMixture(3, warm_start=True, **options)
    for _ in range(4):
        quiet(model, CLOUD)
    whole = quiet(GaussianMixture(3, **{**options, "max_iter": 12}), CLOUD)
    assert_same_mixture(model, whole, 1e-9)
    cold = GaussianMixture(3, **options)
    for _ in range(4):
        quiet(cold, CLOUD)
    assert cold.log_likelihood_ < model.log_likelihood_


def test_warm_start_of_another_shape_starts_anew_or_raises():
    """The previous model may not apply any more; the error then names warm_start alone."""
    changes = [{"n_components": 4}, {"covariance_type": "diag"}, {"covariance_type": "spherical"}]
    for change in changes:
        model = quiet(GaussianMixture(3, warm_start=True), X).set_params(**change)
        try:
            quiet(model, X)
        except ValueError as error:
            assert "warm_start" in str(error)  # noqa: PT017 - one of two right outcomes
    model = quiet(GaussianMixture(3, warm_start=True), X)
    try:
        quiet(model, X[:, :2])
    except ValueError as error:
        assert "warm_start" in str(error)  # noqa: PT017


def test_warm_start_after_a_dropped_component():
    means = np.vstack([X[:2], np.full(3, 1e6)])
    model = GaussianMixture(3, means_init=means, empty_component="drop", warm_start=True)
    assert quiet(model, X).n_components_ == 2
    assert quiet(model, X).n_components_ in (2, 3)


# Priors

PRIORS = {
    "default": ("default", {}),
    "mean": (ConjugatePrior(mean=[-2.0, 3.0, 1.0], shrinkage=2.0), {"shrinkage": 2.0}),
    "shrinkage": (ConjugatePrior(shrinkage=4.0), {"shrinkage": 4.0}),
    "degrees_of_freedom": (ConjugatePrior(degrees_of_freedom=80.0), {"freedom": 80.0}),
    "scale": (ConjugatePrior(scale=20.0 * np.eye(3)), {}),
}


@pytest.mark.parametrize("name", PRIORS)
def test_each_part_of_a_prior_has_its_effect(name):
    prior, numbers = PRIORS[name]
    model = fitted(X, prior=prior, tol=0.0, max_iter=200)
    kappa, nu = numbers.get("shrinkage", 0.01), numbers.get("freedom", 5.0)
    center = np.array([-2.0, 3.0, 1.0]) if name == "mean" else X.mean(axis=0)
    scale = 20.0 * np.eye(3) if name == "scale" else np.cov(X.T, bias=True) / 3 ** (2 / 3)
    # At the fixed point of EM the M step returns its input.
    r = model.predict_proba(X)
    sizes = r.sum(axis=0)
    means = r.T @ X / sizes[:, None]
    for k in range(3):
        away = X - means[k]
        shift = means[k] - center
        W = (r[:, k, None] * away).T @ away + scale
        W += kappa * sizes[k] / (kappa + sizes[k]) * np.outer(shift, shift)
        covariance = W / (sizes[k] + nu + 3 + 2)
        np.testing.assert_allclose(matrices(model)[k], covariance, rtol=1e-6, atol=1e-6)
        mean = (sizes[k] * means[k] + kappa * center) / (sizes[k] + kappa)
        np.testing.assert_allclose(model.means_[k], mean, rtol=1e-6)
    assert model.lower_bound_ != pytest.approx(model.log_likelihood_ / 120)


@pytest.mark.parametrize(
    ("prior", "text"),
    [
        ({"shrinkage": -1.0}, "shrinkage"),
        ({"shrinkage": np.nan}, "shrinkage"),
        ({"mean": [1.0, 2.0]}, "mean"),
        ({"mean": [1.0, 2.0, np.nan]}, "mean"),
        ({"degrees_of_freedom": 1.0}, "degrees_of_freedom"),
        ({"degrees_of_freedom": np.nan}, "degrees_of_freedom"),
        ({"degrees_of_freedom": np.inf}, "degrees_of_freedom"),
        ({"scale": np.eye(2)}, "scale"),
        ({"scale": np.full((3, 3), np.inf)}, "scale"),
        ({"scale": -np.eye(3)}, "scale"),
        ({"scale": np.triu(np.ones((3, 3)))}, "scale"),
    ],
    ids=str,
)
def test_invalid_priors_raise(prior, text):
    with pytest.raises(ValueError, match=text):
        GaussianMixture(2, prior=ConjugatePrior(**prior)).fit(X)

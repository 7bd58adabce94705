"""Every option has its effect, and invalid values raise."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from ceiba import GaussianMixture
from ceiba.base import ParameterError
from tests.mixture.parts import (
    FORMS,
    assert_same_mixture,
    drop_values,
    fitted,
    groups,
    in_partitions,
    quiet,
    shares,
)

X = groups(1, 120, 3, 3)
# Overlapping groups: EM is slow, and the initialization matters.
CLOUD = groups(4, 200, 3, 4, apart=1.0)
INITS = ["kmeans", "k-means++", "random_from_data", "random"]

BAD = {
    "n_components": [0, -1, 2.0, True, "best", None, [1], np.nan],
    "covariance_type": ["fully", None, 3, "EVE"],
    "n_latent": [0, 1.5, None],
    "tol": [-1e-9, np.nan, "small", None],
    "reg_covar": [-1e-9, np.nan, np.inf, None],
    "covariance_floor": [1.0, -1e-6, 2, np.nan, None],
    "prior": ["wishart", 3, {}],
    "max_iter": [-1, -5, 1.5, None],
    "n_init": [0, 1.5, None],
    "short_iter": [0, -1, 2.5],
    "init_params": ["lloyd", None, np.zeros((3, 3))],
    "weights_init": ["even", 0.5],
    "means_init": ["far", 1.0],
    "empty_component": ["keep", None],
    "max_components": [0, 2.5],
    "learning_decay": [0.5, 0.0, 1.1, np.nan],
    "warm_start": ["yes", 1],
    "random_state": ["seed", 1.5],
    "n_jobs": ["all", 1.5],
    "scale": ["minmax", 1, True],
    "verbose": [-1, "yes", None],
    "verbose_interval": [0, 2.5],
    "trace": ["yes", 1],
}
PAIRS = [(name, value) for name, values in BAD.items() for value in values]


@pytest.mark.parametrize(("name", "value"), PAIRS, ids=lambda v: str(v)[:12])
@pytest.mark.parametrize("method", ["fit", "partial_fit"])
def test_invalid_value_raises_and_names_the_parameter(name, value, method):
    with pytest.raises(ParameterError, match=f"The '{name}' parameter of GaussianMixture must be"):
        getattr(GaussianMixture(3).set_params(**{name: value}), method)(X)


def test_unknown_parameter_raises():
    with pytest.raises(TypeError):
        GaussianMixture(3, covariance="full")
    with pytest.raises(ValueError, match="color"):
        GaussianMixture(3).set_params(color=1)


# Initialization


@pytest.mark.parametrize("init", INITS)
def test_initializations_differ_by_kind_and_seed(init):
    def first(kind, seed):
        options = {"init_params": kind, "random_state": seed, "tol": 0.0, "max_iter": 1}
        return quiet(GaussianMixture(4, trace=True, **options), CLOUD).trace_[0]["means"]

    np.testing.assert_array_equal(first(init, 1), first(init, 1))
    assert not np.allclose(first(init, 1), first(init, 2))
    for other in set(INITS) - {init}:
        assert not np.allclose(first(init, 1), first(other, 1))


def test_random_responsibilities_start_near_the_mean():
    """Every component begins with all rows, with random responsibilities."""
    model = quiet(GaussianMixture(3, init_params="random", trace=True, max_iter=1), X)
    first = model.trace_[0]
    away = (first["means"] - X.mean(axis=0)) / X.std(axis=0)
    assert np.abs(away).max() < 0.3
    assert np.abs(first["weights"] - 1 / 3).max() < 0.1


def test_kmeans_initialization_has_its_clusters():
    from ceiba import KMeans

    model = quiet(GaussianMixture(3, trace=True, max_iter=1), X)
    centers = KMeans(3).fit(X).cluster_centers_
    found = model.trace_[0]["means"]
    order = np.argsort(found[:, 0]), np.argsort(centers[:, 0])
    np.testing.assert_allclose(found[order[0]], centers[order[1]], rtol=1e-9)


@pytest.mark.parametrize("short_iter", [1, 5, 10, None])
def test_more_initializations_are_never_worse(short_iter):
    options = {"init_params": "random_from_data", "max_iter": 200, "random_state": 3}
    one = quiet(GaussianMixture(4, **options), CLOUD)
    more = quiet(GaussianMixture(4, n_init=8, short_iter=short_iter, **options), CLOUD)
    if short_iter is None:
        assert more.lower_bound_ >= one.lower_bound_
    assert more.lower_bound_ > one.lower_bound_ - 0.02
    assert not np.array_equal(more.means_, one.means_)


def test_best_short_run_is_continued():
    """The continued best short run equals the complete run from the same initialization."""
    options = {"init_params": "random", "tol": 0.0, "max_iter": 23, "trace": True}
    short = quiet(GaussianMixture(3, n_init=4, short_iter=6, **options), CLOUD)
    assert short.n_iter_ == 23
    assert [frame.step for frame in short.trace_] == list(range(24)) or [
        frame.step for frame in short.trace_
    ] == list(range(1, 25))
    start = short.trace_[0]
    again = quiet(
        GaussianMixture(
            3,
            weights_init=start["weights"],
            means_init=start["means"],
            precisions_init=np.linalg.inv(start["covariances"]),
            **{**options, "init_params": "kmeans"},
        ),
        CLOUD,
    )
    assert_same_mixture(short, again, 1e-7)
    assert len(short.trace_) == len(again.trace_)


# Convergence


@pytest.mark.parametrize("steps", [1, 2, 7])
@pytest.mark.parametrize("n_init", [1, 3])
def test_zero_tolerance_makes_max_iter_iterations(steps, n_init):
    model = GaussianMixture(3, tol=0.0, max_iter=steps, n_init=n_init, short_iter=None)
    with pytest.warns(ConvergenceWarning, match=f"max_iter={steps} iterations"):
        model.fit(CLOUD)
    assert model.n_iter_ == steps
    assert model.converged_ is False


def test_larger_tolerance_ends_sooner_at_a_lower_objective():
    found = [quiet(GaussianMixture(3, tol=t, max_iter=2000), CLOUD) for t in (1e-2, 1e-5, 1e-9)]
    steps = [model.n_iter_ for model in found]
    assert steps == sorted(steps)
    assert steps[0] < steps[1] < steps[2]
    assert found[0].log_likelihood_ < found[1].log_likelihood_ < found[2].log_likelihood_
    assert all(model.converged_ for model in found)


def test_fitted_likelihood_matches_score():
    for form in FORMS:
        model = quiet(GaussianMixture(3, covariance_type=form), CLOUD)
        assert model.log_likelihood_ == pytest.approx(model.score_samples(CLOUD).sum(), rel=1e-10)
        assert model.lower_bound_ == pytest.approx(model.log_likelihood_ / 200)
        assert model.score(CLOUD) == pytest.approx(model.lower_bound_)


# Regularization


@pytest.mark.parametrize("form", FORMS)
def test_reg_covar_is_added_to_every_variance(form):
    options = {"covariance_type": form, "tol": 0.0, "max_iter": 1}
    plain, model = (fitted(X, reg_covar=reg, **options) for reg in (0.0, 7.0))
    # The initialization has it too: compare one iteration from the same responsibilities.
    traced = [fitted(X, reg_covar=reg, trace=True, **options).trace_[0] for reg in (0.0, 7.0)]
    added = traced[1]["covariances"] - traced[0]["covariances"]
    wanted = 7.0 * (np.eye(3) if added.ndim == 3 else np.ones(3))
    np.testing.assert_allclose(added, np.broadcast_to(wanted, added.shape), rtol=1e-9, atol=1e-9)
    assert not np.allclose(plain.covariances_, model.covariances_)


def test_floor_above_the_covariances_raises_them():
    low, high = (fitted(X, covariance_type="diag", covariance_floor=f) for f in (1e-6, 0.5))
    assert len(low.fit_events_) == 0
    assert (high.covariances_ >= 0.5 * X.var(axis=0) * (1 - 1e-12)).all()
    assert {event.kind for event in high.fit_events_} == {"floored"}


# Forms


@pytest.mark.parametrize(
    ("name", "alias"), [("full", "VVV"), ("tied", "EEE"), ("diag", "VVI"), ("spherical", "VII")]
)
def test_alias_is_the_same_form(name, alias):
    one, other = (quiet(GaussianMixture(3, covariance_type=form), CLOUD) for form in (name, alias))
    np.testing.assert_array_equal(one.covariances_, other.covariances_)
    np.testing.assert_array_equal(one.precisions_cholesky_, other.precisions_cholesky_)
    assert one.bic(CLOUD) == other.bic(CLOUD)


def test_forms_differ_and_nest():
    found = {form: fitted(X, covariance_type=form, max_iter=500) for form in FORMS}
    values = {form: round(model.log_likelihood_, 6) for form, model in found.items()}
    assert len(set(values.values())) == len(FORMS)
    # A form that contains another has at least its likelihood.
    pairs = "EII spherical, EII EEI, EEI diag, EEI tied, tied VEE, tied full, EVV full, EEV VEV"
    for less, more in (pair.split() for pair in pairs.split(", ")):
        assert values[less] < values[more], (less, more)


@pytest.mark.parametrize("n_latent", [1, 2])
def test_n_latent_eigenvalues_are_kept(n_latent):
    model = fitted(X, covariance_type="ppca", n_latent=n_latent)
    assert model.latent_axes_.shape == (3, 3, n_latent)
    assert model.latent_variances_.shape == (3, n_latent)
    axes, extra = model.latent_axes_, model.latent_variances_ - model.noise_variances_[:, None]
    rebuilt = (axes * extra[:, None, :]) @ axes.transpose(0, 2, 1)
    rebuilt += model.noise_variances_[:, None, None] * np.eye(3)
    np.testing.assert_allclose(rebuilt, model.covariances_, rtol=1e-9, atol=1e-9)


def test_n_latent_must_be_less_than_the_columns():
    for n_latent in (3, 9):
        with pytest.raises(ValueError, match=f"n_latent must be < n_features=.*, got {n_latent}"):
            GaussianMixture(2, covariance_type="ppca", n_latent=n_latent).fit(X)
    model = fitted(X, covariance_type="ppca")
    quiet(model.set_params(covariance_type="diag"), X)
    assert not hasattr(model, "latent_axes_")


# Seeds, threads, frames


@pytest.mark.parametrize("kind", [np.random.RandomState, np.random.default_rng])
def test_generator_draws_the_seed(kind):
    options = {"init_params": "random", "max_iter": 3, "tol": 0.0}
    one, other = (
        quiet(GaussianMixture(3, random_state=kind(4), **options), CLOUD) for _ in range(2)
    )
    np.testing.assert_array_equal(one.means_, other.means_)
    # The same generator draws another seed next.
    model = GaussianMixture(3, random_state=kind(4), **options)
    first = quiet(model, CLOUD).means_
    assert not np.array_equal(first, quiet(model, CLOUD).means_)


def test_random_state_none_draws_a_new_seed():
    options = {"init_params": "random", "max_iter": 2, "tol": 0.0, "random_state": None}
    one, other = (quiet(GaussianMixture(3, **options), CLOUD) for _ in range(2))
    assert not np.array_equal(one.means_, other.means_)


@pytest.mark.parametrize("seed", [-1, 2**40, 2**64 - 1, np.int64(7), np.uint8(3)])
def test_every_int_is_a_seed(seed):
    model = quiet(GaussianMixture(3, random_state=seed), CLOUD)
    again = quiet(GaussianMixture(3, random_state=seed), CLOUD)
    np.testing.assert_array_equal(model.means_, again.means_)
    np.testing.assert_array_equal(model.sample(5)[0], again.sample(5)[0])


@pytest.mark.parametrize("n_jobs", [None, -1, 1, 2, 3])
def test_n_jobs_changes_no_bit(n_jobs):
    rows = drop_values(groups(6, 3000, 4, 3))
    one, other = (quiet(GaussianMixture(3, n_jobs=jobs), rows) for jobs in (1, n_jobs))
    np.testing.assert_array_equal(one.covariances_, other.covariances_)


def test_trace_has_every_iteration():
    model = quiet(GaussianMixture(3, trace=True), CLOUD)
    assert len(model.trace_) == model.n_iter_ + 1
    last = model.trace_[-1]
    np.testing.assert_array_equal(last["means"], model.means_)
    np.testing.assert_array_equal(last["covariances"], model.covariances_)
    assert last["log_likelihood"] == model.log_likelihood_
    assert not hasattr(quiet(model.set_params(trace=False), CLOUD), "trace_")


def test_criterion_chooses_n_components():
    for criterion in ("bic", "aic", "icl"):
        model = quiet(GaussianMixture(criterion, max_components=5), X)
        table = model.choice_.table
        assert table["n_components"].tolist() == [1, 2, 3, 4, 5]
        values = np.where(table["n_floored"] == 0, table[criterion], np.inf)
        assert model.n_components_ == table["n_components"][np.argmin(values)]
        assert getattr(model, criterion)(X) == pytest.approx(values.min())
    assert model.n_components_ == 3
    assert quiet(GaussianMixture("bic", max_components=2), X).n_components_ == 2
    assert quiet(GaussianMixture("bic", max_components=99, covariance_type="EII"), X[:6])
    assert not hasattr(quiet(model.set_params(n_components=2, max_components=9), X), "choice_")


def test_learning_decay_is_the_exponent_of_a_batch():
    """After two batches of one component the mean mixes both means as documented."""
    one, two = X[:40], X[40:]
    for decay in (0.51, 0.7, 1.0):
        model = GaussianMixture(1, learning_decay=decay).partial_fit(one).partial_fit(two)
        gamma = (80 / 120) ** decay
        wanted = (1 - gamma) * one.mean(axis=0) + gamma * two.mean(axis=0)
        np.testing.assert_allclose(model.means_[0], wanted, rtol=1e-12)
        assert model.n_iter_ == 2


def test_partitions_give_the_same_model():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        whole = GaussianMixture(3).fit(X)
        parts = GaussianMixture(3).fit(in_partitions(X, [10, 60]))
    assert_same_mixture(parts, whole, 1e-9)
    given = {"responsibilities_init": shares(120, 3)}
    with pytest.raises(ValueError, match="requires rows in memory"):
        GaussianMixture(3, **given).fit(in_partitions(X, [60]))


# Options without effect

GIVEN = {"weights_init": [0.5, 0.5], "means_init": X[:2], "precisions_init": [np.eye(3)] * 2}


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"n_latent": 2}, "n_latent"),
        ({"n_latent": 2, "covariance_type": "diag"}, "n_latent"),
        ({"max_components": 3}, "max_components"),
        ({"short_iter": 3}, "short_iter"),
        ({"n_components": "bic", "short_iter": 3}, "short_iter"),
        ({"n_components": "bic", "warm_start": True}, "warm_start"),
        ({**GIVEN, "init_params": "random"}, "init_params"),
        ({**GIVEN, "responsibilities_init": np.ones((len(X), 2))}, "responsibilities_init"),
        ({"responsibilities_init": np.ones((len(X), 2)), "init_params": "random"}, "init_params"),
    ],
    ids=str,
)
def test_an_option_without_effect_raises(options, name):
    model = GaussianMixture(**{"n_components": 2, **options})
    with pytest.raises(ValueError, match=f"'{name}' has no effect with"):
        model.fit(X)


@pytest.mark.parametrize("options", [GIVEN, {"responsibilities_init": np.ones((len(X), 2))}])
def test_n_init_with_given_values_warns(options):
    with pytest.warns(RuntimeWarning, match="performing only one init instead of n_init=3"):
        GaussianMixture(2, n_init=3, tol=1.0, **options).fit(X)

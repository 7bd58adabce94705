"""Missing values: parameter recovery, marginals, and invariance to threads and order."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from ceiba import GaussianMixture
from ceiba.engine import choose
from tests.mixture.parts import (
    FORMS,
    assert_same_mixture,
    drop_values,
    fitted,
    groups,
    in_partitions,
    matrices,
    quiet,
    shares,
)

# Two elongated groups in four correlated columns, so that missing values are predictable.
WEIGHTS = np.array([0.4, 0.6])
MEANS = np.array([[0.0, 0.0, 0.0, 0.0], [3.0, -2.0, 1.0, 2.0]])
ROOTS = np.array(
    [
        [[1.0, 0, 0, 0], [0.9, 0.4, 0, 0], [0.5, 0.3, 0.6, 0], [-0.7, 0.2, 0.1, 0.5]],
        [[0.8, 0, 0, 0], [-0.6, 0.5, 0, 0], [0.4, -0.3, 0.4, 0], [0.6, 0.3, 0.2, 0.7]],
    ]
)
COVARIANCES = ROOTS @ ROOTS.transpose(0, 2, 1)


def drawn(seed, n):
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < WEIGHTS[1]).astype(int)
    return MEANS[labels] + np.einsum("nij,nj->ni", ROOTS[labels], rng.normal(size=(n, 4)))


def mean_filled(X):
    return np.where(np.isnan(X), np.nanmean(X, axis=0), X)


@cache
def of_rows(how):
    """A mixture of 3000 rows with a fifth of the values missing."""
    X = drawn(1, 3_000)
    if how != "whole":
        X = drop_values(X, 2, 0.2)
    if how == "filled":
        X = mean_filled(X)
    return GaussianMixture(2, means_init=MEANS + 0.3, tol=1e-7, max_iter=500).fit(X)


def error(model):
    return (
        np.abs(model.means_ - MEANS).max(),
        np.abs(model.covariances_ - COVARIANCES).max(),
        np.abs(model.weights_ - WEIGHTS).max(),
    )


def test_known_parameters_are_recovered():
    means, covariances, weights = error(of_rows("missing"))
    assert means < 0.12
    assert covariances < 0.15
    assert weights < 0.03


def test_integrating_out_is_better_than_mean_imputation():
    whole, missing, filled = (error(of_rows(how)) for how in ("whole", "missing", "filled"))
    assert missing[1] < 3 * whole[1] + 0.02
    assert filled[1] > 2 * missing[1]
    assert filled[0] > missing[0]


def test_held_out_rows_are_more_likely_than_after_mean_imputation():
    fresh = drawn(3, 3_000)
    missing, filled, whole = (of_rows(how).score(fresh) for how in ("missing", "filled", "whole"))
    assert missing > filled + 0.05
    assert missing > whole - 0.02
    holed = drop_values(fresh, 4, 0.2)
    assert of_rows("missing").score(holed) > of_rows("filled").score(holed)


def test_imputed_values_are_nearer_than_the_mean():
    fresh = drawn(5, 2_000)
    holed = drop_values(fresh, 6, 0.2)
    gone = np.isnan(holed)
    model = of_rows("missing")
    errors = [
        np.sqrt(np.mean((rows[gone] - fresh[gone]) ** 2))
        for rows in (model.impute(holed), mean_filled(holed))
    ]
    assert errors[0] < 0.7 * errors[1]
    # The conditional covariance is of the size of that error.
    _, covariance = model.impute(holed, return_cov=True)
    spread = np.sqrt(np.einsum("nii->ni", covariance)[gone])
    z = (model.impute(holed)[gone] - fresh[gone]) / spread
    assert 0.9 < z.std() < 1.1


def test_values_missing_at_random_are_harmless():
    """Missing at random, not completely: the likelihood of the observed values is still right."""
    X = drawn(7, 2_000)
    X[X[:, 0] > 2.5, 1] = np.nan
    model = GaussianMixture(2, means_init=MEANS + 0.3, tol=1e-6, max_iter=300).fit(X)
    assert np.abs(model.means_ - MEANS).max() < 0.2
    biased = np.nanmean(X[:, 1]) - (WEIGHTS @ MEANS)[1]
    assert abs((model.weights_ @ model.means_)[1] - (WEIGHTS @ MEANS)[1]) < 0.3 * abs(biased)


# Marginals


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("seen", [[0], [3], [1, 2], [0, 1, 3]], ids=str)
def test_row_with_missing_values_has_the_marginal_density(form, seen):
    X = drawn(1, 300)
    model = quiet(GaussianMixture(2, covariance_type=form), X)
    rows = np.full((50, 4), np.nan)
    rows[:, seen] = X[:50, seen]
    parts = np.array(
        [
            weight
            * multivariate_normal(mean[seen], covariance[np.ix_(seen, seen)]).pdf(X[:50, seen])
            for weight, mean, covariance in zip(
                model.weights_, model.means_, matrices(model), strict=True
            )
        ]
    )
    np.testing.assert_allclose(model.score_samples(rows), np.log(parts.sum(axis=0)), rtol=1e-9)
    np.testing.assert_allclose(
        model.predict_proba(rows), (parts / parts.sum(axis=0)).T, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("form", ["full", "diag"])
def test_densities_integrate_to_the_marginal_density(form):
    model = quiet(GaussianMixture(2, covariance_type=form), drawn(1, 300)[:, :2])
    grid = np.linspace(-30, 30, 6001)
    row = np.array([0.7, np.nan])
    all_of_it = np.c_[np.full(6001, 0.7), grid]
    whole = np.exp(model.score_samples(all_of_it)).sum() * (grid[1] - grid[0])
    assert model.score_samples(row[None])[0] == pytest.approx(np.log(whole), rel=1e-6)


# Invariance


@pytest.fixture
def threads(monkeypatch):
    """As many threads as requested, also where the machine has fewer cores."""
    monkeypatch.setattr(choose, "effective_threads", lambda n_jobs: n_jobs or 1)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical", "VEV", "ppca"])
@pytest.mark.parametrize("kind", ["whole", "missing", "weights", "single"])
def test_threads_change_no_bit(form, kind):
    X = groups(2, 6_000, 5, 3, 2.0)
    X = drop_values(X) if kind == "missing" else X.astype(np.float32) if kind == "single" else X
    weight = np.random.default_rng(3).exponential(size=6_000) if kind == "weights" else None
    options = {"covariance_type": form, "tol": 0.0, "max_iter": 3}
    one, *more = (
        quiet(GaussianMixture(3, n_jobs=jobs, **options), X, sample_weight=weight)
        for jobs in (1, 2, 3)
    )
    for model in more:
        for name in ("weights_", "means_", "covariances_", "log_likelihood_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(one, name))
        for name in ("score_samples", "predict_proba", "predict"):
            np.testing.assert_array_equal(getattr(model, name)(X), getattr(one, name)(X))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["whole", "missing"])
def test_order_of_rows_does_not_matter(form, kind):
    X = groups(4, 300, 4, 3, 2.0)
    X = drop_values(X) if kind == "missing" else X
    order = np.random.default_rng(5).permutation(300)
    options = {"covariance_type": form, "tol": 0.0, "max_iter": 15}
    plain = fitted(X, **options)
    shuffled = fitted(X[order], responsibilities_init=shares(300, 3)[order], **options)
    assert_same_mixture(shuffled, plain, 1e-9)
    np.testing.assert_allclose(
        shuffled.score_samples(X[order]), plain.score_samples(X)[order], rtol=1e-9
    )


@pytest.mark.parametrize("form", ["full", "diag", "VEE"])
def test_order_of_columns_does_not_matter(form):
    X = drop_values(groups(4, 300, 4, 3, 2.0))
    turn = [2, 0, 3, 1]
    options = {"covariance_type": form, "tol": 0.0, "max_iter": 15}
    plain, turned = fitted(X, **options), fitted(X[:, turn], **options)
    np.testing.assert_allclose(turned.means_, plain.means_[:, turn], rtol=1e-7, atol=1e-7)
    np.testing.assert_allclose(turned.score_samples(X[:, turn]), plain.score_samples(X), rtol=1e-7)


@pytest.mark.parametrize("form", ["full", "diag", "EEV"])
def test_partitioning_does_not_matter(form):
    X = drop_values(groups(4, 300, 4, 3, 2.0))
    options = {"covariance_type": form, "tol": 0.0, "max_iter": 8, "init_params": "random"}
    whole = quiet(GaussianMixture(3, **options), X)
    for splits in ([1], [100, 200], [1, 2, 3, 299]):
        assert_same_mixture(
            quiet(GaussianMixture(3, **options), in_partitions(X, splits)), whole, 1e-8
        )

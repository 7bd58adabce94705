"""Naive mixtures against SciPy, scikit-learn, brute force and the properties of EM."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.covariance import EmpiricalCovariance
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.mixture import GaussianMixture

from tests.oracles import mixture_naive as naive
from tests.oracles.mixture_discriminant import linear, quadratic
from tests.oracles.mixture_forms import FORMS, solve
from tests.oracles.mixture_online import online
from tests.oracles.mixture_rows import Parameters, complete, impute, log_densities, responsibilities
from tests.oracles.mixture_scatters import random_scatters

SKLEARN = {"full": "VVV", "tied": "EEE", "diag": "VVI", "spherical": "VII"}


def table(seed=0, n=48, d=3, missing=False):
    """Two groups of different shapes that overlap."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    X[n // 2 :] = X[n // 2 :] * rng.uniform(0.5, 2.0, size=d) + 1.5
    if missing:
        X[rng.random(X.shape) < 0.25] = np.nan
        X[3] = np.nan
    return X


def start(X, form="VVV", q=1, seed=0, k=2):
    """Means near the columns' means, covariances solved for random scatters."""
    rng = np.random.default_rng(seed)
    d = X.shape[1]
    means = np.nanmean(X, axis=0) + rng.normal(size=(k, d))
    return Parameters(
        rng.dirichlet(np.full(k, 5.0)), means, solve(form, *random_scatters(rng, k, d), q)
    )


def assert_same(one, other, close=1e-10):
    for name in ("weights", "means", "covariances"):
        left, right = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(left, right, rtol=close, atol=close * np.abs(right).max())


# Rows


def test_densities_match_scipy():
    X = table(missing=True)
    found = start(X)
    densities = np.array(
        [
            [
                multivariate_normal.logpdf(*marginal(x, m, c)) if (~np.isnan(x)).any() else 0.0
                for x in X
            ]
            for m, c in zip(found.means, found.covariances, strict=True)
        ]
    )
    expected = np.log(found.weights @ np.exp(densities))
    np.testing.assert_allclose(log_densities(X, found), expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(
        responsibilities(X, found),
        (found.weights[:, None] * np.exp(densities - expected)).T,
        rtol=1e-10,
    )


def marginal(x, mean, covariance):
    there = ~np.isnan(x)
    return x[there], mean[there], covariance[np.ix_(there, there)]


def test_conditional_moments_match_the_precision_matrix():
    rng = np.random.default_rng(1)
    covariance = random_scatters(rng, 1, 5)[1][0]
    mean, x = rng.normal(size=5), rng.normal(size=5)
    x[[1, 4]] = np.nan
    gone, there = [1, 4], [0, 2, 3]
    precision = np.linalg.inv(covariance)
    left = np.linalg.inv(precision[np.ix_(gone, gone)])
    found = complete(x, mean, covariance)
    np.testing.assert_allclose(found.covariance[np.ix_(gone, gone)], left, rtol=1e-10)
    assert not found.covariance[there].any()
    moved = mean[gone] - left @ precision[np.ix_(gone, there)] @ (x[there] - mean[there])
    np.testing.assert_allclose(found.filled[gone], moved, rtol=1e-10)


def test_row_without_values_has_the_moments_of_the_model():
    X = np.full((1, 3), np.nan)
    found = start(table())
    assert log_densities(X, found) == pytest.approx(0.0, abs=1e-15)
    np.testing.assert_allclose(responsibilities(X, found)[0], found.weights, rtol=1e-14)
    mean, covariance = impute(X, found)
    total = found.weights @ found.means
    np.testing.assert_allclose(mean[0], total, rtol=1e-14)
    second = sum(
        p * (c + np.outer(m, m))
        for p, m, c in zip(found.weights, found.means, found.covariances, strict=True)
    )
    np.testing.assert_allclose(covariance[0], second - np.outer(total, total), rtol=1e-12)


def test_imputed_moments_are_integrals_of_the_density():
    found = start(table(d=2))
    grid = np.linspace(-60.0, 60.0, 1201)
    rows = np.column_stack([np.full(grid.size, 0.7), grid])
    density = np.exp(log_densities(rows, found))
    density /= density.sum()
    mean = density @ grid
    filled, covariance = impute(np.array([[0.7, np.nan]]), found)
    np.testing.assert_allclose(filled[0], [0.7, mean], rtol=1e-10)
    expected = [[0.0, 0.0], [0.0, density @ (grid - mean) ** 2]]
    np.testing.assert_allclose(covariance[0], expected, rtol=1e-9)


# EM


@pytest.mark.parametrize("prior", [False, True])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("form", FORMS)
def test_objective_never_decreases(form, missing, prior):
    X = table(seed=2, missing=missing)
    w = np.random.default_rng(3).exponential(size=len(X))
    weak = naive.default_prior(X, w, form, 2) if prior else None
    config = naive.Config(form, prior=weak)
    found, values = start(X, form), []
    for _ in range(10):
        value, better = naive.iterate(X, w, found, config)
        values.append(value + naive.log_prior(found, weak))
        found = better
    assert all(b >= a - 1e-9 * abs(a) for a, b in pairwise(values))
    assert values[-1] > values[0] + 1.0


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("form", ["VVV", "VEI", "ppca"])
def test_weight_is_equivalent_to_repeated_rows(form, missing):
    X = table(missing=missing)
    w = np.arange(len(X)) % 4
    again = np.repeat(X, w, axis=0)
    config = naive.Config(form, prior=naive.default_prior(X, w, form, 2))
    ours = naive.run(X, w, start(X, form), config, 3)[-1]
    assert_same(ours, naive.run(again, None, start(X, form), config, 3)[-1])
    for of in (naive.bic, naive.aic, naive.icl, naive.objective):
        assert of(X, w, ours, config) == pytest.approx(of(again, None, ours, config), rel=1e-12)


def test_missing_values_of_an_independent_column_do_not_matter():
    """EM on a table with an independent column gives that column's mean."""
    X = table(d=2)
    X[::3, 1] = np.nan
    config = naive.Config("VVI")
    first = replace(start(X, "VVI", k=1), weights=np.ones(1))
    found = naive.run(X, None, first, config, 60)[-1]
    np.testing.assert_allclose(found.means[0], np.nanmean(X, axis=0), rtol=1e-10)
    np.testing.assert_allclose(np.diag(found.covariances[0]), np.nanvar(X, axis=0), rtol=1e-10)


@pytest.mark.parametrize("n", [1, 2, 5])
@pytest.mark.parametrize("kind", SKLEARN)
def test_matches_scikit_learn(kind, n):
    X = table(seed=4)
    first = start(X, SKLEARN[kind])
    precisions = np.linalg.inv(first.covariances)
    shaped = {
        "full": precisions,
        "tied": precisions[0],
        "diag": np.diagonal(precisions, axis1=1, axis2=2),
        "spherical": precisions[:, 0, 0],
    }[kind]
    theirs = GaussianMixture(
        2,
        covariance_type=kind,
        reg_covar=0.0,
        tol=0.0,
        max_iter=n,
        weights_init=first.weights,
        means_init=first.means,
        precisions_init=shaped,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X)
    config = naive.Config(SKLEARN[kind])
    ours = naive.run(X, None, first, config, n)[-1]
    np.testing.assert_allclose(ours.weights, theirs.weights_, rtol=1e-10)
    np.testing.assert_allclose(ours.means, theirs.means_, rtol=1e-10)
    inverse = np.linalg.inv(ours.covariances)
    found = {
        "full": inverse,
        "tied": inverse[0],
        "diag": np.diagonal(inverse, axis1=1, axis2=2),
        "spherical": inverse[:, 0, 0],
    }[kind]
    np.testing.assert_allclose(found, theirs.precisions_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(log_densities(X, ours), theirs.score_samples(X), rtol=1e-9)
    assert naive.bic(X, None, ours, config) == pytest.approx(theirs.bic(X), rel=1e-10)
    assert naive.aic(X, None, ours, config) == pytest.approx(theirs.aic(X), rel=1e-10)


def test_icl_is_bic_plus_twice_the_entropy():
    X = table()
    found, config = start(X), naive.Config("VVV")
    r = responsibilities(X, found)
    entropy = -(r * np.log(r)).sum()
    extra = naive.icl(X, None, found, config) - naive.bic(X, None, found, config)
    assert extra == pytest.approx(2 * entropy, rel=1e-10)


def test_prior_shrinks_towards_its_mean():
    X = table()
    weak = naive.default_prior(X, None, "VVV", 2)
    strong = naive.Prior(weak.mean, 1e9, 1e9, weak.scale * 1e9)
    found = naive.run(X, None, start(X), naive.Config("VVV", prior=strong), 1)[-1]
    np.testing.assert_allclose(found.means, [weak.mean] * 2, rtol=1e-6)
    np.testing.assert_allclose(found.covariances, [weak.scale] * 2, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(weak.scale, np.cov(X.T, bias=True) / 2 ** (2 / 3), rtol=1e-12)


def test_convergence_does_not_depend_on_units():
    X, units = table(), np.array([1e-3, 1.0, 1e4])
    config = naive.Config("VVV")
    first = start(X)
    scaled = Parameters(
        first.weights, first.means * units, first.covariances * np.outer(units, units)
    )
    found, steps, converged = naive.fit_until_converged(X, None, first, config, 1e-4, 100)
    other, others, _ = naive.fit_until_converged(X * units, None, scaled, config, 1e-4, 100)
    assert converged
    assert 1 < steps == others < 100
    np.testing.assert_allclose(found.means * units, other.means, rtol=1e-7)
    assert naive.fit_until_converged(X, None, first, config, 0.0, 3)[1:] == (3, False)


# Batches


@pytest.mark.parametrize("missing", [False, True])
def test_one_batch_is_one_iteration(missing):
    X, config = table(missing=missing), naive.Config("VVV")
    first = start(X)
    assert_same(
        online([(X, None)], first, config, 0.7)[0], naive.iterate(X, None, first, config)[1]
    )


def test_second_batch_moves_the_moments_by_its_gain():
    X, w = table(), np.random.default_rng(9).exponential(size=48)
    config, first = naive.Config("VVV"), start(X)
    one, two = (X[:30], w[:30]), (X[30:], w[30:])
    found = online([one, two], first, config, 0.6)
    gain = (w[30:].sum() / w.sum()) ** 0.6
    raw = [
        raw_moments(naive.e_step(*rows, at)[1], rows[1].sum())
        for rows, at in ((one, first), (two, found[0]))
    ]
    sizes, sums, squares = ((1 - gain) * a + gain * b for a, b in zip(*raw, strict=True))
    means = sums / sizes[:, None]
    covariances = squares / sizes[:, None, None] - np.einsum("ki,kj->kij", means, means)
    assert_same(found[1], Parameters(sizes, means, covariances))


def raw_moments(statistics, weight):
    """Sizes, sums and sums of squares per unit of weight."""
    N, m, W = statistics.sizes, statistics.means, statistics.scatters
    squares = W + N[:, None, None] * np.einsum("ki,kj->kij", m, m)
    return N / weight, N[:, None] * m / weight, squares / weight


# Classes


def test_discriminants_match_scikit_learn():
    X = table(n=60)
    y = np.repeat([0, 1, 2], 20)
    new = table(seed=11)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(linear(X, y, None, new), theirs.predict_log_proba(new), 1e-8, 1e-14)
    expected = QuadraticDiscriminantAnalysis(
        solver="eigen", covariance_estimator=EmpiricalCovariance()
    ).fit(X, y)
    np.testing.assert_allclose(
        quadratic(X, y, None, new), expected.predict_log_proba(new), 1e-8, 1e-14
    )
    w = np.arange(60) % 3 + 1
    again = np.repeat(X, w, axis=0), np.repeat(y, w)
    np.testing.assert_allclose(quadratic(X, y, w, new), quadratic(*again, None, new), 1e-9, 1e-14)
    np.testing.assert_allclose(linear(X, y, w, new), linear(*again, None, new), 1e-9, 1e-14)

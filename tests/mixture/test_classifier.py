"""Mixture classifier against discriminant analyses, Bayes' rule and naive iterations."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.naive_bayes import GaussianNB

from ceiba import GaussianMixture, GaussianMixtureClassifier, datasets
from ceiba._typing import Array
from tests.mixture.checks import assert_close, parameters_of
from tests.mixture.parts import drop_values, groups, quiet
from tests.mixture.tables import KINDS, Case, case, iris
from tests.oracles import mixture_naive as naive
from tests.oracles.mixture_discriminant import class_moments, linear, quadratic
from tests.oracles.mixture_forms import solve_raised
from tests.oracles.mixture_rows import Parameters

IRIS, SPECIES = iris(), np.asarray(datasets.load("iris").y)
X = groups(1, 120, 3, 6, apart=2.0)
Y = np.arange(120) % 3  # two groups a class
NEW = groups(2, 15, 3, 6, apart=2.0)
WITH_MISSING = drop_values(X)

WHOLE_FORMS = ("full", "tied", "diag", "spherical", "EII", "EEI", "EVI", "VEE", "EVV", "ppca")
# Forms of a shared covariance, and their names in the naive version.
SHARED = {"full": "EEE", "diag": "EEI", "spherical": "EII"}
LETTERS = {"full": "VVV", "diag": "VVI", "spherical": "VII", "tied": "EEE"}


def fitted(rows: Any, y: Any, n: Any = 1, weight: Any = None, **options: Any) -> Any:
    return quiet(GaussianMixtureClassifier(n, **options), rows, y=y, sample_weight=weight)


# Discriminant analyses


@pytest.mark.parametrize("priors", [None, [0.7, 0.1, 0.2]], ids=["shares", "given"])
@pytest.mark.parametrize(("rows", "y"), [(IRIS, SPECIES), (X, Y)], ids=["iris", "groups"])
def test_one_full_component_is_quadratic_discriminant_analysis(rows, y, priors):
    model = fitted(rows, y, priors=priors)
    other = QuadraticDiscriminantAnalysis(priors=priors, store_covariance=True).fit(rows, y)
    for mixture, covariance in zip(model.mixtures_, other.covariance_, strict=True):
        np.testing.assert_allclose(mixture.covariances_[0], covariance, rtol=1e-9, atol=1e-12)
    found, expected = model.predict_log_proba(rows), other.predict_log_proba(rows)
    np.testing.assert_allclose(np.exp(found), np.exp(expected), rtol=1e-8, atol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), other.predict(rows))


@pytest.mark.parametrize("priors", [None, [0.7, 0.1, 0.2]], ids=["shares", "given"])
@pytest.mark.parametrize(("rows", "y"), [(IRIS, SPECIES), (X, Y)], ids=["iris", "groups"])
def test_shared_covariance_is_linear_discriminant_analysis(rows, y, priors):
    model = fitted(rows, y, priors=priors, shared_covariance=True)
    other = LinearDiscriminantAnalysis(solver="lsqr", priors=priors, store_covariance=True)
    other.fit(rows, y)
    if priors is None:  # with given ones scikit-learn weighs the classes' covariances by them
        for mixture in model.mixtures_:
            np.testing.assert_allclose(mixture.covariances_, other.covariance_, rtol=1e-9)
        found, expected = model.predict_log_proba(rows), other.predict_log_proba(rows)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
        return
    shares = linear(rows, y, None, rows) - np.log(np.bincount(np.unique(y, return_inverse=True)[1]))
    wanted = shares + np.log(priors)
    wanted -= logsumexp(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_log_proba(rows), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shared", [False, True])
def test_discriminant_analysis_matches_the_formulas(weighted, shared):
    w = np.random.default_rng(3).exponential(size=len(X)) if weighted else None
    if weighted:
        w[::7] = 0.0
    expected = (linear if shared else quadratic)(X, Y, w, NEW)
    found = fitted(X, Y, weight=w, shared_covariance=shared).predict_log_proba(NEW)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
def test_diagonal_components_are_naive_bayes(weighted):
    w = np.random.default_rng(4).exponential(size=150) if weighted else None
    model = fitted(IRIS, SPECIES, weight=w, covariance_type="diag")
    other = GaussianNB(var_smoothing=0.0).fit(IRIS, SPECIES, w)
    found = np.array([mixture.covariances_[0] for mixture in model.mixtures_])
    np.testing.assert_allclose(found, other.var_, rtol=1e-9)
    np.testing.assert_allclose(model.class_prior_, other.class_prior_, rtol=1e-12)
    wanted = other.predict_log_proba(IRIS)
    np.testing.assert_allclose(model.predict_log_proba(IRIS), wanted, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("form", ["full", "diag", "spherical"])
@pytest.mark.parametrize("shared", [False, True])
def test_one_component_matches_the_formula_of_its_form(form, shared):
    model = fitted(X, Y, covariance_type=form, shared_covariance=shared)
    sizes, means, scatters = class_moments(X, Y, None)
    name = SHARED[form] if shared else LETTERS[form]
    parts = [slice(None)] if shared else [slice(k, k + 1) for k in range(3)]
    floor = naive.column_variances(X, None)
    wanted = [solve_raised(name, sizes[p], scatters[p], 1, 0.0, 1e-6, floor) for p in parts]
    found = [parameters_of(mixture) for mixture in model.mixtures_]
    for index, covariance in enumerate(np.concatenate(wanted)):
        np.testing.assert_allclose(found[index].means[0], means[index], rtol=1e-10)
        np.testing.assert_allclose(found[index].covariances[0], covariance, rtol=1e-9, atol=1e-12)


# Bayes' rule


def log_density(mixture: Any, row: Array) -> float:
    """Log density of the observed values of a row, from the fitted parameters."""
    found, seen = parameters_of(mixture), np.flatnonzero(~np.isnan(row))
    if not len(seen):
        return 0.0
    parts = [
        np.log(weight) + multivariate_normal(mean[seen], cov[np.ix_(seen, seen)]).logpdf(row[seen])
        for weight, mean, cov in zip(found.weights, found.means, found.covariances, strict=True)
    ]
    return float(logsumexp(parts))


def assert_bayes(model: Any, rows: Array) -> None:
    """All predictions follow from the mixtures and priors by Bayes' rule."""
    wanted = np.array([[log_density(m, row) for m in model.mixtures_] for row in rows])
    np.testing.assert_allclose(model.class_log_densities(rows), wanted, rtol=1e-8, atol=1e-8)
    with np.errstate(divide="ignore"):
        joint = model.class_log_densities(rows) + np.log(model.class_prior_)
    total = logsumexp(joint, axis=1)
    np.testing.assert_allclose(model.score_samples(rows), total, rtol=1e-12, atol=1e-12)
    logs = model.predict_log_proba(rows)
    np.testing.assert_allclose(logs, joint - total[:, None], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(logsumexp(logs, axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(rows), np.exp(logs), rtol=1e-12)
    np.testing.assert_array_equal(model.predict(rows), model.classes_[logs.argmax(axis=1)])


@pytest.mark.parametrize("form", WHOLE_FORMS)
@pytest.mark.parametrize("rows", [X, WITH_MISSING], ids=["whole", "missing"])
def test_several_components_follow_bayes_rule(form, rows):
    model = fitted(rows, Y, 2, covariance_type=form, priors=[0.5, 0.2, 0.3])
    assert_bayes(model, np.vstack([NEW, drop_values(NEW, 5, 0.5), np.full((1, 3), np.nan)]))


@pytest.mark.parametrize("form", SHARED)
@pytest.mark.parametrize("n", [1, 2, {0: 1, 1: 3, 2: 2}], ids=str)
def test_shared_covariance_follows_bayes_rule(form, n):
    model = fitted(WITH_MISSING, Y, n, covariance_type=form, shared_covariance=True)
    assert_bayes(model, np.vstack([NEW, drop_values(NEW, 5, 0.5)]))
    first = parameters_of(model.mixtures_[0]).covariances[0]
    for mixture in model.mixtures_:
        for covariance in parameters_of(mixture).covariances:
            np.testing.assert_array_equal(covariance, first)


@pytest.mark.parametrize("form", ["full", "diag", "EVI", "ppca"])
@pytest.mark.parametrize("init", ["random", "kmeans"])
def test_each_mixture_is_fitted_to_the_rows_of_its_class(form, init):
    options = {"covariance_type": form, "init_params": init, "tol": 0.0, "max_iter": 12}
    model = fitted(X, Y, 2, **options)
    for label, mixture in zip(model.classes_, model.mixtures_, strict=True):
        alone = quiet(GaussianMixture(2, **options), X[label == Y])
        assert_close(parameters_of(mixture), parameters_of(alone), 1e-6)
        assert mixture.log_likelihood_ == pytest.approx(alone.log_likelihood_, rel=1e-9)


# EM


def naive_iteration(
    rows: Case, y: Array, found: list[Parameters], config: naive.Config, shared: bool
) -> list[Parameters]:
    """One iteration of EM, each class with its own rows; covariances separate or pooled."""
    s2 = naive.column_variances(rows.X, rows.w)
    statistics = []
    for label, parameters in enumerate(found):
        mine = y == label
        own = None if rows.w is None else rows.w[mine]
        statistics.append(naive.e_step(rows.X[mine], own, parameters)[1])
    if not shared:
        return [naive.m_step(each, config, s2) for each in statistics]
    names = ("sizes", "means", "scatters")
    joined = [np.concatenate([getattr(s, name) for s in statistics]) for name in names]
    pooled = naive.m_step(naive.Statistics(*joined), config, s2)
    ends = np.cumsum([0, *(len(s.sizes) for s in statistics)])
    return [
        Parameters(s.sizes / s.sizes.sum(), pooled.means[a:b], pooled.covariances[a:b])
        for s, a, b in zip(statistics, ends, ends[1:], strict=False)
    ]


def assert_naive_iterations(
    rows: Case, y: Array, config: naive.Config, shared: bool, **options: Any
):
    """One more iteration equals one more naive iteration."""
    options = {"shared_covariance": shared, "tol": 0.0, **options}
    for steps in (1, 6):
        one, two = (
            fitted(rows.X, y, {0: 2, 1: 3}, rows.w, max_iter=steps + more, **options)
            for more in (0, 1)
        )
        start = [parameters_of(mixture) for mixture in one.mixtures_]
        expected = naive_iteration(rows, y, start, config, shared)
        for mixture, wanted in zip(two.mixtures_, expected, strict=True):
            assert_close(parameters_of(mixture), wanted, 1e-8)
            assert mixture.n_iter_ == steps + 1


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("form", SHARED)
@pytest.mark.parametrize("kind", KINDS)
def test_iteration_matches_the_naive_one(form, shared, kind):
    rows, y = case(kind, seed=7, n=90), np.arange(90) % 2
    config = naive.Config(SHARED[form] if shared else LETTERS[form])
    assert_naive_iterations(rows, y, config, shared, covariance_type=form)


@pytest.mark.parametrize("form", SHARED)
@pytest.mark.parametrize("kind", ["plain", "weights+missing"])
def test_iteration_with_floor_prior_and_reg_covar_matches_the_naive_one(form, kind):
    rows, y = case(kind, seed=7, n=90), np.arange(90) % 2
    name = SHARED[form]
    prior = naive.default_prior(rows.X, rows.w, name, 5)
    config = naive.Config(name, prior=prior)
    assert_naive_iterations(rows, y, config, True, covariance_type=form, prior="default")
    for shared, letters in ((True, name), (False, LETTERS[form])):
        config = naive.Config(letters, reg_covar=0.2, floor=0.3)
        options = {"covariance_type": form, "reg_covar": 0.2, "covariance_floor": 0.3}
        assert_naive_iterations(rows, y, config, shared, **options)


@pytest.mark.parametrize("form", SHARED)
@pytest.mark.parametrize("kind", ["plain", "weights+missing"])
def test_shared_fit_ends_at_a_fixed_point(form, kind):
    rows, y = case(kind, seed=8, n=90), np.arange(90) % 2
    options = {"covariance_type": form, "shared_covariance": True, "tol": 1e-14}
    model = fitted(rows.X, y, 2, rows.w, max_iter=3000, **options)
    found = [parameters_of(mixture) for mixture in model.mixtures_]
    expected = naive_iteration(rows, y, found, naive.Config(SHARED[form]), True)
    for one, other in zip(expected, found, strict=True):
        assert_close(one, other, 1e-4)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_likelihood_never_decreases(kind, shared):
    rows, y = case(kind, seed=9, n=80), np.arange(80) % 2
    before = -np.inf
    for steps in range(1, 16):
        model = fitted(rows.X, y, 3, rows.w, shared_covariance=shared, tol=0.0, max_iter=steps)
        densities = model.class_log_densities(rows.X)[np.arange(80), y]
        now = float(naive.ones(rows.X, rows.w) @ densities)
        assert now >= before - 1e-9 * abs(now), steps
        assert sum(m.log_likelihood_ for m in model.mixtures_) == pytest.approx(now, rel=1e-9)
        before = now


# Priors and weights


def test_priors_shift_the_probabilities():
    some = [1, 2, 4, 5, 7, 8, 10, 13, 16]
    shares = fitted(X[some], Y[some], covariance_type="diag")
    np.testing.assert_allclose(shares.class_prior_, np.bincount(Y[some], minlength=3)[1:] / 9)
    w = np.random.default_rng(5).exponential(size=120)
    weighed = fitted(X, Y, weight=w)
    np.testing.assert_allclose(weighed.class_prior_, np.bincount(Y, w) / w.sum(), rtol=1e-12)
    given = [[0.2, 0.0, 0.8], (0.2, 0.0, 0.8), np.array([0.2, 0.0, 0.8]), {2: 0.8, 0: 0.2, 1: 0}]
    for priors in given:
        model = fitted(X, Y, priors=priors)
        np.testing.assert_array_equal(model.class_prior_, [0.2, 0.0, 0.8])
        densities = fitted(X, Y).class_log_densities(X)
        np.testing.assert_array_equal(model.class_log_densities(X), densities)
        assert_bayes(model, NEW)
        assert (model.predict_proba(X)[:, 1] == 0).all()
        assert (model.predict_log_proba(X)[:, 1] == -np.inf).all()
        assert set(model.predict(X)) == {0, 2}


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("form", ["full", "diag", "spherical"])
def test_weight_is_equivalent_to_repeated_rows(form, shared):
    times = np.random.default_rng(6).integers(0, 4, size=120)
    options = {"covariance_type": form, "shared_covariance": shared}
    more = fitted(np.repeat(X, times, axis=0), np.repeat(Y, times), **options)
    weighed = fitted(X, Y, weight=times.astype(float), **options)
    for method in ("class_log_densities", "predict_log_proba", "score_samples"):
        one, other = getattr(more, method)(NEW), getattr(weighed, method)(NEW)
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("init", ["kmeans", "random"])
def test_rows_of_weight_zero_are_ignored_with_their_class(shared, init):
    w = np.where(np.arange(120) % 5 == 0, 0.0, 1.0 + np.arange(120) % 4)
    w[Y == 1] = 0.0
    rows = X.copy()
    rows[w == 0] *= 1e6
    options = {"shared_covariance": shared, "init_params": init, "priors": {0: 0.4, 2: 0.6}}
    model = fitted(rows, Y, {0: 2, 2: 3}, w, **options)
    without = fitted(rows[w > 0], Y[w > 0], {0: 2, 2: 3}, w[w > 0], **options)
    np.testing.assert_array_equal(model.classes_, [0, 1, 2])
    logs = model.predict_log_proba(NEW)
    np.testing.assert_array_equal(logs[:, [0, 2]], without.predict_log_proba(NEW))
    assert np.isneginf(logs[:, 1]).all()

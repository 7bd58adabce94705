"""Naive missing values against complete rows, finite differences and the properties of EM."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.oracles.bayes_dependence_naive import tan_structure
from tests.oracles.bayes_missing_naive import (
    available_counts,
    completions,
    expected_statistics,
    fit_available,
    fit_em,
    observed_cll,
    observed_posteriors,
    observed_residuals,
    pairwise_complete,
    tan_structure_missing,
    tm_missing,
)
from tests.oracles.bayes_naive import (
    conditional_log_likelihood,
    counts,
    fit_generative,
    make_rows,
    mean_values,
    naive_structure,
    posteriors,
    probabilities,
    to_weights,
)
from tests.oracles.bayes_tm_naive import (
    flatten,
    inner,
    natural_direction,
    residuals,
    step_from,
    tm,
    unflatten,
)

CATEGORIES = (2, 3, 2, 2)
TREE = {0: (), 1: (0,), 2: (1,), 3: (0,)}
NAIVE = naive_structure(range(4))


def table(seed=0, n=70, missing=0.25, k=3):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = np.column_stack(
        [(y * (rng.random(n) < 0.5) + rng.integers(0, r, n)) % r for r in CATEGORIES]
    )
    gone = rng.random(X.shape) < missing
    X = np.where(gone, CATEGORIES, X)
    if missing:
        X[4] = CATEGORIES
    return make_rows(X, y, rng.uniform(0.5, 2, n), CATEGORIES, k)


def test_completions():
    found = completions(np.array([1, 3, 0, 2]), CATEGORIES, TREE)
    assert len(np.unique(found, axis=0)) == len(found) == 3 * 2
    assert (found[:, 0] == 1).all()
    assert (found[:, 2] == 0).all()
    assert len(completions(np.array([1, 3, 0, 2]), CATEGORIES, {0: ()})) == 1


def test_complete_rows_are_the_usual_case():
    rows = table(missing=0.0)
    weights = to_weights(fit_generative(rows, TREE))
    assert observed_cll(rows, weights, TREE) == pytest.approx(
        conditional_log_likelihood(rows, weights, TREE)
    )
    for found, expected in (
        (observed_residuals(rows, weights, TREE), residuals(rows, weights, TREE)),
        (available_counts(rows, TREE), counts(rows, TREE)),
        (fit_em(rows, TREE)[0], fit_generative(rows, TREE)),
    ):
        np.testing.assert_allclose(flatten(found), flatten(expected), atol=1e-10)
    assert tm_missing(rows, TREE).objective == pytest.approx(tm(rows, TREE).objective)
    assert tan_structure_missing(rows) == tan_structure(rows)


def test_all_values_missing_give_the_class_probabilities():
    rows = table()
    theta = fit_generative(table(missing=0.0), TREE)
    P = observed_posteriors(to_weights(theta), TREE, rows.X[4:5], CATEGORIES)
    np.testing.assert_allclose(P[0], theta.classes)


def test_naive_bayes_drops_the_factor_of_a_missing_feature():
    rows = table()
    weights = to_weights(fit_available(rows, NAIVE))
    x = np.array([1, 3, 0, 1])
    P = observed_posteriors(weights, NAIVE, x[None], CATEGORIES)
    kept = {j: weights.features[j] for j in (0, 2, 3)}
    expected = posteriors(type(weights)(weights.classes, kept), naive_structure([0, 2, 3]), x[None])
    np.testing.assert_allclose(P, expected)


@pytest.mark.parametrize("structure", [NAIVE, TREE])
def test_gradient_matches_finite_differences(structure):
    rows = table(n=30)
    like = counts(table(missing=0.0), structure)
    x = np.random.default_rng(1).normal(size=flatten(like).size)

    def value(vector):
        return observed_cll(rows, unflatten(vector, like), structure)

    found = flatten(observed_residuals(rows, unflatten(x, like), structure))
    differences = [(value(x + 1e-5 * e) - value(x - 1e-5 * e)) / 2e-5 for e in np.eye(len(x))]
    np.testing.assert_allclose(found, differences, atol=1e-6)


def test_slope_of_the_step():
    rows = table()
    U = mean_values(fit_available(rows, TREE), TREE, rows.total)
    G = observed_residuals(rows, to_weights(probabilities(U, 0.0)), TREE)

    def cll(t):
        return observed_cll(rows, to_weights(probabilities(step_from(U, G, t), 0.0)), TREE)

    slope = inner(G, natural_direction(U, G))
    assert slope == pytest.approx((cll(1e-5) - cll(-1e-5)) / 2e-5, rel=1e-6)


def test_expected_statistics_have_consistent_margins():
    rows = table()
    weights = to_weights(fit_available(rows, TREE))
    U = expected_statistics(rows, rows.Y, weights, TREE)
    np.testing.assert_allclose(U.classes, rows.w @ rows.Y)
    np.testing.assert_allclose(U.features[1].sum(axis=1), U.features[0])
    np.testing.assert_allclose(U.features[2].sum(axis=1), U.features[1].sum(axis=0))


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_available_cases_are_exact_for_naive_bayes(alpha):
    """They are a fixed point of EM, and EM from elsewhere arrives there."""
    rows = table()
    exact = fit_available(rows, NAIVE, alpha)
    uniform = fit_available(rows, NAIVE, 1e9)
    for start in (exact, uniform):
        found, history = fit_em(rows, NAIVE, alpha, tol=1e-13, start=start)
        np.testing.assert_allclose(flatten(found), flatten(exact), atol=1e-6)
        assert all(b >= a - 1e-9 for a, b in pairwise(history))


def test_em_of_a_tree_ascends_to_a_fixed_point():
    rows = table()
    theta, history = fit_em(rows, TREE, alpha=1.0, tol=1e-12)
    assert history[-1] > history[0]
    assert all(b >= a - 1e-9 for a, b in pairwise(history))
    N = expected_statistics(rows, rows.Y, to_weights(theta), TREE)
    np.testing.assert_allclose(flatten(probabilities(N, 1.0)), flatten(theta), atol=1e-5)


@pytest.mark.parametrize("tau", [0.0, 0.3])
def test_tm_ascends(tau):
    rows = table(n=40)
    run = tm_missing(rows, TREE, tau=tau, tol=1e-2)
    assert len(run.objective) > 3
    assert all(b >= a for a, b in pairwise(run.objective))


def test_pairs_are_complete():
    rows = table()
    part = pairwise_complete(rows, 1, 3)
    assert (part.X[:, [1, 3]] < np.array(CATEGORIES)[[1, 3]]).all()
    assert set(tan_structure_missing(rows)) == {0, 1, 2, 3}

"""Naive TM against finite differences, scikit-learn and the properties of the algorithm."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from tests.oracles.bayes_naive import (
    conditional_log_likelihood,
    counts,
    fit_generative,
    forest_structure,
    make_rows,
    mean_values,
    naive_structure,
    posteriors,
    probabilities,
    to_weights,
)
from tests.oracles.bayes_network_naive import feature_margins, fit_margins
from tests.oracles.bayes_optimizers_naive import (
    fit_lbfgs,
    fit_newton,
    objective_and_gradient,
    one_hot,
    separable,
    step_eigenvalues,
    supremum,
    unbounded_cells,
)
from tests.oracles.bayes_tm_naive import (
    flatten,
    freeze_vanishing_cells,
    inner,
    max_step,
    natural_direction,
    residuals,
    start_values,
    step_from,
    tm,
    unflatten,
)

CATEGORIES = (2, 3, 2)
TREE = {0: (), 1: (0,), 2: (0,)}
NAIVE = naive_structure(range(3))


def table(seed=0, n=200, k=3, weighted=False):
    """Overlapping classes in which every cell occurs with every class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = np.column_stack(
        [(y * (rng.random(n) < 0.4) + rng.integers(0, r, n)) % r for r in CATEGORIES]
    )
    w = rng.uniform(0.5, 2, n) if weighted else None
    rows = make_rows(X, y, w, CATEGORIES, k)
    assert all((t > 0).all() for t in counts(rows, TREE).features.values())
    return rows


def posterior_of(rows, weights, structure):
    return posteriors(weights, structure, rows.X)


# Gradients


@pytest.mark.parametrize(("ridge", "tau"), [(0.0, 0.0), (3.0, 0.0), (0.0, 0.4)])
def test_gradient_matches_finite_differences(ridge, tau):
    rows = table(weighted=True)
    U0 = start_values(rows, TREE, 1.0)
    rng = np.random.default_rng(2)
    x = rng.normal(size=flatten(U0).size)

    def value(vector):
        return objective_and_gradient(rows, unflatten(vector, U0), TREE, ridge, tau, U0)[0]

    found = flatten(objective_and_gradient(rows, unflatten(x, U0), TREE, ridge, tau, U0)[1])
    differences = [(value(x + 1e-5 * e) - value(x - 1e-5 * e)) / 2e-5 for e in np.eye(len(x))]
    np.testing.assert_allclose(found, differences, atol=1e-5)


def test_slope_of_the_step_is_the_natural_norm_of_the_gradient():
    rows = table(weighted=True)
    U = start_values(rows, TREE, 1.0)
    G = residuals(rows, to_weights(probabilities(U, 0.0)), TREE)

    def cll(t):
        weights = to_weights(probabilities(step_from(U, G, t), 0.0))
        return conditional_log_likelihood(rows, weights, TREE)

    slope = inner(G, natural_direction(U, G))
    assert slope > 0
    assert slope == pytest.approx((cll(1e-5) - cll(-1e-5)) / 2e-5, rel=1e-6)


def test_longest_step_is_where_a_cell_becomes_zero():
    rows = table()
    U = start_values(rows, TREE, 1.0)
    G = residuals(rows, to_weights(probabilities(U, 0.0)), TREE)
    t = max_step(U, G)
    assert flatten(step_from(U, G, t)).min() == pytest.approx(0, abs=1e-9)
    assert flatten(step_from(U, G, 0.999 * t)).min() > 0


def test_vanishing_cells_are_frozen():
    U = start_values(table(), TREE, 1.0)
    G = unflatten(-np.ones(flatten(U).size), U)
    U.features[1][0, 0, 0] = 1e-12
    frozen = freeze_vanishing_cells(U, G)
    assert frozen.features[1][0, 0, 0] == 0
    assert (flatten(frozen) == 0).sum() == 1


# TM


@pytest.mark.parametrize("tau", [0.0, 0.3])
@pytest.mark.parametrize("structure", [NAIVE, TREE])
def test_tm_ascends_and_conserves_the_margins(structure, tau):
    rows = table(weighted=True)
    run = tm(rows, structure, tau=tau, tol=1e-10)
    assert all(b >= a for a, b in pairwise(run.objective))
    before = feature_margins(start_values(rows, structure, 1.0))
    for j, v in feature_margins(run.U).items():
        np.testing.assert_allclose(v, before[j])
    assert flatten(run.U).min() > 0
    np.testing.assert_allclose(run.U.features[1].reshape(-1, 3).sum(axis=0), run.U.classes)


def test_optimizers_agree():
    rows = table()
    for structure in (NAIVE, TREE):
        run = tm(rows, structure, tol=1e-11, max_iter=5000)
        for value, weights in (fit_lbfgs(rows, structure), fit_newton(rows, structure)):
            assert run.objective[-1] == pytest.approx(value, abs=1e-5)
            np.testing.assert_allclose(
                posterior_of(rows, run.weights, structure),
                posterior_of(rows, weights, structure),
                atol=1e-3,
            )
        assert np.abs(flatten(residuals(rows, run.weights, structure))).max() < 0.05


def test_tau_optimizers_agree():
    rows = table()
    run = tm(rows, TREE, tau=0.3, tol=1e-11)
    value, weights = fit_lbfgs(rows, TREE, tau=0.3)
    assert run.objective[-1] == pytest.approx(value, abs=1e-5)
    np.testing.assert_allclose(
        posterior_of(rows, run.weights, TREE), posterior_of(rows, weights, TREE), atol=1e-4
    )


def test_proportional_fitting_gives_back_the_mean_values():
    rows = table()
    run = tm(rows, TREE, tol=1e-12, max_iter=5000)
    weights = fit_newton(rows, TREE)[1]
    v = feature_margins(start_values(rows, TREE, 1.0))
    U = fit_margins(weights, TREE, v, rows.total)
    np.testing.assert_allclose(flatten(U), flatten(run.U), atol=1e-3)


def test_mean_values_of_saturated_models_are_fixed():
    """One feature, or two joined by an arc, without smoothing: the gradient is zero."""
    rows = table()
    for structure in ({1: ()}, {0: (), 1: (0,)}):
        theta = fit_generative(rows, structure, alpha=0.0)
        G = residuals(rows, to_weights(theta), structure)
        np.testing.assert_allclose(flatten(G), 0, atol=1e-10)
        run = tm(rows, structure, tol=1e-13)
        np.testing.assert_allclose(
            posterior_of(rows, run.weights, structure),
            posterior_of(rows, to_weights(theta), structure),
            atol=1e-5,
        )


# Penalties


@pytest.mark.parametrize(("k", "factor"), [(3, 1.0), (2, 2.0)])
@pytest.mark.parametrize("structure", [NAIVE, TREE])
def test_ridge_matches_logistic_regression(k, factor, structure):
    rows = table(k=k)
    rho = 3.0
    _, weights = fit_newton(rows, structure, ridge=rho)
    model = LogisticRegression(C=factor / rho, tol=1e-10, max_iter=10000)
    Z = one_hot(rows, structure)[:, 1:]
    expected = model.fit(Z, rows.Y.argmax(axis=1)).predict_proba(Z)
    np.testing.assert_allclose(posterior_of(rows, weights, structure), expected, atol=1e-5)
    _, weights = fit_lbfgs(rows, structure, ridge=rho)
    np.testing.assert_allclose(posterior_of(rows, weights, structure), expected, atol=1e-4)


def test_strong_penalties():
    rows = table()
    _, weights = fit_newton(rows, TREE, ridge=1e7)
    frequencies = np.tile(rows.Y.mean(axis=0), (len(rows.X), 1))
    np.testing.assert_allclose(posterior_of(rows, weights, TREE), frequencies, atol=1e-4)
    run = tm(rows, TREE, tau=1e5, tol=1e-9)
    generative = to_weights(fit_generative(rows, TREE))
    np.testing.assert_allclose(
        posterior_of(rows, run.weights, TREE), posterior_of(rows, generative, TREE), atol=1e-4
    )


def test_root_is_immaterial_without_penalty():
    rows = table()
    other = {1: (), 0: (1,), 2: (0,)}
    assert supremum(rows, TREE) == pytest.approx(supremum(rows, other), abs=1e-6)
    ridge = [fit_newton(rows, s, ridge=3.0)[0] for s in (TREE, other)]
    assert abs(ridge[0] - ridge[1]) > 1e-6


# What is not attained


def test_separable_rows():
    X = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5)
    rows = make_rows(X, X[:, 0], categories=(2, 2))
    structure = naive_structure([0, 1])
    for weights in (fit_newton(rows, structure)[1], tm(rows, structure, tol=1e-9).weights):
        assert np.isfinite(flatten(weights)).all()
        assert separable(rows, weights, structure)
    assert supremum(rows, structure) == pytest.approx(0, abs=1e-6)
    cells = unbounded_cells(rows, structure)
    np.testing.assert_array_equal(cells[0], [[False, True], [True, False]])
    assert not cells[1].any()
    assert not separable(table(), fit_newton(table(), NAIVE)[1], NAIVE)


def test_copies_of_a_feature_break_the_plain_step():
    """The largest eigenvalue of J H grows with the copies; beyond 2 lambda = 1 diverges."""
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 400)
    x, z = ((y + (rng.random(400) < p)) % 2 for p in (0.3, 0.4))
    single = make_rows(np.column_stack([x, z]), y)
    copies = make_rows(np.column_stack([x, x, x, x, z]), y)
    best = supremum(single, naive_structure(range(2)))
    assert supremum(copies, naive_structure(range(5))) == pytest.approx(best, abs=1e-6)
    plain = tm(single, naive_structure(range(2)), search=False, tol=1e-9)
    assert plain.objective[-1] == pytest.approx(best, abs=1e-4)
    plain = tm(copies, naive_structure(range(5)), search=False, tol=-np.inf, max_iter=50)
    assert max(abs(b - best) for b in plain.objective[-2:]) > 1e-2
    assert tm(copies, naive_structure(range(5)), tol=1e-10).objective[-1] == pytest.approx(
        best, abs=1e-4
    )


@pytest.mark.parametrize("copies", [1, 2, 3, 6])
def test_largest_eigenvalue_is_about_the_number_of_copies(copies):
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, 2000)
    x, z = ((y + (rng.random(2000) < p)) % 2 for p in (0.4, 0.45))
    rows = make_rows(np.column_stack([x] * copies + [z]), y)
    structure = naive_structure(range(copies + 1))
    weights = fit_newton(rows, structure)[1]
    v = feature_margins(counts(rows, structure))
    U = fit_margins(weights, structure, v, rows.total)
    assert step_eigenvalues(rows, U, structure)[0] == pytest.approx(copies, rel=0.1)


def test_order_of_rows_and_zero_weights_are_immaterial():
    rows = table(weighted=True)
    y = rows.Y.argmax(axis=1)
    order = np.random.default_rng(0).permutation(len(y))
    more = np.concatenate([order, [0, 1]])
    w = np.concatenate([rows.w[order], [0, 0]])
    moved = make_rows(rows.X[more], y[more], w, CATEGORIES, 3)
    structure = forest_structure(range(3), [(0, 1), (1, 2)])
    assert tm(moved, structure).objective[-1] == pytest.approx(tm(rows, structure).objective[-1])
    np.testing.assert_allclose(
        flatten(mean_values(fit_generative(moved, structure), structure, moved.total)),
        flatten(start_values(rows, structure, 1.0)),
    )

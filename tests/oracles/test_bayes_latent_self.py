"""Naive latent class models against finite differences and the properties of EM."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import log

import numpy as np
import pytest

from tests.oracles.bayes_latent_naive import (
    bic,
    class_information,
    fit_latent,
    information_residuals,
    log_likelihood,
    random_responsibilities,
)
from tests.oracles.bayes_naive import (
    Rows,
    counts,
    fit_generative,
    joint_by_products,
    make_rows,
    naive_structure,
)
from tests.oracles.bayes_tm_naive import flatten, tm, unflatten

CATEGORIES = (2, 3, 2, 2)


def table(seed=0, n=120, k=2):
    """Rows of two groups with known classes, and the same rows with random responsibilities."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = np.column_stack(
        [np.where(rng.random(n) < 0.7, y, rng.integers(0, r, n)) for r in CATEGORIES]
    )
    X[:, 3] = np.where(rng.random(n) < 0.6, X[:, 2], X[:, 3])
    rows = make_rows(X, y, rng.uniform(0.5, 2, n), CATEGORIES, 2)
    return rows, replace(rows, Y=random_responsibilities(n, k, seed))


@pytest.mark.parametrize(("tree", "alpha"), [(False, 0.0), (False, 0.5), (True, 0.0)])
def test_em_ascends(tree, alpha):
    _, start = table()
    run = fit_latent(start, tree, alpha)
    assert len(run.objective) > 5
    assert all(b >= a - 1e-9 for a, b in pairwise(run.objective))
    np.testing.assert_allclose(run.responsibilities.sum(axis=1), 1)


def test_likelihood_is_the_sum_over_classes():
    rows, start = table()
    run = fit_latent(start, tree=True, alpha=0.1, max_iter=3)
    by_hand = [log(joint_by_products(run.theta, run.structure, x).sum()) for x in rows.X]
    assert log_likelihood(rows, run.theta, run.structure) == pytest.approx(rows.w @ by_hand)


def test_one_class_has_the_likelihood_of_the_margins():
    rows, _ = table()
    run = fit_latent(replace(rows, Y=np.ones((len(rows.X), 1))))
    expected = 0.0
    for j, r in enumerate(CATEGORIES):
        N = np.bincount(rows.X[:, j], rows.w, minlength=r)
        expected += N @ np.log(N / N.sum())
    assert run.log_likelihood[-1] == pytest.approx(expected)
    d = sum(r - 1 for r in CATEGORIES)
    one = replace(rows, Y=np.ones((len(rows.X), 1)))
    assert bic(one, run) == pytest.approx(-2 * expected + d * log(rows.total))


def test_more_classes_and_trees_raise_the_likelihood():
    rows, start = table()
    one = fit_latent(replace(rows, Y=np.ones((len(rows.X), 1))))
    two, tree = fit_latent(start), fit_latent(start, tree=True)
    assert one.log_likelihood[-1] < two.log_likelihood[-1] < tree.log_likelihood[-1]


def test_groups_are_found_from_their_classes():
    """The classes of the rows are near the optimum: EM from there changes few of them."""
    rows, _ = table(n=400)
    run = fit_latent(rows)
    same = run.responsibilities.argmax(axis=1) == rows.Y.argmax(axis=1)
    assert same.mean() > 0.85


def test_information_gradient_matches_finite_differences():
    rows, _ = table()
    structure = {0: (), 2: (0,), 1: ()}
    like = counts(rows, structure)
    x = np.random.default_rng(3).normal(size=flatten(like).size)

    def value(vector):
        return class_information(rows, unflatten(vector, like), structure)

    found = flatten(information_residuals(rows, unflatten(x, like), structure))
    differences = [(value(x + 1e-5 * e) - value(x - 1e-5 * e)) / 2e-5 for e in np.eye(len(x))]
    np.testing.assert_allclose(found, differences, atol=1e-5)


def test_tm_ascends_the_information():
    rows, start = table()
    em = fit_latent(start, alpha=1.0)
    soft = Rows(rows.X, em.responsibilities, rows.w, rows.categories)
    structure = naive_structure(range(4))
    run = tm(
        soft,
        structure,
        tau=0.3,
        start=fit_generative(soft, structure),
        likelihood=class_information,
        gradient=information_residuals,
    )
    assert len(run.objective) > 2
    assert all(b >= a for a, b in pairwise(run.objective))

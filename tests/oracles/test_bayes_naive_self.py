"""Naive Bayesian network classifiers against scikit-learn, enumeration and textbook cases."""

from __future__ import annotations

from itertools import combinations, permutations

import numpy as np
import pytest
from sklearn.feature_selection import mutual_info_classif
from sklearn.metrics import mutual_info_score
from sklearn.naive_bayes import CategoricalNB

from tests.oracles.bayes_dependence_naive import (
    aode_posterior,
    conditional_mutual_information,
    dependence_matrix,
    kdb_structure,
    maximum_spanning_tree,
    mutual_information,
    one_dependence_joint,
    tan_structure,
)
from tests.oracles.bayes_naive import (
    arcs_of,
    conditional_log_likelihood,
    counts,
    fit_generative,
    forest_structure,
    informative_features,
    joint_by_products,
    make_rows,
    mean_values,
    mean_values_by_enumeration,
    n_joint_parameters,
    n_parameters,
    naive_structure,
    posterior_by_products,
    posteriors,
    to_weights,
)
from tests.oracles.bayes_network_naive import (
    feature_margins,
    fit_margins,
    log_normalizer,
    log_normalizer_by_enumeration,
    to_network,
)
from tests.oracles.bayes_optimizers_naive import one_hot
from tests.oracles.bayes_tables import fold_numbers
from tests.oracles.bayes_thresholds_naive import bin_codes, mdl_thresholds
from tests.oracles.bayes_tm_naive import flatten, unflatten

CATEGORIES = (2, 3, 2, 4)
TREE = {0: (), 2: (0,), 1: (2,), 3: (0,)}
CHAIN_AND_ROOT = {1: (), 3: (1,), 0: (3,), 2: ()}


def table(seed=0, n=60, k=3, weighted=False):
    """Features that depend on the class and on each other."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    X = np.column_stack(
        [(y * rng.integers(0, 2, n) + rng.integers(0, r, n)) % r for r in CATEGORIES]
    )
    X[:, 2] = np.where(rng.random(n) < 0.6, X[:, 0], X[:, 2])
    w = rng.integers(0, 4, n).astype(float) if weighted else None
    return make_rows(X, y, w, CATEGORIES, k)


def random_weights(rows, structure, seed=1):
    like = counts(rows, structure)
    rng = np.random.default_rng(seed)
    return unflatten(rng.normal(size=flatten(like).size), like)


# Counts and probabilities


def test_naive_bayes_matches_scikit_learn():
    rows = table()
    theta = fit_generative(rows, naive_structure(range(4)), alpha=0.7)
    expected = CategoricalNB(alpha=0.7, min_categories=list(CATEGORIES))
    expected.fit(rows.X, rows.Y.argmax(axis=1))
    for j, found in theta.features.items():
        np.testing.assert_allclose(np.log(found.T), expected.feature_log_prob_[j])


def test_products_match_logarithms():
    rows = table()
    theta = fit_generative(rows, TREE)
    P = posteriors(to_weights(theta), TREE, rows.X)
    np.testing.assert_allclose(P, [posterior_by_products(theta, TREE, x) for x in rows.X])


def test_weights_are_duplicates():
    rows = table(weighted=True)
    copies = np.repeat(np.arange(len(rows.X)), rows.w.astype(int))
    repeated = make_rows(rows.X[copies], rows.Y[copies].argmax(axis=1), None, CATEGORIES, 3)
    np.testing.assert_allclose(flatten(counts(rows, TREE)), flatten(counts(repeated, TREE)))
    weights = to_weights(fit_generative(rows, TREE))
    assert conditional_log_likelihood(rows, weights, TREE) == pytest.approx(
        conditional_log_likelihood(repeated, weights, TREE)
    )
    assert tan_structure(rows) == tan_structure(repeated)


def test_tables_have_consistent_margins():
    rows = table(weighted=True)
    for U in (
        counts(rows, TREE),
        mean_values(fit_generative(rows, TREE), TREE, rows.total),
    ):
        for j, parents in TREE.items():
            np.testing.assert_allclose(U.features[j].reshape(-1, 3).sum(axis=0), U.classes)
            if parents and not TREE[parents[0]]:
                np.testing.assert_allclose(U.features[j].sum(axis=1), U.features[parents[0]])


@pytest.mark.parametrize("structure", [TREE, CHAIN_AND_ROOT, naive_structure([0, 3])])
def test_mean_values_match_enumeration(structure):
    rows = table()
    theta = fit_generative(rows, structure)
    found = mean_values(theta, structure, rows.total)
    expected = mean_values_by_enumeration(theta, structure, CATEGORIES, rows.total)
    np.testing.assert_allclose(flatten(found), flatten(expected))


# Parameters


@pytest.mark.parametrize("structure", [{}, naive_structure([0, 1, 3]), TREE, CHAIN_AND_ROOT])
def test_parameters_are_the_rank_of_the_one_hot_cells(structure):
    """With every pair of categories of an arc observed."""
    rows = table(n=400)
    rank = np.linalg.matrix_rank(one_hot(rows, structure))
    assert n_parameters(structure, CATEGORIES, 3) == 2 * rank


def test_parameters_of_forests_and_of_two_parents():
    forest = 2 * (1 + (1 + 2 + 1 + 3) + (1 * 1 + 1 * 2 + 1 * 3))
    assert n_parameters(TREE, CATEGORIES, 3) == forest
    two = {0: (), 2: (0,), 1: (0, 2)}
    assert n_parameters(two, CATEGORIES, 2) == 2 * 3 * 2
    assert n_joint_parameters(TREE, CATEGORIES, 3) == 2 + 3 * (1 + 2 * 1 + 2 * 2 + 2 * 3)


# Back to a network


def test_network_keeps_the_posteriors():
    rows = table()
    for structure in (TREE, CHAIN_AND_ROOT):
        weights = random_weights(rows, structure)
        theta = to_network(weights, structure)
        assert theta.classes.sum() == pytest.approx(1)
        for entries in theta.features.values():
            np.testing.assert_allclose(entries.sum(axis=-2), 1)
        np.testing.assert_allclose(
            posteriors(to_weights(theta), structure, rows.X),
            posteriors(weights, structure, rows.X),
        )
        assert log_normalizer(weights, structure) == pytest.approx(
            log_normalizer_by_enumeration(weights, structure, CATEGORIES)
        )


def test_proportional_fitting_gives_the_margins_and_keeps_the_posteriors():
    rows = table(n=300)
    weights = random_weights(rows, TREE)
    v = feature_margins(counts(rows, TREE))
    U = fit_margins(weights, TREE, v, rows.total)
    for j, margin in feature_margins(U).items():
        np.testing.assert_allclose(margin, v[j], rtol=1e-9)
    theta = to_network(weights, TREE)
    same = {j: u / u.sum(axis=-2, keepdims=True) for j, u in U.features.items()}
    moved = type(theta)(U.classes / rows.total, same)
    np.testing.assert_allclose(
        posteriors(to_weights(moved), TREE, rows.X), posteriors(weights, TREE, rows.X), rtol=1e-8
    )


# Dependence


def test_information_matches_scikit_learn():
    rows = table()
    y = rows.Y.argmax(axis=1)
    expected = mutual_info_classif(rows.X, y, discrete_features=True)
    np.testing.assert_allclose([mutual_information(rows, j) for j in range(4)], expected)
    conditional = sum(
        np.mean(y == c) * mutual_info_score(rows.X[y == c, 0], rows.X[y == c, 2]) for c in range(3)
    )
    assert conditional_mutual_information(rows, 0, 2) == pytest.approx(conditional)


def test_tree_is_the_best_of_all():
    """Enumerate every set of m - 1 arcs that connects the features."""
    matrix = dependence_matrix(table(seed=3), [0, 1, 2, 3])
    pairs = list(combinations(range(4), 2))

    def connects(arcs):
        return len({frozenset(_component(arcs, j)) for j in range(4)}) == 1

    best = max(sum(matrix[a] for a in arcs) for arcs in combinations(pairs, 3) if connects(arcs))
    assert sum(matrix[a] for a in maximum_spanning_tree(matrix)) == pytest.approx(best)


def _component(arcs, j):
    found, before = {j}, set()
    while found != before:
        before = set(found)
        found |= {k for arc in arcs if found & set(arc) for k in arc}
    return found


def test_ties_of_the_tree_go_to_the_lower_index():
    assert maximum_spanning_tree(np.ones((4, 4))) == [(0, 1), (0, 2), (0, 3)]
    assert maximum_spanning_tree(np.zeros((1, 1))) == []


def test_constant_features_are_left_out():
    rows = table()
    X = np.column_stack([rows.X, np.zeros(len(rows.X), dtype=int)])
    wider = make_rows(X, rows.Y.argmax(axis=1), None, (*CATEGORIES, 2), 3)
    assert informative_features(X) == [0, 1, 2, 3]
    assert tan_structure(wider) == tan_structure(rows)


def test_forest_is_rooted_at_the_lowest_index():
    assert arcs_of(forest_structure([1, 3, 4, 6], [(6, 3), (3, 1)])) == {(1, 3), (3, 6)}
    assert forest_structure([4, 1], []) == {1: (), 4: ()}


def test_kdb_bounds_the_parents():
    rows = table()
    order = sorted(range(4), key=lambda j: -mutual_information(rows, j))
    for k in range(4):
        structure = kdb_structure(rows, k)
        assert list(structure) == order
        assert [len(parents) for parents in structure.values()] == [min(k, i) for i in range(4)]
    assert kdb_structure(rows, 0).keys() == naive_structure(order).keys()


def test_aode_averages_one_dependence_networks():
    """With one joint prior of class and parent, each estimator is a star-shaped network."""
    rows = table()
    x = rows.X[5]
    total = 0.0
    for j in range(4):
        star = {j: (), **{i: (j,) for i in range(4) if i != j}}
        theta = fit_generative(rows, star, alpha=0.0)
        expected = joint_by_products(theta, star, x)
        np.testing.assert_allclose(
            one_dependence_joint(rows, j, x, alpha=1e-12), expected, atol=1e-9
        )
        total = total + one_dependence_joint(rows, j, x)
    np.testing.assert_allclose(aode_posterior(rows, x), total / total.sum())
    naive = naive_structure(range(4))
    np.testing.assert_allclose(
        aode_posterior(rows, x, min_count=1e6),
        posterior_by_products(fit_generative(rows, naive), naive, x),
    )


# Equivariance


@pytest.mark.parametrize("order", list(permutations(range(3)))[1:4])
def test_classes_can_be_permuted(order):
    rows = table()
    y = np.array(order)[rows.Y.argmax(axis=1)]
    moved = make_rows(rows.X, y, None, CATEGORIES, 3)
    assert tan_structure(moved) == tan_structure(rows)
    P = posteriors(to_weights(fit_generative(rows, TREE)), TREE, rows.X)
    Q = posteriors(to_weights(fit_generative(moved, TREE)), TREE, rows.X)
    np.testing.assert_allclose(Q[:, list(order)], P)


# Discretization and folds


def test_thresholds_of_a_separated_column():
    x = np.repeat([1.0, 2.0, 5.0, 6.0], 10)
    y = np.repeat([0, 0, 1, 1], 10)
    assert mdl_thresholds(x, y) == [3.5]
    assert mdl_thresholds(x, np.tile([0, 1], 20)) == []
    assert mdl_thresholds(np.ones(8), np.arange(8) % 2) == []
    np.testing.assert_array_equal(bin_codes(np.array([3.4, 3.5, 9.0]), [3.5]), [0, 1, 1])


def test_folds_are_stratified():
    y = np.repeat([0, 1, 2], [23, 12, 5])
    number = fold_numbers(y, 0)
    for c in range(3):
        sizes = np.bincount(number[y == c], minlength=5)
        assert sizes.max() - sizes.min() <= 1
    assert np.ptp(np.bincount(number)) <= 1

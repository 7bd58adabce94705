"""Naive structural search against exhaustive search, the reference numbers and known structures."""

from __future__ import annotations

from itertools import pairwise, product
from math import log

import numpy as np
import pytest

from tests.oracles.bayes_naive import conditional_log_likelihood, make_rows, naive_structure
from tests.oracles.bayes_optimizers_naive import fit_newton
from tests.oracles.bayes_reference import REFERENCE
from tests.oracles.bayes_structure_naive import (
    Scorer,
    State,
    all_states,
    collapse,
    exhaustive_search,
    greedy_search,
    observed_categories,
    score_statistic,
)
from tests.oracles.bayes_tables import NAMES, reference_rows


def table(seed, n=150):
    """Four features: three depend on the class, the third also on the first, one is noise."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    shares = ((2, 0.3), (3, 0.5), (2, 0.2), (2, 0.0))
    X = np.column_stack([np.where(rng.random(n) < p, y, rng.integers(0, r, n)) for r, p in shares])
    X[:, 2] = np.where(rng.random(n) < 0.6, X[:, 0], X[:, 2])
    return make_rows(X, y)


def interacting(seed, n=150):
    """The third feature depends on the class only jointly with the first."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a = (y + (rng.random(n) < 0.25)) % 2
    b = (y + rng.integers(0, 3, n)) % 3
    c = np.where(rng.random(n) < 0.7, a ^ y, rng.integers(0, 2, n))
    return make_rows(np.column_stack([a, b, c, rng.integers(0, 2, n)]), y)


@pytest.mark.parametrize("name", NAMES)
def test_reference_structures(name):
    found, expected = greedy_search(reference_rows(name)), REFERENCE[name].structural
    assert tuple(sorted(found.state.features)) == expected.features
    assert tuple(sorted(found.state.arcs)) == expected.arcs
    assert found.d == expected.d
    assert found.bicd == pytest.approx(expected.bicd, abs=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_screened_search_finds_the_same(name):
    found, expected = greedy_search(reference_rows(name), screen=3), REFERENCE[name].structural
    assert tuple(sorted(found.state.features)) == expected.features
    assert found.bicd == pytest.approx(expected.bicd, abs=1e-3)


def test_score_statistic_of_the_empty_model_is_near_the_gain():
    """Weak dependence: both are half of a chi-squared statistic."""
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 4000)
    X = np.where(rng.random(4000) < 0.05, y, rng.integers(0, 3, 4000))[:, None]
    rows = make_rows(X, y)
    P = np.tile(rows.Y.mean(axis=0), (len(X), 1))
    gain = fit_newton(rows, {0: ()})[0] - fit_newton(rows, {})[0]
    assert score_statistic(rows, P, [0]) == pytest.approx(gain, rel=0.05)


def test_corral():
    found = greedy_search(reference_rows("corral"))
    assert found.bicd == pytest.approx(-3.5 * log(128), abs=1e-4)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("rows", "moves"),
    [(table, "single"), (table, "pairs_last"), (interacting, "pairs"), (interacting, "pairs_last")],
)
def test_greedy_matches_exhaustive_search(rows, moves, seed):
    scorer = Scorer(rows(seed))
    found = greedy_search(scorer.rows, moves, scorer)
    assert all(b > a for a, b in pairwise(found.path))
    assert found.bicd == pytest.approx(exhaustive_search(scorer.rows, scorer)[1], abs=1e-4)


def test_exclusive_or_needs_pair_moves():
    X = np.array(list(product((0, 1), repeat=3)) * 10)
    rows = make_rows(X, X[:, 0] ^ X[:, 1])
    assert greedy_search(rows).state == State()
    for moves in ("pairs", "pairs_last"):
        found = greedy_search(rows, moves)
        assert found.state == State(frozenset({0, 1}), frozenset({(0, 1)}))
        assert found.state == exhaustive_search(rows)[0]


def test_pair_moves_in_one_list_can_end_below_single_moves():
    """Two features with an arc beat one feature, and the arc is never taken back."""
    lost = []
    for seed in range(6):
        scorer = Scorer(table(seed))
        single, pairs, last = (
            greedy_search(scorer.rows, moves, scorer) for moves in ("single", "pairs", "pairs_last")
        )
        assert last == single
        lost.append(single.bicd - pairs.bicd)
    assert max(lost) > 1


def test_irrelevant_feature_is_not_taken():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 10_000)
    X = np.column_stack([(y + (rng.random(10_000) < 0.3)) % 2, rng.integers(0, 4, 10_000)])
    assert greedy_search(make_rows(X, y)).state.features == {0}


def test_collapsed_rows_have_the_same_likelihood():
    rows = reference_rows("corral")
    few = collapse(rows)
    assert len(few.X) == 64
    structure = naive_structure(range(6))
    value, weights = fit_newton(few, structure)
    assert value == pytest.approx(fit_newton(rows, structure)[0])
    assert value == pytest.approx(conditional_log_likelihood(rows, weights, structure))


def test_states_of_four_features():
    """1 empty, and per subset the labeled forests: 1, 2, 7 and 38."""
    assert len(list(all_states([0, 1, 2, 3]))) == 1 + 4 * 1 + 6 * 2 + 4 * 7 + 38


def test_only_observed_categories_count():
    rows = make_rows([[0, 0], [2, 0], [0, 0]], [0, 1, 0], categories=(4, 2))
    assert observed_categories(rows) == [2, 1]
    assert Scorer(rows).n_parameters(State(frozenset({0}))) == 2

"""The structural search against the naive search, exhaustive search and reference numbers."""

from __future__ import annotations

from itertools import product
from math import log

import numpy as np
import pytest

from ceiba.bayes.families import Families
from ceiba.bayes.statistics import CodedRows, TableSums
from ceiba.bayes.structural import scores, screening
from ceiba.bayes.structural.distinct import DistinctRows
from ceiba.bayes.structural.scores import StructureScorer, empty_fit
from ceiba.bayes.structural.screening import score_statistics
from ceiba.bayes.structural.states import State, make_move, single_moves
from ceiba.engine import Batch
from tests.bayes.structural_rows import search, search_rows
from tests.oracles.bayes_missing_naive import observed_cll
from tests.oracles.bayes_naive import Tables, make_rows, posteriors
from tests.oracles.bayes_optimizers_naive import fit_newton
from tests.oracles.bayes_reference import REFERENCE
from tests.oracles.bayes_structure_naive import State as NaiveState
from tests.oracles.bayes_structure_naive import (
    exhaustive_search,
    greedy_search,
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


def exclusive_or(n=400):
    """The class is the exclusive or of two features, with noise; a third one is irrelevant."""
    rng = np.random.default_rng(5)
    X = np.array(list(product((0, 1), repeat=3)) * (n // 8))
    y = X[:, 0] ^ X[:, 2] ^ (rng.random(len(X)) < 0.1)
    return make_rows(X, y)


def naive_tables(fit):
    """Return the weights of a fit as the tables of the oracle."""
    families, tables = fit.families, {}
    for family, feature in enumerate(families.structure.features):
        view = families.view(fit.weights.table, family)
        tables[fit.columns[feature]] = view[*(slice(-1),) * (view.ndim - 1)]
    return Tables(fit.weights.bias, tables)


def outcome(result):
    step = result.steps[-1]
    return sorted(result.state.features), sorted(result.state.arcs), step.d


@pytest.mark.parametrize("screen", [3, None])
@pytest.mark.parametrize("name", NAMES)
def test_reference_structures(name, screen):
    found, expected = search(reference_rows(name), screen=screen), REFERENCE[name].structural
    assert outcome(found) == (list(expected.features), list(expected.arcs), expected.d)
    assert found.steps[-1].bicd == pytest.approx(expected.bicd, abs=1e-3)
    assert (np.diff([step.bicd for step in found.steps]) > 0).all()


@pytest.mark.parametrize("moves", ["single", "pairs"])
@pytest.mark.parametrize("seed", range(3))
def test_naive_greedy_search(seed, moves):
    rows = table(seed)
    expected = greedy_search(rows, moves)
    found = search(rows, moves, screen=None)
    assert outcome(found) == (
        sorted(expected.state.features), sorted(expected.state.arcs), expected.d,
    )  # fmt: skip
    assert [step.bicd for step in found.steps] == pytest.approx(expected.path, abs=1e-4)
    screened = search(rows, moves, screen=2)
    assert screened.steps[-1].bicd == pytest.approx(greedy_search(rows, moves, screen=2).bicd)


@pytest.mark.parametrize("seed", range(4))
def test_exhaustive_search(seed):
    best, bicd = exhaustive_search(table(seed))
    found = search(table(seed))
    assert (found.state.features, found.state.arcs) == (best.features, best.arcs)
    assert found.steps[-1].bicd == pytest.approx(bicd, abs=1e-4)


def test_corral_is_separated_by_one_arc():
    found = search(reference_rows("corral"))
    assert found.steps[-1].bicd == pytest.approx(-3.5 * log(128), abs=1e-3)


@pytest.mark.parametrize("screen", [3, None])
def test_exclusive_or_requires_pairs(screen):
    assert not search(exclusive_or(), screen=screen).state.features
    found = search(exclusive_or(), "pairs", screen)
    assert outcome(found)[:2] == ([0, 2], [(0, 2)])
    assert len(found.steps) == 2


def test_irrelevant_feature_is_not_taken():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 10_000)
    X = np.column_stack([(y + (rng.random(len(y)) < 0.4)) % 3, rng.integers(0, 4, len(y))])
    assert outcome(search(make_rows(X, y), screen=None))[0] == [0]


def test_cold_and_warm_starts_agree():
    rows = search_rows(reference_rows("crx"))
    final = search(reference_rows("crx"))
    warm = final.steps[-1]
    scorer = StructureScorer(rows)
    scorer.fit([warm.fit.state])
    assert scorer.bicd(warm.fit.state) == pytest.approx(warm.bicd, abs=1e-3)


def test_a_state_is_fitted_once():
    scorer = StructureScorer(search_rows(table(0)))
    state = State().plus((0, 1))
    assert scorer.fit([state, state]) == 1
    assert scorer.fit([state, state.plus(arc=(1, 0))]) == 1


def test_weights_are_repeated_rows():
    rows = table(1)
    weight = np.random.default_rng(1).integers(1, 4, len(rows.X))
    y = rows.Y.argmax(axis=1)
    weighted = make_rows(rows.X, y, weight.astype(float))
    repeated = make_rows(np.repeat(rows.X, weight, axis=0), np.repeat(y, weight))
    one, other = search(weighted), search(repeated)
    assert outcome(one) == outcome(other)
    assert one.steps[-1].bicd == pytest.approx(other.steps[-1].bicd, rel=1e-12)


def test_threads_and_many_distinct_rows(monkeypatch):
    rows = reference_rows("heart")
    one, two = search(rows), search(rows, threads=2)
    assert [step.bicd for step in one.steps] == [step.bicd for step in two.steps]
    monkeypatch.setattr(scores, "_MAX_DISTINCT", 1)
    monkeypatch.setattr(scores, "_MIN_DISTINCT", 1)
    all_rows = search(rows)
    assert outcome(all_rows) == outcome(one)
    assert all_rows.steps[-1].bicd == pytest.approx(one.steps[-1].bicd, abs=1e-4)


def test_lifted_weights_keep_the_posteriors():
    data = search_rows(reference_rows("heart"))
    scorer = StructureScorer(data)
    small = State().plus((2, 9), (2, 9)).plus((12,), (9, 12))
    # The arc with feature 0 roots the tree anew.
    large = small.plus((0, 11), (0, 12))
    scorer.fit([small])
    fit = scorer.fits[small]
    columns = tuple(range(len(data.sizes)))
    families = Families(large.structure(columns), data.sizes)
    for sums_missing in (False, True):
        weights = fit.warm_start(families, columns, sums_missing)
        found = data.engine.reduce(data.rows, TableSums.of, families, weights).objective
        assert found == pytest.approx(fit.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("max_numbers", [screening._MAX_NUMBERS, 30])
def test_score_statistics(max_numbers, monkeypatch):
    monkeypatch.setattr(screening, "_MAX_NUMBERS", max_numbers)
    rows = table(2)
    data = search_rows(rows)
    scorer = StructureScorer(data)
    state = State().plus((0, 1))
    scorer.fit([state])
    moves = [*single_moves(state, range(4)), make_move(state, (3,), (1, 3))]
    naive = NaiveState(frozenset((0, 1)), frozenset())
    P = posteriors(fit_newton(rows, naive.structure())[1], naive.structure(), rows.X)
    expected = [score_statistic(rows, P, list(move.columns)) for move in moves]
    found = score_statistics(data, scorer.fits[state], moves)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-4)


def test_missing_values_are_summed_over():
    rng = np.random.default_rng(3)
    rows = table(3)
    X = np.where(rng.random(rows.X.shape) < 0.2, rows.categories, rows.X)
    rows = make_rows(X, rows.Y.argmax(axis=1), categories=rows.categories)
    found = search(rows, screen=None, sums_missing=True)
    assert found.state.features
    for step in found.steps[1:]:
        state = NaiveState(step.fit.state.features, step.fit.state.arcs)
        expected = observed_cll(rows, naive_tables(step.fit), state.structure())
        assert step.fit.log_likelihood == pytest.approx(expected, rel=1e-9)
    # A state's likelihood is at least that of the state before.
    assert (np.diff([step.fit.log_likelihood for step in found.steps]) > 0).all()


@pytest.mark.parametrize("limit", [1000, 12])
def test_distinct_rows_of_parts_merge_to_those_of_the_whole(limit):
    data = search_rows(reference_rows("heart"))
    rows = data.rows.table()
    sets = [(0, 2), (), (1, 2, 9, 11)]

    def distinct(part):
        few = CodedRows(rows.codes[part], rows.labels[part], rows.weight[part], 2)
        return DistinctRows.of(Batch(few), sets, data.sizes, limit)

    whole = distinct(slice(None))
    one, two, three = (distinct(part) for part in (slice(50), slice(50, 51), slice(51, None)))
    for merged in (one.merge(two).merge(three), one.merge(two.merge(three))):
        for index, columns in enumerate(sets):
            expected = whole.rows(index, columns, data.sizes, 2)
            found = merged.rows(index, columns, data.sizes, 2)
            assert (found is None) == (expected is None) == (limit == 12 and len(columns) > 0)
            if expected is not None:
                np.testing.assert_array_equal(found.codes, expected.codes)
                np.testing.assert_array_equal(found.labels, expected.labels)
                np.testing.assert_array_equal(found.weight, expected.weight)


def test_distinct_rows():
    data = search_rows(reference_rows("heart"))
    rows = data.rows.table()
    sets = [(0, 2), (), (1, 2, 9, 11)]
    whole = data.engine.reduce(data.rows, DistinctRows.of, sets, data.sizes, 1000)
    coded = whole.rows(2, sets[2], data.sizes, 2)
    assert coded.weight.sum() == len(rows)
    found = {(*codes, y): w for codes, y, w in zip(
        coded.codes.tolist(), coded.labels, coded.weight, strict=True)
    }  # fmt: skip
    for codes, y in zip(rows.codes[:, sets[2]].tolist(), rows.labels, strict=True):
        found[(*codes, y)] -= 1
    assert not any(found.values())
    few = data.engine.reduce(data.rows, DistinctRows.of, sets, data.sizes, 5)
    assert few.rows(2, sets[2], data.sizes, 2) is None
    assert few.rows(1, (), data.sizes, 2).codes.shape == (2, 0)


def test_empty_state():
    data = search_rows(table(0))
    shares = data.class_counts / data.total
    assert empty_fit(data).log_likelihood == pytest.approx(data.class_counts @ np.log(shares))

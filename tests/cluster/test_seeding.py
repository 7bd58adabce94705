"""Keyed draws against published vectors, and candidate draws against naive ones."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from ceiba import _native
from ceiba.cluster.lloyd import CandidateDraw, DrawKey
from ceiba.engine import Batch
from ceiba.engine.local import LocalRows
from ceiba.stats import Points, PointSpace
from tests.budget import examples
from tests.oracles import kmeans_naive as naive
from tests.oracles.kmeans_tables import groups, ones, problems

WORDS = st.integers(0, 2**64 - 1)
# Known-answer vectors published by the authors of the generator (Random123, kat_vectors).
KNOWN = [
    (
        "00000000 00000000 00000000 00000000",
        "00000000 00000000",
        "6627e8d5 e169c58d bc57ac4c 9b00dbd8",
    ),
    (
        "ffffffff ffffffff ffffffff ffffffff",
        "ffffffff ffffffff",
        "408f276d 41c83b0e a20bc7c6 6d5451fd",
    ),
    (
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
]


def words(text):
    return tuple(int(word, 16) for word in text.split())


def uniforms(seed, stream, first, n):
    out = np.empty(n)
    _native.uniforms(seed, stream, first, out)
    return out


# Draws


@pytest.mark.parametrize(("counter", "key", "answer"), KNOWN)
def test_generator_gives_the_published_vectors(counter, key, answer):
    assert naive.philox(words(counter), words(key)) == words(answer)
    a, b, c, d = words(counter)
    k, m = words(key)
    high, low, _, _ = words(answer)
    (drawn,) = uniforms(m << 32 | k, d << 32 | c, b << 32 | a, 1)
    assert drawn == ((high << 32 | low) >> 12) * 2.0**-52 + 2.0**-53


@examples(60)
@given(seed=WORDS, stream=WORDS, first=st.integers(0, 2**64 - 50), n=st.integers(0, 40))
def test_draws_match_the_naive_generator(seed, stream, first, n):
    expected = [naive.uniform(seed, stream, first + i) for i in range(n)]
    assert uniforms(seed, stream, first, n).tolist() == expected


def test_draws_are_uniform_in_the_open_interval():
    drawn = uniforms(3, 1 << 32 | 5, 0, 100_000)
    assert drawn.min() > 0.0
    assert drawn.max() < 1.0
    assert kstest(drawn, "uniform").pvalue > 1e-3


def test_seed_run_and_step_key_different_draws():
    draws = {
        uniforms(seed, DrawKey(seed, run, step).stream, row, 1)[0]
        for seed in range(4)
        for run in range(4)
        for step in range(4)
        for row in range(4)
    }
    assert len(draws) == 4**4


# Candidate draws


def space_of(X):
    observed = ~np.isnan(X)
    mean = np.where(observed, X, 0.0).sum(axis=0) / observed.sum(axis=0)
    return PointSpace(mean, not observed.all())


def naive_draw(X, weight, chosen, candidates, draw):
    """For each candidate: the potential, and the drawn rows with their keys, in order."""
    rows, weights = X.tolist(), ones(X, weight)
    nearest = [min((naive.squared(x, c) for c in chosen), default=math.inf) for x in rows]
    found = []
    for candidate in candidates:
        rates = naive.rates_with(rows, weights, nearest, candidate)
        order = naive.draw_order(rates, draw.seed, draw.run, draw.step, len(rows))
        keys = [-math.log(naive.uniform(draw.seed, draw.stream, i)) / rates[i] for i in order]
        found.append((math.fsum(rates), order, keys))
    return found


def assert_same_draw(drawn, expected, n_drawn):
    for t, (potential, order, keys) in enumerate(expected):
        assert drawn.potential[t] == pytest.approx(potential, rel=1e-9)
        n = min(n_drawn, len(order))
        assert drawn.rows[t].tolist() == order[:n] + [-1] * (n_drawn - n)
        np.testing.assert_allclose(drawn.keys[t, :n], keys[:n], rtol=1e-9)
        assert np.isinf(drawn.keys[t, n:]).all()


@examples(80)
@given(
    problem=problems(whole=True, missing=False),
    seed=WORDS,
    run=st.integers(0, 5),
    n_drawn=st.integers(1, 6),
    data=st.data(),
)
def test_candidate_draw_matches_the_naive_one(problem, seed, run, n_drawn, data):
    X, weight, centers = problem
    if weight is not None:
        X, weight = X[weight > 0], weight[weight > 0]
    n_chosen = data.draw(st.integers(0, len(centers) - 1))
    chosen, candidates = centers[:n_chosen], centers[n_chosen:]
    draw = DrawKey(seed, run, n_chosen + 1)
    # Integers about an integer offset: distances are exact, so a row on a center is never drawn.
    space = PointSpace(np.zeros(X.shape[1]), False)
    drawn = CandidateDraw.of(Batch(Points(X, weight)), space, chosen, candidates, n_drawn, draw)
    assert_same_draw(drawn, naive_draw(X, weight, chosen, candidates, draw), n_drawn)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_candidate_draw_of_many_rows_matches_the_naive_one(missing, weighted):
    X = groups(1, 300, 4, 3)
    rng = np.random.default_rng(0)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
        X = X[~np.isnan(X).all(axis=1)]
    weight = rng.exponential(size=len(X)) if weighted else None
    chosen, candidates, draw = rng.normal(size=(3, 4)), rng.normal(size=(4, 4)), DrawKey(9, 2, 4)
    space = space_of(X)
    drawn = CandidateDraw.of(Batch(Points(X, weight)), space, chosen, candidates, 5, draw)
    assert_same_draw(drawn, naive_draw(X, weight, chosen, candidates, draw), 5)
    points = np.where(np.isnan(X), space.offset, X)[drawn.rows]
    np.testing.assert_array_equal(drawn.points, points)


def test_first_draw_is_by_weight_alone():
    X = groups(2, 80, 3, 2)
    weight = np.random.default_rng(1).exponential(size=80)
    none = np.empty((0, 3))
    drawn = CandidateDraw.of(Batch(Points(X, weight)), space_of(X), none, none, 6, DrawKey(5, 3, 0))
    assert drawn.rows[0].tolist() == naive.draw_order(weight.tolist(), 5, 3, 0, 6)
    np.testing.assert_array_equal(drawn.next_candidates(0), X[drawn.rows[0]])


def test_rows_are_keyed_by_their_global_number():
    X = groups(2, 60, 3, 2)
    none = np.empty((0, 3))
    whole = CandidateDraw.of(Batch(Points(X)), space_of(X), none, none, 60, DrawKey(5, 0, 0))
    later = CandidateDraw.of(
        Batch(Points(X[20:]), 20), space_of(X), none, none, 40, DrawKey(5, 0, 0)
    )
    kept = whole.rows[0][whole.rows[0] >= 20]
    np.testing.assert_array_equal(later.rows[0], kept)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cached_distances_change_no_draw(dtype):
    X = groups(3, 500, 6, 4).astype(dtype)
    space, rng = space_of(X.astype(float)), np.random.default_rng(2)
    kept = LocalRows(Points(X), 0, 1)
    chosen = np.empty((0, 6))
    for step in range(8):
        candidates = rng.normal(size=(3, 6))
        one = CandidateDraw.of(kept, space, chosen, candidates, 4, DrawKey(1, 0, step))
        other = CandidateDraw.of(
            Batch(Points(X)), space, chosen, candidates, 4, DrawKey(1, 0, step)
        )
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.keys, other.keys)
        np.testing.assert_array_equal(one.potential, other.potential)
        # Other centers from time to time: the cache is invalid then.
        chosen = rng.normal(size=(2, 6)) if step == 4 else np.vstack([chosen, candidates[:1]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_threads_change_no_bit(dtype):
    X = groups(4, 20_000, 4, 3).astype(dtype)
    space, rng = space_of(X.astype(float)), np.random.default_rng(3)
    chosen, candidates = rng.normal(size=(3, 4)), rng.normal(size=(3, 4))
    one, *others = (
        CandidateDraw.of(
            Batch(Points(X), 0, threads), space, chosen, candidates, 4, DrawKey(1, 0, 4)
        )
        for threads in (1, 2, 3)
    )
    for other in others:
        np.testing.assert_array_equal(one.rows, other.rows)
        np.testing.assert_array_equal(one.keys, other.keys)
        np.testing.assert_array_equal(one.potential, other.potential)


def test_draw_probability_is_proportional_to_weighted_squared_distance():
    X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    weight = np.array([5.0, 1.0, 2.0, 1.0, 0.5])
    rates = weight * X[:, 0] ** 2
    origin, space = np.zeros((1, 1)), PointSpace(np.zeros(1), False)
    counts = np.zeros(5)
    for seed in range(4000):
        drawn = CandidateDraw.of(
            Batch(Points(X, weight)), space, origin, origin, 1, DrawKey(seed, 0, 1)
        )
        counts[drawn.rows[0, 0]] += 1
    assert counts[0] == 0
    assert chisquare(counts[1:], rates[1:] / rates.sum() * 4000).pvalue > 1e-3

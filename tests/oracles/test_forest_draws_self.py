"""Tests of the naive draws: published vectors, hand computations and uniformity."""

from __future__ import annotations

from collections import Counter
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.budget import examples
from tests.oracles.forest_draws import (
    BOOT,
    bootstrap,
    branch_path,
    columns_of_node,
    columns_of_tree,
    drawn_row,
    drawn_thresholds,
    even_half,
    odd_half,
    permutation,
    philox,
    shuffled,
    subset,
    tree_seed,
)

# Quantiles of probability 99.9% of chi-squared, by degrees of freedom.
UNLIKELY = {5: 20.5, 9: 27.9, 23: 49.7}


def chi_squared(counts, cells):
    expected = sum(counts.values()) / cells
    missing = (cells - len(counts)) * expected
    return missing + sum((c - expected) ** 2 / expected for c in counts.values())


@pytest.mark.parametrize(
    ("seed", "stream", "number", "words"),
    [
        # The known answers that Salmon et al. published with the generator.
        (0, 0, 0, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        (2**64 - 1, 2**64 - 1, 2**64 - 1, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            0x299F31D0A4093822,
            0x0370734413198A2E,
            0x85A308D3243F6A88,
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ],
)
def test_philox_matches_published_vectors(seed, stream, number, words):
    assert " ".join(f"{word:08x}" for word in philox(seed, stream, number)) == words


@examples(40)
@given(
    seed=st.integers(0, 2**64 - 1),
    d=st.integers(0, 99),
    weights=st.lists(st.integers(0, 5), min_size=1, max_size=9).filter(any),
)
def test_draw_uses_integer_arithmetic(seed, d, weights):
    words = philox(seed, BOOT, d >> 1)
    u = [even_half(words), odd_half(words)][d & 1]
    point = (u * sum(weights)) >> 64
    repeated = [row for row, weight in enumerate(weights) for _ in range(weight)]
    assert drawn_row(seed, d, weights) == repeated[point]
    # The scale of the weights does not matter.
    assert drawn_row(seed, d, [w * 2**40 for w in weights]) == repeated[point]


def test_rows_are_drawn_uniformly():
    drawn = Counter()
    for t in range(200):
        counts = bootstrap(tree_seed(7, t), [1] * 10, 10)
        assert sum(counts) == 10
        drawn += Counter(dict(enumerate(counts)))
    assert chi_squared(drawn, 10) < UNLIKELY[9]


def test_rows_are_drawn_by_weight():
    counts = bootstrap(tree_seed(1, 2), [1, 0, 3], 4000)
    assert counts[1] == 0
    # Four standard deviations.
    assert abs(counts[0] - 1000) < 4 * (4000 * 3 / 16) ** 0.5


def test_subsets_are_uniform_and_nested():
    drawn = Counter()
    for t in range(200):
        seed = tree_seed(3, t)
        rows = subset(seed, 10, 4)
        assert len(set(rows)) == 4
        assert set(subset(seed, 10, 3)) < set(rows)
        drawn += Counter(rows)
    assert subset(5, 6, 6) == [0, 1, 2, 3, 4, 5]
    assert chi_squared(drawn, 10) < UNLIKELY[9]


def test_column_orders_are_uniform():
    orders = Counter(tuple(columns_of_node(seed, 1, range(4))) for seed in range(1000))
    assert set(orders) == set(permutations(range(4)))
    assert chi_squared(orders, 24) < UNLIKELY[23]


def test_shuffle_of_many_columns_uses_several_blocks():
    order = shuffled(range(100, 130), 11, 12)
    assert sorted(order) == list(range(100, 130))
    # The first position uses the first word of the first block, the fifth that of the second.
    assert order[0] == 100 + (philox(11, 12, 0)[0] * 30 >> 32)
    left = [k for k in range(100, 130) if k not in order[:4]]
    assert order[4] in left
    assert shuffled([5], 1, 2) == [5]


def test_tree_columns_are_ascending_and_uniform():
    found = Counter(tuple(columns_of_tree(seed, 5, 2)) for seed in range(600))
    assert all(a < b for a, b in found)
    assert chi_squared(found, 10) < UNLIKELY[9]


def test_permutations_are_uniform_and_keyed():
    orders = Counter(tuple(permutation(seed, 2, 0, 3)) for seed in range(600))
    assert chi_squared(orders, 6) < UNLIKELY[5]
    keys = [(seed, column, repeat) for seed in (1, 2) for column in (0, 3) for repeat in (0, 1)]
    assert len({tuple(permutation(*key, 12)) for key in keys}) == len(keys)
    assert permutation(4, 0, 0, 1) == [0]
    assert permutation(4, 0, 0, 0) == []


def test_random_thresholds_are_uniform_and_keyed_by_column_and_path():
    thresholds = sorted(drawn_thresholds(seed, 1, 0, 1, 2.0, 4.0)[0] for seed in range(200))
    steps = [2 + 2 * (i + 1) / 200 for i in range(200)]
    # Kolmogorov and Smirnov: a distance above 1.95 / sqrt(200) has probability below 0.1%.
    assert max(abs(a - b) for a, b in zip(thresholds, steps, strict=True)) / 2 < 1.95 / 200**0.5
    keys = [(5, 1, 0), (5, 1, 1), (5, branch_path(1, 0), 0), (6, 1, 0)]
    assert len({drawn_thresholds(*key, 1, 0.0, 1.0)[0] for key in keys}) == 4

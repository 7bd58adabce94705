"""Votes: counts, elected class, ties drawn by the seed, and margins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ceiba.ensemble.common.votes import Votes, class_margin, expand_classes
from tests.budget import examples
from tests.ensemble.bagging import by_hand as hand

COUNTS = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(0, 3)
)


@examples(200)
@given(COUNTS, st.integers(0, 2**64 - 1))
def test_elected_class_matches_naive(counts, seed):
    votes = Votes.of(counts, seed)
    assert votes.class_index.tolist() == [
        hand.elected(row, seed, number) for number, row in enumerate(counts.tolist())
    ]
    tied = [row.count(max(row)) > 1 for row in counts.tolist()]
    assert votes.tied.tolist() == tied
    assert votes.n_ties == sum(tied)
    np.testing.assert_array_equal(votes.counts, counts)


def test_ties_are_keyed_by_row_number():
    counts = np.full((400, 3), 2)
    every = Votes.of(counts, 7)
    some = np.arange(5, 400, 3)
    np.testing.assert_array_equal(
        Votes.of(counts[some], 7, some).class_index, every.class_index[some]
    )
    assert (Votes.of(counts[some], 7).class_index != every.class_index[some]).any()


def test_seed_affects_ties_only():
    counts = np.tile([[2, 2, 1], [0, 1, 3]], (300, 1))
    one, other = Votes.of(counts, 1), Votes.of(counts, 2)
    assert (one.class_index != other.class_index).any()
    assert (one.class_index[1::2] == 2).all()
    assert (one.class_index[::2] < 2).all()
    assert one.n_ties == 300


def test_tied_classes_are_equally_probable():
    votes = Votes.of(np.tile([4, 0, 4, 4], (6000, 1)), 3)
    drawn = np.bincount(votes.class_index, minlength=4)
    assert drawn[1] == 0
    # Each of the three is drawn 2000 times within five binomial standard deviations.
    assert np.abs(drawn[[0, 2, 3]] - 2000).max() < 5 * np.sqrt(6000 * 2 / 9)


def test_float_counts_are_accepted():
    votes = Votes.of(np.array([[2.0, 1.0]]), 0)
    assert votes.counts.dtype == np.int64
    assert votes.fractions.tolist() == [[2 / 3, 1 / 3]]


@examples(100)
@given(COUNTS, st.integers(0, 2**32), st.sampled_from([np.int64, np.float64]))
def test_margin_matches_naive(counts, seed, kind):
    labels = np.random.default_rng(seed).integers(counts.shape[1], size=len(counts))
    expected = [
        row.pop(label) - max(row, default=0)
        for row, label in zip(counts.tolist(), labels, strict=True)
    ]
    given_counts = counts.astype(kind)
    assert class_margin(given_counts, labels).tolist() == expected
    np.testing.assert_array_equal(given_counts, counts)


def test_margin_of_negative_and_missing_scores():
    scores = np.array([[-3.0, -1.0], [-3.0, -1.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(class_margin(scores, np.array([0, 1, 0])), [-2.0, 2.0, np.nan])


def test_probabilities_of_unsorted_classes_are_permuted():
    found = expand_classes(
        np.array([[0.2, 0.3, 0.5]]), np.array(["b", "c", "a"]), np.array(list("abc"))
    )
    assert found.tolist() == [[0.5, 0.2, 0.3]]
    found = expand_classes(np.array([[0.2, 0.8]]), np.array(["c", "a"]), np.array(list("abc")))
    assert found.tolist() == [[0.8, 0.0, 0.2]]

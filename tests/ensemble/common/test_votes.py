"""Votes: counts, the class elected, ties drawn by the seed, and margins."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ceiba.ensemble.common.votes import Votes, lead
from tests.ensemble.bagging import by_hand as hand

COUNTS = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(0, 3)
)


@settings(max_examples=200, deadline=None)
@given(COUNTS, st.integers(0, 2**64 - 1))
def test_the_election_by_hand(counts, seed):
    votes = Votes.of(counts, seed)
    assert votes.place.tolist() == [
        hand.elected(row, seed, number) for number, row in enumerate(counts.tolist())
    ]
    tied = [row.count(max(row)) > 1 for row in counts.tolist()]
    assert votes.tied.tolist() == tied
    assert votes.ties == sum(tied)
    np.testing.assert_array_equal(votes.counts, counts)


def test_ties_follow_the_given_numbers_of_rows():
    counts = np.full((400, 3), 2)
    every = Votes.of(counts, 7)
    some = np.arange(5, 400, 3)
    np.testing.assert_array_equal(Votes.of(counts[some], 7, some).place, every.place[some])
    assert (Votes.of(counts[some], 7).place != every.place[some]).any()


def test_the_seed_decides_ties_and_nothing_else():
    counts = np.tile([[2, 2, 1], [0, 1, 3]], (300, 1))
    one, other = Votes.of(counts, 1), Votes.of(counts, 2)
    assert (one.place != other.place).any()
    assert (one.place[1::2] == 2).all()
    assert (one.place[::2] < 2).all()
    assert one.ties == 300


def test_tied_classes_are_drawn_alike():
    votes = Votes.of(np.tile([4, 0, 4, 4], (6000, 1)), 3)
    drawn = np.bincount(votes.place, minlength=4)
    assert drawn[1] == 0
    # Each of the three has 2000 within five standard deviations of a binomial number.
    assert np.abs(drawn[[0, 2, 3]] - 2000).max() < 5 * np.sqrt(6000 * 2 / 9)


def test_votes_may_come_as_floats():
    votes = Votes.of(np.array([[2.0, 1.0]]), 0)
    assert votes.counts.dtype == np.int64
    assert votes.shares.tolist() == [[2 / 3, 1 / 3]]


@settings(max_examples=100, deadline=None)
@given(COUNTS, st.integers(0, 2**32), st.sampled_from([np.int64, np.float64]))
def test_the_lead_of_a_class_by_hand(counts, seed, kind):
    places = np.random.default_rng(seed).integers(counts.shape[1], size=len(counts))
    expected = [
        row.pop(place) - max(row, default=0)
        for row, place in zip(counts.tolist(), places, strict=True)
    ]
    given_counts = counts.astype(kind)
    assert lead(given_counts, places).tolist() == expected
    np.testing.assert_array_equal(given_counts, counts)


def test_the_lead_where_less_than_nothing_is_said():
    said = np.array([[-3.0, -1.0], [-3.0, -1.0], [np.nan, np.nan]])
    np.testing.assert_array_equal(lead(said, np.array([0, 1, 0])), [-2.0, 2.0, np.nan])

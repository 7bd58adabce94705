"""Folds and held-out rows: sizes, classes, seeds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba.tree.prune.cross_validation import fold_of_rows, held_out_rows

LABELS = st.lists(st.integers(0, 4), min_size=2, max_size=80).map(np.array)


@settings(deadline=None)
@given(LABELS, st.integers(2, 10), st.integers(0, 2**64 - 1))
def test_folds_are_even_overall_and_in_every_class(label, folds, seed):
    n = len(label)
    folds = min(folds, n)
    fold = fold_of_rows(n, folds, seed, label)
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.max() - sizes.min() <= 1
    for k in np.unique(label):
        own = np.bincount(fold[label == k], minlength=folds)
        assert own.max() - own.min() <= 1


@settings(deadline=None)
@given(LABELS, st.floats(0.01, 0.99), st.integers(0, 2**32))
def test_held_out_rows_leave_every_class_to_training(label, share, seed):
    counts = np.bincount(label)
    if counts.max() < 2:
        with pytest.raises(ValueError, match="two"):
            held_out_rows(len(label), share, seed, label)
        return
    held = held_out_rows(len(label), share, seed, label)
    assert set(label[~held]) == set(label)
    spare = int((counts - 1).clip(0).sum())
    assert held.sum() == min(max(1, round(share * len(label))), spare)
    # Evenly spaced picks from rows sorted by class differ by less than one from the share.
    may = np.maximum(counts - 1, 0)
    own = np.bincount(label[held], minlength=len(counts))
    assert (np.abs(own - may * held.sum() / spare) < 1 + 1e-9).all()


def test_draws_follow_the_seed():
    assert (fold_of_rows(50, 5, 3) == fold_of_rows(50, 5, 3)).all()
    assert (fold_of_rows(50, 5, 3) != fold_of_rows(50, 5, 4)).any()
    assert (held_out_rows(50, 0.25, 3) == held_out_rows(50, 0.25, 3)).all()
    assert (held_out_rows(50, 0.25, 3) != held_out_rows(50, 0.25, 4)).any()
    assert (fold_of_rows(50, 5, -1) == fold_of_rows(50, 5, 2**64 - 1)).all()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fold_of_rows(5, 1, 0), "at least 2"),
        (lambda: fold_of_rows(3, 4, 0), "fewer folds"),
        (lambda: held_out_rows(5, 0.0, 0), "more than none"),
        (lambda: held_out_rows(5, 1.0, 0), "less than all"),
        (lambda: held_out_rows(1, 0.5, 0), "too few rows"),
    ],
)
def test_refusals(call, sentence):
    with pytest.raises(ValueError, match=sentence):
        call()

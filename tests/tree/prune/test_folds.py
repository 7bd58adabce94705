"""Folds and held-out rows: sizes, classes, seeds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ceiba.tree.prune.folds import assign_folds, held_out_mask

LABELS = st.lists(st.integers(0, 4), min_size=2, max_size=80).map(np.array)


@settings(deadline=None)
@given(LABELS, st.integers(2, 10), st.integers(0, 2**64 - 1))
def test_folds_are_balanced_overall_and_in_every_class(label, folds, seed):
    n = len(label)
    folds = min(folds, n)
    fold = assign_folds(n, folds, seed, label)
    sizes = np.bincount(fold, minlength=folds)
    assert sizes.max() - sizes.min() <= 1
    for k in np.unique(label):
        class_sizes = np.bincount(fold[label == k], minlength=folds)
        assert class_sizes.max() - class_sizes.min() <= 1


@settings(deadline=None)
@given(LABELS, st.floats(0.01, 0.99), st.integers(0, 2**32))
def test_held_out_rows_leave_a_row_of_every_class(label, fraction, seed):
    counts = np.bincount(label)
    if counts.max() < 2:
        with pytest.raises(ValueError, match="two"):
            held_out_mask(len(label), fraction, seed, label)
        return
    held_out = held_out_mask(len(label), fraction, seed, label)
    assert set(label[~held_out]) == set(label)
    spare = int((counts - 1).clip(0).sum())
    assert held_out.sum() == min(max(1, round(fraction * len(label))), spare)
    # Evenly spaced picks from rows sorted by class differ from the fraction by less than one.
    candidates = np.maximum(counts - 1, 0)
    drawn = np.bincount(label[held_out], minlength=len(counts))
    assert (np.abs(drawn - candidates * held_out.sum() / spare) < 1 + 1e-9).all()


def test_draws_depend_on_the_seed():
    assert (assign_folds(50, 5, 3) == assign_folds(50, 5, 3)).all()
    assert (assign_folds(50, 5, 3) != assign_folds(50, 5, 4)).any()
    assert (held_out_mask(50, 0.25, 3) == held_out_mask(50, 0.25, 3)).all()
    assert (held_out_mask(50, 0.25, 3) != held_out_mask(50, 0.25, 4)).any()
    assert (assign_folds(50, 5, -1) == assign_folds(50, 5, 2**64 - 1)).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assign_folds(5, 1, 0), "folds must be an int >= 2, got 1"),
        (lambda: assign_folds(3, 4, 0), "folds=4 cannot be greater than the number of rows, 3"),
        (lambda: held_out_mask(5, 0.0, 0), r"fraction must be a float in \(0, 1\), got 0.0"),
        (lambda: held_out_mask(5, 1.0, 0), r"fraction must be a float in \(0, 1\), got 1.0"),
        (lambda: held_out_mask(1, 0.5, 0), "too few rows"),
    ],
)
def test_invalid_arguments_raise(call, message):
    with pytest.raises(ValueError, match=message):
        call()

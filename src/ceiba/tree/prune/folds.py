"""Cross-validation folds and held-out rows, drawn by keyed random numbers.

scikit-learn's KFold and StratifiedKFold draw other folds: these are keyed by (seed, row), as all
draws of Ceiba are, and spread rare classes over all folds.
"""

from __future__ import annotations

from numbers import Integral

import numpy as np

from ceiba import _native
from ceiba._typing import Array
from ceiba.stats import LabeledRows

# Keys of the two random streams: "folds" and "held" in ASCII.
_FOLD_STREAM, _HELD_OUT_STREAM = 0x666F6C6473, 0x68656C64


def assign_folds(n_rows: int, folds: int, seed: int, label: Array | None = None) -> Array:
    """Return the fold of every row: nearly equal sizes, and fractions of each class."""
    check_folds(folds)
    if n_rows < folds:
        raise ValueError(f"folds={folds} cannot be greater than the number of rows, {n_rows}.")
    fold = np.empty(n_rows, np.int64)
    # Rows sorted by class get the folds in turn: rare classes do not all fall into fold 0.
    fold[_shuffle_by_class(n_rows, seed, _FOLD_STREAM, label)] = np.arange(n_rows) % folds
    return fold


def check_folds(folds: int) -> None:
    """Raise ValueError unless folds is an int of at least 2."""
    if not isinstance(folds, Integral) or folds < 2:
        raise ValueError(f"folds must be an int >= 2, got {folds!r}.")


def held_out_mask(n_rows: int, fraction: float, seed: int, label: Array | None = None) -> Array:
    """Draw the rows to hold out, stratified by class.

    At least one row is held out and one is not; a row of every class stays for training.
    """
    if not 0 < fraction < 1:
        raise ValueError(f"fraction must be a float in (0, 1), got {fraction!r}.")
    order = _shuffle_by_class(n_rows, seed, _HELD_OUT_STREAM, label)
    if label is None:
        candidates = order[1:]
    else:
        sorted_labels = label[order]
        candidates = order[1:][sorted_labels[1:] == sorted_labels[:-1]]
    if not len(candidates):
        raise ValueError(
            "too few rows to hold some out: at least two rows of one class are required."
        )
    n_held_out = min(max(1, round(fraction * n_rows)), len(candidates))
    # Evenly spaced among the rows sorted by class.
    chosen = (np.arange(n_held_out) * len(candidates) + len(candidates) // 2) // n_held_out
    held_out = np.zeros(n_rows, bool)
    held_out[candidates[chosen]] = True
    return held_out


def _shuffle_by_class(n_rows: int, seed: int, stream: int, label: Array | None) -> Array:
    """Return the rows sorted by class, and in random order within a class."""
    draw = np.empty(n_rows)
    _native.uniforms(seed % 2**64, stream, 0, draw)
    return np.argsort(draw, kind="stable") if label is None else np.lexsort((draw, label))


def class_indices_of(rows: LabeledRows) -> Array | None:
    """Return the class index of every row, or None for a numeric target."""
    return None if rows.target.classes is None else rows.target.values


def split_rows(rows: LabeledRows, fraction: float, seed: int) -> tuple[LabeledRows, LabeledRows]:
    """Split rows into training rows and a stratified fraction that is held out."""
    held_out = held_out_mask(len(rows), fraction, seed, class_indices_of(rows))
    return rows.take(np.flatnonzero(~held_out)), rows.take(np.flatnonzero(held_out))

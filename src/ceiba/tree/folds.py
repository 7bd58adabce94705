"""Folds and held-out rows, drawn by (seed, row) and alike in their classes."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from ceiba import _native
from ceiba.stats.points import Array

_FOLDS, _HELD = 0x666F6C6473, 0x68656C64


def fold_of_rows(n_rows: int, folds: int, seed: int, label: Array | None = None) -> Array:
    """The fold of every row: of nearly equal sizes, with nearly equal shares of each class.

    Parameters
    ----------
    n_rows : int
    folds : int
        At least 2, and no more than rows.
    seed : int
    label : ndarray of int of shape (n_rows,), optional
        Class of each row.

    Returns
    -------
    ndarray of int of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> np.bincount(fold_of_rows(10, 3, seed=0))
    array([4, 3, 3])
    """
    if not isinstance(folds, Integral) or folds < 2:
        raise ValueError(f"folds={folds}: cross-validation needs at least 2")
    if n_rows < folds:
        raise ValueError(f"{n_rows} rows cannot be dealt to {folds} folds: ask for fewer folds")
    fold = np.empty(n_rows, np.int64)
    # Dealt out class after class without a new start, so that rare classes do not fill fold 0.
    fold[_shuffled(n_rows, seed, _FOLDS, label)] = np.arange(n_rows) % folds
    return fold


def held_out_rows(n_rows: int, share: float, seed: int, label: Array | None = None) -> Array:
    """Which rows are held out: a share of them, and nearly that share of each class.

    At least one row is held out and one is not; a row of every class stays for training.

    Parameters
    ----------
    n_rows : int
    share : float
        Above 0 and below 1.
    seed : int
    label : ndarray of int of shape (n_rows,), optional

    Returns
    -------
    ndarray of bool of shape (n_rows,)

    Examples
    --------
    >>> held_out_rows(8, 0.25, seed=0).sum()
    np.int64(2)
    """
    if not 0 < share < 1:
        raise ValueError(f"share={share!r}: hold out more than none and less than all of the rows")
    order = _shuffled(n_rows, seed, _HELD, label)
    if label is None:
        may = order[1:]
    else:
        sorted_labels = label[order]
        may = order[1:][sorted_labels[1:] == sorted_labels[:-1]]
    if not len(may):
        raise ValueError("there are too few rows to hold some out: each class needs two")
    wanted = min(max(1, round(share * n_rows)), len(may))
    held = np.zeros(n_rows, bool)
    # Evenly spaced among rows sorted by class.
    held[may[(np.arange(wanted) * len(may) + len(may) // 2) // wanted]] = True
    return held


def _shuffled(n_rows: int, seed: int, stream: int, label: Array | None) -> Array:
    """Rows in a random order, class after class."""
    draw = np.empty(n_rows)
    _native.uniforms(seed % 2**64, stream, 0, draw)
    return np.argsort(draw, kind="stable") if label is None else np.lexsort((draw, label))

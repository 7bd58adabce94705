"""Naive versions of the draws of bagging, and small tables to draw from.

Nothing of Ceiba is used here: only integers of Python and the counter-based generator.
"""

from __future__ import annotations

import numpy as np

from tests.oracles.kmeans_naive import philox

MEMBER, STATE, TIE = 0x626167, 0x7374617465, 0x746965
ROWS, WITHOUT, COLUMNS = 0x626F6F74, 0x737562, 0x7472656566656174
WORD = 2**32


def words(seed, stream, number):
    counter = (number % WORD, number // WORD, stream % WORD, stream // WORD)
    return philox(counter, (seed % WORD, seed // WORD))


def bits(seed, stream, number, *, odd=False):
    """Return one half of a block as an integer of 64 bits."""
    high, low = words(seed, stream, number)[2 * odd : 2 * odd + 2]
    return high * WORD + low


def member_seed(seed, number):
    return bits(seed, MEMBER, number)


def random_state(seed, index):
    """Return the value of the random_state of that index inside a member."""
    return bits(seed, STATE, index) % 2**31


def rows_with_replacement(seed, weights, draws):
    """Draw points of the total weight; a point belongs to the row in whose interval it lies."""
    total, rows = sum(weights), []
    for draw in range(draws):
        point = bits(seed, ROWS, draw // 2, odd=draw % 2 == 1) * total // 2**64
        row = 0
        while point >= weights[row]:
            point -= weights[row]
            row += 1
        rows.append(row)
    return rows


def rows_without_replacement(seed, n_rows, draws):
    """Return the rows of the smallest random keys."""
    keys = sorted((bits(seed, WITHOUT, row), row) for row in range(n_rows))
    return sorted(row for _, row in keys[:draws])


def columns(seed, n_columns, wanted, *, replace=False):
    order, drawn = list(range(n_columns)), []
    for step in range(wanted):
        word = words(seed, COLUMNS, step // 4)[step % 4]
        if replace:
            drawn.append(word * n_columns // WORD)
            continue
        other = step + word * (n_columns - step) // WORD
        order[step], order[other] = order[other], order[step]
    return drawn if replace else sorted(order[:wanted])


def elected(votes, seed, row):
    """Return the index of the class of maximum votes; of several the one drawn by the seed."""
    best = [index for index, count in enumerate(votes) if count == max(votes)]
    return best[bits(seed, TIE, row) * len(best) // 2**64]


def groups(n_rows=90, n_classes=3, n_columns=4, seed=0):
    """Return overlapping classes, so that members differ."""
    rng = np.random.default_rng(seed)
    y = np.arange(n_rows) % n_classes
    X = rng.normal(size=(n_rows, n_columns)) + y[:, None] * np.linspace(0.2, 1.0, n_columns)
    return X.round(2), np.array(["ant", "bee", "cow", "dog"])[y]


def slope(n_rows=90, n_columns=4, seed=0):
    """Return numbers that depend on two of the columns."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)).round(2)
    return X, (3 * X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows)).round(3)

"""Assert that predictions and paths keep constraints, by probing and by walking the trees."""

from __future__ import annotations

import numpy as np

# Class weights of leaves are moved to a bound by whole units, at least 2^-40 of a row here.
ROUNDING = 1e-11


def probe(predict, X, column, values):
    """Return predictions of shape (n_values, n_rows) with a column set to each value in turn."""
    found = []
    for value in values:
        probed = np.array(X, copy=True)
        probed[:, column] = value
        found.append(predict(probed))
    return np.array(found)


def assert_monotone(predict, X, signs, reach=4.0, n_values=60):
    """Assert that predictions follow the sign of every constrained column, for every row."""
    for column, sign in enumerate(signs):
        if sign:
            values = np.linspace(-reach, reach, n_values)
            steps = sign * np.diff(probe(predict, X, column, values), axis=0)
            assert steps.min() >= -ROUNDING, (column, steps.min())


def is_monotone(predict, X, signs):
    """Return whether the predictions keep the signs."""
    try:
        assert_monotone(predict, X, signs)
    except AssertionError:
        return False
    return True


def assert_interactions(tree, sets):
    """Assert that a set contains all columns tested on each path."""
    pending = [(0, frozenset())]
    while pending:
        node, tested = pending.pop()
        assert any(tested <= set(group) for group in sets), tested
        if not tree.is_leaf[node]:
            below = tested | {int(tree.column[node])}
            pending += [(child, below) for child in tree.children(node)]


def max_interacting(tree):
    """Return the largest number of columns tested on a path."""
    largest, pending = 0, [(0, frozenset())]
    while pending:
        node, tested = pending.pop()
        largest = max(largest, len(tested))
        if not tree.is_leaf[node]:
            below = tested | {int(tree.column[node])}
            pending += [(child, below) for child in tree.children(node)]
    return largest

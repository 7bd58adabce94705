"""The weighted median of what a committee says, row by row."""

from __future__ import annotations

import numpy as np

from ceiba.stats.points import Array

# Numbers that are sorted at once: their order and running weights take some 16 MB.
_AT_ONCE = 1_000_000


def weighted_median(said: Array, weights: Array) -> Array:
    """Of each row the least number that, with those below it, has half of the weight.

    Parameters
    ----------
    said : ndarray of shape (n_rows, n_members)
    weights : ndarray of shape (n_members,)
        Positive weights of the members.

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> weighted_median(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 5.0]))
    array([2.])
    """
    found = np.empty(len(said))
    step = max(1, _AT_ONCE // said.shape[1])
    for begin in range(0, len(said), step):
        found[begin : begin + step] = _median(said[begin : begin + step], weights)
    return found


def _median(said: Array, weights: Array) -> Array:
    order = np.argsort(said, axis=1, kind="stable")
    below = np.cumsum(weights[order], axis=1)
    place = (below >= below[:, -1:] / 2).argmax(axis=1)
    rows = np.arange(len(said))
    median: Array = said[rows, order[rows, place]]
    return median

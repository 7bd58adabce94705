"""The verdict of a boosted committee on rows: what its members say for each class, put together."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TypeVar

import numpy as np
from scipy.special import softmax

from ceiba.ensemble.boost_rules import log_shares
from ceiba.ensemble.votes import lead
from ceiba.stats.points import Array

T = TypeVar("T")


def voted(places: Array, n_classes: int, alpha: float) -> Array:
    """What a discrete member says: its say for a class, and -say / (n_classes - 1) for the others.

    Examples
    --------
    >>> import numpy as np
    >>> voted(np.array([2, 0]), 3, 1.0)
    array([[-0.5, -0.5,  1. ],
           [ 1. , -0.5, -0.5]])
    """
    against = -alpha / max(1, n_classes - 1)
    said = np.full((n_classes, n_classes), against)
    np.fill_diagonal(said, alpha)
    return said[places]


def spoken(shares: Array) -> Array:
    """What a member says by its probabilities (Zhu et al. 2009, algorithm 4, step 2 c)."""
    logs = log_shares(shares)
    said: Array = (shares.shape[1] - 1) * (logs - logs.mean(axis=1, keepdims=True))
    return said


def decision(said: Array, norm: float) -> Array:
    """The mean of what was said; for two classes the second's less the first's."""
    mean: Array = said / norm
    return mean[:, 1] - mean[:, 0] if mean.shape[1] == 2 else mean


def probabilities(said: Array, norm: float) -> Array:
    """Probabilities that fit what was said (Zhu et al. 2009, equation 15)."""
    found: Array = softmax(said / (norm * max(1, said.shape[1] - 1)), axis=1)
    return found


def margin(said: Array, reach: Array, labels: Array) -> Array:
    """By how much a row's class leads, as a share of ``reach``; 1 where there is no other class.

    Parameters
    ----------
    said : ndarray of shape (n_rows, n_classes)
    reach : ndarray of shape (n_rows,)
        The most that members could have said apart.
    labels : ndarray of shape (n_rows,)
        Places of the rows' classes.
    """
    if said.shape[1] == 1:
        return np.ones(len(said))
    ahead = lead(said, labels)
    found: Array = np.divide(ahead, reach, out=np.zeros(len(said)), where=reach > 0)
    return np.clip(found, -1.0, 1.0, out=found)


def last_of(stages: Iterable[T]) -> T:
    """The last of some stages, of which no other is kept."""
    (last,) = deque(stages, maxlen=1)
    return last

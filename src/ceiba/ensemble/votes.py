"""Votes of a committee: one for each member, ties drawn by the seed and counted; their margin."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba.ensemble.bootstrap import tied_choice
from ceiba.stats.points import Array


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """What the members of a bag vote for, row by row.

    Parameters
    ----------
    counts : ndarray of shape (n_rows, n_classes) and dtype int64
        Votes for each class.
    place : ndarray of shape (n_rows,)
        The class elected, as its place among the classes.
    tied : ndarray of bool of shape (n_rows,)
        Whether several classes had the most votes, so that one of them was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> votes = Votes.of(np.array([[3, 2, 0], [1, 2, 2]]), seed=0)
    >>> votes.ties, votes.tied.tolist(), int(votes.place[0])
    (1, [False, True], 0)
    """

    counts: Array
    place: Array
    tied: Array

    @classmethod
    def of(cls, counts: Array, seed: int, rows: Array | None = None) -> Votes:
        """Elect a class for each row.

        Parameters
        ----------
        counts : ndarray of shape (n_rows, n_classes)
            Whole numbers of votes.
        seed : int
            It decides ties, together with the number of the row.
        rows : ndarray of shape (n_rows,), optional
            The rows' numbers; 0, 1, ... if not given.
        """
        counts = np.asarray(counts).astype(np.int64, copy=False)
        first = counts == counts.max(axis=1, keepdims=True)
        ties = first.sum(axis=1)
        place = first.argmax(axis=1)
        tied = ties > 1
        if tied.any():
            numbers = np.flatnonzero(tied) if rows is None else np.asarray(rows)[tied]
            wanted = np.asarray(tied_choice(seed, numbers, ties[tied]))
            # The class in which the running number of tied ones passes the one drawn.
            place[tied] = (np.cumsum(first[tied], axis=1) > wanted[:, None]).argmax(axis=1)
        return cls(counts, place, tied)

    @property
    def ties(self) -> int:
        """Rows whose class was drawn among several."""
        return int(self.tied.sum())

    @property
    def shares(self) -> Array:
        """Share of the votes that each class had."""
        shares: Array = self.counts / self.counts.sum(axis=1, keepdims=True)
        return shares


def lead(said: Array, places: Array) -> Array:
    """The margin of votes: what is said for each row's class, less the most for another.

    Parameters
    ----------
    said : ndarray of shape (n_rows, n_classes)
        Votes, shares or whatever else speaks for a class. Where there is one class alone, nothing
        is said for another.
    places : ndarray of shape (n_rows,)
        Places of the rows' classes.

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> lead(np.array([[0.5, 0.3, 0.2], [0.5, 0.3, 0.2]]), np.array([0, 2])).round(2)
    array([ 0.2, -0.3])
    """
    rows = np.arange(len(said))
    own: Array = said[rows, places]
    if said.shape[1] == 1:
        return own
    others = said.astype(np.float64)
    others[rows, places] = -np.inf
    ahead: Array = own - others.max(axis=1)
    return ahead

"""Votes of a committee: one for each member, ties drawn by the seed and counted; their margin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.target import class_places
from ceiba.ensemble.common.sampling import tied_choice


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


def told_probabilities(classes: Array, params: dict[str, Any], estimator: Any, X: Any) -> Array:
    """Probability of each of ``classes``, 0 for those that the member has not seen.

    A member without ``predict_proba`` gives all to the class that it predicts.
    """
    if not hasattr(estimator, "predict_proba"):
        return told_votes(classes, params, estimator, X)
    told = np.asarray(estimator.predict_proba(X, **params), dtype=np.float64)
    places = class_places(np.asarray(estimator.classes_), classes)
    if told.shape != (X.shape[0], len(places)):
        raise ValueError(
            f"predict_proba gave an array of shape {told.shape} for {X.shape[0]} rows and "
            f"{len(places)} classes"
        )
    _check_finite(told)
    if len(places) == len(classes):
        return told
    spread = np.zeros((len(told), len(classes)))
    spread[:, places] = told
    return spread


def told_votes(classes: Array, params: dict[str, Any], estimator: Any, X: Any) -> Array:
    """1 for the class that the member predicts, 0 for the others."""
    places = class_places(_one_a_row(estimator.predict(X, **params), X), classes)
    ballot = np.zeros((len(places), len(classes)))
    ballot[np.arange(len(places)), places] = 1.0
    return ballot


def told_numbers(params: dict[str, Any], estimator: Any, X: Any) -> Array:
    """The number that the member predicts."""
    told = _one_a_row(estimator.predict(X, **params), X).astype(np.float64)
    _check_finite(told)
    return told


def _one_a_row(told: Any, X: Any) -> Array:
    values = np.asarray(told)
    if values.shape not in ((X.shape[0],), (X.shape[0], 1)):
        raise ValueError(
            f"predict gave an array of shape {values.shape} for {X.shape[0]} rows: one value a row "
            "is wanted"
        )
    return values.reshape(-1)


def _check_finite(told: Array) -> None:
    if not np.isfinite(told).all():
        raise ValueError("it predicts NaN or infinity, and the mean of that means nothing")

"""Choose the number of neighbors by leave-one-out, for all k from one search.

The prediction of a training row from its k nearest other rows is that of the model without the row,
so one search for the largest k gives the leave-one-out loss of every k. The one-standard-error rule
takes the smoothest model, that of the largest k, whose loss is not larger than the smallest one by
more than its standard error.

Breiman, Friedman, Olshen & Stone (1984), "Classification and Regression Trees", section 3.4.3.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np

from ceiba._typing import Array
from ceiba.base.record import ArrayOf, Record
from ceiba.neighbors.votes import (
    Weighting,
    class_votes,
    neighbor_weights,
    normalized_votes,
    weighted_means,
)


@dataclass(frozen=True, eq=False)
class LeaveOneOutCurve(Record):
    """Leave-one-out loss against the number of neighbors.

    Parameters
    ----------
    n_neighbors : ndarray of int64 of shape (n,)
        1, 2, ...
    loss : ndarray of shape (n,)
        Share of rows whose class is not predicted, or mean squared error.
    standard_error : ndarray of shape (n,)
        Of the loss, over the rows.
    chosen : int
        The largest number of neighbors whose loss is within a standard error of the smallest.
    """

    n_neighbors: Annotated[Array, ArrayOf("int64", "n")]
    loss: Annotated[Array, ArrayOf("float64", "n")]
    standard_error: Annotated[Array, ArrayOf("float64", "n")]
    chosen: int

    def in_units(self, exponent: int) -> LeaveOneOutCurve:
        """Return the curve of losses times a power of two; infinite where they overflow."""
        with np.errstate(over="ignore", under="ignore"):
            loss, error = np.ldexp(self.loss, exponent), np.ldexp(self.standard_error, exponent)
        return replace(self, loss=loss, standard_error=error)

    @property
    def best(self) -> int:
        """The number of neighbors with the smallest loss; the smallest of several."""
        return int(self.n_neighbors[np.argmin(self.loss)])


def choose_n_neighbors(losses: Array) -> LeaveOneOutCurve:
    """Return the curve of losses, and the choice of the one-standard-error rule.

    Parameters
    ----------
    losses : ndarray of shape (n, n_rows)
        Of each row, for each number of neighbors from 1 on.

    Examples
    --------
    >>> import numpy as np
    >>> losses = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    >>> choose_n_neighbors(losses).chosen
    3
    """
    n_rows = losses.shape[1]
    mean = losses.mean(axis=1)
    deviation = losses.std(axis=1, ddof=1) if n_rows > 1 else np.zeros(len(losses))
    error = deviation / np.sqrt(n_rows)
    best = int(np.argmin(mean))
    within = np.flatnonzero(mean <= mean[best] + error[best])
    numbers = np.arange(1, len(losses) + 1)
    return LeaveOneOutCurve(numbers, mean, error, int(numbers[within[-1]]))


def class_losses(
    weighting: Weighting, distances: Array, labels: Array, own: Array, frequencies: Array
) -> Array:
    """Compute the 0/1 losses of rows for each number of their neighbors.

    Parameters
    ----------
    weighting : {"uniform", "distance"} or callable
    distances, labels : ndarray of shape (n_rows, n)
        Of the neighbors, ascending by distance.
    own : ndarray of shape (n_rows,)
        Class indices of the rows.
    frequencies : ndarray of shape (n_classes,)

    Returns
    -------
    ndarray of shape (n, n_rows)
    """
    losses = np.empty(distances.T.shape)
    votes = np.zeros((len(own), len(frequencies)))
    rows = np.arange(len(own))
    for k, weights in _weights_of_each_k(weighting, distances):
        if callable(weighting):
            shares = class_votes(labels[:, :k], weights, frequencies)
        else:
            votes[rows, labels[:, k - 1]] += weights[:, -1]
            shares = normalized_votes(votes, frequencies)
        losses[k - 1] = shares.argmax(axis=1) != own
    return losses


def squared_errors(
    weighting: Weighting, distances: Array, targets: Array, own: Array, mean: float
) -> Array:
    """Compute the squared errors of rows for each number of their neighbors."""
    losses = np.empty(distances.T.shape)
    for k, weights in _weights_of_each_k(weighting, distances):
        losses[k - 1] = (weighted_means(targets[:, :k], weights, mean) - own) ** 2
    return losses


def _weights_of_each_k(weighting: Weighting, distances: Array) -> Iterator[tuple[int, Array]]:
    """Yield the weights of the first k neighbors for each k."""
    # Only a function can give a neighbor another weight when there are more of them.
    all_weights = None if callable(weighting) else neighbor_weights(weighting, distances)
    for k in range(1, distances.shape[1] + 1):
        if all_weights is None:
            yield k, neighbor_weights(weighting, distances[:, :k])
        else:
            yield k, all_weights[:, :k]

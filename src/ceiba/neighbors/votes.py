"""From neighbors to predictions: weights of neighbors, votes of classes, means of targets.

Weights are normalized: votes of a row add up to 1, and a regression is a weighted mean. (Some
lecture notes leave the division by the sum of the weights out; a weighted sum of targets is no
prediction of a target.)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from ceiba._typing import Array
from ceiba.base import ParameterError

Weighting = Literal["uniform", "distance"] | Callable[[Array], Array] | None


def neighbor_weights(weighting: Weighting, distances: Array) -> Array:
    """Compute the weights of neighbors, up to a factor for each row.

    With ``"distance"`` they are 1/distance, relative to that of the nearest neighbor; if neighbors
    are at distance zero, they alone count. Neighbors at infinite distance, which have no known
    column in common with the row, do not count.

    Parameters
    ----------
    weighting : {"uniform", "distance"}, callable or None
    distances : ndarray of shape (n_rows, k)
        Ascending.

    Examples
    --------
    >>> import numpy as np
    >>> neighbor_weights("distance", np.array([[1.0, 4.0], [0.0, 1.0]])).tolist()
    [[1.0, 0.25], [1.0, 0.0]]
    """
    finite = np.isfinite(distances)
    if weighting is None or weighting == "uniform":
        return finite.astype(np.float64)
    if weighting == "distance":
        nearest = distances[:, :1]
        # Relative to the nearest neighbor, so that no distance is too small to be inverted.
        with np.errstate(invalid="ignore", divide="ignore"):
            weights = np.where(nearest > 0, nearest / distances, distances == 0)
        return np.where(finite, weights, 0.0)
    if not callable(weighting):
        raise ParameterError(
            f"weights must be 'uniform', 'distance', a function or None, got {weighting!r}."
        )
    weights = np.asarray(weighting(np.where(finite, distances, np.inf)), np.float64)
    if weights.shape != distances.shape:
        raise ValueError(
            f"weights must return an array of shape {distances.shape}, as its distances, got "
            f"{weights.shape}."
        )
    wrong = finite & ~((weights >= 0) & np.isfinite(weights))
    if wrong.any():
        raise ValueError(
            f"weights must return finite numbers of at least 0, got {weights[wrong][0]} at "
            f"distance {distances[wrong][0]:.3g}: add a constant, or use weights='distance'."
        )
    return np.where(finite, weights, 0.0)


def class_votes(labels: Array, weights: Array, frequencies: Array) -> Array:
    """Compute the share of the votes of each class.

    Parameters
    ----------
    labels : ndarray of int of shape (n_rows, k)
        Class indices of the neighbors.
    weights : ndarray of shape (n_rows, k)
        As `neighbor_weights` returns them.
    frequencies : ndarray of shape (n_classes,)
        Probabilities of rows that have no neighbor with a weight.

    Returns
    -------
    ndarray of shape (n_rows, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> weights = np.array([[3.0, 1.0], [0.0, 0.0]])
    >>> class_votes(np.array([[1, 0], [0, 0]]), weights, np.array([0.5, 0.5])).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    n, n_classes = len(labels), len(frequencies)
    cell = np.arange(n)[:, None] * n_classes + labels
    votes = np.bincount(cell.ravel(), weights.ravel(), n * n_classes).reshape(n, n_classes)
    return normalized_votes(votes, frequencies)


def normalized_votes(votes: Array, frequencies: Array) -> Array:
    """Divide votes by their sum; rows without votes have the frequencies of the classes."""
    total = votes.sum(axis=1, keepdims=True)
    shares = np.divide(votes, total, out=np.zeros_like(votes), where=total > 0)
    return np.where(total > 0, shares, frequencies)


def weighted_means(targets: Array, weights: Array, mean: float) -> Array:
    """Compute the weighted mean of the targets of the neighbors of each row.

    Parameters
    ----------
    targets : ndarray of shape (n_rows, k)
    weights : ndarray of shape (n_rows, k)
        As `neighbor_weights` returns them.
    mean : float
        Prediction of rows that have no neighbor with a weight.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_means(np.array([[1.0, 5.0]]), np.array([[3.0, 1.0]]), 3.0).tolist()
    [2.0]
    """
    # In units in which differences do not overflow, and about the nearest target, so that equal
    # targets give their value exactly.
    exponent = target_exponent(targets)
    targets = np.ldexp(targets, -exponent)
    first = targets[:, :1]
    sums = ((targets - first) * weights).sum(axis=1, keepdims=True)
    total = weights.sum(axis=1, keepdims=True)
    means = first + np.divide(sums, total, out=np.zeros_like(sums), where=total > 0)
    return np.where(total > 0, np.ldexp(means, exponent), mean)[:, 0]


def target_mean(targets: Array) -> float:
    """Compute the mean of all targets, which does not overflow."""
    exponent = target_exponent(targets)
    return float(np.ldexp(np.ldexp(targets, -exponent).mean(), exponent))


def target_exponent(targets: Array) -> int:
    """Return the power of two by which targets are divided, so that their sums do not overflow."""
    largest = float(np.abs(targets).max(initial=0.0))
    return int(np.frexp(largest)[1]) if largest > 1e300 else 0

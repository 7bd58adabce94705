"""Shares of the columns in the distances of neighbors."""

from __future__ import annotations

import numpy as np

from ceiba._typing import Array
from ceiba.neighbors.distance import Distance


def column_shares(distance: Distance, query: Array, neighbors: Array) -> Array | None:
    """Return the share of each column in the distances of rows to a query.

    Parameters
    ----------
    distance : Distance
    query : ndarray of shape (1, n_columns)
    neighbors : ndarray of shape (k, n_columns)

    Returns
    -------
    ndarray of shape (k, n_columns) or None
        None if the distance is not a sum over the columns.
    """
    transformed = distance.direction != "none" or distance.whitening is not None
    if transformed or distance.kind not in (
        "euclidean", "manhattan", "minkowski", "chebyshev", "canberra", "hamming"
    ):  # fmt: skip
        return None
    q = distance.apply(np.asarray(query, np.float64))
    x = distance.apply(np.asarray(neighbors, np.float64))
    # Shares do not depend on the units, in which powers could overflow.
    size = max(float(np.nanmax(np.abs(q), initial=0.0)), float(np.nanmax(np.abs(x), initial=0.0)))
    unit = size if distance.has_units and size > 0 else 1.0
    difference = np.abs(x / unit - q / unit)
    terms = _terms(distance, difference, np.abs(x) + np.abs(q))
    if distance.mismatch is not None:
        nominal = ~np.isnan(distance.mismatch)
        terms = np.where(nominal, np.where(difference > 0, distance.mismatch, 0.0), terms)
    absent = np.isnan(x) | np.isnan(q)
    weights = np.zeros(q.shape[1]) if distance.weights is None else distance.weights
    terms = np.where(absent, weights if distance.missing == "mismatch" else 0.0, terms)
    if distance.kind == "chebyshev":
        # Only the first of the largest differences is the distance.
        largest = terms.argmax(axis=1)[:, None] == np.arange(terms.shape[1])
        terms = np.where(largest, terms, 0.0)
    total = terms.sum(axis=1, keepdims=True)
    return np.asarray(np.divide(terms, total, out=np.zeros_like(terms), where=total > 0))


def _terms(distance: Distance, difference: Array, sizes: Array) -> Array:
    """Return what the columns add to the sum that a distance is."""
    if distance.kind == "canberra":
        return np.divide(difference, sizes, out=np.zeros_like(difference), where=sizes > 0)
    if distance.kind == "hamming":
        return (difference > 0).astype(np.float64)
    return np.asarray(difference**distance.term_power)

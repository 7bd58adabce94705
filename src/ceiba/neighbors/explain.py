"""Explain a prediction by the neighbors that it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.neighbors.distance import Distance

# Columns that a printed explanation shows.
_MAX_COLUMNS = 6


@dataclass(frozen=True, slots=True, eq=False)
class Explanation:
    """The neighbors of one row, and what they contribute to its prediction.

    Parameters
    ----------
    prediction : object
        The predicted class or number.
    rows : ndarray of int64 of shape (k,)
        Numbers of the neighbors among the training rows.
    distances : ndarray of shape (k,)
    weights : ndarray of shape (k,)
        Of the neighbors; they add up to 1, unless no neighbor has a known column in common with
        the row.
    targets : ndarray of shape (k,)
        Classes or numbers of the neighbors.
    votes : dict or None
        Share of the votes of each class; None for a regression.
    columns : list of str
        Names of the columns.
    contributions : ndarray of shape (k, n_columns) or None
        Share of each column in the sum that the distance is, after powers; rows add up to 1, and to
        0 at distance zero. None where the distance is not a sum over the columns, or where the
        training rows stay in files.
    """

    prediction: Any
    rows: Array
    distances: Array
    weights: Array
    targets: Array
    votes: dict[Any, float] | None
    columns: list[str]
    contributions: Array | None

    def __str__(self) -> str:
        head = f"prediction: {_text(self.prediction)}"
        if self.votes is not None:
            votes = ", ".join(f"{label!r} {share:.3f}" for label, share in self.votes.items())
            head += f" (votes: {votes})"
        names = ["row", "distance", "weight", "target"]
        lines = [
            [str(row), f"{distance:.4g}", f"{weight:.3f}", _text(target)]
            for row, distance, weight, target in zip(
                self.rows, self.distances, self.weights, self.targets.tolist(), strict=True
            )
        ]
        if self.contributions is not None:
            shown, others = self._shown_columns()
            names += [self.columns[j] for j in shown] + ["others"] * bool(len(others))
            for line, shares in zip(lines, self.contributions, strict=True):
                rest = [shares[others].sum()] if len(others) else []
                line += [f"{100 * share:.1f}%" for share in (*shares[shown], *rest)]
        return "\n".join([head, *_aligned([names, *lines])])

    def _shown_columns(self) -> tuple[Array, Array]:
        """Return the columns of the largest shares, in their order, and the others."""
        assert self.contributions is not None
        order = np.argsort(-self.contributions.sum(axis=0), kind="stable")
        return np.sort(order[:_MAX_COLUMNS]), order[_MAX_COLUMNS:]


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


def _text(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else repr(value)


def _aligned(lines: list[list[str]]) -> list[str]:
    """Return lines of cells in columns; those of targets, the fourth, are aligned left."""
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    return [
        "  " + "  ".join(
            cell.ljust(width) if j == 3 else cell.rjust(width)
            for j, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]  # fmt: skip

"""Predictions of the members of an ensemble: votes, probabilities and values."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.target import class_indices
from ceiba.ensemble.common.sampling import break_ties


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Majority vote of an ensemble, one vote per member and row.

    Parameters
    ----------
    counts : ndarray of shape (n_rows, n_classes) and dtype int64
        Votes for each class.
    class_index : ndarray of shape (n_rows,)
        Index of the elected class.
    tied : ndarray of bool of shape (n_rows,)
        Whether several classes had the maximum of votes, so that one of them was drawn.

    Examples
    --------
    >>> import numpy as np
    >>> votes = Votes.of(np.array([[3, 2, 0], [1, 2, 2]]), seed=0)
    >>> votes.n_ties, votes.tied.tolist(), int(votes.class_index[0])
    (1, [False, True], 0)
    """

    counts: Array
    class_index: Array
    tied: Array

    @classmethod
    def of(cls, counts: Array, seed: int, rows: Array | None = None) -> Votes:
        """Elect a class for each row; ties are broken by the seed and the number of the row.

        ``rows`` are the row numbers, by default 0, 1, ... .
        """
        counts = np.asarray(counts).astype(np.int64, copy=False)
        is_max = counts == counts.max(axis=1, keepdims=True)
        n_tied = is_max.sum(axis=1)
        class_index = is_max.argmax(axis=1)
        tied = n_tied > 1
        if tied.any():
            numbers = np.flatnonzero(tied) if rows is None else np.asarray(rows)[tied]
            drawn = np.asarray(break_ties(seed, numbers, n_tied[tied]))
            # The class at which the running count of tied classes exceeds the drawn number.
            class_index[tied] = (np.cumsum(is_max[tied], axis=1) > drawn[:, None]).argmax(axis=1)
        return cls(counts, class_index, tied)

    @property
    def n_ties(self) -> int:
        """Number of rows whose class was drawn among several."""
        return int(self.tied.sum())

    @property
    def fractions(self) -> Array:
        """Fraction of the votes for each class."""
        return np.asarray(self.counts / self.counts.sum(axis=1, keepdims=True))


def class_margin(scores: Array, true_index: Array) -> Array:
    """Return the true class's score minus the largest other; with one class, its score."""
    rows = np.arange(len(scores))
    own: Array = scores[rows, true_index]
    if scores.shape[1] == 1:
        return own
    others = scores.astype(np.float64)
    others[rows, true_index] = -np.inf
    return np.asarray(own - others.max(axis=1))


def member_probabilities(classes: Array, params: dict[str, Any], estimator: Any, X: Any) -> Array:
    """Return a member's class probabilities; its votes if it has no ``predict_proba``."""
    if not hasattr(estimator, "predict_proba"):
        return member_votes(classes, params, estimator, X)
    with _ignored_log_zero():
        predicted = np.asarray(estimator.predict_proba(X, **params), dtype=np.float64)
    expected = (X.shape[0], len(estimator.classes_))
    if predicted.shape != expected:
        raise ValueError(
            f"predict_proba must return an array of shape {expected}, got {predicted.shape}."
        )
    _check_finite(predicted)
    return expand_classes(predicted, np.asarray(estimator.classes_), classes)


def expand_classes(probabilities: Array, member_classes: Array, classes: Array) -> Array:
    """Return probabilities of a member's classes for all classes, 0 for the others."""
    if member_classes is classes:
        return probabilities
    indices = class_indices(member_classes, classes)
    if np.array_equal(indices, np.arange(len(classes))):
        return probabilities
    expanded = np.zeros((len(probabilities), len(classes)))
    expanded[:, indices] = probabilities
    return expanded


def member_votes(classes: Array, params: dict[str, Any], estimator: Any, X: Any) -> Array:
    """Return 1 for the class that a member predicts and 0 for the others."""
    with _ignored_log_zero():
        predicted = estimator.predict(X, **params)
    indices = class_indices(_one_per_row(predicted, X), classes)
    votes = np.zeros((len(indices), len(classes)))
    votes[np.arange(len(indices)), indices] = 1.0
    return votes


def member_decisions(classes: Array, params: dict[str, Any], estimator: Any, X: Any) -> Array:
    """Return a member's decision function, which needs all classes."""
    if not np.array_equal(estimator.classes_, classes):
        raise ValueError(
            f"decision_function requires members that were fitted to all {len(classes)} classes, "
            f"got one of {len(estimator.classes_)}: use predict_proba, or a larger max_samples."
        )
    values = np.asarray(estimator.decision_function(X, **params), dtype=np.float64)
    expected = (X.shape[0],) if len(classes) == 2 else (X.shape[0], len(classes))
    if values.shape != expected:
        raise ValueError(
            f"decision_function must return an array of shape {expected}, got {values.shape}."
        )
    return values


def member_values(params: dict[str, Any], estimator: Any, X: Any) -> Array:
    """Return the numbers that a member predicts."""
    values = _one_per_row(estimator.predict(X, **params), X).astype(np.float64)
    _check_finite(values)
    return values


def _ignored_log_zero() -> AbstractContextManager[Any]:
    """Allow members to take the logarithm of the prior of a class of weight zero."""
    return np.errstate(divide="ignore")


def _one_per_row(predicted: Any, X: Any) -> Array:
    values = np.asarray(predicted)
    if values.shape not in ((X.shape[0],), (X.shape[0], 1)):
        raise ValueError(
            f"predict must return one value per row, an array of shape ({X.shape[0]},), got "
            f"{values.shape}."
        )
    return values.reshape(-1)


def _check_finite(predicted: Array) -> None:
    if not np.isfinite(predicted).all():
        raise ValueError("predictions must be finite, got NaN or infinity.")

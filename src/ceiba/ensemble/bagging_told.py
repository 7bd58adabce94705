"""What one member says of rows: probabilities, a vote or a number for each."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.data.target import class_places
from ceiba.stats.points import Array


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

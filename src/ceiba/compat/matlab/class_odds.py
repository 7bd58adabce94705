"""Prior probabilities and costs of classes, as MATLAB takes them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ceiba._typing import Array


def prior_of(given: Any, totals: Array, classes: Array) -> Array:
    """The prior of each class.

    Parameters
    ----------
    given : {"empirical", "uniform"}, array or mapping
        A mapping has ``ClassNames`` and ``ClassProbs``.
    totals : ndarray
        Weight of each class in training.
    classes : ndarray
    """
    if isinstance(given, str):
        if given.lower() == "empirical":
            return np.asarray(totals / totals.sum())
        if given.lower() == "uniform":
            return np.full(len(classes), 1 / len(classes))
        raise ValueError(
            f"Prior={given!r}: give 'empirical', 'uniform', or a number for each class"
        )
    values = _by_class(given, "Prior", "ClassProbs", classes, 1)
    if not (values > 0).all():
        raise ValueError(
            "Prior must be above zero for every class: leave a class out by ClassNames"
        )
    return np.asarray(values / values.sum())


def cost_of(given: Any, classes: Array) -> Array:
    """What it costs to predict class j where i is true, in row i and column j.

    ``given`` is a square matrix, a mapping with ``ClassNames`` and ``ClassificationCosts``, or None
    for a cost of 1 for every error.
    """
    k = len(classes)
    if given is None:
        return np.asarray(1.0 - np.eye(k))
    costs = _by_class(given, "Cost", "ClassificationCosts", classes, 2)
    if (costs < 0).any() or np.diag(costs).any():
        raise ValueError("Cost must have zeros on its diagonal and nothing below zero")
    return costs


def _by_class(given: Any, name: str, field: str, classes: Array, dimensions: int) -> Array:
    """Numbers of classes in our order; a structure brings its own."""
    labels = classes.tolist()
    order = list(range(len(labels)))
    if isinstance(given, Mapping):
        if set(given) != {"ClassNames", field}:
            raise ValueError(f"{name} as a mapping needs the fields ClassNames and {field}")
        listed = np.atleast_1d(np.asarray(given["ClassNames"])).tolist()
        if sorted(map(str, listed)) != sorted(map(str, labels)):
            raise ValueError(f"{name} names the classes {listed!r}, and the tree has {labels!r}")
        order = [listed.index(label) for label in labels]
        given = given[field]
    values = np.asarray(given, dtype=np.float64)
    values = values.reshape(-1) if dimensions == 1 else values
    if values.shape != (len(labels),) * dimensions or not np.isfinite(values).all():
        shape = " x ".join([str(len(labels))] * dimensions)
        raise ValueError(f"{name} has shape {values.shape} and needs {shape} finite numbers")
    return values[np.ix_(*[order] * dimensions)]

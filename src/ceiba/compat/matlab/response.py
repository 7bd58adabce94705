"""The response of a call: class indices in the order of ClassNames, or numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """Encoded response of the rows that can be used.

    ``values`` are class indices in the order of ``classes``, or floats; ``rows`` are the rows of
    the table with a response, one of the classes, and a positive weight; ``classes`` are empty for
    regression.
    """

    values: Array
    weights: Array | None
    rows: Array
    classes: Array

    @classmethod
    def of_classes(cls, Y: Any, weights: Any, names: Any, n: int) -> Response:
        """Encode classes; only those of ``names``, in that order, if it is given."""
        rows = _usable_rows(Y, weights, n)
        target = Target.of(_take(Y, rows), len(rows))
        assert target.classes is not None
        if names is None:
            return cls(target.values, _take_weights(weights, rows), rows, target.classes)
        index = {label: code for code, label in enumerate(_class_names(names))}
        new_code = np.array([index.get(label, -1) for label in target.classes.tolist()])
        values = new_code[target.values]
        absent = [label for label, code in index.items() if code not in new_code]
        if absent:
            raise ValueError(f"ClassNames lists {absent[0]!r}, but no row has that class.")
        rows, values = rows[values >= 0], values[values >= 0]
        order = [target.classes.tolist().index(label) for label in index]
        return cls(values, _take_weights(weights, rows), rows, target.classes[order])

    @classmethod
    def of_numbers(cls, Y: Any, weights: Any, n: int) -> Response:
        """Read numbers."""
        rows = _usable_rows(Y, weights, n)
        target = Target.of(_take(Y, rows), len(rows), task="regression")
        return cls(target.values, _take_weights(weights, rows), rows, np.empty(0))

    def class_totals(self) -> Array:
        """Return the weight of each class."""
        return np.bincount(self.values, self.weights, len(self.classes)).astype(np.float64)


def _class_names(names: Any) -> list[Any]:
    labels: list[Any] = np.atleast_1d(np.asarray(names)).tolist()
    if len(set(labels)) < len(labels):
        raise ValueError(f"ClassNames must not list a class twice, got {labels!r}.")
    return labels


def _usable_rows(Y: Any, weights: Any, n: int) -> Array:
    """Return the indices of rows with a response and a positive weight."""
    cells = np.asarray(Y, dtype=object)
    if cells.size != n or cells.ndim > 2 or (cells.ndim == 2 and 1 not in cells.shape):
        raise ValueError(f"Y must have {n} values, one for each row of X, got {cells.shape}.")
    usable = np.array([not _is_missing(value) for value in cells.reshape(-1).tolist()])
    if weights is not None:
        given = _floats(weights)
        if given.shape != (n,) or not (np.isfinite(given) & (given >= 0)).all():
            raise ValueError(f"Weights must be {n} finite numbers >= 0.")
        usable &= given > 0
    if not usable.any():
        raise ValueError("at least one row must have a response and a positive weight.")
    return np.flatnonzero(usable)


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value == ""
    is_null = value is None or type(value).__name__ in ("NAType", "NaTType")
    return is_null or bool(value != value)


def _take(Y: Any, rows: Array) -> Any:
    array = np.asarray(Y).reshape(-1)[rows]
    return array.tolist() if array.dtype.kind == "O" else array


def _take_weights(given: Any, rows: Array) -> Array | None:
    return None if given is None else _floats(given)[rows]


def _floats(given: Any) -> Array:
    return np.asarray(given, dtype=np.float64).reshape(-1)


def read_prior(given: Any, totals: Array, classes: Array) -> Array:
    """Return the prior probability of each class.

    ``given`` is "empirical", "uniform", an array, or a mapping with ``ClassNames`` and
    ``ClassProbs``; ``totals`` are the weights of the classes in training.
    """
    if isinstance(given, str):
        if given.lower() == "empirical":
            return np.asarray(totals / totals.sum())
        if given.lower() == "uniform":
            return np.full(len(classes), 1 / len(classes))
        raise ValueError(
            f"Prior must be 'empirical', 'uniform' or a number for each class, got {given!r}."
        )
    values = _by_class(given, "Prior", "ClassProbs", classes, 1)
    if not (values > 0).all():
        raise ValueError("Prior must be > 0 for every class: leave a class out by ClassNames.")
    return np.asarray(values / values.sum())


def read_costs(given: Any, classes: Array) -> Array:
    """Return the cost of predicting class j where i is true, in row i and column j.

    ``given`` is a square matrix, a mapping with ``ClassNames`` and ``ClassificationCosts``, or None
    for a cost of 1 for every error.
    """
    if given is None:
        return np.asarray(1.0 - np.eye(len(classes)))
    costs = _by_class(given, "Cost", "ClassificationCosts", classes, 2)
    if (costs < 0).any() or np.diag(costs).any():
        raise ValueError("Cost must be >= 0, with zeros on its diagonal.")
    return costs


def _by_class(given: Any, name: str, field: str, classes: Array, n_dim: int) -> Array:
    """Return numbers in the order of ``classes``; a mapping has an order of its own."""
    labels = classes.tolist()
    order = list(range(len(labels)))
    if isinstance(given, Mapping):
        if set(given) != {"ClassNames", field}:
            raise ValueError(f"{name} as a mapping must have the keys ClassNames and {field}.")
        listed = np.atleast_1d(np.asarray(given["ClassNames"])).tolist()
        if sorted(map(str, listed)) != sorted(map(str, labels)):
            raise ValueError(f"{name} must list the classes {labels!r}, got {listed!r}.")
        order = [listed.index(label) for label in labels]
        given = given[field]
    values = np.asarray(given, dtype=np.float64)
    values = values.reshape(-1) if n_dim == 1 else values
    shape = (len(labels),) * n_dim
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite numbers of shape {shape}, got {values.shape}.")
    return values[np.ix_(*[order] * n_dim)]

"""The response of a call: class numbers in the order of ClassNames, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.target import Target


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """What is to be learnt, and from which rows.

    Parameters
    ----------
    values : ndarray
        Numbers of the classes in the order of ``classes``, or floats.
    weights : ndarray or None
    rows : ndarray of int
        Rows of the table that have a response, one of the classes, and a weight.
    classes : ndarray
        Empty for numbers.
    """

    values: Array
    weights: Array | None
    rows: Array
    classes: Array

    @classmethod
    def classes_of(cls, Y: Any, weights: Any, names: Any, n: int) -> Response:
        """Classes; those of ``names`` only, in that order, where it is given."""
        rows = _present(Y, weights, n)
        target = Target.of(_taken(Y, rows), len(rows))
        assert target.classes is not None
        if names is None:
            return cls(target.values, _weights(weights, rows), rows, target.classes)
        place = {label: code for code, label in enumerate(_labels(names))}
        found = np.array([place.get(label, -1) for label in target.classes.tolist()])
        values = found[target.values]
        absent = [label for label, code in place.items() if code not in found]
        if absent:
            raise ValueError(f"ClassNames lists {absent[0]!r}, and no row has that class")
        rows, values = rows[values >= 0], values[values >= 0]
        order = [target.classes.tolist().index(label) for label in place]
        return cls(values, _weights(weights, rows), rows, target.classes[order])

    @classmethod
    def numbers_of(cls, Y: Any, weights: Any, n: int) -> Response:
        """Numbers."""
        rows = _present(Y, weights, n)
        target = Target.of(_taken(Y, rows), len(rows), task="regression")
        return cls(target.values, _weights(weights, rows), rows, np.empty(0))


def _labels(names: Any) -> list[Any]:
    labels: list[Any] = np.atleast_1d(np.asarray(names)).tolist()
    if len(set(labels)) < len(labels):
        raise ValueError("ClassNames lists a class twice")
    return labels


def _present(Y: Any, weights: Any, n: int) -> Array:
    """Rows with a response and a weight."""
    cells = np.asarray(Y, dtype=object)
    if cells.size != n or cells.ndim > 2 or (cells.ndim == 2 and 1 not in cells.shape):
        raise ValueError(f"Y has shape {cells.shape}, and X has {n} rows")
    present = np.array([not _is_missing(value) for value in cells.reshape(-1).tolist()])
    if weights is not None:
        given = _floats(weights)
        if given.shape != (n,) or not (np.isfinite(given) & (given >= 0)).all():
            raise ValueError(f"Weights must be {n} finite numbers, none of them negative")
        present &= given > 0
    if not present.any():
        raise ValueError("no row has a response and a weight above zero: nothing can be learnt")
    return np.flatnonzero(present)


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value == ""
    plain = value is None or type(value).__name__ in ("NAType", "NaTType")
    return plain or bool(value != value)


def _taken(Y: Any, rows: Array) -> Any:
    array = np.asarray(Y).reshape(-1)[rows]
    return array.tolist() if array.dtype.kind == "O" else array


def _weights(given: Any, rows: Array) -> Array | None:
    return None if given is None else _floats(given)[rows]


def _floats(given: Any) -> Array:
    return np.asarray(given, dtype=np.float64).reshape(-1)

"""Labels of rows as integers, with missing and mixed labels refused."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np

from ceiba._typing import Array


def encode_labels(name: str, values: Any) -> tuple[list[Any], Array]:
    """Return the sorted labels, and for each row the index of its label among them.

    Parameters
    ----------
    name : str
        What error messages call the values.
    values : array of shape (n,)
        Labels of one type, texts or numbers, none of them missing.

    Examples
    --------
    >>> encode_labels("y", ["no", "yes", "no"])
    (['no', 'yes'], array([0, 1, 0]))
    """
    array = np.asarray(values)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be 1D with at least one row, got shape {array.shape}.")
    if array.dtype == object:
        index: dict[Any, int] = {}
        found = (index.setdefault(value, len(index)) for value in array.tolist())
        codes = np.fromiter(found, np.int64, len(array))
        labels = sort_labels(index)
        codes = np.argsort([index[label] for label in labels])[codes]
    else:
        unique, codes = np.unique(array, return_inverse=True)
        labels = unique.tolist()
    for code, label in enumerate(labels):
        if is_missing(label):
            row = int(np.argmax(codes == code))
            raise ValueError(f"{name} must not have missing values, got {label} in row {row}.")
    label_type(name, labels)
    return labels, codes


def sort_labels(labels: Iterable[Any]) -> list[Any]:
    """Return labels in sorted order; those that cannot be compared by their representation."""
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=repr)


def is_missing(label: Any) -> bool:
    """Return whether a label is None, NaN, or a missing value of pandas."""
    try:
        return label is None or bool(label != label)
    except TypeError:  # pandas.NA has no truth value
        return True


def label_type(name: str, labels: list[Any]) -> str:
    """Return the type that all labels have: ``"text"``, ``"number"``, or the name of a class."""
    types = {
        "text" if isinstance(x, str) else "number" if isinstance(x, Number) else type(x).__name__
        for x in labels
    }
    if len(types) > 1:
        raise ValueError(f"{name} must have labels of one type, got {' and '.join(sorted(types))}.")
    return types.pop()

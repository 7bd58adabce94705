"""Columns in hyper-parameters, which may be given by name or by index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ceiba.base import ParameterError


def column_index(column: Any, names: Sequence[str], parameter: str) -> int:
    """Return the index of a column given by name or index; raise `ParameterError` if unknown."""
    if isinstance(column, str):
        if column not in names:
            raise ParameterError(
                f"{parameter} must name columns of X ({', '.join(map(str, names))}), got "
                f"{column!r}."
            )
        return list(names).index(column)
    is_index = isinstance(column, int | np.integer) and not isinstance(column, bool)
    if not is_index or not 0 <= column < len(names):
        raise ParameterError(
            f"{parameter} must name columns of X, or be indices below {len(names)}, got {column!r}."
        )
    return int(column)


def by_column(given: Mapping[Any, Any], names: Sequence[str], parameter: str) -> dict[int, Any]:
    """Return the entries of a mapping by column index; raise if a column has two."""
    found: dict[int, Any] = {}
    for key, value in given.items():
        j = column_index(key, names, f"The keys of {parameter}")
        if j in found:
            raise ParameterError(
                f"{parameter} must have one entry per column, got {names[j]!r} twice, by name and "
                "by index."
            )
        found[j] = value
    return found

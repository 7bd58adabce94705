"""Constraints on the columns of trees: monotonic predictions and allowed interactions.

Estimators take them by column index or name; `resolve_monotonic` and `resolve_interactions` return
them by index, once per fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import ParameterError
from ceiba.base.value_types import format_value
from ceiba.data.schema import Kind, Schema

_SIGNS = (-1, 0, 1)
# Columns of interaction_cst="pairwise": 1,000 form half a million pairs: 1 s, 150 MB.
_MAX_PAIRED_COLUMNS = 1_000


def resolve_monotonic(monotonic_cst: Any, schema: Schema) -> Array | None:
    """Return the sign of each column, or None if no column is constrained.

    Parameters
    ----------
    monotonic_cst : array-like of shape (n_features,), mapping of column names to signs, or None
        1 for predictions that must not decrease with the column, -1 for predictions that must not
        increase, 0 for no constraint. Columns that a mapping leaves out have none.
    schema : Schema
        Columns of the fit.

    Returns
    -------
    ndarray of shape (n_features,) and dtype int8, or None

    Examples
    --------
    >>> from ceiba.data.schema import Schema
    >>> schema = Schema.numeric(3, names=["age", "income", "debt"])
    >>> resolve_monotonic({"income": 1, "debt": -1}, schema)
    array([ 0,  1, -1], dtype=int8)
    """
    if monotonic_cst is None:
        return None
    if isinstance(monotonic_cst, Mapping):
        given = [0] * len(schema)
        for key, sign in monotonic_cst.items():
            given[_column_index(key, schema, "monotonic_cst")] = sign
    else:
        given = _as_list(monotonic_cst)
        if len(given) != len(schema):
            raise ParameterError(
                f"monotonic_cst has shape {len(given)} but the input data X has {len(schema)} "
                "features: give one entry per column, or a mapping of column names to signs."
            )
    for column, sign in zip(schema, given, strict=True):
        is_number = isinstance(sign, Integral | float | np.floating) and not isinstance(sign, bool)
        if not is_number or sign not in _SIGNS:
            raise ParameterError(
                "monotonic_cst must be None or an array-like of -1, 0 or 1, got "
                f"{format_value(sign)} for column {column.name!r}."
            )
        if sign != 0 and column.kind is Kind.NOMINAL:
            raise ParameterError(
                f"monotonic_cst must be 0 for nominal columns, got {int(sign)} for "
                f"{column.name!r}: its categories have no order; make the column ordinal or "
                "numeric."
            )
    signs = np.array(given, dtype=np.int8)
    return signs if signs.any() else None


def resolve_interactions(interaction_cst: Any, schema: Schema) -> list[Array] | None:
    """Return the sets of columns that may be tested together on a path of a tree, or None.

    Parameters
    ----------
    interaction_cst : {'pairwise', 'no_interactions'}, iterable of iterables of columns, or None
        All pairs of columns, single columns, or sets of columns by index or name. Columns that
        are in no set form one more set.
    schema : Schema
        Columns of the fit.

    Returns
    -------
    list of ndarray of dtype int32, or None
        Sorted column indices of each set; None if all columns may interact.

    Examples
    --------
    >>> from ceiba.data.schema import Schema
    >>> schema = Schema.numeric(4, names=["age", "income", "debt", "region"])
    >>> [columns.tolist() for columns in resolve_interactions([["income", "debt"]], schema)]
    [[1, 2], [0, 3]]
    """
    if interaction_cst is None:
        return None
    n = len(schema)
    sets: list[set[int]]
    if isinstance(interaction_cst, str):
        if interaction_cst == "no_interactions":
            sets = [{j} for j in range(n)]
        elif interaction_cst == "pairwise":
            return _all_pairs(n)
        else:
            raise _interaction_error(interaction_cst)
    else:
        sets = _listed_sets(interaction_cst, schema)
    rest = set(range(n)).difference(*sets)
    if rest:
        sets.append(rest)
    if any(len(columns) == n for columns in sets):
        return None
    return [np.array(sorted(columns), dtype=np.int32) for columns in sets]


def _all_pairs(n_columns: int) -> list[Array] | None:
    """Return all pairs of columns; None for two columns, which may interact."""
    if n_columns > _MAX_PAIRED_COLUMNS:
        raise ParameterError(
            f"interaction_cst='pairwise' requires at most {_MAX_PAIRED_COLUMNS:,} columns, got "
            f"{n_columns:,}, which form {n_columns * (n_columns - 1) // 2:,} pairs: list the sets "
            "of columns that may interact, or set max_depth=2."
        )
    if n_columns <= 2:
        return None
    return list(np.column_stack(np.triu_indices(n_columns, 1)).astype(np.int32))


def check_monotonic_classes(n_classes: int) -> None:
    """Raise `ParameterError` for more than two classes."""
    if n_classes > 2:
        raise ParameterError(
            "Monotonicity constraints are not supported with multiclass classification: "
            f"monotonic_cst requires two classes, got {n_classes}; set it to None."
        )


def check_leaf_probability(estimator: Any) -> None:
    """Raise `ParameterError` unless monotonic constraints order the leaf probabilities."""
    probability = getattr(estimator, "leaf_probability", "plain")
    if probability != "plain":
        raise ParameterError(
            f"monotonic_cst requires leaf_probability='plain', got {probability!r}: rows that are "
            "added to leaves of different sizes would reverse the order of their probabilities."
        )


def check_subtree_raising(subtree_raising: bool) -> None:
    """Raise `ParameterError` for pruning that would not keep monotonic constraints."""
    if subtree_raising:
        raise ParameterError(
            "monotonic_cst requires subtree_raising=False, got True: rows that come down another "
            "path would move the predictions of leaves."
        )


def _listed_sets(interaction_cst: Any, schema: Schema) -> list[set[int]]:
    if not isinstance(interaction_cst, Iterable) or isinstance(interaction_cst, Mapping | bytes):
        raise _interaction_error(interaction_cst)
    sets = []
    for group in interaction_cst:
        if not isinstance(group, Iterable) or isinstance(group, str | bytes | Mapping):
            raise _interaction_error(interaction_cst)
        sets.append({_column_index(key, schema, "interaction_cst") for key in group})
    return [columns for columns in sets if columns]


def _interaction_error(value: Any) -> ParameterError:
    return ParameterError(
        "interaction_cst must be 'pairwise', 'no_interactions' or an iterable of sets of columns "
        f"such as [[0, 1], [2]], got {format_value(value)}."
    )


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, str | bytes) or not _is_flat(value):
        raise ParameterError(
            "monotonic_cst must be None, an array-like of shape (n_features,) or a mapping of "
            f"column names to signs, got {format_value(value)}."
        )
    return list(value)


def _is_flat(value: Any) -> bool:
    try:
        return np.ndim(value) == 1
    except ValueError:  # NumPy's, for lists of different lengths
        return False


def _column_index(key: Any, schema: Schema, parameter: str) -> int:
    """Return the index of a column that is given by index or name."""
    if isinstance(key, str):
        if key in schema.names:
            return schema.names.index(key)
        raise ParameterError(
            f"{parameter} contains {key!r}, which is not a column of X: its columns are "
            f"{format_value(schema.names)}."
        )
    is_index = isinstance(key, Integral) and not isinstance(key, bool)
    if is_index and 0 <= int(key) < len(schema):
        return int(key)
    raise ParameterError(
        f"{parameter} must consist of column names or indices in [0, {len(schema) - 1}], got "
        f"{format_value(key)}."
    )

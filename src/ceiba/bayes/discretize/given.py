"""Read settings that are given per column: thresholds and numbers of intervals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from ceiba.base import ParameterError, check_unused
from ceiba.base.value_types import format_value
from ceiba.bayes.columns import by_column
from ceiba.bayes.discretize.config import MAX_BINS, MIN_BINS, DiscretizationConfig
from ceiba.bayes.discretize.intervals import Number
from ceiba.data.schema import Column, Kind, Schema


def make_config(estimator: Any, schema: Schema) -> DiscretizationConfig:
    """Return the settings of an estimator with ``method``, ``n_bins`` and ``thresholds``."""
    method = estimator.method
    if method in ("mdl", "given"):
        check_unused(estimator, ["n_bins"], f"method={method!r}")
    thresholds = read_thresholds(estimator.thresholds, schema)
    numeric = [column.name for column in schema if column.kind is Kind.NUMERIC]
    absent = [name for name in numeric if schema.names.index(name) not in thresholds]
    if method == "given" and absent:
        raise ParameterError(
            "method='given' requires thresholds for every numeric column, got none for "
            f"{absent[0]!r}: add them, or choose another method for the other columns."
        )
    n_bins = read_n_bins(estimator.n_bins, schema)
    return DiscretizationConfig(method, n_bins, thresholds, keep_constant=True)


def read_n_bins(n_bins: Any, schema: Schema) -> int | dict[int, int]:
    """Return the number of intervals of all columns, or of each."""
    if isinstance(n_bins, int | np.integer):
        return int(n_bins)
    array = np.asarray(n_bins)
    if (
        array.shape != (len(schema),)
        or array.dtype.kind not in "iu"
        or not ((array >= MIN_BINS) & (array <= MAX_BINS)).all()
    ):
        raise ParameterError(
            f"n_bins must be an int, or {len(schema)} ints in [{MIN_BINS}, {MAX_BINS}], one "
            f"for each column, got {format_value(n_bins)}."
        )
    return dict(enumerate(array.tolist()))


def read_thresholds(given: Any, schema: Schema) -> dict[int, list[Number]]:
    """Return given thresholds by column index."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        if len(given) != len(schema):
            raise ParameterError(
                "thresholds must be a dict, or a list with an entry for each of the "
                f"{len(schema)} columns, got {len(given)} entries."
            )
        given = {j: own for j, own in enumerate(given) if own is not None}
    own = by_column(given, schema.names, "thresholds")
    return {j: _read_column(thresholds, schema[j]) for j, thresholds in own.items()}


def _read_column(given: Any, column: Column) -> list[Number]:
    if column.kind is not Kind.NUMERIC:
        raise ParameterError(
            f"thresholds must be those of numeric columns, but {column.name!r} is {column.kind}: "
            "leave it out."
        )
    values = list(given) if np.ndim(given) == 1 else [None]
    try:
        numbers = [_to_number(value, column) for value in values]
        valid = all(a < b for a, b in pairwise(numbers))
    except (TypeError, ValueError, OverflowError):
        valid = False
    if not valid:
        raise ParameterError(
            f"thresholds[{column.name!r}] must be ascending finite numbers, or times of a column "
            f"of times, got {format_value(given)}."
        )
    return numbers


def _to_number(value: Any, column: Column) -> Number:
    if column.temporal:
        kind = np.datetime64 if column.dtype.startswith("datetime") else np.timedelta64
        time = kind(value).astype(column.dtype)
        if np.isnat(time):
            raise ValueError("not a time")
        return int(time.astype(np.int64))
    number = value.item() if isinstance(value, np.generic) else value
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise ValueError("not a finite number")
    return number

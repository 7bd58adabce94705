"""The predictors of a call: a table of floats and categories under MATLAB's names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.name_value import NameValue
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table


def read_data(X: Any, Y: Any) -> tuple[Table, Any, str]:
    """Return predictors, response and its name; ``Y`` may name a column of ``X``."""
    table = Table.of(X)
    if not isinstance(Y, str):
        return table, Y, "Y"
    if "~" in Y:
        raise ValueError(
            f"Y must be the response or the name of a column, not a formula, got {Y!r}: select the "
            "predictors by PredictorNames."
        )
    predictors, response = _split_response(table, Y)
    return predictors, response, Y


def read_predictors(table: Table, options: NameValue) -> Table:
    """Return the columns to learn from: numbers as float64, listed ones as categories."""
    names = options.of("PredictorNames")
    names = None if names is None else [str(name) for name in np.atleast_1d(names)]
    if names is not None and table.schema.named:
        table = _select(table, names)
    elif names is None:
        names = table.schema.names
        if not table.schema.named:
            names = [f"x{j + 1}" for j in range(len(table.schema))]
    if len(names) != len(table.schema) or len(set(names)) < len(names):
        raise ValueError(
            f"PredictorNames must be {len(table.schema)} different names, one for each column, got "
            f"{len(names)}."
        )
    plain = _rename(table, names)
    listed = _column_indices(options.of("CategoricalPredictors"), names)
    numeric = [j for j in listed if plain.schema[j].kind is Kind.NUMERIC]
    return Table.of(plain, kinds={names[j]: "nominal" for j in numeric})


def rows_to_predict(X: Any, schema: Schema) -> Table:
    """Return rows for prediction, by column name if both have names, else by position."""
    table = Table.of(X)
    if table.schema.named and schema.named:
        table = _select(table, schema.names)
    return Table.of(_rename(table, table.schema.names), schema, expected_by="this tree")


def categorical_indices(schema: Schema) -> Array:
    """Return the indices, from 1, of the columns that are not numeric."""
    return np.array([j + 1 for j, c in enumerate(schema) if c.kind is not Kind.NUMERIC], np.int64)


def _split_response(table: Table, name: str) -> tuple[Table, list[Any]]:
    """Return the table without a column, and the values of that column."""
    if not table.schema.named or name not in table.schema.names:
        raise ValueError(
            f"Y={name!r} is not a column of X: pass the response itself, or a frame that has it as "
            "a column."
        )
    j = table.schema.names.index(name)
    column, array, missing = table.schema[j], table.column(j), table.missing_mask(j)
    if column.categories:
        values = [None if code < 0 else column.categories[code] for code in array.tolist()]
    else:
        values = array.tolist()
        if missing is not None:
            values = [None if gone else value for value, gone in zip(values, missing, strict=True)]
    return _select(table, [other for other in table.schema.names if other != name]), values


def _select(table: Table, names: Sequence[str]) -> Table:
    """Return the table of some columns."""
    absent = [name for name in names if name not in table.schema.names]
    if absent:
        raise ValueError(f"X has no column {absent[0]!r}: its columns are {table.schema.names!r}.")
    index = [table.schema.names.index(name) for name in names]
    schema = Schema(tuple(table.schema[j] for j in index))
    missing = {k: mask for k, j in enumerate(index) if (mask := table.missing_mask(j)) is not None}
    return Table.from_columns([table.column(j) for j in index], schema, missing)


def _rename(table: Table, names: Sequence[str]) -> Table:
    columns = [_plain_column(c, name) for c, name in zip(table.schema, names, strict=True)]
    arrays = [_plain_array(table, j) for j in range(len(table.schema))]
    return Table.from_columns(arrays, Schema(tuple(columns), table.schema.named))


def _plain_column(column: Column, name: str) -> Column:
    if column.temporal:
        raise ValueError(
            f"column {name!r} must be numeric or categorical, got times: convert them to numbers, "
            "of days for example."
        )
    if column.kind is Kind.NUMERIC:
        return Column(name, Kind.NUMERIC)
    return replace(column, name=name)


def _plain_array(table: Table, j: int) -> Array:
    """Return numbers as float64, so that thresholds of integers are midpoints."""
    array = table.column(j)
    if table.schema[j].kind is not Kind.NUMERIC:
        return array
    floats = array.astype(np.float64)
    missing = table.missing_mask(j)
    if missing is not None:
        floats[missing] = np.nan
    return floats


def _column_indices(given: Any, names: Sequence[str]) -> list[int]:
    """Return indices of columns: 'all', numbers from 1, booleans or names."""
    if given is None:
        return []
    if isinstance(given, str) and given.lower() == "all":
        return list(range(len(names)))
    listed = list(np.atleast_1d(np.asarray(given)).tolist())
    if listed and all(isinstance(item, bool) for item in listed):
        if len(listed) != len(names):
            raise ValueError(
                f"CategoricalPredictors must have {len(names)} booleans, one for each column, got "
                f"{len(listed)}."
            )
        return [j for j, item in enumerate(listed) if item]
    return [_column_index(item, names) for item in listed]


def _column_index(item: Any, names: Sequence[str]) -> int:
    if isinstance(item, str) and item in names:
        return list(names).index(item)
    if isinstance(item, Integral | float) and float(item) in range(1, len(names) + 1):
        return int(item) - 1
    raise ValueError(
        f"CategoricalPredictors must list names of columns, or numbers from 1 to {len(names)}, got "
        f"{item!r}."
    )

"""The predictors of a call: a table of floats and levels under MATLAB's names."""

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


def predictors(table: Table, options: NameValue) -> Table:
    """The columns to learn from: numbers as float64, listed ones as levels."""
    names = options.of("PredictorNames")
    names = None if names is None else [str(name) for name in np.atleast_1d(names)]
    if names is not None and table.schema.named:
        table = _chosen(table, names)
    elif names is None:
        names = table.schema.names
        if not table.schema.named:
            names = [f"x{j + 1}" for j in range(len(table.schema))]
    if len(names) != len(table.schema) or len(set(names)) < len(names):
        raise ValueError(
            f"PredictorNames lists {len(names)} names for {len(table.schema)} columns: give one "
            "name for each, all different"
        )
    plain = _renamed(table, names)
    listed = _places(options.of("CategoricalPredictors"), names)
    return Table.of(plain, kinds={names[j]: "nominal" for j in listed if _numeric(plain, j)})


def rows_for(X: Any, schema: Schema) -> Table:
    """Rows for prediction: by name where both sides have names, else by place."""
    table = Table.of(X)
    if table.schema.named and schema.named:
        table = _chosen(table, schema.names)
    return Table.of(_renamed(table, table.schema.names), schema, who="this tree")


def without(table: Table, name: str) -> tuple[Table, list[Any]]:
    """A table without its response, and the response's values; None for a gap."""
    if not table.schema.named or name not in table.schema.names:
        raise ValueError(
            f"Y={name!r}: X has no column of that name; give the response itself, or a frame that "
            "has it as a column"
        )
    place = table.schema.names.index(name)
    column, array, gaps = table.schema[place], table.column(place), table.gaps(place)
    if column.levels:
        found = [None if code < 0 else column.levels[code] for code in array.tolist()]
    else:
        found = array.tolist()
        if gaps is not None:
            found = [None if gap else value for value, gap in zip(found, gaps, strict=True)]
    rest = [other for other in table.schema.names if other != name]
    return _chosen(table, rest), found


def categorical(schema: Schema) -> Array:
    """Numbers, from 1, of the columns that are not numeric."""
    return np.array([j + 1 for j, c in enumerate(schema) if c.kind is not Kind.NUMERIC], np.int64)


def _chosen(table: Table, names: Sequence[str]) -> Table:
    """The table of some columns."""
    absent = [name for name in names if name not in table.schema.names]
    if absent:
        raise ValueError(f"X has no column {absent[0]!r}: its columns are {table.schema.names!r}")
    places = [table.schema.names.index(name) for name in names]
    schema = Schema(tuple(table.schema[j] for j in places))
    gaps = {k: mask for k, j in enumerate(places) if (mask := table.gaps(j)) is not None}
    return Table.from_columns([table.column(j) for j in places], schema, gaps)


def _renamed(table: Table, names: Sequence[str]) -> Table:
    columns, arrays = [], []
    for j, (column, name) in enumerate(zip(table.schema, names, strict=True)):
        columns.append(_plain_column(column, name))
        arrays.append(_plain_array(table, j))
    return Table.from_columns(arrays, Schema(tuple(columns), table.schema.named))


def _plain_column(column: Column, name: str) -> Column:
    if column.temporal:
        raise ValueError(f"column {name!r} holds times: give them as numbers, of days for example")
    if column.kind is Kind.NUMERIC:
        return Column(name, Kind.NUMERIC)
    return replace(column, name=name)


def _plain_array(table: Table, j: int) -> Array:
    """Numbers as float64, as MATLAB's are, so that thresholds of whole numbers are midpoints."""
    array = table.column(j)
    if table.schema[j].kind is not Kind.NUMERIC:
        return array
    floats = array.astype(np.float64)
    gaps = table.gaps(j)
    if gaps is not None:
        floats[gaps] = np.nan
    return floats


def _numeric(table: Table, j: int) -> bool:
    return table.schema[j].kind is Kind.NUMERIC


def _places(given: Any, names: Sequence[str]) -> list[int]:
    """Numbers, from 0, of listed columns: 'all', numbers from 1, truth values or names."""
    if given is None:
        return []
    if isinstance(given, str) and given.lower() == "all":
        return list(range(len(names)))
    listed = list(np.atleast_1d(np.asarray(given)).tolist())
    if listed and all(isinstance(item, bool) for item in listed):
        if len(listed) != len(names):
            raise ValueError(
                f"CategoricalPredictors has {len(listed)} truth values for {len(names)} columns"
            )
        return [j for j, item in enumerate(listed) if item]
    return [_place(item, names) for item in listed]


def _place(item: Any, names: Sequence[str]) -> int:
    if isinstance(item, str) and item in names:
        return list(names).index(item)
    if isinstance(item, Integral | float) and float(item) in range(1, len(names) + 1):
        return int(item) - 1
    raise ValueError(
        f"CategoricalPredictors lists {item!r}: give names of columns, or their numbers from 1 to "
        f"{len(names)}"
    )

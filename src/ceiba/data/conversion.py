"""Convert tables to arrays and to frames of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Column, Kind

if TYPE_CHECKING:
    from ceiba.data.table import Table


def column_values(table: Table, j: int) -> Array:
    """Return the values of column ``j``: numbers, times, or the labels of its categories.

    A missing value is NaN or NaT; among integers, bools and labels it is None, in an object array.
    """
    column, array, missing = table.schema[j], table.column(j), table.missing_mask(j)
    if column.temporal:
        return _times(array, column, missing)
    if column.kind is Kind.NUMERIC:
        values = array
    else:
        labels = np.array(column.categories, dtype=None if column.categories else str)
        values = labels[array] if column.categories else np.full(len(array), None)
    if missing is None or (values.dtype.kind == "f" and column.kind is Kind.NUMERIC):
        return np.ascontiguousarray(values)
    values = values.astype(object)
    values[missing] = None
    return values


def to_array(table: Table) -> Array:
    """Return a 2-D array: of numbers where all columns are, else of objects, labels for codes."""
    if table.block is not None:
        return table.block
    if table.schema.all_numeric and not any(column.temporal for column in table.schema):
        columns = [_with_nan(table, j) for j in range(len(table.schema))]
        return np.column_stack(columns)
    values = np.empty(table.shape, dtype=object)
    for j in range(len(table.schema)):
        values[:, j] = column_values(table, j).tolist()
    return values


def _with_nan(table: Table, j: int) -> Array:
    array, missing = table.column(j), table.missing_mask(j)
    return array if missing is None else np.where(missing, np.nan, array)


def to_pandas(table: Table) -> Any:
    """Convert a table to a pandas DataFrame."""
    pandas = _require("pandas", "a DataFrame")
    names = table.schema.names
    return pandas.DataFrame({name: _series(table, j, pandas) for j, name in enumerate(names)})


def _series(table: Table, j: int, pandas: Any) -> Any:
    column, array, missing = table.schema[j], table.column(j), table.missing_mask(j)
    if column.kind is not Kind.NUMERIC:
        categories, ordered = list(column.categories), column.kind is Kind.ORDINAL
        return pandas.Categorical.from_codes(array, categories=categories, ordered=ordered)
    if column.temporal:
        return _times(array, column, missing)
    if missing is None or array.dtype.kind == "f":
        return array
    return pandas.arrays.IntegerArray(array, missing)


def to_polars(table: Table) -> Any:
    """Convert a table to a polars DataFrame."""
    polars = _require("polars", "a polars DataFrame")
    columns = [_polars_series(table, j, polars) for j in range(len(table.schema))]
    return polars.DataFrame(columns)


def _polars_series(table: Table, j: int, polars: Any) -> Any:
    column, missing = table.schema[j], table.missing_mask(j)
    if column.kind is Kind.NUMERIC:
        values = column_values(table, j) if column.temporal else table.column(j)
        series = polars.Series(column.name, values, nan_to_null=True)
        return series if missing is None else series.set(polars.Series(missing), None)
    labels = column_values(table, j).tolist()
    is_text = any(isinstance(label, str) for label in column.categories)
    # The categories of an Enum are text: numbers and bools are columns of their own type.
    dtype = polars.Enum(column.categories) if is_text else None
    return polars.Series(column.name, labels, dtype=dtype, strict=False)


def _times(array: Array, column: Column, missing: Array | None) -> Array:
    times = array.view(column.dtype)
    return times if missing is None else np.where(missing, times.dtype.type("NaT"), times)


def _require(package: str, result: str) -> Any:
    from importlib import import_module

    try:
        return import_module(package)
    except ImportError:
        extra = 'pip install "ceiba[files]"' if package == "pandas" else f"pip install {package}"
        raise ImportError(f"Conversion to {result} requires {package}: {extra}.") from None

"""Inputs of an ONNX graph: one matrix of numbers, or one input for each column of a mixed table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.data.encoding import INDICATOR, Encoding
from ceiba.data.schema import Column, Kind, Schema
from ceiba.export.errors import NotExpressibleError
from ceiba.export.onnx.graph import ML, Graph


def add_codes(graph: Graph, schema: Schema, dtype: Any) -> str:
    """Add the inputs, and return the columns as a matrix of numbers and codes of categories.

    Missing values, and values that are no category, are NaN.
    """
    for column in schema:
        if column.temporal:
            raise NotExpressibleError(
                f"ONNX compares values in float64, which cannot hold the times of column "
                f"{column.name!r}: convert it to a number of days before the fit."
            )
    if schema.all_numeric:
        return graph.cast(graph.input("X", dtype, len(schema)), np.float64)
    columns = [_add_column(graph, column, dtype) for column in schema]
    return graph.add("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]


def _add_column(graph: Graph, column: Column, dtype: Any) -> str:
    if column.kind is Kind.NUMERIC:
        return graph.cast(graph.input(column.name, dtype, 1), np.float64)
    kind = input_dtype(column)
    value = graph.input(column.name, kind, 1)
    categories = [kind(category) for category in column.categories]
    if not categories:  # a column without any value
        categories = [kind()]
    return graph.add(
        "LabelEncoder", value, domain=ML,
        keys_tensor=graph.tensor(categories, kind),
        values_tensor=graph.tensor(np.arange(len(categories), dtype=np.float64), np.float64),
        default_tensor=graph.tensor([np.nan], np.float64),
    )  # fmt: skip


def input_dtype(column: Column) -> Any:
    """Return the dtype of the input of a nominal or ordinal column."""
    kinds = {type(category) for category in column.categories}
    if not kinds or issubclass(next(iter(kinds)), str):
        return str
    return np.int64 if all(issubclass(kind, int | np.integer) for kind in kinds) else np.float64


def add_points(graph: Graph, schema: Schema, dtype: Any) -> str:
    """Add the inputs, and return the matrix of `ceiba.data.encoding.Encoding`."""
    codes = add_codes(graph, schema, dtype)
    if schema.all_numeric:
        return codes
    ends = Encoding.of(schema).offsets
    parts = []
    for j, column in enumerate(schema):
        if ends[j] == ends[j + 1]:  # a nominal column without categories, as of an identifier
            continue
        part = graph.add("Gather", codes, graph.constant([j], np.int64), axis=1)
        if column.kind is Kind.NOMINAL:
            part = _indicators(graph, part, ends[j + 1] - ends[j])
        elif column.kind is Kind.ORDINAL:
            scale = graph.constant(float(max(len(column.categories) - 1, 1)))
            part = graph.add("Div", part, scale)
        parts.append(part)
    return graph.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]


def _indicators(graph: Graph, codes: str, n_categories: int) -> str:
    """Return a column of codes as indicators, NaN where the code is."""
    equal = graph.add("Equal", codes, graph.constant(np.arange(n_categories, dtype=np.float64)))
    values = graph.add("Where", equal, graph.constant(INDICATOR), graph.constant(0.0))
    return graph.add("Where", graph.add("IsNaN", codes), graph.constant(np.nan), values)

"""Inputs of an ONNX graph: one matrix of numbers, or one input for each column of a mixed table."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.data.encoding import INDICATOR, Encoding
from ceiba.data.schema import Column, Kind, Schema
from ceiba.export.checks import check_no_times
from ceiba.export.onnx.graph import ML, Graph


def add_inputs(graph: Graph, schema: Schema, dtype: Any) -> str:
    """Add the inputs, and return the columns as a matrix of numbers and codes of categories.

    Missing values, and values that are no category, are NaN.
    """
    check_no_times(schema, "ONNX compares values in float64, which cannot hold")
    if schema.all_numeric:
        return graph.cast(graph.input("X", dtype, len(schema)), np.float64)
    # All inputs come first: names of other values must differ from those of columns.
    inputs = [graph.input(column.name, _input_dtype(column, dtype), 1) for column in schema]
    columns = [_encode(graph, *pair) for pair in zip(inputs, schema, strict=True)]
    return graph.add("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]


def _input_dtype(column: Column, dtype: Any) -> Any:
    """Return the dtype of the input of a column; ``dtype`` is that of numbers."""
    if column.kind is Kind.NUMERIC:
        return dtype
    types = {type(category) for category in column.categories}
    if not types or issubclass(next(iter(types)), str):
        return str
    return np.int64 if all(issubclass(one, int | np.integer) for one in types) else np.float64


def _encode(graph: Graph, value: str, column: Column) -> str:
    """Return a column as float64: numbers, or codes of categories."""
    if column.kind is Kind.NUMERIC:
        return graph.cast(value, np.float64)
    dtype = _input_dtype(column, np.float64)
    # A column without any value has no category.
    categories = [dtype(category) for category in column.categories] or [dtype()]
    return graph.add(
        "LabelEncoder", value, domain=ML,
        keys_tensor=graph.tensor(categories, dtype),
        values_tensor=graph.tensor(np.arange(len(categories), dtype=np.float64), np.float64),
        default_tensor=graph.tensor([np.nan], np.float64),
    )  # fmt: skip


def add_encoded_inputs(graph: Graph, schema: Schema, dtype: Any) -> str:
    """Add the inputs, and return them in the columns of `ceiba.data.encoding.Encoding`."""
    codes = add_inputs(graph, schema, dtype)
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

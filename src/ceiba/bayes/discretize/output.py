"""Forms of discretized rows: numbers, labels, indicators, and back to representative values."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from ceiba._typing import Array
from ceiba.bayes.discretize.encoding import CategoryEncoding
from ceiba.bayes.discretize.interval_rows import IntervalRows
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table


def ordinal_codes(codes: Array, n_categories: Array) -> Array:
    """Return codes as float64, NaN for missing values."""
    numbers = codes.astype(np.float64)
    numbers[codes == n_categories] = np.nan
    return numbers


def label_table(codes: Array, encoding: CategoryEncoding) -> Table:
    """Return a table of labels; intervals are ordinal categories."""
    columns = []
    for j, k in enumerate(encoding.columns.tolist()):
        own = encoding.schema[k]
        if own.kind is Kind.NUMERIC:
            own = Column(own.name, Kind.ORDINAL, tuple(encoding.category_labels(j)), "codes")
        columns.append(own)
    signed = codes.astype(np.int32)
    signed[codes == encoding.n_categories] = -1
    arrays = [np.ascontiguousarray(signed[:, j]) for j in range(encoding.n_features)]
    schema = replace(encoding.schema, columns=tuple(columns))
    return Table(schema, len(codes), None, tuple(arrays))


def indicators(codes: Array, n_categories: Array) -> csr_matrix:
    """Return one indicator per category; a missing value has none."""
    first = np.cumsum([0, *n_categories])
    observed = codes != n_categories
    columns = (codes + first[:-1])[observed]
    ends = np.cumsum([0, *observed.sum(axis=1)])
    shape = len(codes), int(first[-1])
    return csr_matrix((np.ones(len(columns)), columns, ends), shape)


def codes_of_output(X: Any, encoding: CategoryEncoding, encode: str) -> Array:
    """Return codes (int64, -1 if missing) of what ``transform`` returned."""
    if encode == "labels":
        table = X if isinstance(X, Table) else Table.of(X)
        codes = [_codes_of_labels(table, j, encoding) for j in range(encoding.n_features)]
        return np.stack(codes, axis=1) if codes else np.empty((len(table), 0), np.int64)
    array = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    width = encoding.n_features if encode == "ordinal" else int(encoding.n_categories.sum())
    if array.ndim != 2 or array.shape[1] != width:
        raise ValueError(
            f"X must have shape (n_rows, {width}), as returned by transform, got {array.shape}."
        )
    if encode != "ordinal":
        return _codes_of_indicators(array, encoding.n_categories)
    valid = np.isnan(array) | ((array >= 0) & (array < encoding.n_categories) & (array % 1 == 0))
    if not valid.all():
        row, j = np.argwhere(~valid)[0].tolist()
        raise ValueError(
            f"X must be codes from 0 to {encoding.n_categories[j] - 1} or NaN in column "
            f"{encoding.names[j]!r}, got {array[row, j]} in row {row}."
        )
    return np.where(np.isnan(array), -1.0, array).astype(np.int64)


def _codes_of_labels(table: Table, j: int, encoding: CategoryEncoding) -> Array:
    known = {label: code for code, label in enumerate(encoding.category_labels(j))}
    name = encoding.names[j]
    values = np.asarray(table[name]).tolist()
    unknown = [value for value in values if value is not None and value not in known]
    if unknown:
        raise ValueError(
            f"X must have the labels of transform in column {name!r}, got {unknown[0]!r}."
        )
    return np.array([known.get(value, -1) for value in values], np.int64)


def _codes_of_indicators(array: Array, n_categories: Array) -> Array:
    parts = np.split(array, np.cumsum(n_categories)[:-1], axis=1) if len(n_categories) else []
    codes = [np.where(part.any(axis=1), part.argmax(axis=1), -1) for part in parts]
    return np.stack(codes, axis=1) if codes else np.empty((len(array), 0), np.int64)


def representative_table(codes: Array, encoding: CategoryEncoding, rows: IntervalRows) -> Table:
    """Return a table of all columns with the representative value of each code."""
    position = {k: j for j, k in enumerate(encoding.columns.tolist())}
    arrays, columns, missing = [], [], {}
    for k, column in enumerate(encoding.schema):
        values = rows.of_column(k)[0]
        # A column that was left out has its only category.
        alone = np.full(len(codes), 0 if len(values) else -1)
        own = codes[:, position[k]] if k in position else alone
        found = np.where(own >= 0, np.append(values, np.nan)[own], np.nan)
        if column.kind is not Kind.NUMERIC:
            arrays.append(np.where(own >= 0, own, -1).astype(np.int32))
        elif column.temporal:
            missing[k] = np.isnan(found)
            arrays.append(np.where(missing[k], 0, found).astype(np.int64))
        else:
            arrays.append(found)
            column = replace(column, dtype="float64")
        columns.append(column)
    schema = Schema(tuple(columns), encoding.schema.named)
    return Table(schema, len(codes), None, tuple(arrays), missing)

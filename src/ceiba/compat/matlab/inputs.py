"""Rows of a call: predictors as floats and categories, and classes or numbers as response."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.compat.matlab.name_value import NameValue
from ceiba.data.schema import Column, Kind, Schema
from ceiba.data.table import Table
from ceiba.data.target import Target


def read_rows(
    X: Any, Y: Any, options: NameValue, classification: bool
) -> tuple[Table, Response, str]:
    """Return the rows with a response, the response, and its name."""
    table, Y, name = read_data(X, Y)
    columns = read_predictors(table, options)
    response = Response.of(Y, options, len(columns), classification)
    return columns.take(response.rows), response, name


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


@dataclass(frozen=True, slots=True, eq=False)
class Response:
    """Encoded response of the rows that can be used.

    ``values`` are class indices in the order of ``classes``, or floats; ``rows`` are the rows of
    the table with a response, one of the classes, and a positive weight; ``classes`` are empty for
    regression.
    """

    values: Array
    weights: Array | None
    rows: Array
    classes: Array

    @classmethod
    def of(cls, Y: Any, options: NameValue, n: int, classification: bool) -> Response:
        """Encode classes, only those of ClassNames if it is given, or read numbers."""
        weights = options.of("Weights")
        if weights is not None:
            weights = np.asarray(weights, dtype=np.float64).reshape(-1)
        rows = _usable_rows(Y, weights, n)
        cells = np.asarray(Y).reshape(-1)[rows]
        target = Target.of(
            cells.tolist() if cells.dtype.kind == "O" else cells,
            len(rows),
            task="classification" if classification else "regression",
        )
        values, classes = target.values, target.classes
        if classes is None:
            classes = np.empty(0)
        elif options.of("ClassNames") is not None:
            values, classes = _encode(target, options.of("ClassNames"))
            rows, values = rows[values >= 0], values[values >= 0]
        return cls(values, None if weights is None else weights[rows], rows, classes)

    @property
    def labels(self) -> Array:
        """Classes or numbers of the rows."""
        return np.asarray(self.classes[self.values] if len(self.classes) else self.values)

    @property
    def row_weights(self) -> Array:
        """Weights of the rows, by default ones."""
        return np.ones(len(self.values)) if self.weights is None else self.weights

    def take(self, rows: Array) -> Response:
        """Return the response of some rows, with the classes that they have."""
        values, classes = self.values[rows], self.classes
        if len(classes):
            present, values = np.unique(values, return_inverse=True)
            classes = classes[present]
        weights = None if self.weights is None else self.weights[rows]
        return Response(values, weights, self.rows[rows], classes)


def _encode(target: Target, names: Any) -> tuple[Array, Array]:
    """Return class indices in the order of ClassNames, -1 for other classes, and the classes."""
    assert target.classes is not None
    listed: list[Any] = np.atleast_1d(np.asarray(names)).tolist()
    if len(set(listed)) < len(listed):
        raise ValueError(f"ClassNames must not list a class twice, got {listed!r}.")
    known = target.classes.tolist()
    absent = [label for label in listed if label not in known]
    if absent:
        raise ValueError(f"ClassNames lists {absent[0]!r}, but no row has that class.")
    order = [known.index(label) for label in listed]
    new_code = np.full(len(known), -1)
    new_code[order] = np.arange(len(order))
    return new_code[target.values], target.classes[order]


def _usable_rows(Y: Any, weights: Array | None, n: int) -> Array:
    """Return the indices of rows with a response and a positive weight."""
    cells = np.asarray(Y, dtype=object)
    if cells.size != n or cells.ndim > 2 or (cells.ndim == 2 and 1 not in cells.shape):
        raise ValueError(f"Y must have {n} values, one for each row of X, got {cells.shape}.")
    usable = np.array([not _is_missing(value) for value in cells.reshape(-1).tolist()])
    if weights is not None:
        if weights.shape != (n,) or not (np.isfinite(weights) & (weights >= 0)).all():
            raise ValueError(f"Weights must be {n} finite numbers >= 0.")
        usable &= weights > 0
    if not usable.any():
        raise ValueError("at least one row must have a response and a positive weight.")
    return np.flatnonzero(usable)


def _is_missing(value: Any) -> bool:
    if isinstance(value, str):
        return value == ""
    is_null = value is None or type(value).__name__ in ("NAType", "NaTType")
    return is_null or bool(value != value)


def read_prior(given: Any, response: Response) -> tuple[Array, Array | None]:
    """Return the prior probability of each class, and the factor on its weight for that.

    ``given`` is "empirical", "uniform", an array, or a mapping with ``ClassNames`` and
    ``ClassProbs``. The factors are None if all are 1.
    """
    n_classes = len(response.classes)
    totals = np.bincount(response.values, response.weights, n_classes).astype(np.float64)
    empirical = totals / totals.sum()
    prior = _prior(given, empirical, response.classes)
    if np.array_equal(prior, empirical):
        return prior, None
    return prior, prior * totals.sum() / totals


def _prior(given: Any, empirical: Array, classes: Array) -> Array:
    if isinstance(given, str):
        if given.lower() == "empirical":
            return empirical
        if given.lower() == "uniform":
            return np.full(len(classes), 1 / len(classes))
        raise ValueError(
            f"Prior must be 'empirical', 'uniform' or a number for each class, got {given!r}."
        )
    values = _by_class(given, "Prior", "ClassProbs", classes, 1)
    if not (values > 0).all():
        raise ValueError("Prior must be > 0 for every class: leave a class out by ClassNames.")
    return np.asarray(values / values.sum())


def read_costs(given: Any, classes: Array) -> Array:
    """Return the cost of predicting class j where i is true, in row i and column j.

    ``given`` is a square matrix, a mapping with ``ClassNames`` and ``ClassificationCosts``, or None
    for a cost of 1 for every error.
    """
    if given is None:
        return np.asarray(1.0 - np.eye(len(classes)))
    costs = _by_class(given, "Cost", "ClassificationCosts", classes, 2)
    if (costs < 0).any() or np.diag(costs).any():
        raise ValueError("Cost must be >= 0, with zeros on its diagonal.")
    return costs


def for_classes(options: NameValue, classes: Array, kept: Array) -> NameValue:
    """Return the options with the prior and the costs of some of the classes."""
    given = dict(options.given)
    if given.get("Cost") is not None:
        given["Cost"] = read_costs(given["Cost"], classes)[np.ix_(kept, kept)]
    if not isinstance(given.get("Prior", ""), str):
        given["Prior"] = _by_class(given["Prior"], "Prior", "ClassProbs", classes, 1)[kept]
    return NameValue(given)


def _by_class(given: Any, name: str, field: str, classes: Array, n_dim: int) -> Array:
    """Return numbers in the order of ``classes``; a mapping has an order of its own."""
    labels = classes.tolist()
    order = list(range(len(labels)))
    if isinstance(given, Mapping):
        if set(given) != {"ClassNames", field}:
            raise ValueError(f"{name} as a mapping must have the keys ClassNames and {field}.")
        listed = np.atleast_1d(np.asarray(given["ClassNames"])).tolist()
        if sorted(map(str, listed)) != sorted(map(str, labels)):
            raise ValueError(f"{name} must list the classes {labels!r}, got {listed!r}.")
        order = [listed.index(label) for label in labels]
        given = given[field]
    values = np.asarray(given, dtype=np.float64)
    values = values.reshape(-1) if n_dim == 1 else values
    shape = (len(labels),) * n_dim
    if values.shape != shape or not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite numbers of shape {shape}, got {values.shape}.")
    return values[np.ix_(*[order] * n_dim)]

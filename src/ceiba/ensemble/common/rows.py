"""Training and prediction rows of an ensemble, as a table or as they were passed."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from ceiba._typing import Array
from ceiba.base import Estimator
from ceiba.base.estimator import schema_attributes
from ceiba.data.arrays import check_size
from ceiba.data.schema import Kind, Schema
from ceiba.data.table import Table
from ceiba.data.target import Target, Task
from ceiba.engine import Engine, LocalEngine
from ceiba.engine.local import effective_threads
from ceiba.stats.points import check_sample_weight, zero_weights_error


@dataclass(frozen=True, slots=True, eq=False)
class InputRows:
    """Rows in memory, from which the rows and columns of members are selected."""

    data: Any  # a Table, array or frame
    # Fitted attributes that describe the columns: their number, and their names or schema.
    attributes: dict[str, Any]

    def __len__(self) -> int:
        return int(self.data.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.data.shape[1])

    def select(self, rows: Array | None = None, columns: Array | None = None) -> Any:
        """Return the data of some rows and columns, by index; None for all."""
        data = self.data
        if rows is not None:
            data = data.take(rows) if isinstance(data, Table) else _safe_indexing(data, rows)
        if columns is None or np.array_equal(columns, np.arange(self.n_columns)):
            return data
        if isinstance(data, Table):
            return table_columns(data, columns)
        if is_frame(data) and len(set(columns.tolist())) < len(columns):
            return _repeated_frame_columns(data, columns)
        return _safe_indexing(data, columns, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class TrainingData:
    """Rows, target and weights of a fit."""

    rows: InputRows
    target: Target
    weight: Array | None = None  # None for 1 each
    positive: Array | None = None  # indices of the rows of positive weight; None if all are

    @classmethod
    def of(cls, rows: InputRows, y: Any, sample_weight: Any, task: Task) -> TrainingData:
        """Check target and weights."""
        target = Target.of(y, len(rows), task=task)
        if sample_weight is None:
            return cls(rows, target)
        weight = check_sample_weight(sample_weight, len(rows))
        if not weight.any():
            raise zero_weights_error()
        return cls(rows, target, weight, None if weight.all() else np.flatnonzero(weight))

    @property
    def labels(self) -> Array:
        """Class label or number of every row, as passed to the members."""
        classes, values = self.target.classes, self.target.values
        return values if classes is None else np.asarray(classes[values])

    @property
    def classes(self) -> Array | None:
        """Classes of all rows; None for regression."""
        return self.target.classes

    def without_zero_weights(self) -> TrainingData:
        """Return the rows of positive weight, with their classes alone."""
        if self.positive is None:
            return self
        assert self.weight is not None
        rows = InputRows(self.rows.select(self.positive), self.rows.attributes)
        target = self.target.take(self.positive).without_unused_classes()
        return TrainingData(rows, target, self.weight[self.positive])

    def weights_of(self, rows: Array) -> Array | None:
        """Return the weights of some rows; None for 1 each."""
        return None if self.weight is None else self.weight[rows]

    @property
    def positive_weight(self) -> Array | None:
        """Weights of the rows of positive weight; None for 1 each."""
        if self.weight is None or self.positive is None:
            return self.weight
        return np.asarray(self.weight[self.positive])

    def input_rows(self, rows: Array) -> Array:
        """Return the indices, among all rows, of some rows of positive weight."""
        return rows if self.positive is None else np.asarray(self.positive[rows])

    def fingerprint(self) -> str:
        """Return a hash of rows and target."""
        data = self.rows.data
        if isinstance(data, Table):
            # Plain arrays: a hash of the object would change with its class and memory layout.
            arrays = [np.ascontiguousarray(array) for array in table_arrays(data)]
            categories = [column.categories for column in data.schema]
            return str(joblib.hash([arrays, categories, self.labels]))
        return str(joblib.hash([data, self.labels]))

    def expand(self, values: Array) -> Array:
        """Extend values of the rows of positive weight to all rows, with 0 for the others."""
        return expand_rows(values, self.positive, len(self.rows), 0)


def expand_rows(values: Array, kept: Array | None, n_rows: int, fill: float) -> Array:
    """Extend values of the ``kept`` rows to all rows; None if all are kept."""
    if kept is None:
        return values
    expanded = np.full((n_rows, *values.shape[1:]), fill, values.dtype)
    expanded[kept] = values
    return expanded


def accepts_table(estimator: Any) -> bool:
    """Return whether an estimator, and every one nested in it, is Ceiba's own."""
    if not isinstance(estimator, Estimator):
        return False
    nested = estimator.get_params(deep=False).values()
    return all(accepts_table(part) for part in nested if hasattr(part, "fit"))


def open_as_table(model: Any, X: Any, *, y: Any = None, reset: bool) -> tuple[Engine, InputRows]:
    """Open rows as a table, with their own schema or the schema of the fit."""
    engine, source = model._open_source(X, reset=reset, y=y)
    (partition,) = source.partitions
    table = partition.load().table
    schema = source.schema if reset else model.schema_
    return engine, InputRows(table, schema_attributes(schema))


def open_as_given(model: Any, X: Any, *, y: Any = None, reset: bool) -> tuple[Engine, InputRows]:
    """Open arrays and frames as they are; convert lists and tables."""
    if not reset:
        check_is_fitted(model)
    probe = copy.copy(model)  # a fit that fails must leave the model's own attributes as they were
    if reset:
        vars(probe).pop("feature_names_in_", None)
    if isinstance(X, Table):
        X = _from_table(X, type(model.estimator).__name__)
    if is_frame(X):
        check_size(*X.shape)
        validate_data(probe, X, reset=reset, skip_check_array=True)
    else:
        X = validate_data(
            probe, X, reset=reset, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False
        )
    names = ("n_features_in_", "feature_names_in_")
    attributes = {name: vars(probe)[name] for name in names if name in vars(probe)}
    # `choose_engine` needs a table. Here the engine only runs the members in parallel.
    return LocalEngine(effective_threads(model.n_jobs)), InputRows(X, attributes)


def _from_table(table: Table, estimator_name: str) -> Any:
    """Convert a table to its array or to a pandas frame, for other libraries."""
    if table.block is not None and not table.schema.named:
        return table.block
    remedy = "pass the array or frame it was made from, or use an estimator of Ceiba"
    for j, column in enumerate(table.schema):
        if column.temporal or separate_missing_mask(table, j) is not None:
            values = "datetimes" if column.temporal else "missing values among integers"
            raise ValueError(
                f"column {column.name!r} of the Table has {values}, which cannot be passed to "
                f"{estimator_name}: {remedy}."
            )
    try:
        return table.to_pandas()
    except ImportError as error:
        raise ImportError(
            f"passing a Table to {estimator_name} requires pandas: pip install "
            f'"ceiba[files]", or {remedy}.'
        ) from error


def table_columns(table: Table, columns: Array) -> Table:
    """Return a table of some columns of another; a repeated column gets a new name."""
    indices = columns.tolist()
    names = unique_names([table.schema[j].name for j in indices])
    schema = Schema(
        tuple(replace(table.schema[j], name=name) for j, name in zip(indices, names, strict=True)),
        table.schema.named,
    )
    if table.block is not None:
        return Table(schema, len(table), table.block[:, columns])
    arrays = tuple(table.column(j) for j in indices)
    each = ((i, separate_missing_mask(table, j)) for i, j in enumerate(indices))
    masks = {i: mask for i, mask in each if mask is not None}
    return Table(schema, len(table), None, arrays, masks)


def table_arrays(table: Table) -> list[Array]:
    """Return the arrays of a table: its block, or its columns and missing masks."""
    if table.block is not None:
        return [table.block]
    columns = range(len(table.schema))
    arrays = [array for j in columns for array in (table.column(j), table.missing_mask(j))]
    return [array for array in arrays if array is not None]


def unique_names(names: list[str]) -> list[str]:
    """Append a number to each name that occurred before."""
    originals, used = set(names), dict[str, None]()
    for name in names:
        number, candidate = 1, name
        while candidate in used or (number > 1 and candidate in originals):
            number += 1
            candidate = f"{name} ({number})"
        used[candidate] = None
    return list(used)


def is_frame(data: Any) -> bool:
    """Return whether data is a frame that narwhals supports."""
    from narwhals.stable.v2.dependencies import is_into_dataframe

    return bool(is_into_dataframe(data))


def separate_missing_mask(table: Table, j: int) -> Array | None:
    """Return the missing mask of an integer column; others have NaN or a code instead."""
    encoded = table.schema[j].kind is not Kind.NUMERIC or table.column(j).dtype.kind == "f"
    return None if encoded else table.missing_mask(j)


def _repeated_frame_columns(data: Any, columns: Array) -> Any:
    import narwhals.stable.v2 as nw

    frame = nw.from_native(data)
    names = [frame.columns[j] for j in columns.tolist()]
    unique = unique_names([str(name) for name in names])
    series = [frame.get_column(name).alias(new) for name, new in zip(names, unique, strict=True)]
    return frame.select(*series).to_native()

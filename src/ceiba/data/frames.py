"""Containers of tables: arrays, lists of rows, frames of pandas, polars and pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.arrays import (
    array_columns,
    check_dimensions,
    check_size,
    object_values,
    row_columns,
)
from ceiba.data.categories import plain_labels
from ceiba.data.column import ColumnValues, numbers
from ceiba.data.schema import default_names


def open_frame(X: Any) -> Any | None:
    """Return ``X`` as a narwhals frame in memory, or None if it is not a frame."""
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"Rename or drop columns: {error}") from error
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("A lazy frame is not supported: collect it first, X.collect().")
    if isinstance(frame, nw.Series):
        raise ValueError(
            "Expected 2D array, got 1D array instead: a series. Reshape your data to a frame, "
            "X.to_frame() for example."
        )
    return frame if isinstance(frame, nw.DataFrame) else None


def series_values(name: str, series: Any) -> ColumnValues:
    """Convert a narwhals series.

    Numbers, dates, times and durations are numeric; text, bools and categoricals are categories.
    """
    import narwhals as nw

    dtype = series.dtype
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _category_values(name, series)
    if dtype == nw.Boolean:
        return _bool_values(name, series)
    if dtype.is_integer():
        too_wide = dtype in (nw.Int128, nw.UInt128)
        missing, filled = _split_missing(series.cast(nw.Int64) if too_wide else series, 0)
        return numbers(name, filled, missing)
    if dtype.is_decimal():
        series = series.cast(nw.Float64)
    elif dtype == nw.Unknown and series.null_count() == len(series):
        return numbers(name, np.full(len(series), np.nan))
    values: Array = series.to_numpy()
    if values.dtype.kind in "fmM":
        return numbers(name, values)
    # Python objects, such as Arrow dates in pandas.
    return object_values(name, values.tolist())


def _bool_values(name: str, series: Any) -> ColumnValues:
    missing, filled = _split_missing(series, False)
    codes = filled.astype(np.int32)
    if missing is not None:
        codes[missing] = -1
    return ColumnValues(name, codes, labels=(False, True))


def _split_missing(series: Any, filler: Any) -> tuple[Array | None, Array]:
    # Filled first: NumPy integers and bools cannot be missing.
    if not series.null_count():
        return None, series.to_numpy()
    return series.is_null().to_numpy(), series.fill_null(filler).to_numpy()


def _category_values(name: str, series: Any) -> ColumnValues:
    import narwhals as nw

    native = series.to_native()
    if series.implementation.is_polars():
        return _polars_categories(name, native)
    pandas_like = series.implementation.is_pandas_like()
    if pandas_like and hasattr(native.dtype, "categories"):
        labels = plain_labels(native.cat.categories.tolist(), name)
        codes = native.cat.codes.to_numpy().astype(np.int32)
        return ColumnValues(
            name, codes, labels=labels, declared=True, ordered=bool(native.cat.ordered)
        )
    if pandas_like and series.dtype == nw.String:
        codes, found = native.factorize()
        return ColumnValues(
            name, np.asarray(codes, np.int32), labels=plain_labels(found.tolist(), name)
        )
    return _arrow_categories(name, series.to_arrow())


def _polars_categories(name: str, native: Any) -> ColumnValues:
    import polars as pl

    # The physical codes of a Categorical are shared by all columns, those of an Enum are not.
    declared = isinstance(native.dtype, pl.Enum)
    if not declared:
        text = native.cast(pl.String)
        native = text.cast(pl.Enum(text.unique().drop_nulls().sort()))
    labels = plain_labels(native.dtype.categories.to_list(), name)
    codes = native.to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    return ColumnValues(name, codes, labels=labels, declared=declared)


def _arrow_categories(name: str, native: Any) -> ColumnValues:
    import pyarrow as pa

    chunks = native if isinstance(native, pa.ChunkedArray) else pa.chunked_array([native])
    declared = pa.types.is_dictionary(chunks.type)
    whole = (chunks if declared else chunks.dictionary_encode()).combine_chunks()
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    found = whole.dictionary.to_pylist()
    if None in found:
        # A dictionary may contain null: its code is a missing value too.
        known = np.array([label is not None for label in found])
        codes = np.append(np.where(known, np.cumsum(known) - 1, -1), -1).astype(np.int32)[codes]
    labels = plain_labels((label for label in found if label is not None), name)
    ordered = declared and bool(chunks.type.ordered)
    return ColumnValues(name, codes, labels=labels, declared=declared, ordered=ordered)


def open_container(X: Any) -> Any:
    """Return ``X`` as a NumPy array, a list of rows or a narwhals frame."""
    if isinstance(X, np.ma.MaskedArray):
        return X
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    if hasattr(X, "tocsr"):
        raise TypeError("Sparse data is not supported: convert it to a dense array, X.toarray().")
    if hasattr(X, "__dask_graph__"):
        raise TypeError("A Dask collection is not supported here: compute it first, X.compute().")
    if isinstance(X, list | tuple):
        stacked = X and all(isinstance(row, np.ndarray) and row.shape == X[0].shape for row in X)
        return np.stack(X) if stacked else X
    if type(X).__module__.startswith("pyarrow") and type(X).__name__ == "RecordBatch":
        import pyarrow

        X = pyarrow.Table.from_batches([X])  # narwhals supports tables only
    if hasattr(X, "partitions") and hasattr(X, "schema") and not hasattr(X, "shape"):
        raise TypeError(
            "A scan is not supported here, where rows must be in memory: use ceiba.read instead."
        )
    frame = open_frame(X)
    if frame is not None:
        return frame
    if hasattr(X, "__array__"):
        return np.asarray(X)
    raise TypeError(
        "X must be a 2-D array, a pandas, polars or pyarrow frame, or a list of rows, got "
        f"{type(X).__name__!r}."
    )


def read_columns(container: Any, expected: Sequence[str] = ()) -> tuple[list[ColumnValues], bool]:
    """Convert the columns of an opened container; also return whether they have names.

    ``expected`` is the order of the columns for rows that are mappings.
    """
    if isinstance(container, np.ndarray):
        check_dimensions(container)
        check_size(*container.shape)
        return array_columns(container), False
    if isinstance(container, list | tuple):
        columns, names = row_columns(container, expected)
        check_size(len(container), len(columns))
        return _name(columns, names) if names is not None else (columns, False)
    check_size(*container.shape)
    names = list(container.columns)
    series = zip(names, container.iter_columns(), strict=True)
    return _name([series_values(str(n), s) for n, s in series], names)


def _name(columns: list[ColumnValues], names: Sequence[Any]) -> tuple[list[ColumnValues], bool]:
    """Name the columns by the rule of scikit-learn: all names are strings, or none is."""
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        types = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {types} as feature name / column name types. Make them all strings, "
            "X.columns = X.columns.astype(str) for example."
        )
    names = names if all(text) else default_names(len(columns))
    return [c.renamed(str(n)) for c, n in zip(columns, names, strict=True)], all(text)

"""Containers of tables: arrays, lists of rows, frames of pandas, polars and pyarrow."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, prod
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.arrays import (
    array_columns,
    check_shape,
    check_size,
    feature_names,
    is_scan,
    object_values,
    row_columns,
)
from ceiba.data.categories import plain_labels
from ceiba.data.column import ColumnValues, number_values


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
    """Convert a narwhals series to numbers (times as well) or to categories (bools as well)."""
    import narwhals as nw

    dtype = series.dtype
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _category_values(name, series)
    if dtype == nw.Boolean:
        missing, filled = _split_missing(series, False)
        codes = np.where(False if missing is None else missing, -1, filled)
        return ColumnValues(name, codes.astype(np.int32), labels=(False, True))
    if dtype.is_integer():
        too_wide = dtype in (nw.Int128, nw.UInt128)
        missing, filled = _split_missing(series.cast(nw.Int64) if too_wide else series, 0)
        return number_values(name, filled, missing)
    if dtype.is_decimal():
        series = series.cast(nw.Float64)
    elif dtype == nw.Unknown and series.null_count() == len(series):
        return number_values(name, np.full(len(series), np.nan))
    values: Array = series.to_numpy()
    if values.dtype.kind in "fmM":
        return number_values(name, values)
    # Python objects, such as Arrow dates in pandas.
    return object_values(name, values.tolist())


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
    declared = pandas_like and hasattr(native.dtype, "categories")
    if declared:
        codes, found = native.cat.codes, native.cat.categories
    elif pandas_like and series.dtype == nw.String:
        codes, found = native.factorize()
    else:
        # Not by narwhals where it is Arrow's already: that would merge the dictionaries of chunks.
        is_arrow = series.implementation.is_pyarrow()
        return _arrow_categories(name, native if is_arrow else series.to_arrow())
    labels, ordered = plain_labels(found.tolist(), name), declared and bool(native.cat.ordered)
    return ColumnValues(
        name, np.asarray(codes, np.int32), labels=labels, declared=declared, ordered=ordered
    )


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
    if declared and not chunks.type.ordered:
        # Chunks with dictionaries of their own declare no common order.
        first = chunks.chunk(0).dictionary if chunks.num_chunks else None
        declared = all(chunk.dictionary.equals(first) for chunk in chunks.chunks)
    is_encoded = pa.types.is_dictionary(chunks.type)
    whole = (chunks if is_encoded else chunks.dictionary_encode()).combine_chunks()
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
        return dense_array(X)
    if hasattr(X, "__dask_graph__"):
        raise TypeError("A Dask collection is not supported here: compute it first, X.compute().")
    if isinstance(X, list | tuple):
        stacked = X and all(isinstance(row, np.ndarray) and row.shape == X[0].shape for row in X)
        return np.stack(X) if stacked else X
    if type(X).__module__.startswith("pyarrow") and type(X).__name__ == "RecordBatch":
        import pyarrow

        X = pyarrow.Table.from_batches([X])  # narwhals supports tables only
    if is_scan(X):
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


def dense_array(X: Any) -> Array:
    """Return a sparse matrix or array as a dense one, if it is not above scikit-learn's limit."""
    check_dense_size(X.shape, X.dtype.itemsize)
    dense: Array = X.toarray()
    return dense


def check_dense_size(shape: Sequence[int], itemsize: int, form: str = "a dense array") -> None:
    """Raise ValueError if a sparse matrix is above scikit-learn's limit in its dense form."""
    from sklearn import get_config

    n_bytes = prod(shape) * itemsize
    limit = get_config()["working_memory"]
    if n_bytes > limit * 2**20:
        needed = n_bytes / 2**20
        raise ValueError(
            f"X is sparse and would take {needed:,.0f} MiB as {form}, more than the "
            f"{limit:,.0f} MiB of working_memory. Reduce its columns, by TruncatedSVD or "
            "max_features of a vectorizer for example, or raise the limit: "
            f"sklearn.set_config(working_memory={ceil(needed)})."
        )


def read_columns(container: Any, expected: Sequence[str] = ()) -> tuple[list[ColumnValues], bool]:
    """Convert the columns of an opened container; also return whether they have names."""
    if isinstance(container, np.ndarray):
        check_shape(container)
        return array_columns(container), False
    if isinstance(container, list | tuple):
        columns, named = row_columns(container, expected)
        check_size(len(container), len(columns))
        return columns, named
    check_size(*container.shape)
    names, named = feature_names(container.columns)
    series = zip(names, container.iter_columns(), strict=True)
    return [series_values(name, values) for name, values in series], named

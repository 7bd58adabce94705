"""What people hold tables in, told apart: arrays, lists of rows, frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.arrays import array_columns, check_dimensions, object_values, row_columns
from ceiba.data.categories import plain_labels
from ceiba.data.column import Values, numbers
from ceiba.data.schema import stand_in_names


def open_frame(X: Any) -> Any | None:
    """``X`` as a narwhals frame held in memory, or None where it is no frame.

    Raises
    ------
    ValueError
        If ``X`` is a series, for one column is not yet a table, or has one name twice.
    TypeError
        If ``X`` is a lazy frame, which holds no rows yet.
    """
    import narwhals as nw

    try:
        frame = nw.from_native(X, pass_through=True, allow_series=True)
    except nw.exceptions.DuplicateError as error:
        raise ValueError(f"Rename or drop columns: {error}") from error
    if isinstance(frame, nw.LazyFrame):
        raise TypeError("A lazy frame holds no rows yet: collect it first, X.collect().")
    if isinstance(frame, nw.Series):
        raise ValueError(
            "Expected 2D array, got 1D array instead: a series. Reshape your data to a frame, "
            "X.to_frame() for example."
        )
    return frame if isinstance(frame, nw.DataFrame) else None


def frame_columns(frame: Any) -> list[Values]:
    """The columns of a narwhals frame, in order."""
    return [
        series_values(str(n), s) for n, s in zip(frame.columns, frame.iter_columns(), strict=True)
    ]


def series_values(name: str, series: Any) -> Values:
    """The values of one narwhals series.

    Numbers, dates, times and durations are numeric; text, truth values and categories are levels.
    """
    import narwhals as nw

    dtype = series.dtype
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _level_values(name, series)
    if dtype == nw.Boolean:
        return _truth_values(name, series)
    if dtype.is_integer():
        return _whole_numbers(name, series)
    if dtype.is_decimal():
        series = series.cast(nw.Float64)
    elif dtype == nw.Unknown and series.null_count() == len(series):
        return numbers(name, np.full(len(series), np.nan))
    values: Array = series.to_numpy()
    if values.dtype.kind in "fmM":
        return numbers(name, values)
    # Python objects, Arrow dates inside pandas among them.
    return object_values(name, values.tolist())


def _truth_values(name: str, series: Any) -> Values:
    gaps, filled = _split_gaps(series, False)
    codes = filled.astype(np.int32)
    if gaps is not None:
        codes[gaps] = -1
    return Values(name, codes, labels=(False, True))


def _whole_numbers(name: str, series: Any) -> Values:
    import narwhals as nw

    if series.dtype in (nw.Int128, nw.UInt128):
        series = series.cast(nw.Int64)
    gaps, filled = _split_gaps(series, 0)
    return numbers(name, filled, gaps)


def _split_gaps(series: Any, filler: Any) -> tuple[Array | None, Array]:
    # Filled first: a NumPy array of integers or truth values has no place for a gap.
    if not series.null_count():
        return None, series.to_numpy()
    return series.is_null().to_numpy(), series.fill_null(filler).to_numpy()


def _level_values(name: str, series: Any) -> Values:
    import narwhals as nw

    native = series.to_native()
    if series.implementation.is_polars():
        return _polars_levels(name, native)
    pandas_like = series.implementation.is_pandas_like()
    if pandas_like and hasattr(native.dtype, "categories"):
        labels = plain_labels(native.cat.categories.tolist(), name)
        codes = native.cat.codes.to_numpy().astype(np.int32)
        return Values(name, codes, labels=labels, declared=True, ordered=bool(native.cat.ordered))
    if pandas_like and series.dtype == nw.String:
        codes, found = native.factorize()
        return Values(name, np.asarray(codes, np.int32), labels=plain_labels(found.tolist(), name))
    return _arrow_levels(name, series.to_arrow())


def _polars_levels(name: str, native: Any) -> Values:
    import polars as pl

    # A Categorical's physical codes belong to all columns of the process; an Enum's are its own.
    declared = isinstance(native.dtype, pl.Enum)
    if not declared:
        text = native.cast(pl.String)
        native = text.cast(pl.Enum(text.unique().drop_nulls().sort()))
    labels = plain_labels(native.dtype.categories.to_list(), name)
    codes = native.to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    return Values(name, codes, labels=labels, declared=declared)


def _arrow_levels(name: str, native: Any) -> Values:
    import pyarrow as pa

    chunks = native if isinstance(native, pa.ChunkedArray) else pa.chunked_array([native])
    declared = pa.types.is_dictionary(chunks.type)
    whole = (chunks if declared else chunks.dictionary_encode()).combine_chunks()
    codes = whole.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32)
    found = whole.dictionary.to_pylist()
    if None in found:
        # A dictionary may list null itself: its code is a gap too.
        known = np.array([label is not None for label in found])
        codes = np.append(np.where(known, np.cumsum(known) - 1, -1), -1).astype(np.int32)[codes]
    labels = plain_labels((label for label in found if label is not None), name)
    ordered = declared and bool(chunks.type.ordered)
    return Values(name, codes, labels=labels, declared=declared, ordered=ordered)


def check_size(rows: int, columns: int) -> None:
    """Refuse a table without rows or without columns."""
    shape = f"(shape=({rows}, {columns}))"
    if not rows:
        raise ValueError(f"Found array with 0 sample(s) {shape} while a minimum of 1 is required.")
    if not columns:
        raise ValueError(f"Found array with 0 feature(s) {shape} while a minimum of 1 is required.")


def open_container(X: Any) -> Any:
    """A NumPy array, a list of rows or a narwhals frame, refused where ``X`` can become none."""
    if isinstance(X, np.ma.MaskedArray):
        return X
    if isinstance(X, np.ndarray):
        return np.asarray(X)
    if hasattr(X, "tocsr"):
        raise TypeError("Sparse data is not supported: give a dense array, X.toarray().")
    if hasattr(X, "__dask_graph__"):
        raise TypeError("A Dask collection holds no rows yet: compute it first, X.compute().")
    if isinstance(X, list | tuple):
        return _open_rows(X)
    if type(X).__module__.startswith("pyarrow") and type(X).__name__ == "RecordBatch":
        import pyarrow

        X = pyarrow.Table.from_batches([X])  # narwhals knows tables only
    if hasattr(X, "partitions") and hasattr(X, "schema") and not hasattr(X, "shape"):
        raise TypeError(
            "A scan holds no rows yet, and this needs them in memory: read them with ceiba.read."
        )
    pass

    frame = open_frame(X)
    if frame is not None:
        return frame
    if hasattr(X, "__array__"):
        return np.asarray(X)
    raise TypeError(
        f"Cannot make a table of {type(X).__name__!r}: give a 2-D array, a pandas, polars or "
        "pyarrow frame, or a list of rows."
    )


def _open_rows(rows: Sequence[Any]) -> Any:
    if rows and all(isinstance(row, np.ndarray) and row.shape == rows[0].shape for row in rows):
        return np.stack(rows)
    return rows


def read_columns(container: Any, expected: Sequence[str] = ()) -> tuple[list[Values], bool]:
    """The columns of an opened container, and whether they have names.

    ``expected`` are the names that rows given as mappings are put in order by.
    """
    if isinstance(container, np.ndarray):
        check_dimensions(container)
        check_size(*container.shape)
        return array_columns(container), False
    if isinstance(container, list | tuple):
        columns, names = row_columns(container, expected)
        check_size(len(container), len(columns))
        return _name(columns, names) if names is not None else (columns, False)
    pass

    check_size(*container.shape)
    return _name(frame_columns(container), list(container.columns))


def _name(columns: list[Values], names: Sequence[Any]) -> tuple[list[Values], bool]:
    """Names by scikit-learn's rule: all text, or none is."""
    text = [isinstance(name, str) for name in names]
    if all(text):
        return [c.renamed(str(n)) for c, n in zip(columns, names, strict=True)], True
    if any(text):
        types = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {types} as feature name / column name types. Make them all strings, "
            "X.columns = X.columns.astype(str) for example."
        )
    stand_ins = stand_in_names(len(columns))
    return [c.renamed(n) for c, n in zip(columns, stand_ins, strict=True)], False

"""Columns of pandas, polars and pyarrow frames, read through narwhals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.data.arrays import object_values
from ceiba.data.column import Array, Values, numbers
from ceiba.data.labels import plain_labels


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

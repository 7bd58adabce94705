"""Checks of input containers, and columns of NumPy arrays and Python lists."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.categories import plain_labels
from ceiba.data.column import ColumnValues, check_time_range, number_values, whole_dtype
from ceiba.data.schema import default_names

# Families of Python values, in the order of the checks: timedelta64 is a np.integer too.
_FAMILIES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("bool", (bool, np.bool_)),
    ("duration", (timedelta, np.timedelta64)),
    ("instant", (date, np.datetime64)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating, Decimal, Fraction)),
    ("complex", (complex, np.complexfloating)),
    ("text", (str,)),
)
# Numbers without a limit of size.
_ANY_SIZE = (int, Fraction, Decimal)
# NA and NaT of pandas are identified by name, because pandas is optional.
_MISSING_TYPES = ("NoneType", "NAType", "NaTType")


def is_dask(value: Any) -> bool:
    """Return whether a value is a Dask collection, without importing dask, which takes long."""
    return type(value).__module__.partition(".")[0] == "dask"


def is_scan(X: Any) -> bool:
    """Return whether ``X`` is a scan; a frame with columns of these names has a shape as well."""
    if hasattr(X, "shape"):
        return False
    return is_dask_scan(X) or (hasattr(X, "partitions") and hasattr(X, "schema"))


def is_dask_scan(X: Any) -> bool:
    """Return whether ``X`` is a scan of a Dask DataFrame."""
    return type(X).__name__ == "DaskScan" and is_dask(getattr(X, "frame", None))


def check_size(rows: int, columns: int) -> None:
    """Raise ValueError for a table without rows or columns."""
    if not rows or not columns:
        word = "feature(s)" if rows else "sample(s)"
        raise ValueError(
            f"Found array with 0 {word} (shape=({rows}, {columns})) while a minimum of 1 is "
            "required."
        )


def check_shape(array: Array) -> None:
    """Raise ValueError unless the array has two dimensions, with rows and columns."""
    if array.ndim < 2:
        got = "1D" if array.ndim else "scalar"
        raise ValueError(
            f"Expected 2D array, got {got} array instead: {np.array2string(array, threshold=5)}. "
            "Reshape your data: array.reshape(-1, 1) for one column, array.reshape(1, -1) for "
            "one row."
        )
    if array.ndim > 2:
        raise ValueError(
            f"Found array with dim {array.ndim}, but a table has 2: rows and columns. "
            "Reshape your data, array.reshape(len(array), -1) for example."
        )
    check_size(*array.shape)


def array_columns(array: Array, names: Sequence[str] | None = None) -> list[ColumnValues]:
    """Split a 2-D NumPy array of any dtype into columns, unnamed unless ``names`` are given."""
    names = names or default_names(array.shape[1])
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError("Complex data not supported: split it into real and imaginary parts.")
    if kind not in "fiubmMOUT":
        raise TypeError(
            f"An array of dtype {array.dtype} is not supported: the argument must be a table of "
            "strings or numbers."
        )
    mask = np.ma.getmaskarray(array) if isinstance(array, np.ma.MaskedArray) else None
    if mask is not None and kind not in "fiub":
        array, kind = np.array(array, dtype=object), "O"
        array[mask] = None
    if kind in "OUT":
        return [object_values(name, array[:, j].tolist()) for j, name in enumerate(names)]
    masks = [None] * len(names) if mask is None else list(mask.T)
    columns = zip(names, np.asarray(array).T, masks, strict=True)
    return [number_values(name, values, missing) for name, values, missing in columns]


def feature_names(names: Sequence[Any]) -> tuple[list[str], bool]:
    """Apply the rule of scikit-learn: all names are strings, or none is and columns are unnamed."""
    text = [isinstance(name, str) for name in names]
    if any(text) and not all(text):
        types = sorted({type(name).__name__ for name in names})
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {types} as feature name / column name types. Make them all strings, "
            "X.columns = X.columns.astype(str) for example."
        )
    return (list(map(str, names)) if all(text) else default_names(len(names))), all(text)


def row_columns(
    rows: Sequence[Any], expected: Sequence[str] = ()
) -> tuple[list[ColumnValues], bool]:
    """Split rows into columns, mappings by their keys; also return whether these have names."""
    if rows and all(isinstance(row, Mapping) for row in rows):
        keys = list(dict.fromkeys([*expected, *(key for row in rows for key in row)]))
        names, named = feature_names(keys)
        pairs = zip(names, keys, strict=True)
        return [object_values(name, [row.get(key) for row in rows]) for name, key in pairs], named
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        check_shape(np.fromiter(rows, object, len(rows)))
    _check_widths(rows)
    if rows and any(isinstance(value, list | tuple | np.ndarray) for value in rows[0]):
        check_shape(np.empty((len(rows), len(rows[0]), 1)))
    columns = list(zip(*rows, strict=True))
    names = default_names(len(columns))
    return [object_values(n, list(c)) for n, c in zip(names, columns, strict=True)], False


def _check_widths(rows: Sequence[Any]) -> None:
    for index, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"Row {index} has {len(row)} values, but row 0 has {len(rows[0])}: "
                "all rows must have the same number of values, None for a missing value."
            )


def object_values(name: str, items: list[Any]) -> ColumnValues:
    """Convert numbers, bools, times or text, which is a label even if it is a number."""
    families = {kind: _family(kind) for kind in set(map(type, items))}
    missing = _missing_items(items, families)
    present = items
    if missing is not None:
        present = [value for value, absent in zip(items, missing, strict=True) if not absent]
    found = {families[kind] for kind in set(map(type, present))}
    if "other" in found or "complex" in found:
        _raise_type(name, items, families)
    if not found:
        return number_values(name, np.full(len(items), np.nan))
    if found == {"text"}:
        labels = sorted(set(present))
        codes = _codes(items, missing, {label: code for code, label in enumerate(labels)})
        return ColumnValues(name, codes, labels=plain_labels(labels, name))
    if found == {"bool"}:
        return ColumnValues(name, _codes(items, missing, {False: 0, True: 1}), labels=(False, True))
    if found <= {"bool", "int", "float"}:
        dtype = "float64" if "float" in found else whole_dtype(min(present), max(present))
        if dtype == "float64" and any(issubclass(kind, _ANY_SIZE) for kind in families):
            _check_exact(name, items)
        return _fill(name, np.array(present, dtype), missing)
    if found in ({"instant"}, {"duration"}):
        return _fill(name, _time_array(name, present, found.pop()), missing)
    raise _mixed_error(name, present, families)


def _family(kind: type) -> str:
    if kind.__name__ in _MISSING_TYPES:
        return "missing"
    return next((name for name, types in _FAMILIES if issubclass(kind, types)), "other")


def _missing_items(items: list[Any], families: dict[type, str]) -> Array | None:
    always = {kind for kind, family in families.items() if family == "missing"}
    maybe = {k for k, family in families.items() if family in ("float", "instant", "duration")}
    if not always and not maybe:
        return None
    missing = (type(v) in always or (type(v) in maybe and v != v) for v in items)
    mask = np.fromiter(missing, bool, len(items))
    return mask if mask.any() else None


def _raise_type(name: str, items: list[Any], families: dict[type, str]) -> None:
    for row, value in enumerate(items):
        if families[type(value)] == "complex":
            raise ValueError(f"Complex data not supported: column {name!r}, row {row}: {value!r}.")
        if families[type(value)] == "other":
            raise TypeError(
                f"Column {name!r}, row {row}: the argument must be a string or a number, "
                f"not {type(value).__name__!r}. Make each value one number or text, or leave the "
                "column out."
            )


def _check_exact(name: str, items: list[Any]) -> None:
    """Raise for whole numbers that neither 64 bits nor float64 can represent."""
    for row, value in enumerate(items):
        if not isinstance(value, _ANY_SIZE) or value != value:
            continue
        size: Any = abs(value)
        fits = size <= sys.float_info.max
        if isinstance(value, int) and whole_dtype(value, value) == "float64":
            fits = fits and int(float(value)) == value
        if not fits:
            raise ValueError(
                f"Column {name!r}, row {row}: {shorten_number(value)} is not representable by 64 "
                "bits or as a float64. Convert the column: to float where rounding is harmless, to "
                "text for labels."
            )


def shorten_number(value: Any) -> str:
    """Return a number as text, of a large one the number of digits."""
    if isinstance(value, int) and value.bit_length() > 200:
        return f"an integer of {value.bit_length():,} bits"
    return f"{value!r}"


def _mixed_error(name: str, present: list[Any], families: dict[type, str]) -> ValueError:
    firsts: dict[str, Any] = {}
    for value in present:
        firsts.setdefault(families[type(value)], value)
    shown = " and ".join(f"{family} ({value!r})" for family, value in firsts.items())
    return ValueError(
        f"Column {name!r} mixes {shown} values. Convert it to one type, text for example, with "
        "None for missing values."
    )


def _codes(items: list[Any], missing: Array | None, index: dict[Any, int]) -> Array:
    if missing is None:
        return np.fromiter(map(index.__getitem__, items), np.int32, len(items))
    found = (-1 if absent else index[v] for v, absent in zip(items, missing.tolist(), strict=True))
    return np.fromiter(found, np.int32, len(items))


def _time_array(name: str, present: list[Any], family: str) -> Array:
    unit = "datetime64" if family == "instant" else "timedelta64"
    times = [_time(value, unit) for value in present]
    # Checked in days first: conversion of days to nanoseconds may wrap.
    check_time_range(name, np.array([time.astype(f"{unit}[D]") for time in times]))
    return np.array(times)


def _time(value: Any, unit: str) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    # Times of pandas are finer than the microseconds of Python.
    exact = getattr(value, f"to_{unit}", None)
    return getattr(np, unit)(value) if exact is None else exact()


def _fill(name: str, present: Array, missing: Array | None) -> ColumnValues:
    if missing is None:
        return number_values(name, present)
    if present.dtype.kind in "mM":
        full = np.full(len(missing), np.array("NaT", present.dtype))
    else:
        full = np.zeros(len(missing), present.dtype)
    full[~missing] = present
    return number_values(name, full, missing)

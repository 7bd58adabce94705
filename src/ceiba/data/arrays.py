"""Columns of NumPy arrays and of Python lists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.categories import plain_labels
from ceiba.data.column import Values, check_reach, numbers
from ceiba.data.schema import stand_in_names

# What a value may be, asked in this order: NumPy's timedelta64 is one of its integers too.
_FAMILIES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("bool", (bool, np.bool_)),
    ("duration", (timedelta, np.timedelta64)),
    ("instant", (date, np.datetime64)),
    ("int", (int, np.integer)),
    ("float", (float, np.floating, Decimal, Fraction)),
    ("complex", (complex, np.complexfloating)),
    ("text", (str,)),
)
# pandas' NA and NaT are known by name, for pandas need not be there.
_GAP_TYPES = ("NoneType", "NAType", "NaTType")
# Looked up instead of asked for: the name of a NumPy type takes a microsecond.
_KEPT = {np.dtype(name): name for name in ("float64", "float32", "int64", "uint64")}


def check_dimensions(array: Array) -> None:
    """Refuse an array that is not two-dimensional."""
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


def number_block(array: Array) -> tuple[Array, str]:
    """An array of plain numbers or truth values in a type that tables keep, and its name."""
    name = _KEPT.get(array.dtype)
    if name is not None:
        return array, name
    kind, size = array.dtype.kind, array.dtype.itemsize
    if kind in "iu":
        name = "uint64" if kind == "u" and size == 8 else "int64"
    else:
        name = "float32" if kind == "f" and size <= 4 else "float64"
    return array.astype(name), name


def array_columns(array: Array) -> list[Values]:
    """The columns of a 2-D NumPy array of any type."""
    names = stand_in_names(array.shape[1])
    kind = array.dtype.kind
    if kind == "c":
        raise ValueError("Complex data not supported: give real numbers, real and imaginary apart.")
    if kind not in "fiubmMOUT":
        raise TypeError(
            f"An array of type {array.dtype} is not supported: the argument must be a table with "
            "a string or a number in each place."
        )
    if isinstance(array, np.ma.MaskedArray):
        return _masked_columns(array, names)
    if kind in "OUT":
        return [object_values(name, array[:, j].tolist()) for j, name in enumerate(names)]
    return [numbers(name, array[:, j]) for j, name in enumerate(names)]


def _masked_columns(array: Any, names: Sequence[str]) -> list[Values]:
    mask = np.ma.getmaskarray(array)
    if array.dtype.kind in "fiub":
        data = np.asarray(array)
        return [numbers(name, data[:, j], mask[:, j]) for j, name in enumerate(names)]
    filled = np.array(array, dtype=object)
    filled[mask] = None
    return [object_values(name, filled[:, j].tolist()) for j, name in enumerate(names)]


def row_columns(
    rows: Sequence[Any], expected: Sequence[str] = ()
) -> tuple[list[Values], list[Any] | None]:
    """The columns of a list of rows (mappings or sequences), and their names if they have some.

    Mappings have no order of their own: their columns follow the ``expected`` names, then the
    order in which keys come. A key that a mapping lacks is a gap.
    """
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = list(dict.fromkeys([*expected, *(key for row in rows for key in row)]))
        return [object_values(str(n), [row.get(n) for row in rows]) for n in names], names
    if not all(isinstance(row, list | tuple | np.ndarray) for row in rows):
        check_dimensions(_flat(rows))
    _check_widths(rows)
    if rows and any(isinstance(value, list | tuple | np.ndarray) for value in rows[0]):
        check_dimensions(np.empty((len(rows), len(rows[0]), 1)))
    columns = list(zip(*rows, strict=True))
    names = stand_in_names(len(columns))
    return [object_values(n, list(c)) for n, c in zip(names, columns, strict=True)], None


def _flat(items: Sequence[Any]) -> Array:
    array = np.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        array[place] = item
    return array


def _check_widths(rows: Sequence[Any]) -> None:
    for place, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"Row {place} has {len(row)} values, but row 0 has {len(rows[0])}: "
                "give every row the same number of values, None for what is missing."
            )


def object_values(name: str, items: list[Any]) -> Values:
    """The column of a list of Python values: numbers, text, truth values, dates or durations.

    None, NaN, pandas' NA and NaT are gaps. Text is always a label, also where it spells a number.
    """
    families = {kind: _family(kind) for kind in set(map(type, items))}
    gaps = _find_gaps(items, families)
    present = items if gaps is None else [v for v, gap in zip(items, gaps, strict=True) if not gap]
    found = {families[kind] for kind in set(map(type, present))}
    if "other" in found or "complex" in found:
        _refuse_type(name, items, families)
    if not found:
        return numbers(name, np.full(len(items), np.nan))
    if found == {"text"}:
        return _text_values(name, items, gaps)
    if found == {"bool"}:
        return Values(name, _codes(items, gaps, {False: 0, True: 1}), labels=(False, True))
    if found <= {"bool", "int", "float"}:
        return _spread(name, _number_array(present, found), gaps)
    if found in ({"instant"}, {"duration"}):
        return _spread(name, _time_array(name, present, found.pop()), gaps)
    raise _mixture(name, present, families)


def _family(kind: type) -> str:
    if kind.__name__ in _GAP_TYPES:
        return "gap"
    return next((name for name, types in _FAMILIES if issubclass(kind, types)), "other")


def _find_gaps(items: list[Any], families: dict[type, str]) -> Array | None:
    never = {kind for kind, family in families.items() if family == "gap"}
    maybe = {k for k, family in families.items() if family in ("float", "instant", "duration")}
    if not never and not maybe:
        return None
    gaps = (type(v) in never or (type(v) in maybe and v != v) for v in items)
    mask = np.fromiter(gaps, bool, len(items))
    return mask if mask.any() else None


def _refuse_type(name: str, items: list[Any], families: dict[type, str]) -> None:
    for row, value in enumerate(items):
        if families[type(value)] == "complex":
            raise ValueError(f"Complex data not supported: column {name!r}, row {row}: {value!r}.")
        if families[type(value)] == "other":
            raise TypeError(
                f"Column {name!r}, row {row}: the argument must be a string or a number, "
                f"not {type(value).__name__!r}."
            )


def _mixture(name: str, present: list[Any], families: dict[type, str]) -> ValueError:
    firsts: dict[str, Any] = {}
    for value in present:
        firsts.setdefault(families[type(value)], value)
    shown = " and ".join(f"{family} ({value!r})" for family, value in firsts.items())
    return ValueError(
        f"Column {name!r} mixes {shown} values. Give them one type, text for example, and None "
        "where a value is missing."
    )


def _text_values(name: str, items: list[Any], gaps: Array | None) -> Values:
    found = set(items) if gaps is None else {v for v, g in zip(items, gaps, strict=True) if not g}
    labels = sorted(found)
    places = {label: place for place, label in enumerate(labels)}
    return Values(name, _codes(items, gaps, places), labels=plain_labels(labels, name))


def _codes(items: list[Any], gaps: Array | None, places: dict[Any, int]) -> Array:
    if gaps is None:
        return np.fromiter(map(places.__getitem__, items), np.int32, len(items))
    found = (-1 if gap else places[v] for v, gap in zip(items, gaps.tolist(), strict=True))
    return np.fromiter(found, np.int32, len(items))


def _number_array(present: list[Any], found: set[str]) -> Array:
    if "float" in found:
        return np.array(present, dtype=np.float64)
    low, high = min(present), max(present)
    if low >= 0 and 2**63 <= high < 2**64:
        return np.array(present, dtype=np.uint64)
    fits = low >= -(2**63) and high < 2**63
    return np.array(present, dtype=np.int64 if fits else np.float64)


def _time_array(name: str, present: list[Any], family: str) -> Array:
    word = "datetime64" if family == "instant" else "timedelta64"
    times = [_time(value, word) for value in present]
    # Checked in days first: bringing days and nanoseconds to one unit may wrap.
    check_reach(name, np.array([time.astype(f"{word}[D]") for time in times]))
    return np.array(times)


def _time(value: Any, word: str) -> Any:
    if isinstance(value, datetime) and value.tzinfo is not None:
        value = value.astimezone(UTC).replace(tzinfo=None)
    # pandas' own instants and durations are finer than Python's microseconds.
    exact = getattr(value, f"to_{word}", None)
    return getattr(np, word)(value) if exact is None else exact()


def _spread(name: str, present: Array, gaps: Array | None) -> Values:
    if gaps is None:
        return numbers(name, present)
    if present.dtype.kind in "mM":
        full = np.full(len(gaps), np.array("NaT", present.dtype))
    else:
        full = np.zeros(len(gaps), present.dtype)
    full[~gaps] = present
    return numbers(name, full, gaps)

"""Columns of containers: inferred, or converted to the column of a schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import inf
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.categories import Label, find_categories, parse_number, plain_labels, sort_labels
from ceiba.data.schema import TEMPORAL, Column, Kind

KindRequest = str | Sequence[Any] | None

# 64-bit nanoseconds cover so many days before and after 1970.
_MAX_DAYS = 106_751


@dataclass(frozen=True, slots=True, eq=False)
class ColumnValues:
    """Values of one column of a container.

    ``array`` has numbers of type ``dtype``, as in `Column`, or int32 codes into ``labels``, -1 if
    missing. ``missing`` is the mask of missing integers and times, which are 0 in ``array``;
    missing floats are NaN. A categorical has ``declared`` labels, which may be ``ordered``.
    """

    name: str
    array: Array
    dtype: str = "codes"
    missing: Array | None = None
    labels: tuple[Label, ...] = ()
    declared: bool = False
    ordered: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the values are numbers."""
        return self.dtype != "codes"


@cache
def number_dtype(dtype: np.dtype[Any]) -> str:
    """Return the dtype of tables for numbers or bools of any NumPy dtype."""
    if dtype.kind in "fb":
        return "float32" if dtype.itemsize in (2, 4) else "float64"
    return "uint64" if dtype.kind == "u" and dtype.itemsize == 8 else "int64"


def whole_dtype(low: int, high: int) -> str:
    """Return the dtype of whole numbers from ``low`` to ``high``, exact where 64 bits suffice."""
    if low >= -(2**63) and high < 2**63:
        return "int64"
    return "uint64" if low >= 0 and high < 2**64 else "float64"


def number_values(name: str, array: Array, missing: Array | None = None) -> ColumnValues:
    """Convert any NumPy numbers or times to one of the dtypes of tables."""
    if array.dtype.kind in "mM":
        dtype = TEMPORAL[0] if array.dtype.kind == "M" else TEMPORAL[1]
        missing = np.isnat(array) if missing is None else np.isnat(array) | missing
        check_time_range(name, array[~missing])
        array = array.astype(dtype, copy=False).view(np.int64)
    else:
        dtype = number_dtype(array.dtype)
        array = array.astype(dtype, copy=False)
    if dtype.startswith("float"):
        array = array if missing is None else np.where(missing, array.dtype.type(np.nan), array)
        return ColumnValues(name, array, dtype)
    if missing is None or not missing.any():
        return ColumnValues(name, array, dtype)
    return ColumnValues(name, np.where(missing, array.dtype.type(0), array), dtype, missing)


def check_time_range(name: str, times: Array) -> None:
    """Raise ValueError for times beyond 64-bit nanoseconds, which NumPy wraps silently."""
    unit = "datetime64" if times.dtype.kind == "M" else "timedelta64"
    days = times.astype(f"{unit}[D]").view(np.int64)
    if days.size and (days.min() <= -_MAX_DAYS or days.max() >= _MAX_DAYS):
        worst = times[int(np.argmax(np.abs(days)))]
        raise ValueError(
            f"Column {name!r} must be within the years 1677 to 2262 (64-bit nanoseconds), got "
            f"{worst}. Convert it to numbers, of days or years for example."
        )


def missing_mask(values: ColumnValues) -> Array:
    """Return the mask of the missing values."""
    if values.missing is not None:
        return values.missing
    if values.dtype == "codes":
        return values.array < 0
    if values.array.dtype.kind == "f":
        return np.isnan(values.array)
    return np.zeros(len(values.array), bool)


def to_numbers(values: ColumnValues) -> ColumnValues:
    """Convert the column to numbers; labels are parsed."""
    if values.numeric:
        return values
    missing = values.array < 0
    found = [parse_number(label) for label in values.labels]
    bad = [code for code, number in enumerate(found) if number is None]
    if bad and (wrong := np.isin(values.array, bad)).any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"Column {values.name!r} is numeric, but {values.labels[values.array[row]]!r} in row "
            f"{row} is not a number. Correct the value, or use None for a missing value."
        )
    whole = all(n is None or (isinstance(n, int) and whole_dtype(n, n) == "int64") for n in found)
    # The last entry is for the code -1; unused categories need not be numbers.
    numbers = [number or 0 for number in found]
    numbers = numbers if whole else list(map(_to_float, numbers))
    table = np.array([*numbers, 0], np.int64 if whole else np.float64)
    return number_values(values.name, table[values.array], missing if missing.any() else None)


def _to_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:  # as the text of an infinite float
        return inf if number > 0 else -inf


def to_categories(values: ColumnValues) -> ColumnValues:
    """Convert the column to categories; every distinct number is one."""
    if not values.numeric:
        return values
    missing = missing_mask(values)
    found, inverse = np.unique(values.array[~missing], return_inverse=True)
    codes = np.full(len(values.array), -1, np.int32)
    codes[~missing] = inverse
    raw = found.view(values.dtype) if values.dtype in TEMPORAL else found
    # NumPy scalars, not tolist(): float32 labels are spelled in their own precision.
    return ColumnValues(values.name, codes, labels=plain_labels(list(raw), values.name))


def infer_column(values: ColumnValues, request: KindRequest = None) -> tuple[Column, ColumnValues]:
    """Infer the column from its container or the requested kind; also convert its values."""
    if request is None:
        request = "numeric" if values.numeric else "ordinal" if values.ordered else "nominal"
    if not isinstance(request, str):
        return _listed_column(values, plain_labels(request, values.name))
    check_kind(values.name, request)
    if request == "numeric":
        values = to_numbers(values)
        return Column(values.name, Kind.NUMERIC, dtype=values.dtype), values
    values = to_categories(values)
    if request == "ordinal" and values.declared:
        return _recode(values, Kind.ORDINAL, values.labels)
    if request == "ordinal" and any(isinstance(label, str) for label in values.labels):
        raise ValueError(f"Column {values.name!r} {unknown_order(values.name)}")
    categories = values.labels if values.declared else sort_labels(values.labels)
    return _recode(values, Kind(request), categories)


def check_kind(name: str, request: str) -> None:
    """Raise ValueError unless the requested kind of a column is the name of a kind."""
    if request not in tuple(Kind):
        raise ValueError(
            f"kinds[{name!r}] must be 'numeric', 'nominal', 'ordinal' or a list of categories "
            f"in order, got {request!r}."
        )


def unknown_order(name: str) -> str:
    """Return the end of the message for an ordinal column of text without categories."""
    return (
        "is text, whose order is unknown. Give its categories in order: "
        f"kinds={{{name!r}: ['low', 'medium', 'high']}}, for example."
    )


def _listed_column(values: ColumnValues, listed: tuple[Label, ...]) -> tuple[Column, ColumnValues]:
    categories = to_categories(values)
    found = find_categories(categories.labels, listed, values.name)
    for code, (label, index) in enumerate(zip(categories.labels, found, strict=True)):
        if index < 0 and (categories.array == code).any():
            raise ValueError(
                f"Column {values.name!r} contains {label!r}, which is not a category of kinds: "
                f"{list(listed)!r}."
            )
    return _recode(categories, Kind.ORDINAL, listed)


def convert_column(
    values: ColumnValues, column: Column, unseen: list[UnseenCategories] | None = None
) -> tuple[Column, ColumnValues]:
    """Convert values to a column of a schema; numbers keep their dtype if its own is not exact.

    Values whose category the schema lacks become missing, and are added to ``unseen``.
    """
    values = replace(values, name=column.name)
    if column.kind is not Kind.NUMERIC:
        categories = to_categories(values)
        recoded = _recode(categories, column.kind, column.categories)
        if unseen is not None and (found := _unseen(categories, recoded[1])):
            unseen.append(found)
        return recoded
    converted = _convert_numbers(to_numbers(values), column)
    return replace(column, dtype=converted.dtype), converted


@dataclass(frozen=True, slots=True)
class UnseenCategories:
    """Categories of a column that its schema lacks, and their number of rows (None if unknown)."""

    column: str
    labels: tuple[Label, ...]
    n_rows: int | None = None


def _unseen(values: ColumnValues, converted: ColumnValues) -> UnseenCategories | None:
    """Return the categories that were lost; None if there are none, or the schema lists none."""
    if not converted.labels or values.labels == converted.labels:
        return None
    lost = values.array[(converted.array < 0) & (values.array >= 0)]
    if not len(lost):
        return None
    labels = sort_labels(values.labels[code] for code in np.unique(lost))
    return UnseenCategories(values.name, labels, len(lost))


def _recode(
    values: ColumnValues, kind: Kind, categories: tuple[Label, ...]
) -> tuple[Column, ColumnValues]:
    column = Column(values.name, kind, categories, "codes")
    if values.labels == categories:
        return column, replace(values, array=values.array.astype(np.int32, copy=False))
    # The last entry is for the code -1.
    new_codes = np.array([*find_categories(values.labels, categories, values.name), -1], np.int32)
    return column, replace(values, array=new_codes[values.array], labels=categories)


def _convert_numbers(values: ColumnValues, column: Column) -> ColumnValues:
    found, expected = values.dtype, column.dtype
    if found == expected:
        return values
    missing = missing_mask(values)
    if missing.all():
        empty = np.zeros(len(missing), "int64" if column.temporal else expected)
        return replace(number_values(values.name, empty, missing), dtype=expected)
    if column.temporal or found in TEMPORAL:
        raise ValueError(f"Column {values.name!r} must have dtype {expected}, got {found}.")
    if expected.startswith("float"):
        # float64 is not converted to float32, which would round.
        floats = values.array.astype("float64", copy=False)
        return number_values(values.name, floats, missing if values.missing is not None else None)
    return _to_integers(values, missing, expected)


def _to_integers(values: ColumnValues, missing: Array, dtype: str) -> ColumnValues:
    filled = np.where(missing, values.array.dtype.type(0), values.array)
    with np.errstate(invalid="ignore"):  # the remainder of infinity is NaN
        whole = filled.dtype.kind != "f" or bool(np.all(filled % 1 == 0))
    bounds = np.iinfo(dtype)
    # Compared as Python ints: the cast of a float out of bounds depends on the machine.
    if not whole or int(filled.min()) < bounds.min or int(filled.max()) > bounds.max:
        return values
    return number_values(values.name, filled.astype(dtype), missing)

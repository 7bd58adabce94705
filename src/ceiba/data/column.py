"""One column on its way from a container to a table: learnt, or matched to a schema."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.categories import Label, find_levels, plain_labels, spelled
from ceiba.data.schema import TEMPORAL, Column, Kind

Wish = str | Sequence[Any] | None

# Days from 1970 that nanoseconds in 64 bits can reach on either side.
_REACH = 106_751


@dataclass(frozen=True, slots=True, eq=False)
class Values:
    """What a container holds in one column.

    Parameters
    ----------
    name : str
    array : ndarray
        Numbers in ``dtype``, or int32 codes into ``labels`` with -1 for a gap.
    dtype : str
        As in `Column`.
    gaps : ndarray of bool or None
        Missing places of integers and times, which hold 0 there. Floats say NaN themselves.
    labels : tuple
        Labels of the codes, in the container's order.
    declared : bool
        Whether the container lists the labels (a categorical), or they were only found.
    ordered : bool
        Whether the container says that the order of the labels means something.
    """

    name: str
    array: Array
    dtype: str = "codes"
    gaps: Array | None = None
    labels: tuple[Label, ...] = ()
    declared: bool = False
    ordered: bool = False

    @property
    def numeric(self) -> bool:
        """Whether the column holds numbers."""
        return self.dtype != "codes"

    def renamed(self, name: str) -> Values:
        """The same values under another name."""
        return self if name == self.name else replace(self, name=name)


def numbers(name: str, array: Array, gaps: Array | None = None) -> Values:
    """Numeric values of any NumPy number or time type, in one of the types that tables keep."""
    kind = array.dtype.kind
    if kind in "mM":
        return _times(name, array, np.isnat(array) if gaps is None else np.isnat(array) | gaps)
    if kind in "fb":
        array = array.astype("float32" if array.dtype.itemsize in (2, 4) else "float64", copy=False)
        array = array if gaps is None else np.where(gaps, array.dtype.type(np.nan), array)
        return Values(name, array, array.dtype.name)
    wide = kind == "u" and array.dtype.itemsize == 8
    array = array.astype("uint64" if wide else "int64", copy=False)
    if gaps is None or not gaps.any():
        return Values(name, array, array.dtype.name)
    return Values(name, np.where(gaps, array.dtype.type(0), array), array.dtype.name, gaps)


def _times(name: str, array: Array, gaps: Array) -> Values:
    word = "datetime64" if array.dtype.kind == "M" else "timedelta64"
    check_reach(name, array[~gaps])
    ticks = array.astype(f"{word}[ns]", copy=False).view(np.int64)
    if not gaps.any():
        return Values(name, ticks, f"{word}[ns]")
    return Values(name, np.where(gaps, 0, ticks), f"{word}[ns]", gaps)


def check_reach(name: str, times: Array) -> None:
    """Refuse times that nanoseconds in 64 bits cannot hold: NumPy would wrap them silently."""
    word = "datetime64" if times.dtype.kind == "M" else "timedelta64"
    days = times.astype(f"{word}[D]").view(np.int64)
    if days.size and (days.min() <= -_REACH or days.max() >= _REACH):
        worst = times[int(np.argmax(np.abs(days)))]
        raise ValueError(
            f"Column {name!r} holds {worst}, which 64-bit nanoseconds cannot (they reach the years "
            "1677 to 2262). Give the column as numbers, of days or years, instead."
        )


def missing(values: Values) -> Array:
    """Mask of the missing places."""
    if values.gaps is not None:
        return values.gaps
    if values.dtype == "codes":
        return values.array < 0
    if values.array.dtype.kind == "f":
        return np.isnan(values.array)
    return np.zeros(len(values.array), bool)


def to_numbers(values: Values) -> Values:
    """The column as numbers: labels that are or spell numbers stand for them."""
    if values.numeric:
        return values
    gaps = values.array < 0
    found = [spelled(label) for label in values.labels]
    bad = [code for code, number in enumerate(found) if number is None]
    if bad and (wrong := np.isin(values.array, bad)).any():
        row = int(np.argmax(wrong))
        raise ValueError(
            f"Column {values.name!r} is numeric, and {values.labels[values.array[row]]!r} in row "
            f"{row} is no number. Correct the value, or give None where it is missing."
        )
    whole = all(number is None or _is_int64(number) for number in found)
    # One place more, for the code -1 of a gap; levels that no row has may spell no number.
    table = np.array([*(number or 0 for number in found), 0], np.int64 if whole else np.float64)
    return numbers(values.name, table[values.array], gaps if gaps.any() else None)


def _is_int64(number: int | float) -> bool:
    return isinstance(number, int) and -(2**63) <= number < 2**63


def to_levels(values: Values) -> Values:
    """The column as levels: every different number is one."""
    if not values.numeric:
        return values
    gaps = missing(values)
    found, places = np.unique(values.array[~gaps], return_inverse=True)
    codes = np.full(len(values.array), -1, np.int32)
    codes[~gaps] = places
    raw = found.view(values.dtype) if values.dtype in TEMPORAL else found
    # NumPy scalars, not tolist(): float32 labels are spelled in their own type.
    return Values(values.name, codes, labels=plain_labels(list(raw), values.name))


def learn(values: Values, wish: Wish = None) -> tuple[Column, Values]:
    """What the column is, by its container or by the kind that the user wishes, and its values."""
    if wish is None:
        wish = "numeric" if values.numeric else "ordinal" if values.ordered else "nominal"
    if not isinstance(wish, str):
        return _learn_listed(values, plain_labels(wish, values.name))
    match wish:
        case "numeric":
            values = to_numbers(values)
            return Column(values.name, Kind.NUMERIC, dtype=values.dtype), values
        case "nominal":
            values = to_levels(values)
            return _recoded(values, Kind.NOMINAL, tuple(sorted(values.labels)))
        case "ordinal":
            return _learn_order(values)
    raise ValueError(
        f"Unknown kind {wish!r} for column {values.name!r}: 'numeric', 'nominal', 'ordinal' "
        "or a list of its levels in order."
    )


def _learn_order(values: Values) -> tuple[Column, Values]:
    levels = to_levels(values)
    if levels.declared:
        return _recoded(levels, Kind.ORDINAL, levels.labels)
    if any(isinstance(label, str) for label in levels.labels):
        raise ValueError(
            f"Column {values.name!r} is text, whose order is unknown: give its levels in order, "
            f"kinds={{{values.name!r}: ['low', 'middle', 'high']}} for example."
        )
    return _recoded(levels, Kind.ORDINAL, tuple(sorted(levels.labels)))


def _learn_listed(values: Values, listed: tuple[Label, ...]) -> tuple[Column, Values]:
    levels = to_levels(values)
    places = find_levels(levels.labels, listed, values.name)
    for code, (label, place) in enumerate(zip(levels.labels, places, strict=True)):
        if place < 0 and (levels.array == code).any():
            raise ValueError(
                f"Column {values.name!r} holds {label!r}, which is not among the levels given for "
                f"it: {list(listed)!r}."
            )
    return _recoded(levels, Kind.ORDINAL, listed)


def fit_to(values: Values, column: Column) -> tuple[Column, Values]:
    """The column's values under a schema's column: numbers as numbers, levels by their labels.

    A label that the schema does not know becomes a gap. Numbers are brought to the schema's type
    where that loses nothing; otherwise they keep their own, and the returned column says so.
    """
    values = values.renamed(column.name)
    if column.kind is not Kind.NUMERIC:
        return _recoded(to_levels(values), column.kind, column.levels)
    settled = _settle(to_numbers(values), column)
    return replace(column, dtype=settled.dtype), settled


def _recoded(values: Values, kind: Kind, levels: tuple[Label, ...]) -> tuple[Column, Values]:
    column = Column(values.name, kind, levels, "codes")
    if values.labels == levels:
        return column, replace(values, array=values.array.astype(np.int32, copy=False))
    # The last place answers the code -1 of a gap.
    places = np.array([*find_levels(values.labels, levels, values.name), -1], np.int32)
    return column, replace(values, array=places[values.array], labels=levels)


def _settle(values: Values, column: Column) -> Values:
    have, want = values.dtype, column.dtype
    if have == want:
        return values
    gaps = missing(values)
    if gaps.all():
        empty = np.zeros(len(gaps), "int64" if column.temporal else want)
        return replace(numbers(values.name, empty, gaps), dtype=want)
    if column.temporal or have in TEMPORAL:
        raise ValueError(f"Column {values.name!r} should hold {want} values, but holds {have} now.")
    if want.startswith("float"):
        # float64 into a float32 column would round, so it stays as it is.
        floats = values.array.astype("float64", copy=False)
        return numbers(values.name, floats, gaps if values.gaps is not None else None)
    return _to_integers(values, gaps, want)


def _to_integers(values: Values, gaps: Array, want: str) -> Values:
    shown = np.where(gaps, values.array.dtype.type(0), values.array)
    with np.errstate(invalid="ignore"):  # infinity leaves no remainder but NaN
        whole = shown.dtype.kind != "f" or bool(np.all(shown % 1 == 0))
    reach = np.iinfo(want)
    # Compared as Python's integers: a float beyond the reach is cast differently by each machine.
    if not whole or int(shown.min()) < reach.min or int(shown.max()) > reach.max:
        return values
    return numbers(values.name, shown.astype(want), gaps)

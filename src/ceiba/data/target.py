"""Targets: class indices, or numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ceiba._typing import Array
from ceiba.data.arrays import array_columns, object_values
from ceiba.data.column import ColumnValues, missing_mask, to_categories, to_numbers
from ceiba.data.schema import TEMPORAL
from ceiba.data.table import Table
from ceiba.data.warn import warn_user

Task = Literal["classification", "regression"]

# From this number of rows on, integers in a small range are encoded by a lookup table instead of by
# sorting: 3 ms instead of 19 for half a million rows; for 150 rows sorting is faster.
_MIN_LOOKUP_ROWS = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A target: the class index (int32) of every row, or its number (float64).

    ``classes`` are sorted, in their original dtype; None for regression.
    """

    values: Array
    classes: Array | None = None

    @classmethod
    def of(cls, y: Any, n_rows: int, *, task: Task = "classification") -> Target:
        """Validate an array, a series, a frame of one column or a list as the target of X.

        Classes are text, integers, bools or categories; only those that occur are kept. Missing
        values are not allowed.
        """
        if task not in ("classification", "regression"):
            raise ValueError(f"task must be 'classification' or 'regression', got {task!r}.")
        if type(y) is np.ndarray and y.ndim == 1:
            plain = _plain_classes(y) if task == "classification" else _plain_numbers(y)
            if plain is not None:
                _check_length(len(y), n_rows)
                return plain
        values, dtype = _read(y)
        _check_length(len(values.array), n_rows)
        _check_values(values)
        return _classes(values, dtype) if task == "classification" else _numbers(values)

    @property
    def labels(self) -> Array:
        """The classes themselves instead of their indices, or the numbers."""
        return self.values if self.classes is None else np.asarray(self.classes[self.values])

    def take(self, rows: Array) -> Target:
        """Select rows by index; the classes stay those of all rows."""
        return Target(self.values[rows], self.classes)

    def without_unused_classes(self) -> Target:
        """Return the target with only the classes that occur."""
        if self.classes is None:
            return self
        occurs = np.bincount(self.values, minlength=len(self.classes)) > 0
        if occurs.all():
            return self
        codes = np.cumsum(occurs, dtype=np.int32) - 1
        return Target(codes[self.values], self.classes[occurs])


def is_multi_output(y: Any) -> bool:
    """Return whether ``y`` has several columns.

    Examples
    --------
    >>> is_multi_output([[1.0, 2.0], [3.0, 4.0]]), is_multi_output([1.0, 2.0])
    (True, False)
    """
    if isinstance(y, list | tuple):
        return bool(y) and isinstance(y[0], list | tuple | np.ndarray) and len(y[0]) > 1
    if isinstance(y, Table) or hasattr(y, "tocsr"):
        return False  # refused as a single target, with a remedy
    shape: Any = getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] > 1


def output_columns(y: Any) -> list[Any]:
    """Return the columns of a ``y`` with several, as arrays or series."""
    if not isinstance(y, list | tuple | np.ndarray):
        import narwhals as nw

        frame = nw.from_native(y, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return [column.to_native() for column in frame.iter_columns()]
    if isinstance(y, list | tuple) and len({np.size(row) for row in y}) > 1:
        raise ValueError(
            "y must have a number of columns, the same for every row, got rows of "
            f"{', '.join(map(str, sorted({np.size(row) for row in y})))} values."
        )
    array = np.asarray(y)
    if array.ndim > 2:
        _check_shape(array.shape)
    return list(array.T)


def merge_classes(left: Array, right: Array) -> Array:
    """Merge the sorted classes of two parts of a target, in a common dtype."""
    if not len(left) and not len(right) and left.dtype.kind == right.dtype.kind:
        return np.concatenate([left, right])  # empty, in the wider dtype
    if not len(left) or not len(right):
        return left if len(left) else right
    if left.dtype == right.dtype and np.array_equal(left, right):
        return left
    _check_comparable(left, right)
    return np.unique(np.concatenate([left, right]))


def class_indices(labels: Array, classes: Array) -> Array:
    """Return the index (int32) of each label among the sorted classes; raise if unknown."""
    if not len(labels):
        return np.empty(0, np.int32)
    if len(classes):
        _check_comparable(labels, classes)
    indices = np.searchsorted(classes, labels).astype(np.int32)
    known = indices < len(classes)
    known[known] = classes[indices[known]] == labels[known]
    if not known.all():
        absent = labels[int(np.argmin(known))]
        raise ValueError(
            f"y contains the unknown class {_format_label(absent)}; the classes are "
            f"{', '.join(map(_format_label, classes[:8]))}{', ...' if len(classes) > 8 else ''}."
        )
    return indices


def _check_comparable(left: Array, right: Array) -> None:
    """Raise ValueError for text beside numbers, and numbers without a common exact dtype."""
    if isinstance(left[0], str) != isinstance(right[0], str):
        raise ValueError(
            "y must have one type, all text or all numbers, got "
            f"{_format_label(left[0])} in one part and {_format_label(right[0])} in another."
        )
    wide = np.result_type(left, right)
    for part in (left, right):
        if wide.kind == "f" and part.astype(wide).tolist() != part.tolist():
            raise ValueError(
                f"y has dtype {left.dtype} in one part and {right.dtype} in another, which have no "
                "common dtype without rounding: convert it with astype."
            )


def _format_label(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _check_length(length: int, n_rows: int) -> None:
    if length != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{n_rows} rows in X, {length} in y."
        )


def _plain_classes(y: Array) -> Target | None:
    """Encode an array of text or integers; None if the general path is needed."""
    kind = y.dtype.kind
    if kind == "U":
        return _text_classes(y)
    if kind in "iub":
        return _whole_classes(y, y)
    if kind == "f":
        with np.errstate(invalid="ignore"):  # NaN and infinity become another number
            whole = y.astype(np.int64)
        return _whole_classes(whole, y) if (whole == y).all() else None
    return None


def _text_classes(y: Array) -> Target:
    items = y.tolist()
    used = sorted(set(items))
    index = {label: code for code, label in enumerate(used)}
    codes = np.fromiter(map(index.__getitem__, items), np.int32, len(items))
    return Target(codes, np.array(used, dtype="U"))


def _whole_classes(whole: Array, y: Array) -> Target:
    """Encode whole numbers; the classes have the dtype of ``y``."""
    has_many_rows = len(whole) >= _MIN_LOOKUP_ROWS
    span = int(whole.max()) - int(whole.min()) if has_many_rows else 0
    if has_many_rows and span < len(whole):
        classes, codes = _unique_by_lookup(whole, span)
    else:
        classes, codes = np.unique(whole, return_inverse=True)
    return Target(codes.astype(np.int32), classes.astype(y.dtype.newbyteorder("=")))


def _unique_by_lookup(whole: Array, span: int) -> tuple[Array, Array]:
    """Compute `numpy.unique` with inverse of integers within ``span`` of the minimum."""
    wide = np.uint64 if whole.dtype == np.uint64 else np.int64  # 8-bit differences would wrap
    minimum = wide(whole.min())
    offsets = (whole.astype(wide, copy=False) - minimum).astype(np.intp, copy=False)
    found = np.flatnonzero(np.bincount(offsets))
    classes = found.astype(wide) + minimum
    if len(found) > span:
        return classes, offsets
    table = np.zeros(span + 1, np.int32)
    table[found] = np.arange(len(found))
    return classes, table[offsets]


def _plain_numbers(y: Array) -> Target | None:
    """Convert a numeric array; None if it is not numeric or not finite."""
    if y.dtype.kind not in "fiub":
        return None
    values = np.ascontiguousarray(y, dtype=np.float64)
    return Target(values) if np.isfinite(values).all() else None


def _read(y: Any) -> tuple[ColumnValues, str | None]:
    """Read the values of a target, and the dtype of its classes if it has one."""
    if y is None:
        raise ValueError("This learner requires y to be passed, but the target y is None.")
    if isinstance(y, Table):
        raise TypeError(
            f"y must be one column, got a Table of {len(y.schema)}: pass its values, "
            f"y=table[{y.schema[0].name!r}], or use ceiba.read(path, target=...)."
        )
    if hasattr(y, "tocsr"):
        raise TypeError(
            "A sparse target is not supported: convert it to a dense array, y.toarray()."
        )
    values = None
    if isinstance(y, list | tuple):
        if not any(isinstance(item, list | tuple | np.ndarray) for item in y):
            # Not by NumPy, which converts numbers beside text to text.
            values = object_values("y", list(y))
    elif not isinstance(y, np.ndarray):
        values = _read_series(y)
    if values is not None:
        return values, "U" if isinstance(next(iter(values.labels), None), str) else None
    y = np.asarray(y)
    _check_shape(y.shape)
    kind = y.dtype.kind
    dtype = "U" if kind == "U" else y.dtype.name if kind in "fiub" else None
    if kind == "c":
        raise ValueError(f"Complex data not supported: y must be real, got {y.dtype}.")
    return array_columns(y.reshape(-1, 1), ["y"])[0], dtype


def _read_series(y: Any) -> ColumnValues | None:
    import narwhals as nw

    from ceiba.data.frames import series_values

    native = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        _check_shape(native.shape)
        native = next(native.iter_columns())
    return series_values("y", native) if isinstance(native, nw.Series) else None


def _check_shape(shape: tuple[int, ...]) -> None:
    if len(shape) == 1:
        return
    if len(shape) == 2 and shape[1] == 1:
        from sklearn.exceptions import DataConversionWarning

        message = "A column-vector y was passed when a 1d array was expected: use y.ravel()."
        warn_user(message, DataConversionWarning)
        return
    if not shape:
        raise ValueError(
            "y should be a 1d array, got a single value instead. Pass a value for each row, "
            "X['target'] for example, and leave that column out of X."
        )
    if len(shape) > 2:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {shape} instead. A target has one "
            "value for each row: select them, or reshape y."
        )
    raise ValueError(
        f"y should be a 1d array, got an array of shape {shape} instead. Multiple targets are not "
        "supported: fit one model for each."
    )


def _check_values(values: ColumnValues) -> None:
    missing = missing_mask(values)
    if missing.any():
        raise ValueError(
            f"Input y contains NaN or None: row {int(np.argmax(missing))}. Remove the rows without "
            "a target."
        )
    if values.array.dtype.kind == "f" and not np.isfinite(values.array).all():
        row = int(np.argmin(np.isfinite(values.array)))
        raise ValueError(f"Input y contains infinity: row {row}.")


def _classes(values: ColumnValues, dtype: str | None) -> Target:
    if values.numeric and values.dtype not in TEMPORAL:
        _check_discrete(values.array)
        # -0.0 and 0.0 are one class, 0.0.
        array = values.array + 0.0 if values.array.dtype.kind == "f" else values.array
        classes, codes = np.unique(array, return_inverse=True)
        return Target(codes.astype(np.int32), classes if dtype is None else classes.astype(dtype))
    categories = to_categories(values)
    # Only the classes that occur: an unused category cannot be learned.
    used = sorted({categories.labels[code] for code in np.unique(categories.array)})
    index = {label: code for code, label in enumerate(used)}
    table = np.array([index.get(label, -1) for label in categories.labels], np.int32)
    text = isinstance(used[0], str)
    return Target(table[categories.array], np.array(used, dtype=dtype or object if text else None))


def _check_discrete(array: Array) -> None:
    if array.dtype.kind != "f" or (whole := array % 1 == 0).all():
        return
    row = int(np.argmin(whole))
    raise ValueError(
        f"Unknown label type: continuous. Classes must be text or whole numbers, got {array[row]} "
        f"in row {row}: use a regressor for numbers."
    )


def _numbers(values: ColumnValues) -> Target:
    if values.dtype in TEMPORAL:
        raise ValueError("y must be numeric, got times: convert them to days or seconds.")
    return Target(to_numbers(values).array.astype(np.float64))

"""What a learner is to predict: classes as codes, or numbers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from ceiba._typing import Array
from ceiba.data.arrays import array_columns, object_values
from ceiba.data.column import Values, missing, to_levels, to_numbers
from ceiba.data.schema import TEMPORAL

Task = Literal["classification", "regression"]

# From so many rows on whole numbers are told apart by a table instead of by sorting, where they lie
# close enough together: 3 ms instead of 19 for half a million rows; for 150 rows sorting is faster.
_MANY = 1024


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A target column.

    Parameters
    ----------
    values : ndarray
        For classification the place of every row's class in ``classes`` (int32), for regression
        the numbers (float64).
    classes : ndarray or None
        The classes, sorted, in the type in which they were given; None for regression.

    Examples
    --------
    >>> target = Target.of(["no", "yes", "no"], 3)
    >>> target.values, target.classes
    (array([0, 1, 0], dtype=int32), array(['no', 'yes'], dtype='<U3'))
    """

    values: Array
    classes: Array | None = None

    @classmethod
    def of(cls, y: Any, n_rows: int, *, task: Task = "classification") -> Target:
        """Check a target and bring it to codes or floats.

        Parameters
        ----------
        y : array, series, frame of one column or list of length ``n_rows``
            Text, whole numbers, truth values or categories for classification (classes are
            those that occur); numbers for regression. No gaps.
        n_rows : int
            Rows of the table that it belongs to.
        task : "classification" or "regression"
        """
        if task not in ("classification", "regression"):
            raise ValueError(f"Unknown task {task!r}: 'classification' or 'regression'.")
        if type(y) is np.ndarray and y.ndim == 1:
            plain = _plain_classes(y) if task == "classification" else _plain_numbers(y)
            if plain is not None:
                _check_length(len(y), n_rows)
                return plain
        values, form = _read(y)
        _check_length(len(values.array), n_rows)
        _refuse_gaps(values)
        return _classes(values, form) if task == "classification" else _numbers(values)

    def take(self, rows: Array) -> Target:
        """The target of some rows, given by their numbers; classes are those that they have."""
        values = self.values[rows]
        if self.classes is None:
            return Target(values)
        seen = np.bincount(values, minlength=len(self.classes)) > 0
        if seen.all():
            return Target(values, self.classes)
        classes = self.classes[seen]
        if classes.dtype.kind == "U":
            # As wide as those that are left ask for: so they are where others never were.
            classes = np.array(classes.tolist(), dtype="U")
        return Target((np.cumsum(seen, dtype=np.int32) - 1)[values], classes)


def unite_classes(mine: Array, theirs: Array) -> Array:
    """The classes of two parts of a target, sorted, in a type that holds both.

    Examples
    --------
    >>> unite_classes(np.array(["no", "yes"]), np.array(["maybe"]))
    array(['maybe', 'no', 'yes'], dtype='<U5')
    """
    if not len(mine) and not len(theirs) and mine.dtype.kind == theirs.dtype.kind:
        return np.concatenate([mine, theirs])  # nobody's, in the wider type
    if not len(mine) or not len(theirs):
        return mine if len(mine) else theirs
    if mine.dtype == theirs.dtype and np.array_equal(mine, theirs):
        return mine
    _check_comparable(mine, theirs)
    return np.unique(np.concatenate([mine, theirs]))


def class_places(mine: Array, classes: Array) -> Array:
    """The place of each of some classes among all; one that is not there is refused.

    Examples
    --------
    >>> class_places(np.array([2, 7]), np.array([1, 2, 5, 7]))
    array([1, 3], dtype=int32)
    """
    if not len(mine):
        return np.empty(0, np.int32)
    if len(classes):
        _check_comparable(mine, classes)
    places = np.searchsorted(classes, mine).astype(np.int32)
    known = places < len(classes)
    known[known] = classes[places[known]] == mine[known]
    if not known.all():
        absent = mine[int(np.argmin(known))]
        raise ValueError(
            f"y holds the class {_shown(absent)}, which is not among the classes known: "
            f"{', '.join(map(_shown, classes[:8]))}{', ...' if len(classes) > 8 else ''}."
        )
    return places


def _check_comparable(mine: Array, theirs: Array) -> None:
    """Refuse text beside numbers, and numbers that no common type can hold."""
    if isinstance(mine[0], str) != isinstance(theirs[0], str):
        raise ValueError(
            f"y holds {_shown(mine[0])} in one part and {_shown(theirs[0])} in another: give the "
            "classes one type, all text or all numbers."
        )
    wide = np.result_type(mine, theirs)
    for part in (mine, theirs):
        if wide.kind == "f" and part.astype(wide).tolist() != part.tolist():
            raise ValueError(
                f"y holds {mine.dtype} in one part and {theirs.dtype} in another, and no number "
                "type holds both without rounding: convert it to one type with astype."
            )


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _check_length(have: int, n_rows: int) -> None:
    if have != n_rows:
        raise ValueError(
            "Found input variables with inconsistent numbers of samples: "
            f"{n_rows} rows in X, {have} in y."
        )


def _plain_classes(y: Array) -> Target | None:
    """The classes of an array of text or whole numbers; None where it needs a closer look."""
    kind = y.dtype.kind
    if kind == "U":
        return _text_classes(y)
    if kind in "iub":
        return _whole_classes(y, y)
    if kind == "f":
        with np.errstate(invalid="ignore"):  # NaN and infinity become some number, unlike them
            whole = y.astype(np.int64)
        return _whole_classes(whole, y) if (whole == y).all() else None
    return None


def _text_classes(y: Array) -> Target:
    items = y.tolist()
    used = sorted(set(items))
    places = {label: place for place, label in enumerate(used)}
    codes = np.fromiter(map(places.__getitem__, items), np.int32, len(items))
    return Target(codes, np.array(used, dtype="U"))


def _whole_classes(whole: Array, y: Array) -> Target:
    """The classes of whole numbers, in the type that ``y`` has them in."""
    if len(whole) >= _MANY and (span := int(whole.max()) - int(whole.min())) < len(whole):
        classes, codes = _told_by_table(whole, span)
    else:
        classes, codes = np.unique(whole, return_inverse=True)
    return Target(codes.astype(np.int32), classes.astype(y.dtype.newbyteorder("=")))


def _told_by_table(whole: Array, span: int) -> tuple[Array, Array]:
    """`numpy.unique` with inverse, of whole numbers that lie within ``span`` of the least."""
    wide = np.uint64 if whole.dtype == np.uint64 else np.int64  # 8-bit differences would wrap
    least = wide(whole.min())
    places = (whole.astype(wide, copy=False) - least).astype(np.intp, copy=False)
    found = np.flatnonzero(np.bincount(places))
    classes = found.astype(wide) + least
    if len(found) > span:
        return classes, places
    table = np.zeros(span + 1, np.int32)
    table[found] = np.arange(len(found))
    return classes, table[places]


def _plain_numbers(y: Array) -> Target | None:
    """The numbers of a plain array; None where it holds others, or some are not finite."""
    if y.dtype.kind not in "fiub":
        return None
    values = np.ascontiguousarray(y, dtype=np.float64)
    return Target(values) if np.isfinite(values).all() else None


def _read(y: Any) -> tuple[Values, str | None]:
    """The target's values, and the NumPy type that its classes are to have, if it says one."""
    if y is None:
        raise ValueError("This learner requires y to be passed, but the target y is None.")
    if hasattr(y, "tocsr"):
        raise TypeError("A sparse target is not supported: give a dense array, y.toarray().")
    if isinstance(y, list | tuple):
        if not any(isinstance(item, list | tuple | np.ndarray) for item in y):
            # Not through NumPy, which makes text of numbers beside text.
            return _with_text_form(object_values("y", list(y)))
        y = np.array(y)
    if not isinstance(y, np.ndarray):
        series = _read_series(y)
        if series is not None:
            return _with_text_form(series)
        y = np.asarray(y)
    return _read_array(y)


def _with_text_form(values: Values) -> tuple[Values, str | None]:
    """Text of a list, a frame or a file is NumPy's own text: one type, wherever it comes from."""
    return values, "U" if isinstance(next(iter(values.labels), None), str) else None


def _read_array(y: Array) -> tuple[Values, str | None]:
    if y.ndim == 2 and y.shape[1] == 1:
        _warn_column()
    elif y.ndim != 1:
        _refuse_shape(y.shape)
    kind = y.dtype.kind
    form = "U" if kind == "U" else y.dtype.name if kind in "fiub" else None
    return array_columns(y.reshape(-1, 1))[0].renamed("y"), form


def _read_series(y: Any) -> Values | None:
    import narwhals as nw

    from ceiba.data.frames import series_values

    native = nw.from_native(y, pass_through=True, allow_series=True)
    if isinstance(native, nw.DataFrame):
        if native.shape[1] != 1:
            _refuse_shape(native.shape)
        _warn_column()
        native = next(native.iter_columns())
    return series_values("y", native) if isinstance(native, nw.Series) else None


def _warn_column() -> None:
    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected: give y.ravel().",
        DataConversionWarning,
        stacklevel=5,
    )


def _refuse_shape(shape: tuple[int, ...]) -> NoReturn:
    raise ValueError(
        f"y should be a 1d array, got an array of shape {shape} instead. Several targets at once "
        "are not supported: fit one model for each."
    )


def _refuse_gaps(values: Values) -> None:
    gaps = missing(values)
    if gaps.any():
        raise ValueError(
            f"Input y contains NaN or None: row {int(np.argmax(gaps))}. Leave out the rows "
            "without a target."
        )
    if values.array.dtype.kind == "f" and not np.isfinite(values.array).all():
        row = int(np.argmin(np.isfinite(values.array)))
        raise ValueError(f"Input y contains infinity: row {row}.")


def _classes(values: Values, form: str | None) -> Target:
    if values.numeric and values.dtype not in TEMPORAL:
        _refuse_continuous(values.array)
        # Of -0.0 and 0.0, which are one class, always the latter.
        array = values.array + 0.0 if values.array.dtype.kind == "f" else values.array
        classes, codes = np.unique(array, return_inverse=True)
        return Target(codes.astype(np.int32), classes if form is None else classes.astype(form))
    levels = to_levels(values)
    # Only the classes that occur: a category that no row has cannot be learnt.
    used = sorted({levels.labels[code] for code in np.unique(levels.array)})
    places = {label: place for place, label in enumerate(used)}
    table = np.array([places.get(label, -1) for label in levels.labels], np.int32)
    text = isinstance(used[0], str)
    return Target(table[levels.array], np.array(used, dtype=form or object if text else None))


def _refuse_continuous(array: Array) -> None:
    if array.dtype.kind != "f" or (whole := array % 1 == 0).all():
        return
    row = int(np.argmin(whole))
    raise ValueError(
        f"Unknown label type: continuous. y holds {array[row]} in row {row}, and a class is text "
        "or a whole number: for numbers use a regressor."
    )


def _numbers(values: Values) -> Target:
    if values.dtype in TEMPORAL:
        raise ValueError("y holds times: give them as numbers, of days or seconds for example.")
    return Target(to_numbers(values).array.astype(np.float64))

"""What a learner is to predict: classes as codes, or numbers."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np

from ceiba.data.arrays import array_columns, object_values
from ceiba.data.column import Array, Values, missing, to_levels, to_numbers
from ceiba.data.schema import TEMPORAL

Task = Literal["classification", "regression"]


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
        values, form = _read(y)
        if len(values.array) != n_rows:
            raise ValueError(
                "Found input variables with inconsistent numbers of samples: "
                f"{n_rows} rows in X, {len(values.array)} in y."
            )
        _refuse_gaps(values)
        return _classes(values, form) if task == "classification" else _numbers(values)


def _read(y: Any) -> tuple[Values, str | None]:
    """The target's values, and the NumPy type that its classes are to have, if it says one."""
    if y is None:
        raise ValueError("This learner requires y to be passed, but the target y is None.")
    if hasattr(y, "tocsr"):
        raise TypeError("A sparse target is not supported: give a dense array, y.toarray().")
    if isinstance(y, list | tuple):
        if not any(isinstance(item, list | tuple | np.ndarray) for item in y):
            # Not through NumPy, which makes text of numbers beside text.
            values = object_values("y", list(y))
            return values, "U" if isinstance(next(iter(values.labels), None), str) else None
        y = np.array(y)
    if not isinstance(y, np.ndarray):
        series = _read_series(y)
        if series is not None:
            return series, None
        y = np.asarray(y)
    return _read_array(y)


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
        classes, codes = np.unique(values.array, return_inverse=True)
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

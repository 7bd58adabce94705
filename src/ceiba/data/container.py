"""What people hold tables in, told apart: arrays, lists of rows, frames."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba.data.arrays import array_columns, check_dimensions, row_columns
from ceiba.data.column import Values
from ceiba.data.schema import stand_in_names


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
    from ceiba.data.frames import open_frame  # narwhals is only asked where it is needed

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
    from ceiba.data.frames import frame_columns

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

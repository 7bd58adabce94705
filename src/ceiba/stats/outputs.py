"""Rows with several targets: an array, a list of rows or a frame with several columns as ``y``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.source import Chunk
from ceiba.data.table import Table
from ceiba.data.target import Target, Task
from ceiba.stats.labeled import LabeledRows, ToLabeledRows


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
    shape = getattr(y, "shape", ())
    return len(shape) == 2 and shape[1] > 1


def output_columns(y: Any) -> list[Any]:
    """Return the columns of a ``y`` with several, as arrays or series."""
    if not isinstance(y, list | tuple | np.ndarray):
        import narwhals as nw

        frame = nw.from_native(y, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return [column.to_native() for column in frame.iter_columns()]
    return list(np.asarray(y).T)


@dataclass(frozen=True, slots=True, eq=False)
class MultiOutputRows:
    """Rows with a target for each output.

    ``labeled`` are the rows with their weights and the target of the first output.
    """

    labeled: LabeledRows
    targets: list[Target]

    @classmethod
    def of(cls, chunk: Chunk, task: Task) -> MultiOutputRows:
        """Read the targets of a chunk; rows of weight zero are dropped."""
        columns = output_columns(chunk.target)
        labeled = ToLabeledRows(task)(replace(chunk, target=columns[0]))
        targets = [labeled.target]
        for column in columns[1:]:
            target = Target.of(column, len(chunk.table), task=task)
            targets.append(target if labeled.kept is None else target.take(labeled.kept))
        return cls(labeled, targets)

    def __len__(self) -> int:
        return len(self.labeled)

    @property
    def classes(self) -> list[Array] | None:
        """Classes of each output; None for numbers."""
        if self.targets[0].classes is None:
            return None
        return [np.asarray(target.classes) for target in self.targets]

    @property
    def values(self) -> Array:
        """Class indices or numbers, of shape (n_rows, n_outputs)."""
        return np.column_stack([target.values for target in self.targets])

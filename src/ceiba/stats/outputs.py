"""Rows with several targets."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ceiba._typing import Array
from ceiba.data.source import Chunk
from ceiba.data.target import Target, Task, output_columns
from ceiba.stats.labeled import LabeledRows, ToLabeledRows


@dataclass(frozen=True, slots=True, eq=False)
class MultiOutputRows:
    """Rows with a target for each output, a column of y.

    ``labeled`` are the rows with their weights and the target of the first output.
    """

    labeled: LabeledRows
    outputs: list[Target]

    @classmethod
    def of(cls, chunk: Chunk, task: Task) -> MultiOutputRows:
        """Read the outputs of a chunk; rows of weight zero are dropped."""
        columns = output_columns(chunk.target)
        labeled = ToLabeledRows(task)(replace(chunk, target=columns[0]))
        outputs = [labeled.target]
        for column in columns[1:]:
            target = Target.of(column, len(chunk.table), task=task)
            outputs.append(target if labeled.kept is None else target.take(labeled.kept))
        return cls(labeled, outputs)

    def __len__(self) -> int:
        return len(self.labeled)

    @property
    def classes(self) -> list[Array] | None:
        """Classes of each output; None for numbers."""
        if self.outputs[0].classes is None:
            return None
        return [np.asarray(target.classes) for target in self.outputs]

    @property
    def values(self) -> Array:
        """Class indices or numbers, of shape (n_rows, n_outputs)."""
        return np.column_stack([target.values for target in self.outputs])

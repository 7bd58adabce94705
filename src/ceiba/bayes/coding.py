"""Rows as category codes with class indices, as the statistics of the classifiers need them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.statistics import CodedRows
from ceiba.data.source import Chunk
from ceiba.engine import Engine
from ceiba.stats import LabeledRows, ToLabeledRows


@dataclass(frozen=True, eq=False)
class ToCodedRows:
    """Prepare a partition as coded rows.

    Parameters
    ----------
    encoding : CategoryEncoding
    classes : ndarray
        Classes of all rows, ascending.
    class_weights : ndarray of shape (n_classes,) or None
        Factors of the weights of each class's rows.
    threads : int
        Threads that encode a partition.
    """

    encoding: CategoryEncoding
    classes: Array
    class_weights: Array | None = None
    threads: int = 1

    def __call__(self, chunk: Chunk) -> CodedRows:
        """Return the coded rows of one chunk; rows of weight zero are dropped."""
        return self.of_labeled(ToLabeledRows("classification")(chunk))

    def of_labeled(self, rows: LabeledRows) -> CodedRows:
        """Return the coded rows of labeled rows."""
        labels, weight = labels_and_weights(rows, self.classes, self.class_weights)
        codes = self.encoding.encode(rows.table, self.threads)
        return CodedRows(codes, labels, weight, len(self.classes))


def labels_and_weights(
    rows: LabeledRows, classes: Array, class_weights: Array | None
) -> tuple[Array, Array | None]:
    """Return class indices and weights of rows; ``class_weights`` are factors of the latter."""
    labels = rows.labels(classes).astype(np.int32, copy=False)
    weight = rows.weight
    if class_weights is not None:
        factors = class_weights[labels]
        weight = factors if weight is None else weight * factors
    return np.ascontiguousarray(labels), weight


def prepare_rows(engine: Engine, partitions: Any, labeled: Any, prepare: Any) -> Any:
    """Return the rows of a preparation that has ``of_labeled``.

    In memory the labeled rows, whose target is read already, are used again.
    """
    if engine.in_memory and labeled is not None:
        return engine.prepared_rows(prepare.of_labeled(labeled.table()))
    return engine.rows(partitions, prepare)

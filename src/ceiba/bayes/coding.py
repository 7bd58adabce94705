"""Rows as category codes with class indices, as the statistics of the classifiers need them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ceiba._typing import Array
from ceiba.bayes.discretize import CategoryEncoding
from ceiba.bayes.statistics import CodedRows
from ceiba.data.source import Chunk
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
        rows, labels, weight = class_rows(chunk, self.classes, self.class_weights)
        codes = self.encoding.encode(rows.table, self.threads)
        return CodedRows(codes, labels, weight, len(self.classes))


def class_rows(
    chunk: Chunk, classes: Array, class_weights: Array | None
) -> tuple[LabeledRows, Array, Array | None]:
    """Return the labeled rows of a chunk, their class indices and their weights.

    Rows of weight zero are dropped; ``class_weights`` are factors of each class's weights.
    """
    rows = ToLabeledRows("classification")(chunk)
    labels = rows.labels(classes).astype(np.int32, copy=False)
    weight = rows.weight
    if class_weights is not None:
        factors = class_weights[labels]
        weight = factors if weight is None else weight * factors
    return rows, np.ascontiguousarray(labels), weight

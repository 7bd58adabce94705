"""The nearest-mean classifier, the worked example of the developer guide."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin

from ceiba._typing import Array
from ceiba.base import ArrayOf, Estimator, Record, fitted, reports_progress
from ceiba.base.estimator import schema_attributes
from ceiba.data.encoding import Encoding
from ceiba.data.table import Table
from ceiba.engine import Batch
from ceiba.stats import LabeledRows, TargetSummary, ToLabeledRows


@dataclass(frozen=True, eq=False)
class ClassSums:
    """Statistic: weight and weighted sum of the rows of each class."""

    weights: Array
    sums: Array

    @classmethod
    def of(cls, batch: Batch[LabeledRows], classes: Array) -> ClassSums:
        """Summarize the rows of one partition."""
        rows = batch.rows
        weight = np.ones(len(rows)) if rows.weight is None else rows.weight
        members = (rows.labels(classes) == np.arange(len(classes))[:, None]) * weight
        return cls(members.sum(axis=1), members @ matrix(rows.table))

    def merge(self, other: ClassSums) -> ClassSums:
        """Return the sums over both parts."""
        return ClassSums(self.weights + other.weights, self.sums + other.sums)

    def solve(self) -> ClassMeans:
        """Return the model: the mean of each class."""
        return ClassMeans(self.weights, self.sums / self.weights[:, None])


@dataclass(frozen=True, eq=False)
class ClassMeans(Record):
    """Model: weight and mean of each class, as a model file stores them."""

    weights: Annotated[Array, ArrayOf("float64", "n_classes")]
    means: Annotated[Array, ArrayOf("float64", "n_classes", "n_features")]


class NearestMeanClassifier(ClassifierMixin, Estimator):
    """Predict the class whose mean is nearest; missing values are not supported.

    {parameters}
    """

    metric: Annotated[Literal["euclidean", "manhattan"], "Distance to the means."] = "euclidean"
    n_jobs: Annotated[int | None, "Number of threads; None for all cores."] = None
    means_: ClassMeans = fitted()
    _task = "classification"
    _accepts_missing = False

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Compute the class means on an array, a scan or a Dask collection."""
        engine, source = self._open_source(X, sample_weight, y=y, reset=True)
        rows = engine.rows(source.partitions, ToLabeledRows(self._task))
        target = engine.reduce(rows, TargetSummary.of)
        target.require_rows()
        model = engine.reduce(rows, ClassSums.of, target.classes).solve()
        self._set_fitted(
            {**schema_attributes(source.schema), "classes_": target.classes, "means_": model}
        )
        return self

    def predict(self, X: Any) -> Array:
        """Return the class of the nearest mean for every row."""
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, lambda chunk: chunk.table)
        index = engine.predict(rows, nearest, self.means_.means, self.metric)
        return self.classes_[index]


def nearest(batch: Batch[Table], means: Array, metric: str) -> Array:
    """Return the index of the nearest mean for every row of a batch."""
    difference = matrix(batch.rows)[:, None, :] - means
    power = 2 if metric == "euclidean" else 1
    return (np.abs(difference) ** power).sum(axis=2).argmin(axis=1)


def matrix(table: Table) -> Array:
    """Return the columns as one float matrix; nominal columns are one-hot encoded."""
    X = Encoding.of(table.schema).apply(table)
    if not np.isfinite(X).all():
        raise ValueError("Input X contains NaN or infinity, which this learner does not accept.")
    return X

"""The smallest supervised learners: they use the target alone, on any engine."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from ceiba.base import Estimator
from ceiba.base.estimator import schema_attributes
from ceiba.data.target import Task
from ceiba.stats import TargetSummary, ToLabeledRows


class _PriorLearner(Estimator):
    n_jobs: Annotated[int | None, "Number of threads."] = None

    def _summarize(self, X: Any, y: Any, sample_weight: Any) -> TargetSummary:
        engine, source = self._open_source(X, sample_weight, y=y, reset=True)
        rows = engine.rows(source.partitions, ToLabeledRows(self._task))
        self.__dict__.update(schema_attributes(source.schema))
        return engine.reduce(rows, TargetSummary.of)

    def predict(self, X: Any) -> Any:
        _, source = self._open_source(X, reset=False)
        n = sum(len(part.load().table) for part in source.partitions)
        return np.full(n, self.value_)


class PriorClassifier(ClassifierMixin, _PriorLearner):
    """Predict the most frequent class."""

    _task: ClassVar[Task | None] = "classification"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        summary = self._summarize(X, y, sample_weight)
        self.classes_, self.class_counts_ = summary.classes, summary.class_counts
        self.integer_weights_ = summary.integer_weights
        self.value_ = self.classes_[np.argmax(self.class_counts_)]
        return self


class MidrangeRegressor(RegressorMixin, _PriorLearner):
    """Predict the mean of the smallest and the largest target."""

    _task: ClassVar[Task | None] = "regression"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        summary = self._summarize(X, y, sample_weight)
        self.n_rows_ = summary.n_rows
        self.value_ = summary.target_min / 2 + summary.target_max / 2
        return self

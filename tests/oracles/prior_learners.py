"""The smallest supervised learners: they look at the target alone, whatever the engine."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from ceiba.base import Estimator
from ceiba.base.estimator import schema_attributes
from ceiba.data.target import Task
from ceiba.stats import TargetSummary, ToLabeled


class _Prior(Estimator):
    def __init__(self, *, n_jobs: Annotated[int | None, "Threads."] = None) -> None:
        self.n_jobs = n_jobs

    def _survey(self, X: Any, y: Any, sample_weight: Any) -> TargetSummary:
        engine, source = self._open_source(X, sample_weight, y=y, reset=True)
        rows = engine.rows(source.partitions, ToLabeled(self._task))
        self.__dict__.update(schema_attributes(source.schema))
        return engine.reduce(rows, TargetSummary.of)

    def predict(self, X: Any) -> Any:
        _, source = self._open_source(X, reset=False)
        n = sum(len(part.load().table) for part in source.partitions)
        return np.full(n, self.value_)


class PriorClassifier(ClassifierMixin, _Prior):
    """Predicts the class that most rows have."""

    _task: ClassVar[Task | None] = "classification"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        survey = self._survey(X, y, sample_weight)
        self.classes_, self.class_counts_ = survey.classes, survey.class_counts
        self.whole_weights_ = survey.integer_weights
        self.value_ = self.classes_[np.argmax(self.class_counts_)]
        return self


class MidrangeRegressor(RegressorMixin, _Prior):
    """Predicts the middle between the least and the largest target."""

    _task: ClassVar[Task | None] = "regression"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        survey = self._survey(X, y, sample_weight)
        self.n_rows_ = survey.n_rows
        self.value_ = survey.target_min / 2 + survey.target_max / 2
        return self

"""Fit a member of an ensemble to its sample of the rows, with all classes of the ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.utils.validation import _check_method_params

from ceiba._typing import Array
from ceiba.data.warn import warn_user
from ceiba.ensemble.common.rows import TrainingData, accepts_table


class ConstantMember(DummyClassifier):
    """Classifier that always predicts the only class of its sample."""

    def __init__(self) -> None:
        super().__init__(strategy="prior")

    @property
    def feature_importances_(self) -> Array:
        """Zero for every column."""
        return np.zeros(self.n_features_in_)

    def decision_function(self, X: Any) -> Array:
        """Return 1 for the class and -1 for the others; of two classes, that of the second."""
        scores = np.where(self.class_prior_ > 0, 1.0, -1.0)
        return (
            np.full(X.shape[0], scores[1]) if len(scores) == 2 else np.tile(scores, (X.shape[0], 1))
        )


@dataclass(frozen=True, slots=True, eq=False)
class SampleFitter:
    """Fit estimators to samples of the rows, which may lack some classes.

    An estimator that accepts ``sample_weight`` also gets one row of each absent class, with weight
    zero, so that it has all classes; scikit-learn's bagging does so with all rows that are not
    drawn. If this fails, or without ``sample_weight``, the estimator is fitted to the sample
    alone, unless that has a single class: then there is nothing to learn, and many estimators of
    other libraries raise an error or return probabilities of another shape. They are replaced by a
    `ConstantMember`.
    """

    data: TrainingData  # all rows, also those of weight zero
    pass_weights: bool  # whether the estimator accepts sample_weight
    params: dict[str, Any] = field(default_factory=dict)  # metadata for ``fit``

    def fit(
        self,
        estimator: Any,
        rows: Array | None,
        weight: Array | None,
        columns: Array | None = None,
    ) -> Any:
        """Fit an estimator to some rows and columns, by index (None for all); return it.

        ``weight`` are the weights of these rows, None for 1 each.
        """
        absent = self._rows_of_absent_classes(rows)
        if not len(absent):
            return self._fit(estimator, rows, weight, columns)
        drawn = np.arange(len(self.data.rows)) if rows is None else rows
        ones = np.ones(len(drawn)) if weight is None else weight
        extended = np.concatenate([drawn, absent])
        extended_weight = np.concatenate([ones, np.zeros(len(absent))])
        if self.pass_weights:
            try:
                return self._fit(clone(estimator), extended, extended_weight, columns)
            except Exception:
                # Some do not support a class of weight zero or of one row. An error of another
                # cause is raised below, or by a member whose sample has all classes.
                pass
        has_one_class = len(absent) == self._n_classes - 1
        if has_one_class and not accepts_table(estimator):
            X, y = self.data.rows.select(extended, columns), self._target(extended)
            return ConstantMember().fit(X, y, extended_weight)
        return self._fit(estimator, rows, weight, columns)

    def _fit(
        self, estimator: Any, rows: Array | None, weight: Array | None, columns: Array | None
    ) -> Any:
        params = _check_method_params(self.data.rows.data, self.params, rows)
        if weight is not None:
            params["sample_weight"] = weight
        estimator.fit(self.data.rows.select(rows, columns), self._target(rows), **params)
        return estimator

    def _target(self, rows: Array | None) -> Array:
        """Return class labels, or numbers, of some rows."""
        classes, values = self.data.target.classes, self.data.target.values
        if rows is not None:
            values = values[rows]
        return values if classes is None else np.asarray(classes[values])

    @property
    def _n_classes(self) -> int:
        classes = self.data.target.classes
        return 0 if classes is None else len(classes)

    def _rows_of_absent_classes(self, rows: Array | None) -> Array:
        """Return the first row of each class that none of the rows has."""
        if rows is None or self._n_classes < 2:
            return np.empty(0, np.int64)
        values = self.data.target.values
        counts = np.bincount(values[rows], minlength=self._n_classes)
        absent = np.flatnonzero(counts == 0)
        return np.array([np.argmax(values == code) for code in absent], np.int64)


def has_one_weighted_class(training: TrainingData, positive: TrainingData) -> bool:
    """Return whether only one of several classes has rows of positive weight."""
    classes, weighted = training.classes, positive.classes
    return classes is not None and weighted is not None and len(classes) > len(weighted) == 1


def warn_all_constant(members: Sequence[Any], name: str) -> None:
    """Warn if the sample of every member has a single class, so that nothing was learned."""
    if members and all(isinstance(member, ConstantMember) for member in members):
        warn_user(
            f"The sample of each of the {len(members)} members has a single class, to which {name} "
            "cannot be fitted, so that every member predicts a constant: increase max_samples or "
            "n_estimators.",
            UserWarning,
        )

"""Members of scikit-learn's bagging, which predict class indices instead of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if

from ceiba._typing import Array
from ceiba.ensemble.common.votes import member_decisions, member_probabilities, member_votes


def _has_decision_function(member: Any) -> bool:
    return hasattr(member.estimator, "decision_function")


class ClassIndexMember(ClassifierMixin, BaseEstimator):
    """A fitted classifier whose predictions are indices of the classes of an ensemble.

    scikit-learn's BaggingClassifier fits its members to class indices, and uses their predictions
    and ``classes_`` as columns of the probabilities. Those of Ceiba are fitted to labels.

    Parameters
    ----------
    estimator : estimator
        Fitted to labels, perhaps not to all of ``classes``.
    classes : ndarray
        Sorted labels of the ensemble.
    """

    def __init__(self, estimator: Any, classes: Array) -> None:
        self.estimator = estimator
        self.classes = classes

    @classmethod
    def wrap(cls, member: Any, classes: Array) -> Any:
        """Return a member itself if scikit-learn's bagging understands it, else a wrapper."""
        if hasattr(member, "predict_proba") and np.array_equal(member.classes_, classes):
            return member
        is_index = classes.dtype.kind in "iu" and np.array_equal(classes, np.arange(len(classes)))
        is_sorted = np.array_equal(member.classes_, np.sort(member.classes_))
        return member if is_index and is_sorted else cls(member, classes)

    @property
    def classes_(self) -> Array:
        """Indices of all classes of the ensemble."""
        return np.arange(len(self.classes))

    def predict(self, X: Any) -> Array:
        """Predict the class index of each row."""
        return np.asarray(member_votes(self.classes, {}, self.estimator, X).argmax(axis=1))

    def predict_proba(self, X: Any) -> Array:
        """Predict the probability of each class, or 1 for the class that is predicted."""
        return member_probabilities(self.classes, {}, self.estimator, X)

    def predict_log_proba(self, X: Any) -> Array:
        """Predict logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @available_if(_has_decision_function)
    def decision_function(self, X: Any) -> Array:
        """Compute the decision function of the estimator, which must have all classes."""
        return member_decisions(self.classes, {}, self.estimator, X)

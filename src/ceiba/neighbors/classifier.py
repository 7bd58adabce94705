"""Classification by the votes of the nearest neighbors.

Cover & Hart (1967), "Nearest neighbor pattern classification", IEEE Transactions on Information
Theory 13. Dudani (1976), "The distance-weighted k-nearest-neighbor rule", IEEE Transactions on
Systems, Man and Cybernetics 6.
"""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import ScanScoreMixin, fitted
from ceiba.base.errstate import with_default_errstate
from ceiba.data.source import Source
from ceiba.data.target import Task
from ceiba.engine import Batch, Engine
from ceiba.neighbors.leave_one_out import class_losses
from ceiba.neighbors.rows import NeighborRows
from ceiba.neighbors.supervised import SupervisedNeighbors
from ceiba.neighbors.votes import class_votes, neighbor_weights
from ceiba.stats.labeled import known_class_indices


class KNeighborsClassifier(ScanScoreMixin, ClassifierMixin, SupervisedNeighbors):
    """Predict the class that most of the nearest training rows have.

    Neighbors at the same distance are ordered by their row, and the first class in ``classes_``
    wins a tied vote. Nominal columns and missing values enter the distance: different categories
    are a difference of 1, and distances over the known columns are extrapolated to all
    (``missing``). A category that the training rows lack is missing. A row that has no known column
    in common with any neighbor has the frequencies of the classes.

    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_neighbors_ : int
        Number of neighbors, as given or chosen by leave-one-out.
    loo_curve_ : LeaveOneOutCurve
        Of ``n_neighbors='loo'``.
    index_report_ : str
        Why the algorithm was chosen.
    rows_ : TrainingRows
    n_samples_fit_ : int
        Number of training rows.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Examples
    --------
    >>> from ceiba import KNeighborsClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> model = KNeighborsClassifier(n_neighbors=5).fit(iris.table, iris.y)
    >>> round(model.score(iris.table, iris.y), 3)
    0.967

    Tables as they are:

    >>> vote = datasets.load("vote")
    >>> model = KNeighborsClassifier("loo", metric="gower").fit(vote.table, vote.y)
    >>> model.n_neighbors_, round(float(1 - model.loo_curve_.loss.min()), 3)
    (21, 0.94)
    """

    _task: ClassVar[Task] = "classification"

    classes_: Array = fitted()

    @with_default_errstate
    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Add training rows; the model is then that of a fit on all rows.

        The index is extended: rows are prepared again about as often as the number of rows
        doubles. It is prepared anew where the distance changes with the rows, as with
        ``scale='std'``.

        Parameters
        ----------
        X, y
            As in ``fit``, in memory. New categories and classes are added.
        classes : array of shape (n_classes,), optional
            Classes that rows may have, those without rows included.

        Returns
        -------
        self : estimator
        """
        return self._partial_fit(X, y, classes)

    def predict(self, X: Any) -> Array:
        """Predict the class of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        votes = self.predict_proba(X)
        return np.asarray(self.classes_[votes.argmax(axis=1)])

    def predict_proba(self, X: Any) -> Array:
        """Compute the share of the neighbors' votes of each class, for each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        check_is_fitted(self)
        return self._predict(X, self._voter())

    def _summarize(
        self, target: Array, weights: Array
    ) -> tuple[Any, Array, dict[Any, float] | None]:
        labels = self.classes_.tolist()
        shares = class_votes(target[None], weights[None], self._frequencies())[0]
        votes = dict(zip(labels, shares.tolist(), strict=True))
        return labels[int(np.argmax(shares))], self.classes_[target], votes

    def _frequencies(self) -> Array:
        target = self.rows_.known_target
        return np.bincount(target, minlength=len(self.classes_)) / len(target)

    def _losses(self, target: Array, distances: Array, rows: Array, own: Array) -> Array:
        frequencies = np.bincount(target) / len(target)
        return class_losses(self.weights, distances, target[rows], own, frequencies)

    def _score_on(self, engine: Engine, source: Source) -> float:
        votes, expected = self._predict_labeled(
            engine, source, self._voter(), _class_indices, self.classes_
        )
        return float((votes.argmax(axis=1) == expected).mean())

    def _voter(self) -> Any:
        return partial(_votes, self.rows_.known_target, self._frequencies())


def _class_indices(batch: Batch[NeighborRows], classes: Array) -> Array:
    assert batch.rows.labeled is not None
    return known_class_indices(batch.rows.labeled, classes)


def _votes(
    target: Array, frequencies: Array, weighting: Any, distances: Array, rows: Array
) -> Array:
    return class_votes(target[rows], neighbor_weights(weighting, distances), frequencies)

"""Regression by the mean of the nearest neighbors' targets."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import ScanScoreMixin
from ceiba.base.errstate import with_default_errstate
from ceiba.data.source import Source
from ceiba.data.target import Task
from ceiba.engine import Engine
from ceiba.neighbors.leave_one_out import squared_errors
from ceiba.neighbors.supervised import SupervisedNeighbors, target_numbers
from ceiba.neighbors.votes import neighbor_weights, target_mean, weighted_means


class KNeighborsRegressor(ScanScoreMixin, RegressorMixin, SupervisedNeighbors):
    """Predict the mean, or weighted mean, of the targets of the nearest training rows.

    The weights are normalized. Neighbors at the same distance are ordered by their row. Nominal
    columns and missing values enter the distance: different categories are a difference of 1, and
    distances over the known columns are extrapolated to all (``missing``). A category that the
    training rows lack is missing. A row that has no known column in common with any neighbor has
    the mean of all targets.

    {parameters}

    Attributes
    ----------
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
    >>> from ceiba import KNeighborsRegressor
    >>> model = KNeighborsRegressor(2, weights="distance").fit([[0.0], [1.0], [4.0]], [1, 2, 9])
    >>> model.predict([[0.25], [4.0]]).tolist()
    [1.25, 9.0]
    """

    _task: ClassVar[Task] = "regression"

    @with_default_errstate
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Add training rows; the model is then that of a fit on all rows.

        The index is extended: rows are prepared again about as often as the number of rows
        doubles. It is prepared anew where the distance changes with the rows, as with
        ``scale='std'``.

        Parameters
        ----------
        X, y
            As in ``fit``, in memory. New categories are added.

        Returns
        -------
        self : estimator
        """
        return self._partial_fit(X, y, None)

    def predict(self, X: Any) -> Array:
        """Predict the target of each row of ``X``.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        check_is_fitted(self)
        return self._predict(X, self._averager())

    def _summarize(
        self, target: Array, weights: Array
    ) -> tuple[Any, Array, dict[Any, float] | None]:
        mean = target_mean(self.rows_.known_target)
        return float(weighted_means(target[None], weights[None], mean)[0]), target, None

    def _averager(self) -> Any:
        target = self.rows_.known_target
        return partial(_means, target, target_mean(target))

    def _losses(self, target: Array, distances: Array, rows: Array, own: Array) -> Array:
        # In units in which squares neither over- nor underflow: the choice does not depend on them.
        exponent = self._loss_exponent(target)
        target, own = np.ldexp(target, -exponent), np.ldexp(own, -exponent)
        return squared_errors(self.weights, distances, target[rows], own, float(target.mean()))

    def _loss_exponent(self, target: Array) -> int:
        largest = float(np.abs(target).max())
        return int(np.frexp(largest)[1]) if largest > 0 else 0

    def _score_on(self, engine: Engine, source: Source) -> float:
        found = self._predict_labeled(engine, source, self._averager(), target_numbers)
        return float(r2_score(found[1], found[0]))


def _means(target: Array, mean: float, weighting: Any, distances: Array, rows: Array) -> Array:
    return weighted_means(target[rows], neighbor_weights(weighting, distances), mean)

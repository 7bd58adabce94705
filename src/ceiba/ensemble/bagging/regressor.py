"""Bagging of regressors: the mean of the members' predictions."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ceiba._typing import Array
from ceiba.data.target import Task
from ceiba.ensemble.bagging.base import BaseBagging
from ceiba.ensemble.bagging.members import PredictFunction, PredictionSums
from ceiba.ensemble.common.rows import TrainingData
from ceiba.ensemble.common.votes import member_values
from ceiba.tree import DecisionTreeRegressor


class BaggingRegressor(RegressorMixin, BaseBagging):
    """Bagging of regressors, each fitted to its own sample of rows and columns.

    Members are clones of any estimator, fitted as those of `BaggingClassifier`, and the ensemble
    predicts their mean. Rows must be in memory.

    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    estimators_features_ : list of ndarray
        Column indices of each member.
    estimators_samples_ : list of ndarray
        Row indices of each member's sample, in the order of the draws.
    feature_importances_ : ndarray of shape (n_features,)
        Mean over the members, if all have them.
    oob_score_ : float
        With ``oob_score``: weighted R² on the rows that have an out-of-bag prediction.
    oob_prediction_ : ndarray of shape (n_rows,)
        With ``oob_score``: mean prediction of the members whose sample lacks the row; NaN if there
        is none, or if the row has weight zero.
    batches_ : list of DrawnBatch
        How the members' rows were drawn.
    seed_ : int
        Seed of the draws.
    n_features_in_, feature_names_in_, schema_
        Description of the columns; the schema for Ceiba's estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import BaggingRegressor
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = BaggingRegressor(n_estimators=20, oob_score=True).fit(X, np.sin(X[:, 0]))
    >>> model.oob_score_ > 0.99
    True

    References
    ----------
    Breiman (1996), "Bagging predictors", Machine Learning 24.
    """

    _task: ClassVar[Task] = "regression"
    _tree_class: ClassVar[type[Any]] = DecisionTreeRegressor

    def predict(self, X: Any, **params: Any) -> Array:
        """Predict the mean of the members' predictions.

        Parameters
        ----------
        X : array, frame, Table or list
        **params : dict
            Metadata for the members, if scikit-learn's metadata routing is enabled.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._totals("predict", X, params).means

    def _predict_function(self, classes: Array | None, params: dict[str, Any]) -> PredictFunction:
        return partial(member_values, params)

    def _score_oob(
        self, totals: PredictionSums, rows: Array, training: TrainingData, model: dict[str, Any]
    ) -> dict[str, Any]:
        target, predicted = training.labels[rows], totals.means[rows]
        score = float(r2_score(target, predicted, sample_weight=training.weights_of(rows)))
        return {"oob_prediction_": totals.means, "oob_score_": score}

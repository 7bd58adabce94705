"""AdaBoost.R2 for regression."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin

from ceiba._typing import Array
from ceiba.base import AtLeast
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.ensemble.adaboost.base import BaseAdaBoost
from ceiba.ensemble.adaboost.formulas import (
    RoundResult,
    adaboost_r2,
    relative_losses,
    weighted_median,
)
from ceiba.ensemble.common.rows import TrainingData
from ceiba.ensemble.common.votes import member_values
from ceiba.tree.base import DecisionTree
from ceiba.tree.explain.shap import TreeSum
from ceiba.tree.regressor import DecisionTreeRegressor


class AdaBoostRegressor(RegressorMixin, BaseAdaBoost):
    """AdaBoost regressor: AdaBoost.R2.

    A round fits a member to the weighted rows, computes its loss on each row relative to its
    largest error and its estimator weight from the average loss, and increases the weights of rows
    of large loss. Boosting ends early with a member without errors, which is kept with weight 1, or
    with a member whose average loss is at least one half, which is dropped unless it is the first.
    The ensemble predicts the weighted median of its members, which are fitted as those of
    `AdaBoostClassifier`. Rows must be in memory.

    Drucker (1997) and scikit-learn draw the rows of each round by weight, as with
    ``reweighting="resampling"``; by default members are fitted to all rows with their weights.

    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    estimator_weights_ : ndarray of shape (n_members,)
        Weights (alpha) of the members.
    estimator_errors_ : ndarray of shape (n_members,)
        Average loss of each member.
    stop_reason_ : "rounds", "perfect" or "chance"
        Why boosting ended: all rounds are done, the last member has no error, or the average loss
        of the next one was at least one half.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the members' importances, weighted by ``estimator_weights_``.
    trace_ : Trace
        With ``trace=True``, one frame per round: ``weights`` of the rows before it, its ``error``
        and ``alpha`` (estimator weight; 0 if the member is dropped) and the ``loss`` of each row.
        Rows of weight zero have weight and loss 0. At most 1000 frames and 64 MB.
    n_features_in_, feature_names_in_, schema_
        Description of the columns; the schema for Ceiba's estimators.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import AdaBoostRegressor
    >>> X = np.linspace(0.0, 6.0, 50).reshape(-1, 1)
    >>> model = AdaBoostRegressor(n_estimators=30).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.95
    True

    References
    ----------
    Drucker (1997), "Improving regressors using boosting techniques", ICML.
    """

    _task: ClassVar[Task] = "regression"
    _tree_class: ClassVar[type[Any]] = DecisionTreeRegressor

    loss: Annotated[
        Literal["linear", "square", "exponential"],
        "Loss of a row, with r its error relative to the largest: r, r squared, or 1 - exp(-r).",
    ] = "linear"
    max_depth: Annotated[
        int | None,
        AtLeast(1),
        "Maximum depth of Ceiba's tree, with estimator=None; 1 for a stump. None for no limit.",
    ] = 3

    def predict(self, X: Any) -> Array:
        """Predict the weighted median of the members' predictions.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._predict_in_blocks(X, self._median)

    def _median(self, data: Any, threads: int) -> Array:
        predictions = np.column_stack(list(self._member_predictions(data, threads)))
        return weighted_median(predictions, self.estimator_weights_)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Compute `predict` after each round."""
        predictions: list[Array] = []
        for values in self._member_predictions(*self._data_and_threads(X)):
            predictions.append(values)
            weights = self.estimator_weights_[: len(predictions)]
            yield weighted_median(np.column_stack(predictions), weights)

    def _predict_member(
        self, member: Any, X: Any, classes: Array | None, threads: int, leaf: Array | None = None
    ) -> Array:
        if leaf is not None:
            return np.asarray(member.tree_.leaf_values(leaf))
        if isinstance(member, DecisionTree) and isinstance(X, Table):
            return np.asarray(member.tree_.predict(X, threads))
        return member_values({}, member, X)

    def _tree_sum(self) -> TreeSum:
        raise ValueError(
            "Shapley values require a sum of trees, but AdaBoostRegressor predicts their weighted "
            "median: use GradientBoostingRegressor or RandomForestRegressor."
        )

    def _evaluate_round(
        self, predictions: Array, data: TrainingData, weights: Array
    ) -> tuple[RoundResult, dict[str, Array]]:
        losses = relative_losses(np.abs(predictions - data.target.values), self.loss)
        return adaboost_r2(losses, weights, float(self.learning_rate)), {"loss": losses}

    def _row_errors(self, predicted: Array, data: TrainingData) -> Array:
        return np.asarray(np.abs(predicted - data.target.values))

    def _weight_of_poor_first_member(self, member: Any, result: RoundResult) -> float:
        return 1.0

"""The decision tree regressor."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from sklearn.base import RegressorMixin

from ceiba._typing import Array
from ceiba.base import ScanScoreMixin
from ceiba.data.target import Task
from ceiba.tree.base import DecisionTree
from ceiba.tree.model.tree import Tree


class DecisionTreeRegressor(ScanScoreMixin, RegressorMixin, DecisionTree):
    """Decision tree regressor for tables with missing values and nominal columns.

    Numeric and ordinal columns are split at a threshold, nominal columns by groups of categories;
    a category not seen in training is missing. Missing values follow ``missing``. Infinity is a
    value like any other, larger than all. A leaf predicts the mean of its rows, with absolute
    error their median. Sums are taken in 64-bit fixed point, so the tree does not depend on
    threads or partitions; targets are resolved to 2^-43 of their range for half a million rows.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree; ``tree_.to_text()`` shows it.
    n_outputs_ : int
        Number of outputs: the columns of ``y``.
    feature_importances_ : ndarray of shape (n_features,)
    pruning_ : Pruning
        If the tree was pruned: the method, the tree before, and a trace of the pruned nodes.
    grown_tree_ : Tree
        The tree before any pruning.
    trace_ : Trace
        With ``trace=True``: a frame for each split, in the order in which they were made, with the
        best candidate of every column and the runner-up; at most 1000 frames and 64 MB.
    n_features_in_, feature_names_in_, schema_
        Number, names and schema of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import DecisionTreeRegressor
    >>> X = np.array([[1.0], [2.0], [3.0], [np.nan]])
    >>> model = DecisionTreeRegressor(max_depth=1).fit(X, [10.0, 10.0, 20.0, 20.0])
    >>> model.predict([[1.5], [9.0], [np.nan]])
    array([10., 20., 20.])

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees".
    """

    _task: ClassVar[Task] = "regression"

    criterion: Annotated[
        Literal["squared_error", "absolute_error", "poisson"],
        "Impurity that a split lowers: squared error (friedman_mse is another name of it), "
        "absolute error (rows in memory only), or Poisson deviance, for counts and rates that are "
        "not negative.",
    ] = "squared_error"
    pruning: Annotated[
        Literal["none", "reduced_error", "cost_complexity"] | None,
        "Method by which ``fit`` prunes the grown tree; see ``pruned``.",
    ] = None

    def predict(self, X: Any) -> Array:
        """Predict the number of each row's leaf.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
        """
        return self._predict_rows(X, Tree.predict)

    def _check_state(self) -> None:
        super()._check_state()
        if self.tree_.has_class_weights:
            raise ValueError("tree_ must be a regression tree, got one of classes.")

"""The decision tree that predicts numbers."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from sklearn.base import RegressorMixin

from ceiba.base import ScoresScans
from ceiba.data.target import Task
from ceiba.stats.points import Array
from ceiba.tree.decision_tree import DecisionTree
from ceiba.tree.parameters import (
    Growth,
    Jobs,
    KeepTrace,
    MaxBins,
    MaxDepth,
    MaxFeatures,
    MaxLeafNodes,
    MinImpurityDecrease,
    MinImpuritySplit,
    MinSamplesLeaf,
    MinSamplesSplit,
    MinWeightFractionLeaf,
    Missing,
    Seed,
    Splits,
)


class DecisionTreeRegressor(ScoresScans, RegressorMixin, DecisionTree):
    """Decision tree that predicts numbers, from tables with gaps and nominal columns as they are.

    Numbers and ordinal columns are split at a threshold, nominal columns by groups of levels; a
    level that training did not see is a gap. Gaps follow ``missing``. Infinity is a value like any
    other, larger than all. A leaf predicts the mean of its rows, with absolute error their median.
    Sums are taken in 64-bit fixed point, so that the tree does not depend on threads or partitions;
    targets are told apart to a share of 2^-43 of their range for half a million rows.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree; ``tree_.to_text()`` shows it.
    feature_importances_ : ndarray of shape (n_features,)
    trace_ : Trace
        With ``trace=True``: a frame for each split, in the order in which they were grown, with the
        best candidate of every column and the runner-up; at most 1000 frames and 64 MB.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

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

    def __init__(
        self,
        *,
        criterion: Annotated[
            Literal["squared_error", "absolute_error"],
            "What a split lowers. Absolute error needs the rows in memory.",
        ] = "squared_error",
        splits: Splits = "binary",
        max_bins: MaxBins = None,
        missing: Missing = "learned",
        max_depth: MaxDepth = None,
        min_samples_split: MinSamplesSplit = 2,
        min_samples_leaf: MinSamplesLeaf = 1,
        min_weight_fraction_leaf: MinWeightFractionLeaf = 0.0,
        min_impurity_decrease: MinImpurityDecrease = 0.0,
        min_impurity_split: MinImpuritySplit = 0.0,
        max_leaf_nodes: MaxLeafNodes = None,
        growth: Growth = "auto",
        max_features: MaxFeatures = None,
        random_state: Seed = 0,
        n_jobs: Jobs = None,
        trace: KeepTrace = False,
    ) -> None:
        self.criterion = criterion
        self.splits = splits
        self.max_bins = max_bins
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity_split = min_impurity_split
        self.max_leaf_nodes = max_leaf_nodes
        self.growth = growth
        self.max_features = max_features
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.trace = trace

    def predict(self, X: Any) -> Array:
        """The number of each row's leaf.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        leaves = self._leaves(X)
        return self.tree_.values_of(leaves)

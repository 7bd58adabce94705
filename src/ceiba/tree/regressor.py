"""The decision tree that predicts numbers."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from sklearn.base import RegressorMixin

from ceiba._typing import Array
from ceiba.base import ScoresScans
from ceiba.data.target import Task
from ceiba.stats import TargetSurvey
from ceiba.tree.base import DecisionTree
from ceiba.tree.parameters import (
    CcpAlpha,
    EmptyBranches,
    Growth,
    Intervals,
    Jobs,
    KeepTrace,
    MaxBins,
    MaxDepth,
    MaxFeatures,
    MaxLeafNodes,
    MaxSurrogates,
    MinImpurityDecrease,
    MinImpuritySplit,
    MinSamplesLeaf,
    MinSamplesSplit,
    MinWeightFractionLeaf,
    Missing,
    PruneFolds,
    PruneRule,
    Reuse,
    Seed,
    Splits,
    ThresholdCount,
    Thresholds,
    ThresholdsAt,
    ValidationShare,
)
from ceiba.tree.presets import Options


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
    pruning_ : Pruning
        Where the tree was pruned: how, the tree before, and a trace of the cuts.
    grown_tree_ : Tree
        The tree before any pruning.
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
            Literal["squared_error", "absolute_error", "poisson"],
            "What a split lowers: squared error, absolute error (rows in memory only), or Poisson "
            "deviance, for counts and rates that are not negative.",
        ] = "squared_error",
        splits: Splits = None,
        n_intervals: Intervals = None,
        thresholds: Thresholds = None,
        at: ThresholdsAt = "node",
        n_thresholds: ThresholdCount = 9,
        max_bins: MaxBins = None,
        missing: Missing = None,
        max_surrogates: MaxSurrogates = 5,
        reuse: Reuse = None,
        empty_branches: EmptyBranches = None,
        max_depth: MaxDepth = None,
        min_samples_split: MinSamplesSplit = None,
        min_samples_leaf: MinSamplesLeaf = None,
        min_weight_fraction_leaf: MinWeightFractionLeaf = 0.0,
        min_impurity_decrease: MinImpurityDecrease = 0.0,
        min_impurity_split: MinImpuritySplit = 0.0,
        max_leaf_nodes: MaxLeafNodes = None,
        growth: Growth = "auto",
        max_features: MaxFeatures = None,
        pruning: Annotated[
            Literal["none", "reduced_error", "cost_complexity"] | None,
            "How ``fit`` prunes the grown tree; see ``pruned``.",
        ] = None,
        ccp_alpha: CcpAlpha = None,
        prune_folds: PruneFolds = 10,
        prune_rule: PruneRule = "one_se",
        validation_share: ValidationShare = 0.25,
        random_state: Seed = 0,
        n_jobs: Jobs = None,
        trace: KeepTrace = False,
    ) -> None:
        self.criterion = criterion
        self.splits = splits
        self.n_intervals = n_intervals
        self.thresholds = thresholds
        self.at = at
        self.n_thresholds = n_thresholds
        self.max_bins = max_bins
        self.missing = missing
        self.max_surrogates = max_surrogates
        self.reuse = reuse
        self.empty_branches = empty_branches
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity_split = min_impurity_split
        self.max_leaf_nodes = max_leaf_nodes
        self.growth = growth
        self.max_features = max_features
        self.pruning = pruning
        self.ccp_alpha = ccp_alpha
        self.prune_folds = prune_folds
        self.prune_rule = prune_rule
        self.validation_share = validation_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.trace = trace

    def predict(self, X: Any) -> Array:
        """The number of each row's leaf.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._told(X)

    def _check_target(self, options: Options, survey: TargetSurvey) -> None:
        check_numbers(options.criterion, survey)


def check_numbers(criterion: str, survey: TargetSurvey) -> None:
    """Refuse targets that a criterion does not suit."""
    if criterion == "poisson" and not survey.target_least >= 0:
        raise ValueError("Poisson deviance is that of counts: y must not be negative")
    if criterion == "poisson" and not survey.target_most > 0:
        raise ValueError("Poisson deviance needs a positive mean: every y is 0")

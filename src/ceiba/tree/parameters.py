"""Hyper-parameters of tree learners, each declared once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

from numpy.random import Generator, RandomState
from numpy.typing import ArrayLike

from ceiba.base import AtLeast, Between, Parameters

# Types of parameters that forests and gradient boosting declare too, with defaults of their own.

MaxBins = Annotated[
    int | None,
    Between(2, 65_535),
    "None for exact thresholds, halfway between neighboring values. An int bins each column into "
    "at most that many bins (quantiles of a 65,536-row sample, finer in the tails), and thresholds "
    "are bin edges. A column with no more distinct values in the sample has a bin for each.",
]
CategoryCorrection = Annotated[
    bool | None,
    "Whether the gain of a split of a nominal column with more than 10 categories is lowered by "
    "the gain that so many categories reach by chance: the impurity times (C - 2) / (n - 1), with "
    "C categories and n rows in the node. A split that gains nothing more is not made.",
]
MaxDepth = Annotated[int | None, AtLeast(1), "Maximum depth of the tree; None for no limit."]
MinSamplesSplit = Annotated[
    Annotated[int, AtLeast(2)] | Annotated[float, Between(0.0, 1.0, closed="right")] | None,
    "Minimum number of rows of a node to be split, or their fraction of all rows.",
]
MinSamplesLeaf = Annotated[
    Annotated[int, AtLeast(1)] | Annotated[float, Between(0.0, 1.0, closed="neither")] | None,
    "Minimum number of rows of every branch of a split, or their fraction of all rows; with "
    "missing='fractional' their weight.",
]
MinWeightFractionLeaf = Annotated[
    float,
    Between(0.0, 0.5),
    "Minimum weight of every branch of a split, as a fraction of the total weight.",
]
MinImpurityDecrease = Annotated[
    float,
    AtLeast(0.0),
    "Minimum gain of a split, weighted by the node's fraction of the total weight. With 0 a split "
    "without gain is made, too.",
]
MaxLeafNodes = Annotated[int | None, AtLeast(2), "Maximum number of leaves; None for no limit."]
MaxFeatures = Annotated[
    Annotated[int, AtLeast(1)]
    | Annotated[float, Between(0.0, 1.0, closed="right")]
    | Literal["sqrt", "log2"]
    | None,
    "Number of columns searched at each node, drawn by the seed and the node's path; a fraction of "
    "all columns, or all with None. If none of them can be split, more are searched. Among equal "
    "splits the column drawn first is taken, so that no column is favored.",
]
MonotonicCst = Annotated[
    ArrayLike | Mapping[Any, int] | None,
    "Per column 1 if predictions must not decrease with its values, -1 if they must not increase, "
    "0 for no constraint: a sequence, or a mapping of names or indices. Predictions are numbers or "
    "the probability of the second of two classes; not with more classes.",
]
InteractionCst = Annotated[
    Literal["pairwise", "no_interactions"] | Sequence[Any] | None,
    "Sets of columns, by index or name, that may be tested together on a path; columns in no set "
    "form one more set. 'pairwise' stands for all pairs, of at most 1,000 columns, and "
    "'no_interactions' for single columns.",
]
Jobs = Annotated[int | None, "Number of threads; None or -1 uses every core allowed."]


class TreeParameters(Parameters):
    """Hyper-parameters of a decision tree."""

    splits: Annotated[
        Literal["binary", "multiway", "intervals"] | None,
        "Nominal columns are split into the best two groups of categories, or (multiway, "
        "intervals) into a branch for each category. Numeric and ordinal columns are split in two, "
        "or into several intervals.",
    ] = None
    n_intervals: Annotated[
        int | None,
        AtLeast(2),
        "Number of intervals of a numeric column with splits='intervals': the threshold of maximum "
        "gain is added until there are that many. None for as many as the description length "
        "allows (Fayyad & Irani 1993), which needs classes.",
    ] = None
    thresholds: Annotated[
        Literal["midpoint", "value", "quantile", "equal_width", "mean", "median", "random"] | None,
        "Threshold candidates of numeric columns: between any two neighboring values, with the "
        "threshold halfway (midpoint) or at the largest value of the table that is not above that "
        "(value); a grid of n_thresholds quantiles, equal steps or random numbers; or the mean or "
        "median. Thresholds of integer columns are multiples of one half, others are rounded down "
        "to one.",
    ] = None
    splitter: Annotated[
        Literal["best", "random"],
        "scikit-learn's name of two settings of thresholds: 'random' draws one threshold per "
        "numeric column and node, as thresholds='random' with n_thresholds=1 does.",
    ] = "best"
    threshold_scope: Annotated[
        Literal["node", "root"],
        "Whether a grid, mean or median is computed from each node's rows, or once from the whole "
        "table, weighted by sample_weight without class weights.",
    ] = "node"
    n_thresholds: Annotated[
        int,
        Between(1, 65_535),
        "Number of thresholds of a quantile, equal_width or random grid.",
    ] = 9
    max_bins: MaxBins = None
    missing: Annotated[
        Literal["learned", "branch", "majority", "fractional", "surrogate"] | None,
        "Where rows without a value in the tested column go: to the branch of the larger gain, to "
        "a branch of their own, to the heavier branch, down every branch with a fraction of their "
        "weight (Quinlan), or where the best surrogate split sends them (Breiman). In a node "
        "without such training rows they go to the heavier branch, unless they are fractional or "
        "follow surrogates; a category without training rows in a node is missing there.",
    ] = None
    max_surrogates: Annotated[
        int, AtLeast(0), "Maximum number of surrogate splits of a node, with missing='surrogate'."
    ] = 5
    category_correction: CategoryCorrection = None
    feature_reuse: Annotated[
        Literal["all", "numeric", "none"] | None,
        "Columns that may be tested again below a node that tests them.",
    ] = None
    empty_branches: Annotated[
        bool | None,
        "Whether a multiway split has a branch for every category of the column: one without rows "
        "is a leaf that predicts as its parent.",
    ] = None
    max_depth: MaxDepth = None
    min_samples_split: MinSamplesSplit = None
    min_samples_leaf: MinSamplesLeaf = None
    min_weight_fraction_leaf: MinWeightFractionLeaf = 0.0
    min_impurity_decrease: MinImpurityDecrease = 0.0
    min_impurity_split: Annotated[
        float, AtLeast(0.0), "A node is a leaf if its impurity is not above this."
    ] = 0.0
    max_leaf_nodes: MaxLeafNodes = None
    growth: Annotated[
        Literal["auto", "depth_first", "breadth_first", "best_first"],
        "Order in which nodes are split and numbered; it decides which splits are made if "
        "max_leaf_nodes is set. 'auto' is best_first then, and depth_first otherwise.",
    ] = "auto"
    max_features: MaxFeatures = None
    monotonic_cst: MonotonicCst = None
    interaction_cst: InteractionCst = None
    ccp_alpha: Annotated[
        float | None,
        AtLeast(0.0),
        "Complexity parameter of cost-complexity pruning: the cost of a leaf, in units of the risk "
        "as a fraction of the total weight. None: by cross-validation, if "
        "pruning='cost_complexity'. A positive number alone implies cost_complexity.",
    ] = None
    pruning_step: Annotated[
        int | None,
        AtLeast(0),
        "Step of the cost-complexity path to prune to, counted as in MATLAB, in place of "
        "ccp_alpha: 0 is the whole tree, and the last step its root. A number alone implies "
        "cost_complexity.",
    ] = None
    prune_folds: Annotated[
        int,
        AtLeast(2),
        "Number of folds of the cross-validation that chooses ccp_alpha, also in ``pruned``.",
    ] = 10
    prune_rule: Annotated[
        Literal["min", "one_se"],
        "The smallest tree of minimum cross-validated error, or the smallest whose error is within "
        "one standard error of that.",
    ] = "one_se"
    validation_fraction: Annotated[
        float,
        Between(0.0, 1.0, closed="neither"),
        "Fraction of the rows held out from growing for pruning='reduced_error', and by "
        "``compare_pruning``.",
    ] = 0.25
    random_state: Annotated[
        int | RandomState | Generator | None,
        "Seed of the row sample for bins and of the columns drawn: the same seed gives the same "
        "tree; None draws a fresh one.",
    ] = 0
    n_jobs: Jobs = None
    trace: Annotated[
        bool, "Whether to keep the splits with their candidates in ``trace_``, thinned above 1000."
    ] = False

"""Hyper-parameters that RandomForestClassifier and RandomForestRegressor share."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Annotated, Any, Literal

from ceiba.base import AtLeast, Between, Parameters, parameter
from ceiba.base.parameters import Verbose
from ceiba.ensemble.common.parameters import (
    Bootstrap,
    CountOrFraction,
    MaxSamples,
    Seed,
    WarmStart,
)
from ceiba.tree.parameters import (
    CategoryCorrection,
    InteractionCst,
    Jobs,
    MaxDepth,
    MaxFeatures,
    MaxLeafNodes,
    MinImpurityDecrease,
    MinSamplesLeaf,
    MinSamplesSplit,
    MinWeightFractionLeaf,
    MonotonicCst,
)

Thresholds = Annotated[
    Literal["midpoint", "random"],
    "Thresholds of numeric columns: midpoints between any two neighboring values, or the best "
    "of n_thresholds numbers drawn between the smallest and largest value in the node (extra "
    "trees).",
]


class ForestParameters(Parameters):
    """Hyper-parameters of random forests."""

    n_estimators: Annotated[int, AtLeast(1), "Number of trees."] = parameter(100, kw_only=False)
    thresholds: Thresholds = "midpoint"
    n_thresholds: Annotated[
        int, Between(1, 65_535), "Number of thresholds drawn with thresholds='random'."
    ] = 1
    max_bins: Annotated[
        int | Literal["auto"] | None,
        Between(2, 65_535),
        "'auto' for exact thresholds up to 10,000 rows and 255 bins above, which take half of the "
        "time at equal accuracy; random thresholds are exact. None for exact thresholds, halfway "
        "between neighboring values. An int bins each column into at most that many bins "
        "(quantiles of a 65,536-row sample, finer in the tails), and thresholds are bin edges. A "
        "column with no more distinct values in the sample has a bin for each.",
    ] = "auto"
    missing: Annotated[
        Literal["learned", "branch", "majority"],
        "Where rows without a value in the tested column go: to the branch of the larger gain, to "
        "a branch of their own, or to the heavier branch. In a node without such training rows "
        "they go to the heavier branch; a category without training rows in a node is missing "
        "there. For fractional or surrogate routing use bagging of decision trees.",
    ] = "learned"
    category_correction: CategoryCorrection = True
    max_depth: MaxDepth = None
    min_samples_split: MinSamplesSplit = 2
    min_samples_leaf: MinSamplesLeaf = 1
    min_weight_fraction_leaf: MinWeightFractionLeaf = 0.0
    min_impurity_decrease: MinImpurityDecrease = 0.0
    max_leaf_nodes: MaxLeafNodes = None
    max_features: MaxFeatures = "sqrt"
    max_features_per: Annotated[
        Literal["node", "tree", "both"],
        "Whether max_features columns are drawn at each node, once per tree, or both: "
        "tree_features columns per tree, and max_features of them at each node.",
    ] = "node"
    tree_features: Annotated[
        CountOrFraction | Literal["sqrt", "log2"] | None,
        "Columns drawn per tree with max_features_per='both'.",
    ] = None
    monotonic_cst: MonotonicCst = None
    interaction_cst: InteractionCst = None
    ccp_alpha: Annotated[
        float,
        Between(0.0, inf, closed="left"),
        "Complexity parameter of cost-complexity pruning of every tree: the cost of a leaf, in "
        "units of the risk as a fraction of the weight of the tree's sample. 0 for none; not with "
        "criterion='absolute_error'.",
    ] = 0.0
    bootstrap: Bootstrap = True
    max_samples: MaxSamples = None
    oob_score: Annotated[
        bool | Callable[..., Any],
        "Whether to predict each training row by the trees grown without it: ``oob_score_`` "
        "and ``oob_curve_``. A function ``metric(y_true, y_pred)`` computes ``oob_score_`` from "
        "numbers or, for a classifier, from class indices; True for accuracy or R².",
    ] = False
    importance: Annotated[
        bool,
        "Whether to compute ``oob_importance_``: the increase of the out-of-bag loss when a column "
        "is permuted.",
    ] = False
    warm_start: WarmStart = False
    random_state: Seed = 0
    n_jobs: Jobs = None
    verbose: Verbose = 0

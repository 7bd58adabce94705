"""Hyper-parameters that RandomForestClassifier and RandomForestRegressor share."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ceiba.base import AtLeast, Between, ParameterError, Parameters, check_unused, parameter
from ceiba.ensemble.common.parameters import (
    Bootstrap,
    CountOrFraction,
    MaxSamples,
    Seed,
    WarmStart,
)
from ceiba.tree.config import TreeConfig
from ceiba.tree.parameters import (
    Jobs,
    MaxBins,
    MaxDepth,
    MaxFeatures,
    MaxLeafNodes,
    MinImpurityDecrease,
    MinSamplesLeaf,
    MinSamplesSplit,
    MinWeightFractionLeaf,
)


class ForestParameters(Parameters):
    """Hyper-parameters of random forests."""

    n_estimators: Annotated[int, AtLeast(1), "Number of trees."] = parameter(100, kw_only=False)
    thresholds: Annotated[
        Literal["midpoint", "random"],
        "Thresholds of numeric columns: midpoints between any two neighboring values, or the best "
        "of n_thresholds numbers drawn between the smallest and largest value in the node (extra "
        "trees).",
    ] = "midpoint"
    n_thresholds: Annotated[
        int, Between(1, 65_535), "Number of thresholds drawn with thresholds='random'."
    ] = 1
    max_bins: MaxBins = None
    missing: Annotated[
        Literal["learned", "branch", "majority"],
        "Where rows without a value in the tested column go: to the branch of the larger gain, to "
        "a branch of their own, or to the heavier branch. In a node without such training rows "
        "they go to the heavier branch; a category without training rows in a node is missing "
        "there. For fractional or surrogate routing use bagging of decision trees.",
    ] = "learned"
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
    bootstrap: Bootstrap = True
    max_samples: MaxSamples = None
    oob_score: Annotated[
        bool,
        "Whether to predict each training row by the trees whose sample lacks it: ``oob_score_`` "
        "and ``oob_curve_``.",
    ] = False
    importance: Annotated[
        bool,
        "Whether to compute ``oob_importance_``: the increase of the out-of-bag loss when a column "
        "is permuted.",
    ] = False
    warm_start: WarmStart = False
    random_state: Seed = 0
    n_jobs: Jobs = None


_TREE_PARAMETERS = (
    "criterion", "thresholds", "n_thresholds", "max_bins", "missing", "max_depth",
    "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "min_impurity_decrease",
    "max_leaf_nodes",
)  # fmt: skip


def tree_config(forest: Any) -> TreeConfig:
    """Return the configuration of a forest's trees; raise for contradictions."""
    if forest.max_features_per == "both" and forest.tree_features is None:
        raise ParameterError("max_features_per='both' requires tree_features, got None.")
    if forest.max_features_per != "both":
        check_unused(forest, ["tree_features"], f"max_features_per={forest.max_features_per!r}")
    if forest.thresholds != "random":
        check_unused(forest, ["n_thresholds"], f"thresholds={forest.thresholds!r}")
    if (forest.oob_score or forest.importance) and not (
        forest.bootstrap or forest.max_samples is not None
    ):
        name = "oob_score" if forest.oob_score else "importance"
        raise ParameterError(
            f"{name}=True requires bootstrap=True or max_samples, got bootstrap=False and "
            "max_samples=None: no row would be out of bag."
        )
    values = {name: getattr(forest, name) for name in _TREE_PARAMETERS}
    max_features = None if forest.max_features_per == "tree" else forest.max_features
    return TreeConfig.of(**values, max_features=max_features)

"""Hyper-parameters that tree learners share, each declared once."""

from __future__ import annotations

from typing import Annotated, Literal

from numpy.random import Generator, RandomState

from ceiba.base import AtLeast, Between

Algorithm = Annotated[
    Literal["cart", "c45", "id3", "hunt"],
    "The preset, which says what every parameter that is None means: Breiman's CART, Quinlan's "
    "C4.5 or ID3, or Hunt's concept learning system.",
]
Splits = Annotated[
    Literal["binary", "multiway", "intervals"] | None,
    "Nominal columns are split into the best two groups of levels, or (multiway, intervals) into a "
    "branch for each level. Numbers and ordinal columns are split in two, or into several "
    "intervals.",
]
Intervals = Annotated[
    int | None,
    AtLeast(2),
    "Intervals of a numeric column with splits='intervals': the cut that gains most is made until "
    "there are so many. None for as many as the description length allows (Fayyad & Irani 1993), "
    "which needs classes.",
]
Thresholds = Annotated[
    Literal["midpoint", "value", "quantile", "equal_width", "mean", "median", "random"] | None,
    "Where numeric columns may be cut: between any two neighbouring values, with the threshold "
    "halfway (midpoint) or at the largest value of the table that is not above that (value); at a "
    "grid of n_thresholds quantiles, equal steps or random numbers; or at the mean or median. A "
    "grid, mean or median takes values as floats: whole numbers above 2^53 may look equal to it.",
]
ThresholdsAt = Annotated[
    Literal["node", "root"],
    "Whether a grid, mean or median is taken of each node's rows, or once of the whole table.",
]
ThresholdCount = Annotated[
    int, Between(1, 65_535), "Cuts of a quantile, equal_width or random grid."
]
Reuse = Annotated[
    Literal["all", "numeric", "none"] | None,
    "Columns that may be tested again below a node that tests them.",
]
EmptyBranches = Annotated[
    bool | None,
    "Whether a multiway split has a branch for every level of the column: one without rows is a "
    "leaf that predicts as the node above.",
]
MaxSurrogates = Annotated[
    int, AtLeast(0), "Most surrogate splits of a node, with missing='surrogate'."
]
MaxBins = Annotated[
    int | None,
    Between(2, 65_535),
    "None for exact thresholds, halfway between any two neighbouring values; a number for at most "
    "that many bins a column, finer in the tails, told by a sample of 65,536 rows, between which "
    "thresholds lie. If the sample has no more different values than that, each has its own bin.",
]
Missing = Annotated[
    Literal["learned", "branch", "majority", "fractional", "surrogate"] | None,
    "What rows with a gap in a split's column do: go where the gain is larger, have a branch of "
    "their own, join the heavier branch, go down every branch with a share of their weight "
    "(Quinlan), or go as the best surrogate split says (Breiman). Where training had none in a "
    "node they join the heavier branch, unless they are fractional or follow surrogates; and a "
    "level that training did not have in a node is a gap there.",
]
MaxDepth = Annotated[int | None, AtLeast(1), "Most splits from the root to a leaf."]
MinSamplesSplit = Annotated[
    Annotated[int, AtLeast(2)] | Annotated[float, Between(0.0, 1.0, closed="right")] | None,
    "Rows that a node needs to be split, or their share of all rows.",
]
MinSamplesLeaf = Annotated[
    Annotated[int, AtLeast(1)] | Annotated[float, Between(0.0, 1.0, closed="neither")] | None,
    "Rows that every branch of a split needs, or their share of all rows; with "
    "missing='fractional' their weight.",
]
MinWeightFractionLeaf = Annotated[
    float, Between(0.0, 0.5), "Share of the whole weight that every branch of a split needs."
]
MinImpurityDecrease = Annotated[
    float,
    AtLeast(0.0),
    "A split needs this gain, weighted by the node's share of the whole weight. With 0 a split "
    "that gains nothing is made, too.",
]
MinImpuritySplit = Annotated[
    float, AtLeast(0.0), "A node whose impurity is not above this is good enough: it is a leaf."
]
MaxLeafNodes = Annotated[int | None, AtLeast(2), "Most leaves."]
Growth = Annotated[
    Literal["auto", "depth_first", "level_wise", "best_first"],
    "Order in which nodes are split and numbered; it decides which splits are made where "
    "max_leaf_nodes is set. 'auto' is best_first then, and depth_first otherwise.",
]
MaxFeatures = Annotated[
    Annotated[int, AtLeast(1)]
    | Annotated[float, Between(0.0, 1.0, closed="right")]
    | Literal["sqrt", "log2"]
    | None,
    "Columns that each node looks at, drawn by the seed and the node's path; a share of all "
    "columns, or all with None. If none of them can be split, more are looked at. Of equal splits "
    "that of the column drawn first is taken, so that no column is favoured.",
]
Seed = Annotated[
    int | RandomState | Generator | None,
    "Seed of the sample for bins and of the columns drawn: the same number gives the same tree; "
    "None draws a fresh one.",
]
Jobs = Annotated[int | None, "Threads; None or -1 uses every core allowed."]
KeepTrace = Annotated[bool, "Keep splits with their candidates in ``trace_``, thinned above 1000."]
CcpAlpha = Annotated[
    float | None,
    AtLeast(0.0),
    "Price of a leaf in cost-complexity pruning, in the unit of the risk as a share of all weight. "
    "None: by cross-validation, if pruning='cost_complexity'. A positive number alone asks for "
    "cost_complexity.",
]
PruneFolds = Annotated[int, AtLeast(2), "Folds of the cross-validation that chooses ccp_alpha."]
PruneRule = Annotated[
    Literal["min", "one_se"],
    "The smallest tree of least cross-validated error, or the smallest whose error is within one "
    "standard error of that.",
]
ValidationShare = Annotated[
    float,
    Between(0.0, 1.0, closed="neither"),
    "Share of the rows that pruning='reduced_error' holds out of growing.",
]

"""Hyper-parameters that tree learners share, each declared once."""

from __future__ import annotations

from typing import Annotated, Literal

from numpy.random import Generator, RandomState

from ceiba.base import AtLeast, Between

Splits = Annotated[
    Literal["binary", "multiway"],
    "Nominal columns are split into the best two groups of levels, or into a branch for each "
    "level. Numbers and ordinal columns are always split in two.",
]
MaxBins = Annotated[
    int | None,
    Between(2, 65_535),
    "None for exact thresholds, halfway between any two neighbouring values; a number for at most "
    "that many bins of about equal weight a column, told by a sample of 65,536 rows, between which "
    "thresholds lie. If the sample has no more different values than that, each has its own bin.",
]
Missing = Annotated[
    Literal["learned", "branch", "majority"],
    "What rows with a gap in a split's column do: go where the gain is larger, have a branch of "
    "their own, or join the heavier branch. Where training had none in a node, and for levels that "
    "it did not have there, they join the heavier branch.",
]
MaxDepth = Annotated[int | None, AtLeast(1), "Most splits from the root to a leaf."]
MinSamplesSplit = Annotated[
    Annotated[int, AtLeast(2)] | Annotated[float, Between(0.0, 1.0, closed="right")],
    "Rows that a node needs to be split, or their share of all rows.",
]
MinSamplesLeaf = Annotated[
    Annotated[int, AtLeast(1)] | Annotated[float, Between(0.0, 1.0, closed="neither")],
    "Rows that every branch of a split needs, or their share of all rows.",
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
    "columns, or all with None. If none of them can be split, more are looked at.",
]
Seed = Annotated[
    int | RandomState | Generator | None,
    "Seed of the sample for bins and of the columns drawn: the same number gives the same tree; "
    "None draws a fresh one.",
]
Jobs = Annotated[int | None, "Threads; None or -1 uses every core allowed."]
KeepTrace = Annotated[bool, "Keep splits with their candidates in ``trace_``, thinned above 1000."]

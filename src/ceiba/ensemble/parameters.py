"""Hyper-parameters that random forests share, each declared once."""

from __future__ import annotations

from typing import Annotated, Literal

from numpy.random import Generator, RandomState

from ceiba.base import AtLeast, Between

TreeCount = Annotated[int, AtLeast(1), "Number of trees."]
ForestThresholds = Annotated[
    Literal["midpoint", "random"],
    "Where numeric columns are cut: halfway between any two neighbouring values, or at the best of "
    "n_thresholds numbers drawn between the least and the largest of the node (extra-random).",
]
RandomCuts = Annotated[int, Between(1, 65_535), "Numbers drawn with thresholds='random'."]
ForestMissing = Annotated[
    Literal["learned", "branch", "majority"],
    "What rows with a gap in a split's column do: go where the gain is larger, have a branch of "
    "their own, or join the heavier branch. Where a tree had none in a node they join the heavier "
    "branch; a level that a tree did not have in a node is a gap there. For gaps that are shared "
    "or follow surrogates, bag decision trees that do so.",
]
FeaturesPer = Annotated[
    Literal["node", "tree", "both"],
    "Whether max_features columns are drawn at each node, once for each tree, or both: "
    "tree_features columns for each tree, and max_features of these at each of its nodes.",
]
TreeFeatures = Annotated[
    Annotated[int, AtLeast(1)]
    | Annotated[float, Between(0.0, 1.0, closed="right")]
    | Literal["sqrt", "log2"]
    | None,
    "Columns that each tree draws with features_per='both'.",
]
Bootstrap = Annotated[
    bool,
    "Whether the rows of a tree are drawn with replacement. Otherwise a tree has all rows, or "
    "max_samples of them, each once.",
]
MaxSamples = Annotated[
    Annotated[int, AtLeast(1)] | Annotated[float, Between(0.0, 1.0, closed="right")] | None,
    "Rows that are drawn for each tree, or their share of all; None for as many as there are. "
    "Whole sample weights count as repeated rows, others are chances of being drawn.",
]
OutOfBagScore = Annotated[
    bool,
    "Whether rows are predicted by the trees that did not draw them: ``oob_score_`` and "
    "``oob_curve_``.",
]
KeepImportance = Annotated[
    bool,
    "Whether ``oob_importance_`` is measured: how much worse trees predict the rows that they did "
    "not draw, with a column permuted.",
]
WarmStart = Annotated[
    bool,
    "Whether fit keeps the trees there are and adds new ones, grown on the rows given then, until "
    "there are n_estimators.",
]
ForestSeed = Annotated[
    int | RandomState | Generator | None,
    "Seed of all draws: the same number gives the same forest, for any number of threads; None "
    "draws a fresh one.",
]

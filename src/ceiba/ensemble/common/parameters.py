"""Hyper-parameters of committees, those of forests among them, each declared once."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Protocol, runtime_checkable

from numpy.random import Generator, RandomState

from ceiba.base import Above, AtLeast, Between


@runtime_checkable
class Learner(Protocol):
    """Whatever keeps scikit-learn's contract: an estimator with ``fit`` and ``predict``."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from rows."""
        ...

    def predict(self, X: Any) -> Any:
        """A prediction for each row."""
        ...


CountOrShare = Annotated[int, AtLeast(1)] | Annotated[float, Between(0.0, 1.0, closed="right")]

# Of every committee. A tree is the member of a forest.

MemberEstimator = Annotated[
    Learner | None,
    "What each member is a copy of: any estimator with scikit-learn's contract, Ceiba's or "
    "another, pipelines too. None for Ceiba's own decision tree. Every ``random_state`` in it is "
    "set from the seed and the member's number.",
]
MaxSamples = Annotated[
    CountOrShare | None,
    "Rows that are drawn for each member: a number, a share of all rows (of the sum of whole "
    "weights), or with None as many as there are.",
]
Bootstrap = Annotated[
    bool,
    "Whether rows are drawn with replacement, and by weight: whole weights count as repeated rows, "
    "others are chances of being drawn. Otherwise each row is drawn once at most, and keeps its "
    "weight; without ``max_samples`` every member is given all rows.",
]
WarmStart = Annotated[
    bool,
    "Whether ``fit`` keeps the members that are there, and adds new ones, fitted to the rows given "
    "then, until there are ``n_estimators``: on the same rows as if all were fitted at once.",
]
CommitteeSeed = Annotated[
    int | RandomState | Generator | None,
    "Seed of all draws and of the members' own random states: the same number gives the same "
    "committee for any number of threads; None draws a fresh one.",
]

# Of bagging.

MemberCount = Annotated[int, AtLeast(1), "Number of members."]
MemberFeatures = Annotated[
    CountOrShare,
    "Columns drawn for a member: a number, or a share of all columns, rounded down but at least "
    "one.",
]
BootstrapFeatures = Annotated[
    bool, "Whether columns are drawn with replacement: a column may then come twice."
]
OobScore = Annotated[
    bool, "Whether to predict each row of training by the members that were not given it."
]

# Of boosting.

Rounds = Annotated[int, AtLeast(1), "Most rounds; each adds a member."]
LearningRate = Annotated[
    float, Above(0.0), "Factor of each member's say: less needs more rounds, and may overfit less."
]
TreeDepth = Annotated[
    int | None, AtLeast(1), "Most splits from the root to a leaf of Ceiba's own tree; 1: a stump."
]
TreeBins = Annotated[
    int | None,
    Between(2, 65_535),
    "None for exact thresholds of Ceiba's own tree; a number for at most that many bins a column, "
    "told once by a sample of 65,536 rows under the weights that they came with.",
]
By = Annotated[
    Literal["weights", "draws"],
    "Whether members are given the weights of the rows, or as many rows as there are, drawn by "
    "weight: for learners that take no weights.",
]
KeepRounds = Annotated[bool, "Keep the rounds in ``trace_``, thinned above 1000 frames or 64 MB."]

# Of forests.

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
    CountOrShare | Literal["sqrt", "log2"] | None,
    "Columns that each tree draws with features_per='both'.",
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
ForestSeed = CommitteeSeed

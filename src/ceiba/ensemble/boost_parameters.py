"""Hyper-parameters that the two boosted committees share, each declared once."""

from __future__ import annotations

from typing import Annotated, Literal

from numpy.random import Generator, RandomState

from ceiba.base import Above, AtLeast, Between
from ceiba.ensemble.bagging_parameters import Learner

Boosted = Annotated[
    Learner | None,
    "What each member is a copy of: any estimator with scikit-learn's contract, Ceiba's or "
    "another. None for Ceiba's own decision tree of ``max_depth``. Every ``random_state`` in it is "
    "set from the seed and the round.",
]
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
Seed = Annotated[
    int | RandomState | Generator | None,
    "Seed of the draws, of the sample for bins and of the members' own random states: the same "
    "number gives the same committee; None draws a fresh one.",
]
KeepRounds = Annotated[bool, "Keep the rounds in ``trace_``, thinned above 1000 frames or 64 MB."]

"""Hyper-parameters that the two baggings share, each declared once."""

from __future__ import annotations

from typing import Annotated, Any, Protocol, runtime_checkable

from numpy.random import Generator, RandomState

from ceiba.base import AtLeast, Between


@runtime_checkable
class Learner(Protocol):
    """Whatever keeps scikit-learn's contract: an estimator with ``fit`` and ``predict``."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from rows."""
        ...

    def predict(self, X: Any) -> Any:
        """A prediction for each row."""
        ...


Member = Annotated[
    Learner | None,
    "What each member is a copy of: any estimator with scikit-learn's contract, Ceiba's or "
    "another, pipelines too. None for Ceiba's own decision tree. Every ``random_state`` in it is "
    "set from the seed and the member's number.",
]
MemberCount = Annotated[int, AtLeast(1), "Number of members."]
MaxSamples = Annotated[
    Annotated[int, AtLeast(1)] | Annotated[float, Between(0.0, 1.0, closed="right")] | None,
    "Rows drawn for a member: a number, a share of all rows (of the sum of whole weights), or with "
    "None as many as there are.",
]
MaxFeatures = Annotated[
    Annotated[int, AtLeast(1)] | Annotated[float, Between(0.0, 1.0, closed="right")],
    "Columns drawn for a member: a number, or a share of all columns, rounded down but at least "
    "one.",
]
Bootstrap = Annotated[
    bool,
    "Whether rows are drawn with replacement, and by weight. Otherwise each is drawn once at most, "
    "and keeps its weight; without ``max_samples`` every member is given all rows.",
]
BootstrapFeatures = Annotated[
    bool, "Whether columns are drawn with replacement: a column may then come twice."
]
OobScore = Annotated[
    bool, "Whether to predict each row of training by the members that were not given it."
]
WarmStart = Annotated[
    bool,
    "Whether ``fit`` keeps the members that are there and adds those missing to ``n_estimators``, "
    "as if all were fitted at once.",
]
Seed = Annotated[
    int | RandomState | Generator | None,
    "Seed of every draw, each keyed by its member: the same number gives the same bag for any "
    "number of threads; None draws a fresh one.",
]

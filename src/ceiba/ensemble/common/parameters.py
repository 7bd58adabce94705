"""Types and descriptions of hyper-parameters that several ensembles have."""

from __future__ import annotations

from typing import Annotated, Any, Protocol, runtime_checkable

from numpy.random import Generator, RandomState

from ceiba.base import Above, AtLeast, Between


@runtime_checkable
class Learner(Protocol):
    """An estimator with scikit-learn's ``fit`` and ``predict``."""

    def fit(self, X: Any, y: Any) -> Any:
        """Fit to rows."""
        ...

    def predict(self, X: Any) -> Any:
        """Return a prediction for each row."""
        ...


CountOrFraction = Annotated[int, AtLeast(1)] | Annotated[float, Between(0.0, 1.0, closed="right")]

MemberEstimator = Annotated[
    Learner | None,
    "The estimator that members are clones of: any estimator that follows scikit-learn's contract, "
    "including pipelines. None for Ceiba's decision tree. Every ``random_state`` in it is "
    "set from the seed and the number of the member.",
]
MaxSamples = Annotated[
    Annotated[int, AtLeast(1)] | Annotated[float, Above(0.0)] | None,
    "Rows drawn for each member: a number, None for as many as there are, or a fraction of them, "
    "which can be above 1 with ``bootstrap=True``. "
    "With ``sample_weight`` and ``bootstrap=True`` it is a fraction of the total weight: with 1.0 "
    "a row of weight 2 counts as two rows. At most 10 million, or 100 per row if that is more.",
]
Bootstrap = Annotated[
    bool,
    "Whether rows are drawn with replacement, with probabilities proportional to their weights. "
    "Otherwise each row is drawn at most once and keeps its weight; without ``max_samples`` every "
    "member gets all rows.",
]
WarmStart = Annotated[
    bool,
    "Whether ``fit`` keeps the existing members and adds new ones, fitted to the rows of that "
    "call, until there are ``n_estimators``. On the same rows the result equals a single fit.",
]
Seed = Annotated[
    int | RandomState | Generator | None,
    "Seed of all draws and of the members' random states. An int gives the same ensemble for any "
    "number of threads; None draws a new seed.",
]

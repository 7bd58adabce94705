"""The weighted median of what a committee says, row by row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ceiba._typing import Array
from ceiba.data.target import Task
from ceiba.ensemble.adaboost.base import BoostedMembers, Boosting, Round
from ceiba.ensemble.adaboost.formulas import losses, r2
from ceiba.ensemble.adaboost.predictions import Numbers, Voice
from ceiba.ensemble.common.parameters import (
    By,
    CommitteeSeed,
    KeepRounds,
    LearningRate,
    MemberEstimator,
    Rounds,
    TreeBins,
    TreeDepth,
)
from ceiba.ensemble.common.rows import TrainingRows
from ceiba.tree.base import DecisionTree
from ceiba.tree.parameters import Jobs
from ceiba.tree.regressor import DecisionTreeRegressor

# Numbers that are sorted at once: their order and running weights take some 16 MB.
_AT_ONCE = 1_000_000


def weighted_median(said: Array, weights: Array) -> Array:
    """Of each row the least number that, with those below it, has half of the weight.

    Parameters
    ----------
    said : ndarray of shape (n_rows, n_members)
    weights : ndarray of shape (n_members,)
        Positive weights of the members.

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> weighted_median(np.array([[3.0, 1.0, 2.0]]), np.array([1.0, 1.0, 5.0]))
    array([2.])
    """
    found = np.empty(len(said))
    step = max(1, _AT_ONCE // said.shape[1])
    for begin in range(0, len(said), step):
        found[begin : begin + step] = _median(said[begin : begin + step], weights)
    return found


def _median(said: Array, weights: Array) -> Array:
    order = np.argsort(said, axis=1, kind="stable")
    below = np.cumsum(weights[order], axis=1)
    place = (below >= below[:, -1:] / 2).argmax(axis=1)
    rows = np.arange(len(said))
    median: Array = said[rows, order[rows, place]]
    return median


class AdaBoostRegressor(RegressorMixin, Boosting):
    """Committee of regressors, each fitted to rows weighted by the errors of those before.

    A round fits a member to the weighted rows, measures its loss on each row as a share of its
    largest error, gives it a say by the average loss, and weighs rows of large loss more. It ends
    early when a member is perfect, which is kept with a say of 1, or its average loss is half or
    more, which is not kept unless it is the first. The committee predicts the weighted median of
    its members. Members are Ceiba's own trees, which take gaps and nominal columns as they are, or
    copies of any estimator, given the rows as they came. Rows must be in memory.

    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The members.
    estimator_weights_ : ndarray of shape (n_members,)
        Their say.
    estimator_errors_ : ndarray of shape (n_members,)
        Average loss of each.
    stopped_ : "rounds", "perfect" or "chance"
        Why there are no more members.
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the members' importances, weighted by their say.
    trace_ : Trace
        With ``trace=True``, a frame a round: ``weights`` of the rows before it, its ``error`` and
        ``alpha`` (say; 0 where the member is not kept) and the ``loss`` of each row. Rows of weight
        zero weigh nothing and lose nothing. At most 1000 frames and 64 MB.
    n_features_in_, feature_names_in_, schema_
        What the columns were; the schema for Ceiba's own members.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import AdaBoostRegressor
    >>> X = np.linspace(0.0, 6.0, 50).reshape(-1, 1)
    >>> model = AdaBoostRegressor(n_estimators=30).fit(X, np.sin(X[:, 0]))
    >>> model.score(X, np.sin(X[:, 0])) > 0.95
    True

    References
    ----------
    Drucker (1997), "Improving regressors using boosting techniques", ICML.
    """

    _task: ClassVar[Task] = "regression"
    _kind: ClassVar[str] = "regressor"
    _usual_depth: ClassVar[int] = 3

    def __init__(
        self,
        estimator: MemberEstimator = None,
        *,
        n_estimators: Rounds = 50,
        learning_rate: LearningRate = 1.0,
        loss: Annotated[
            Literal["linear", "square", "exponential"],
            "Loss of a row, from its error as a share of the largest: that share, its square, or "
            "1 - exp(-share).",
        ] = "linear",
        max_depth: TreeDepth = 3,
        max_bins: TreeBins = None,
        by: By = "weights",
        random_state: CommitteeSeed = 0,
        n_jobs: Jobs = None,
        trace: KeepRounds = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.loss = loss
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.by = by
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.trace = trace

    def predict(self, X: Any) -> Array:
        """The weighted median of what the members predict.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._by_blocks(X, self._median)

    def _median(self, data: Any, threads: int) -> Array:
        said = np.column_stack(list(self._told(data, threads)))
        return weighted_median(said, self.estimator_weights_)

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """`predict` of the committee after each round."""
        said: list[Array] = []
        for told in self._told(*self._rows_of(X)):
            said.append(told)
            yield weighted_median(np.column_stack(said), self.estimator_weights_[: len(said)])

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """R² of the committee after each round.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        """
        for said in self.staged_predict(X):
            yield float(r2_score(y, said, sample_weight=sample_weight))

    def _voice(self, classes: Array | None) -> Voice:
        return Numbers()

    def _judged(
        self, told: Array, training: TrainingRows, weights: Array
    ) -> tuple[Round, dict[str, Array]]:
        loss = losses(np.abs(told - training.target.values), self.loss)
        return r2(loss, weights, float(self.learning_rate)), {"loss": loss}

    def _take_first(self, boosted: BoostedMembers, member: Any, found: Round) -> None:
        boosted.add(member, 1.0, found.error)

    def _usual(self) -> DecisionTree:
        return DecisionTreeRegressor(
            max_depth=self.max_depth, max_bins=self.max_bins, n_jobs=self.n_jobs
        )

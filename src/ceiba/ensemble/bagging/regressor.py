"""Bagging of regressors: members on drawn rows, and the mean of what they predict."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ceiba._typing import Array
from ceiba.data.target import Task
from ceiba.engine import Engine
from ceiba.ensemble.bagging.base import Bagging
from ceiba.ensemble.bagging.fitted import BaggedMembers
from ceiba.ensemble.bagging.prediction import tally
from ceiba.ensemble.common.oob import judged_rows
from ceiba.ensemble.common.parameters import (
    Bootstrap,
    BootstrapFeatures,
    CommitteeSeed,
    MaxSamples,
    MemberCount,
    MemberEstimator,
    MemberFeatures,
    OobScore,
    WarmStart,
)
from ceiba.ensemble.common.rows import TrainingRows
from ceiba.ensemble.common.votes import told_numbers
from ceiba.tree import DecisionTreeRegressor
from ceiba.tree.parameters import Jobs


class BaggingRegressor(RegressorMixin, Bagging):
    """Committee of regressors, each fitted to rows and columns of its own draw; their mean counts.

    Members are copies of any estimator. Ceiba's own are given a `Table`, with gaps and nominal
    columns as they are; others the array or frame that came, so that it must suit them, and a
    `Table` as the array it was made of or as a pandas frame. A member that takes ``sample_weight``
    is given each row once, weighted by how often it was drawn; another is given it as often.
    Rows must be in memory.

    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The members.
    estimators_features_ : list of ndarray
        Numbers of the columns that each member was given.
    estimators_samples_ : list of ndarray
        Numbers of the rows that each member was given, in the order of the draws.
    feature_importances_ : ndarray of shape (n_features,)
        Mean over the members, where all have them.
    oob_score_ : float
        With ``oob_score``: R², by weight, over the rows ever out of bag.
    oob_prediction_ : ndarray of shape (n_rows,)
        With ``oob_score``: mean prediction of the members that were not given the row; NaN where
        all were, or where the row has weight zero.
    lots_ : list of Lot
        How rows were drawn.
    seed_ : int
        What keys the draws.
    n_features_in_, feature_names_in_, schema_
        What the columns were; the schema for Ceiba's own members.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import BaggingRegressor
    >>> X = np.linspace(0, 6, 200).reshape(-1, 1)
    >>> model = BaggingRegressor(n_estimators=20, oob_score=True).fit(X, np.sin(X[:, 0]))
    >>> model.oob_score_ > 0.99
    True

    References
    ----------
    Breiman (1996), "Bagging predictors", Machine Learning 24.
    """

    _task: ClassVar[Task] = "regression"
    _kind: ClassVar[str] = "regressor"
    _own: ClassVar[type[Any]] = DecisionTreeRegressor

    def __init__(
        self,
        estimator: MemberEstimator = None,
        n_estimators: MemberCount = 10,
        *,
        max_samples: MaxSamples = None,
        max_features: MemberFeatures = 1.0,
        bootstrap: Bootstrap = True,
        bootstrap_features: BootstrapFeatures = False,
        oob_score: OobScore = False,
        warm_start: WarmStart = False,
        random_state: CommitteeSeed = 0,
        n_jobs: Jobs = None,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.bootstrap_features = bootstrap_features
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def predict(self, X: Any, **params: Any) -> Array:
        """Mean of what the members predict.

        Parameters
        ----------
        X : array, frame, Table or list
        **params : dict
            Metadata for the members, where scikit-learn's metadata routing is on.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        ask = partial(told_numbers, self._routed("predict", self._asked_method(), params))
        return self._tally(X, ask, ()).means

    def _oob_attributes(
        self, engine: Engine, bag: BaggedMembers, training: TrainingRows, fitted: dict[str, Any]
    ) -> dict[str, Any]:
        ask = partial(told_numbers, {})
        found = tally(engine, bag.members, training.rows, ask, (), bag.out)
        judged = judged_rows(found.members, bag.lots[0].sampling.n_rows)
        truth, told = training.labels[judged], found.means[judged]
        score = float(r2_score(truth, told, sample_weight=training.weights_of(judged)))
        return {"oob_prediction_": found.means, "oob_score_": score}

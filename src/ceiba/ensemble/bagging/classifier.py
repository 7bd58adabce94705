"""Bagging of classifiers: members on drawn rows decide by mean probability or by vote."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.data.target import Task, unite_classes
from ceiba.engine import Engine
from ceiba.ensemble.bagging.base import Bagging
from ceiba.ensemble.bagging.fitted import BaggedMembers
from ceiba.ensemble.bagging.prediction import Ask, MemberTally, tally
from ceiba.ensemble.common.base import check_classes, class_attributes
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
from ceiba.ensemble.common.votes import Votes, told_probabilities, told_votes
from ceiba.tree import DecisionTreeClassifier
from ceiba.tree.parameters import Jobs


class BaggingClassifier(ClassifierMixin, Bagging):
    """Committee of classifiers, each fitted to rows and columns of its own draw.

    Members are copies of any estimator. Ceiba's own are given a `Table`, with gaps and nominal
    columns as they are; others the array or frame that came, so that it must suit them, and a
    `Table` as the array it was made of or as a pandas frame. A member that takes ``sample_weight``
    is given each row once, weighted by how often it was drawn; another is given it as often.
    Classes are given as they are, not as numbers; one that a member has not seen has
    probability 0 there. Rows must be in memory.

    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The members.
    estimators_features_ : list of ndarray
        Numbers of the columns that each member was given.
    estimators_samples_ : list of ndarray
        Numbers of the rows that each member was given, in the order of the draws.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Mean over the members, where all have them.
    oob_score_ : float
        With ``oob_score``: share, by weight, of the rows ever out of bag whose class is right.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        With ``oob_score``: mean probabilities, or shares of votes, of the members that were not
        given the row; NaN where all were, or where the row has weight zero.
    oob_ties_ : int
        With ``oob_score`` and majority vote: rows whose class was drawn among several.
    lots_ : list of Lot
        How rows were drawn.
    seed_ : int
        What keys the draws and decides ties.
    n_features_in_, feature_names_in_, schema_
        What the columns were; the schema for Ceiba's own members.

    Examples
    --------
    >>> from ceiba import BaggingClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> model = BaggingClassifier(n_estimators=25, oob_score=True).fit(vote.table, vote.y)
    >>> model.oob_score_ > 0.93
    True

    References
    ----------
    Breiman (1996), "Bagging predictors", Machine Learning 24.
    Breiman (1999), "Pasting small votes for classification in large databases and on-line",
    Machine Learning 36.
    Ho (1998), "The random subspace method for constructing decision forests", IEEE Transactions on
    Pattern Analysis and Machine Intelligence 20.
    """

    _task: ClassVar[Task] = "classification"
    _kind: ClassVar[str] = "classifier"
    _own: ClassVar[type[Any]] = DecisionTreeClassifier
    classes_: Array
    n_classes_: int
    seed_: int

    def __init__(
        self,
        estimator: MemberEstimator = None,
        n_estimators: MemberCount = 10,
        *,
        max_samples: MaxSamples = None,
        max_features: MemberFeatures = 1.0,
        bootstrap: Bootstrap = True,
        bootstrap_features: BootstrapFeatures = False,
        voting: Annotated[
            Literal["probability", "majority"],
            "How members decide: by the mean of their probabilities (a member without "
            "``predict_proba`` gives all to the class that it predicts), of equal ones the first "
            "class; or by one vote each, where a tie is drawn by the seed and the number of the "
            "row.",
        ] = "probability",
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
        self.voting = voting
        self.oob_score = oob_score
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def predict(self, X: Any, **params: Any) -> Array:
        """The class that the members decide for.

        Parameters
        ----------
        X : array, frame, Table or list
        **params : dict
            Metadata for the members, where scikit-learn's metadata routing is on.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        asked = self._routed("predict", self._asked_method(), params)
        if self.voting == "majority":
            place = self._votes(X, asked).place
        else:
            place = self._probabilities(X, asked).argmax(axis=1)
        classes: Array = self.classes_[place]
        return classes

    def predict_proba(self, X: Any, **params: Any) -> Array:
        """Mean of the members' probabilities; with ``voting="majority"`` shares of their votes.

        Parameters
        ----------
        X : array, frame, Table or list
        **params : dict
            Metadata for the members, where scikit-learn's metadata routing is on.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        asked = self._routed("predict_proba", self._asked_method(), params)
        if self.voting == "majority":
            return self._votes(X, asked).shares
        return self._probabilities(X, asked)

    def predict_log_proba(self, X: Any, **params: Any) -> Array:
        """Logarithms of what `predict_proba` gives."""
        asked = self._routed("predict_log_proba", self._asked_method(), params)
        majority = self.voting == "majority"
        shares = self._votes(X, asked).shares if majority else self._probabilities(X, asked)
        with np.errstate(divide="ignore"):
            logs: Array = np.log(shares)
        return logs

    def votes(self, X: Any) -> Votes:
        """One vote of each member for every row, whatever ``voting`` says.

        Returns
        -------
        Votes
            Counts, the class elected, and which rows were tied.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba import BaggingClassifier
        >>> X, y = np.arange(8.0).reshape(-1, 1), [0, 0, 0, 0, 1, 1, 1, 1]
        >>> BaggingClassifier(n_estimators=5).fit(X, y).votes([[0.0], [7.0]]).counts
        array([[5, 0],
               [0, 5]])
        """
        return self._votes(X, {})

    def _votes(self, X: Any, params: dict[str, Any]) -> Votes:
        counts = self._asked(X, told_votes, params).totals
        return Votes.of(counts, self.seed_)

    def _probabilities(self, X: Any, params: dict[str, Any]) -> Array:
        return self._asked(X, told_probabilities, params).means

    def _asked(self, X: Any, told: Any, params: dict[str, Any]) -> MemberTally:
        check_is_fitted(self)
        ask = partial(told, self.classes_, params)
        return self._tally(X, ask, self.classes_.shape)

    def _asked_method(self) -> str:
        majority = self.voting == "majority" or not hasattr(self._prototype(), "predict_proba")
        return "predict" if majority else "predict_proba"

    def _more_attributes(self, training: TrainingRows, goes_on: bool) -> dict[str, Any]:
        classes = training.classes
        if goes_on and classes is not None:
            # Members that are there may know classes that these rows do not have.
            classes = unite_classes(self.classes_, classes)
        return class_attributes(classes)

    def _oob_attributes(
        self, engine: Engine, bag: BaggedMembers, training: TrainingRows, fitted: dict[str, Any]
    ) -> dict[str, Any]:
        classes: Array = fitted["classes_"]
        majority = self.voting == "majority"
        ask: Ask = partial(told_votes if majority else told_probabilities, classes, {})
        found = tally(engine, bag.members, training.rows, ask, classes.shape, bag.out)
        judged = judged_rows(found.members, bag.lots[0].sampling.n_rows)
        attributes: dict[str, Any] = {"oob_decision_function_": found.means}
        if majority:
            votes = Votes.of(found.totals[judged], bag.seed, judged)
            place, attributes["oob_ties_"] = votes.place, votes.ties
        else:
            place = found.means[judged].argmax(axis=1)
        right = classes[place] == training.labels[judged]
        attributes["oob_score_"] = float(np.average(right, weights=training.weights_of(judged)))
        return attributes

    def _check_state(self) -> None:
        super()._check_state()
        check_classes(self)

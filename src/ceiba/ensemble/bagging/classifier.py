"""Bagging of classifiers: the members' mean probabilities, or their majority vote."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import fitted
from ceiba.data.target import Task
from ceiba.ensemble.bagging.base import BaseBagging
from ceiba.ensemble.bagging.members import (
    BaggedMembers,
    PredictFunction,
    PredictionSums,
    sum_predictions,
)
from ceiba.ensemble.common.rows import TrainingData
from ceiba.ensemble.common.votes import (
    Votes,
    expand_classes,
    member_decisions,
    member_probabilities,
    member_votes,
)
from ceiba.tree import DecisionTreeClassifier
from ceiba.tree.explain.shap import node_predictions, node_votes


def _members_have_decision_function(model: Any) -> bool:
    return hasattr(model._get_estimator(), "decision_function")


class BaggingClassifier(ClassifierMixin, BaseBagging):
    """Bagging of classifiers, each fitted to its own sample of rows and columns.

    Members are clones of any estimator. Ceiba's estimators are fitted to a `Table`, with missing
    values and nominal columns; others to the array or frame as it was passed, and for these a
    `Table` is converted to its array or to a pandas frame. A member that accepts ``sample_weight``
    gets each row once, with its number of draws as weight; another gets repeated rows. Members are
    fitted to the class labels themselves, not to label codes. Rows must be in memory.

    If a member's sample lacks a class and the member accepts ``sample_weight``, it also gets one
    row of this class, with weight zero. Otherwise, or if it refuses that, it is fitted to its
    sample, and the class has probability 0 there. An estimator of another library is not fitted to
    a sample of one class: it is replaced by a member that always predicts this class.

    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    estimators_features_ : list of ndarray
        Column indices of each member.
    estimators_samples_ : list of ndarray
        Row indices of each member's sample, in the order of the draws.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Mean over the members, if all have them.
    oob_score_ : float
        With ``oob_score``: weighted accuracy on the rows that have an out-of-bag prediction.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        With ``oob_score``: mean probabilities, or fractions of votes, of the members whose sample
        lacks the row; NaN if there is none, or if the row has weight zero.
    oob_ties_ : int
        With ``oob_score`` and majority vote: number of rows with tied classes.
    batches_ : list of DrawnBatch
        How the members' rows were drawn.
    seed_ : int
        Seed of the draws and of the choice between tied classes.
    n_features_in_, feature_names_in_, schema_
        Description of the columns; the schema for Ceiba's estimators.

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
    _score_name = "probability"
    _tree_class: ClassVar[type[Any]] = DecisionTreeClassifier
    classes_: Array = fitted()
    n_classes_: int = fitted()
    seed_: int = fitted()

    voting: Annotated[
        Literal["probability", "majority"],
        "Whether predictions are mean probabilities (a member without ``predict_proba`` gives "
        "probability 1 to the class it predicts; of equal classes the first is chosen), or one "
        "vote per member, with ties drawn by the seed and the row number.",
    ] = "probability"

    def predict(self, X: Any, **params: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : array, frame, Table or list
        **params : dict
            Metadata for the members, if scikit-learn's metadata routing is enabled.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        totals = self._totals("predict", X, params)
        if self.voting == "majority":
            index = Votes.of(totals.sums, self.seed_).class_index
        else:
            index = totals.means.argmax(axis=1)
        return np.asarray(self.classes_[index])

    def predict_proba(self, X: Any, **params: Any) -> Array:
        """Predict mean class probabilities, or fractions of votes with majority vote.

        Parameters
        ----------
        X, **params
            As in ``predict``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return self._totals("predict_proba", X, params).means

    def predict_log_proba(self, X: Any, **params: Any) -> Array:
        """Predict logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            logs: Array = np.log(self._totals("predict_log_proba", X, params).means)
        return logs

    @available_if(_members_have_decision_function)
    def decision_function(self, X: Any, **params: Any) -> Array:
        """Compute the mean of the members' decision functions.

        Available if the estimator has this method. All members must have seen all classes. A
        member that always predicts one class gives 1 to it and -1 to the others.

        Parameters
        ----------
        X, **params
            As in ``predict``.

        Returns
        -------
        ndarray of shape (n_rows, n_classes) or, for two classes, (n_rows,)
        """
        member_params = self._routed_params("decision_function", "decision_function", params)
        check_is_fitted(self)
        engine, rows = self._prediction_rows(X)
        predict = partial(member_decisions, self.classes_, member_params)
        columns = None if len(self.classes_) == 2 else self.classes_
        return sum_predictions(engine, BaggedMembers.of(self).members, rows, predict, columns).means

    def votes(self, X: Any) -> Votes:
        """Count one vote per member for every row, whatever ``voting`` is.

        Returns
        -------
        Votes
            Counts, the elected class, and which rows are tied.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba import BaggingClassifier
        >>> X, y = np.arange(8.0).reshape(-1, 1), [0, 0, 0, 0, 1, 1, 1, 1]
        >>> BaggingClassifier(n_estimators=5).fit(X, y).votes([[0.0], [7.0]]).counts
        array([[5, 0],
               [0, 5]])
        """
        check_is_fitted(self)
        totals = self._sum_predictions(X, partial(member_votes, self.classes_, {}))
        return Votes.of(totals.sums, self.seed_)

    def _node_scores(self, member: Any) -> Array:
        predict = node_votes if self.voting == "majority" else node_predictions
        return expand_classes(predict(member.tree_), member.classes_, self.classes_)

    def _member_method(self) -> str:
        votes = self.voting == "majority" or not hasattr(self._get_estimator(), "predict_proba")
        return "predict" if votes else "predict_proba"

    def _predict_function(self, classes: Array | None, params: dict[str, Any]) -> PredictFunction:
        assert classes is not None
        predict = member_votes if self.voting == "majority" else member_probabilities
        return partial(predict, classes, params)

    def _score_oob(
        self, totals: PredictionSums, rows: Array, training: TrainingData, model: dict[str, Any]
    ) -> dict[str, Any]:
        oob: dict[str, Any] = {"oob_decision_function_": totals.means}
        if self.voting == "majority":
            votes = Votes.of(totals.sums[rows], model["seed_"], rows)
            index, oob["oob_ties_"] = votes.class_index, votes.n_ties
        else:
            index = totals.means[rows].argmax(axis=1)
        correct = model["classes_"][index] == training.labels[rows]
        oob["oob_score_"] = float(np.average(correct, weights=training.weights_of(rows)))
        return oob

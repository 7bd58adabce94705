"""AdaBoost for classification: AdaBoost.M1, SAMME and SAMME.R."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from ceiba._typing import Array
from ceiba.base import fitted
from ceiba.base.value_types import join_words
from ceiba.data.table import Table
from ceiba.data.target import Target, Task, class_indices
from ceiba.ensemble.adaboost.base import BaseAdaBoost
from ceiba.ensemble.adaboost.formulas import (
    RoundResult,
    class_probabilities,
    decision_values,
    relative_margin,
    samme,
    samme_r,
    samme_r_scores,
    samme_scores,
)
from ceiba.ensemble.common.rows import TrainingData
from ceiba.ensemble.common.votes import expand_classes, member_probabilities, member_votes
from ceiba.tree.base import DecisionTree
from ceiba.tree.classifier import DecisionTreeClassifier
from ceiba.tree.explain.shap import TreeSum, node_predictions, node_votes


class AdaBoostClassifier(ClassifierMixin, BaseAdaBoost):
    """AdaBoost classifier: AdaBoost.M1, SAMME and SAMME.R.

    A round fits a member to the weighted rows, computes its estimator weight from its weighted
    error, and increases the weights of the rows it misclassifies. Boosting ends early with a
    member without errors, which is kept with weight 1, or with a member no better than chance,
    which is dropped. Members are Ceiba's trees, which handle missing values and nominal columns, or
    clones of any estimator, fitted to the rows as they were passed. Rows must be in memory.

    {parameters}

    Attributes
    ----------
    estimators_ : list of estimators
        The fitted members.
    estimator_weights_ : ndarray of shape (n_members,)
        Weights (alpha) of the members; 1 each with algorithm="samme.r".
    estimator_errors_ : ndarray of shape (n_members,)
        Weighted error rate of each member.
    stop_reason_ : "rounds", "perfect" or "chance"
        Why boosting ended: all rounds are done, the last member has no error, or the next one was
        no better than chance.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Mean of the members' importances, weighted by ``estimator_weights_``.
    trace_ : Trace
        With ``trace=True``, one frame per round: ``weights`` of the rows before it, its ``error``
        and ``alpha`` (estimator weight; 0 if the member is dropped) and which rows it got
        ``wrong``. Rows of weight zero have weight 0 and are not wrong. At most 1000 frames and
        64 MB.
    n_features_in_, feature_names_in_, schema_
        Description of the columns; the schema for Ceiba's estimators.

    Examples
    --------
    >>> from ceiba import AdaBoostClassifier, datasets
    >>> iris = datasets.load("iris")
    >>> model = AdaBoostClassifier(n_estimators=20, max_depth=2).fit(iris.table, iris.y)
    >>> model.score(iris.table, iris.y) > 0.97, len(model.estimators_)
    (True, 20)

    References
    ----------
    Freund & Schapire (1997), "A decision-theoretic generalization of on-line learning and an
    application to boosting", Journal of Computer and System Sciences 55.
    Zhu, Zou, Rosset & Hastie (2009), "Multi-class AdaBoost", Statistics and Its Interface 2.
    """

    _task: ClassVar[Task] = "classification"
    _score_name = "decision function"
    _tree_class: ClassVar[type[Any]] = DecisionTreeClassifier
    classes_: Array = fitted()
    n_classes_: int = fitted()

    algorithm: Annotated[
        Literal["samme", "m1", "samme.r"],
        "SAMME requires members to be better than chance among all classes, AdaBoost.M1 to be "
        "correct for more than half of the weight; they are the same for two classes. SAMME.R uses "
        "the logarithms of the members' probabilities, clipped to at least 2^-52. No row weight "
        "falls below about 2^-36 of the largest: with pure leaves, SAMME.R therefore differs from "
        "the published algorithm.",
    ] = "samme"

    def decision_function(self, X: Any) -> Array:
        """Compute the weighted mean of the members' class scores.

        The score of a member is 1 for the class it predicts and -1 / (n_classes - 1) for the
        others; with algorithm="samme.r" it is (n_classes - 1) times the difference between the
        logarithm of a class's probability and the mean of these logarithms.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``. For two classes of shape (n_rows,): the score of the second
            minus that of the first.
        """
        scores = self._for_all_classes(self._class_scores(X))
        return decision_values(scores, self._total_weight)

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Compute `decision_function` after each round."""
        for scores, total_weight in self._staged_scores(*self._data_and_threads(X)):
            yield decision_values(self._for_all_classes(scores), total_weight)

    def predict(self, X: Any) -> Array:
        """Predict the class of largest score; ties go to the first.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        indices = self._class_scores(X).argmax(axis=1)
        return np.asarray(self._learned_classes[indices])

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Compute `predict` after each round."""
        for scores, _ in self._staged_scores(*self._data_and_threads(X)):
            yield self._learned_classes[scores.argmax(axis=1)]

    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities: the softmax of mean score / (n_classes - 1).

        The mean score is that of `decision_function`, for each class. The probabilities rank rows
        but are not calibrated: see `sklearn.calibration.CalibratedClassifierCV`.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        probabilities = class_probabilities(self._class_scores(X), self._total_weight)
        return expand_classes(probabilities, self._learned_classes, self.classes_)

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Compute `predict_proba` after each round."""
        for scores, total_weight in self._staged_scores(*self._data_and_threads(X)):
            probabilities = class_probabilities(scores, total_weight)
            yield expand_classes(probabilities, self._learned_classes, self.classes_)

    def predict_log_proba(self, X: Any) -> Array:
        """Predict logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    def margins(self, X: Any, y: Any) -> Array:
        """Compute the margin of each row, which is positive if it is classified correctly.

        The margin is the score of the true class minus the largest score of another class, relative
        to the largest possible difference: 1 if all members are correct, -1 if all predict the same
        wrong class.

        Parameters
        ----------
        X : array, frame, Table or list
        y : array of shape (n_rows,)
            True classes.

        Returns
        -------
        ndarray of shape (n_rows,)
            From -1 to 1; 0 if all classes have the same score.

        References
        ----------
        Schapire, Freund, Bartlett & Lee (1998), "Boosting the margin: a new explanation for the
        effectiveness of voting methods", Annals of Statistics 26.

        Examples
        --------
        >>> import numpy as np
        >>> from ceiba import AdaBoostClassifier
        >>> X, y = np.arange(6.0).reshape(-1, 1), [0, 0, 1, 1, 0, 0]
        >>> AdaBoostClassifier(n_estimators=3).fit(X, y).margins(X, y).round(2)
        array([0.05, 0.05, 0.59, 0.59, 0.35, 0.35])
        """
        total, max_margin = np.zeros(()), np.zeros(())
        for learned_scores in self._member_scores(*self._data_and_threads(X)):
            scores = self._for_all_classes(learned_scores)
            total = total + scores
            max_margin = max_margin + (scores.max(axis=1) - scores.min(axis=1))
        target = Target.of(y, len(total))
        assert target.classes is not None
        labels = class_indices(target.classes, self.classes_)[target.values]
        return relative_margin(total, max_margin, labels)

    @property
    def _learned_classes(self) -> Array:
        """Classes that some member has: those with rows of positive weight."""
        found = np.zeros(len(self.classes_), bool)
        # Members usually share one array of classes.
        for own in {id(member.classes_): member.classes_ for member in self.estimators_}.values():
            found[class_indices(np.asarray(own), self.classes_)] = True
        return self.classes_ if found.all() else np.asarray(self.classes_[found])

    def _for_all_classes(self, scores: Array) -> Array:
        """Add the classes that no member has, with the lowest score of the row."""
        learned = self._learned_classes
        if len(learned) == len(self.classes_):
            return scores
        lowest = np.minimum(scores.min(axis=1, keepdims=True), 0.0)
        expanded = np.repeat(lowest, len(self.classes_), axis=1)
        expanded[:, class_indices(learned, self.classes_)] = scores
        return expanded

    def _class_scores(self, X: Any) -> Array:
        """Return the sum of all members' weighted scores of the learned classes."""

        def predict(data: Any, threads: int) -> Array:
            ((scores, _),) = deque(self._staged_scores(data, threads), maxlen=1)
            return scores

        return self._predict_in_blocks(X, predict)

    @property
    def _total_weight(self) -> float:
        return float(sum(self.estimator_weights_.tolist()))

    def _staged_scores(self, data: Any, threads: int) -> Iterator[tuple[Array, float]]:
        """Yield the summed class scores, updated in place, and weights after each round."""
        total, total_weight = np.zeros(()), 0.0
        weights = self.estimator_weights_.tolist()
        for scores, weight in zip(self._member_scores(data, threads), weights, strict=True):
            total = np.add(total, scores, out=total if total.ndim else None)
            total_weight += weight
            yield total, total_weight

    def _member_scores(self, data: Any, threads: int) -> Iterator[Array]:
        """Yield each member's class scores, times its weight."""
        n_classes, weights = len(self._learned_classes), self.estimator_weights_.tolist()
        predictions = self._member_predictions(data, threads)
        for predicted, weight in zip(predictions, weights, strict=True):
            if self.algorithm == "samme.r":
                yield samme_r_scores(predicted)
            else:
                yield samme_scores(predicted, n_classes, weight)

    def _predict_member(
        self, member: Any, X: Any, classes: Array | None, threads: int, leaf: Array | None = None
    ) -> Array:
        """Return class probabilities with algorithm="samme.r", otherwise class indices."""
        assert classes is not None
        if self.algorithm == "samme.r":
            if leaf is None:
                return member_probabilities(classes, {}, member, X)
            return expand_classes(member.tree_.leaf_values(leaf), member.classes_, classes)
        if leaf is not None:
            indices: Array = member.tree_.leaf_class[member.tree_.child[leaf]]
        elif isinstance(member, DecisionTree) and isinstance(X, Table):
            indices = member.tree_.predict_class(X, threads)
        else:
            return np.asarray(member_votes(classes, {}, member, X).argmax(axis=1))
        if member.classes_ is classes:
            return indices
        return np.asarray(class_indices(member.classes_, classes)[indices])

    def _tree_sum(self) -> TreeSum:
        trees, n_learned = self._member_trees(), len(self._learned_classes)
        if n_learned < len(self.classes_):
            raise ValueError(
                "Shapley values require rows of positive weight in every class, got "
                f"{n_learned} of {len(self.classes_)} classes: drop the others."
            )
        weighted = zip(self.estimators_, self.estimator_weights_.tolist(), strict=True)
        scores = [self._node_scores(member, weight) for member, weight in weighted]
        scale = np.full(len(trees), 1 / self._total_weight)
        return TreeSum.of(trees, scores, scale, self.schema_)

    def _node_scores(self, member: Any, weight: float) -> Array:
        """Return the scores of a member's leaves, those of `decision_function`, by node."""
        predict = node_predictions if self.algorithm == "samme.r" else node_votes
        predicted = expand_classes(predict(member.tree_), member.classes_, self.classes_)
        if self.algorithm == "samme.r":
            scores = samme_r_scores(predicted)
        else:
            scores = samme_scores(predicted.argmax(axis=1), len(self.classes_), weight)
        return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores

    def _evaluate_round(
        self, predictions: Array, data: TrainingData, weights: Array
    ) -> tuple[RoundResult, dict[str, Array]]:
        labels, learning_rate = data.target.values, float(self.learning_rate)
        if self.algorithm == "samme.r":
            result, incorrect = samme_r(predictions, labels, weights, learning_rate)
            return result, {"wrong": incorrect}
        incorrect = predictions != labels
        assert data.classes is not None
        n_classes = 2 if self.algorithm == "m1" else len(data.classes)
        return samme(incorrect, weights, learning_rate, n_classes), {"wrong": incorrect}

    def _row_errors(self, predicted: Array, data: TrainingData) -> Array:
        return np.asarray(predicted != data.labels)

    def _weight_of_poor_first_member(self, member: Any, result: RoundResult) -> float:
        is_m1 = self.algorithm == "m1"
        rule = "one half with algorithm='m1'" if is_m1 else "the error of chance"
        remedies = ["use algorithm='samme'"] if is_m1 else []
        remedies += ["increase max_depth"] if self.estimator is None else []
        remedies.append("use another estimator")
        raise ValueError(
            "BaseClassifier in AdaBoostClassifier ensemble is worse than random, ensemble can not "
            f"be fit: the weighted error of the first {type(member).__name__} must be below "
            f"{rule}, got {result.error:.1%}; {join_words(remedies)}."
        )

    def _check_estimator(self, estimator: Any) -> None:
        super()._check_estimator(estimator)
        if self.algorithm == "samme.r" and not hasattr(estimator, "predict_proba"):
            raise ValueError(
                "algorithm='samme.r' requires an estimator with predict_proba, got "
                f"{type(estimator).__name__}: use algorithm='samme'."
            )

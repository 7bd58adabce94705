"""The gradient boosting classifier."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin, is_classifier

from ceiba._typing import Array
from ceiba.base import ParameterError, ScanScoreMixin, fitted
from ceiba.base.value_types import format_value
from ceiba.data.target import Task, class_indices
from ceiba.ensemble.gradient_boosting.base import BaseGradientBoosting
from ceiba.ensemble.gradient_boosting.losses.base import Link, Loss
from ceiba.ensemble.gradient_boosting.losses.classification import (
    BinomialLogLoss,
    Exponential,
    MultinomialLogLoss,
)
from ceiba.ensemble.gradient_boosting.model import BoostedTrees
from ceiba.stats import LabeledRows, TargetSummary
from ceiba.tree.class_weight import class_weight_factors
from ceiba.tree.constraints import check_monotonic_classes

# Losses of two classes, by the values of the parameter ``loss``.
_LOSSES: dict[str, type[Loss]] = {"log_loss": BinomialLogLoss, "exponential": Exponential}


class GradientBoostingClassifier(ScanScoreMixin, ClassifierMixin, BaseGradientBoosting):
    """Gradient boosting for classification, with missing values and nominal columns.

    Every round fits a tree to the gradients of the loss, for three or more classes one per class or
    one for all (``multi_strategy``), and adds it to the raw scores. Columns are binned once. A
    missing value follows the branch of larger gain; categories of a nominal column are ordered by
    their mean gradient and divided in two. A column of more than ten categories must gain more than
    as many random categories would, so that near-identifiers are not chosen. A category that
    was not seen in training is missing; one that was seen there, but not in the node, follows the
    branch of missing values as well. All sums are integers, and all draws are keyed by the seed,
    the round and the row: the model is the same, bit for bit, for any number of threads.

    {parameters}

    Attributes
    ----------
    boosted_trees_ : BoostedTrees
        The trees; ``tree(i, k)`` returns one of them.
    n_estimators_ : int
        Number of rounds, at most ``n_estimators``.
    n_trees_per_round_ : int
        1 for two classes, else the number of classes; one tree for all classes is stored as one
        per class with the same splits.
    init_ : estimator or None
        The fitted ``init`` predictor.
    losses_ : dict
        Mean loss after each round: ``"training"`` with ``trace`` or ``verbose``, ``"validation"``
        with validation rows. After a warm start those of the earlier rounds come first, NaN where
        they were not recorded; rounds that early stopping dropped are the last ones.
    trace_ : Trace
        With ``trace=True``.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    feature_importances_ : ndarray of shape (n_features,)
        Relative total gain; ``importances("split")`` counts splits.
    n_features_in_, feature_names_in_, schema_
        Description of the columns.

    Examples
    --------
    >>> from ceiba import GradientBoostingClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> model = GradientBoostingClassifier().fit(vote.table, vote.y)
    >>> model.score(vote.table, vote.y) > 0.95
    True

    References
    ----------
    Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29.
    Chen & Guestrin (2016), "XGBoost: a scalable tree boosting system", KDD.
    Ke et al. (2017), "LightGBM: a highly efficient gradient boosting decision tree", NeurIPS.
    Shi et al. (2022), "Quantized training of gradient boosting decision trees", NeurIPS.
    """

    _task: ClassVar[Task] = "classification"
    _loss_names: ClassVar[tuple[str, ...]] = tuple(_LOSSES)
    classes_: Array = fitted()
    n_classes_: int = fitted()

    loss: Annotated[
        Literal["log_loss", "exponential"],
        "Loss: the log-loss, or for two classes the exponential loss of AdaBoost.",
    ] = "log_loss"
    multi_strategy: Annotated[
        Literal["one_output_per_tree", "multi_output_tree"],
        "With three or more classes, one tree per class in each round, or one tree for all; with "
        "two classes there is one tree anyway.",
    ] = "one_output_per_tree"
    class_weight: Annotated[
        Literal["balanced"] | Mapping[Any, float] | None,
        "Factors of the weights of each class: a mapping (1 for classes it lacks), or 'balanced' "
        "for equal total weight of all classes.",
    ] = None

    def apply(self, X: Any) -> Array:
        """Return the leaf of each row in each tree, in the shape of scikit-learn.

        Returns
        -------
        ndarray of int32 of shape (n_rows, n_rounds, n_trees_per_round)
            1 tree per round for two classes, else one per class.
        """
        leaves = super().apply(X)
        return leaves.reshape(len(leaves), -1, self.n_trees_per_round_)

    def decision_function(self, X: Any) -> Array:
        """Return raw scores: log-odds of the second class, or one score per class.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        raw = self._raw_scores(X)
        return raw[:, 0] if raw.shape[1] == 1 else raw

    def predict_proba(self, X: Any) -> Array:
        """Predict class probabilities.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return self._inverse_link(self._raw_scores(X))

    def predict_log_proba(self, X: Any) -> Array:
        """Predict logarithms of the class probabilities."""
        with np.errstate(divide="ignore"):
            logs: Array = np.log(self.predict_proba(X))
        return logs

    def predict(self, X: Any) -> Array:
        """Predict the class of largest probability; ties go to the first.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        probabilities = self.predict_proba(X)
        return np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """Yield the raw scores after each round."""
        for raw in self._staged_raw_scores(X):
            yield raw[:, 0] if raw.shape[1] == 1 else raw

    def staged_predict_proba(self, X: Any) -> Iterator[Array]:
        """Yield the class probabilities after each round."""
        yield from map(self._inverse_link, self._staged_raw_scores(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predicted classes after each round."""
        for probabilities in self.staged_predict_proba(X):
            yield np.asarray(self.classes_[probabilities.argmax(axis=1)])

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.init not in (None, "zero") and not is_classifier(self.init):
            raise ParameterError(
                f"init must be a classifier, got {type(self.init).__name__}, which predicts no "
                "class probabilities: use one such as DecisionTreeClassifier(), or leave out init."
            )

    def _target(
        self, labeled: LabeledRows, summary: TargetSummary, previous: BoostedTrees | None
    ) -> tuple[LabeledRows, dict[str, Any]]:
        assert summary.classes is not None
        classes = summary.classes
        if previous is not None:
            unknown = np.setdiff1d(classes, self.classes_)
            if len(unknown):
                raise ValueError(
                    "y must have the classes of the first fit with warm_start, got "
                    f"{format_value(unknown[0])}."
                )
            indices = class_indices(classes, self.classes_)
            counts = np.zeros(len(self.classes_), np.int64)
            assert summary.class_counts is not None
            counts[indices] = summary.class_counts
            summary = replace(summary, classes=self.classes_, class_counts=counts)
            target = replace(
                labeled.target, values=labeled.labels(self.classes_), classes=self.classes_
            )
            labeled, classes = replace(labeled, target=target), self.classes_
        self._check_classes(len(classes))
        factors = class_weight_factors(self.class_weight, summary)
        if factors is not None:
            weight = factors[labeled.target.values]
            weight = weight if labeled.weight is None else weight * labeled.weight
            labeled = replace(labeled, weight=weight)
        return labeled, {"classes_": classes, "n_classes_": len(classes)}

    def _check_classes(self, n_classes: int) -> None:
        if n_classes <= 2:
            return
        if self.loss == "exponential":
            raise ParameterError(
                f"loss='exponential' requires two classes, got {n_classes}: use loss='log_loss'."
            )
        if self.monotonic_cst is not None:
            check_monotonic_classes(n_classes)

    def _loss(self, rows: LabeledRows, attributes: dict[str, Any], threads: int) -> Loss:
        data = rows.target.values.astype(np.float64), rows.weight, threads
        n_classes = attributes["n_classes_"]
        if n_classes > 2:
            return MultinomialLogLoss(*data, n_classes=n_classes)
        return _LOSSES[self.loss](*data)

    def _link(self, loss: Any, classes: Array | None) -> Link:
        assert classes is not None
        return MultinomialLogLoss if len(classes) > 2 else _LOSSES[loss]

    def _inverse_link(self, raw: Array) -> Array:
        if self.n_classes_ == 1:
            return np.ones((len(raw), 1))
        return super()._inverse_link(raw)

    def _init_predictions(self, init: Any, X: Any, classes: Array | None) -> Array:
        assert classes is not None
        if not hasattr(init, "predict_proba"):
            raise ParameterError(
                f"init must have predict_proba, got {type(init).__name__}: use another estimator."
            )
        given = np.asarray(init.predict_proba(X), np.float64)
        probabilities = np.zeros((len(given), len(classes)))
        probabilities[:, class_indices(np.asarray(init.classes_), classes)] = given
        return probabilities

    def _check_state(self) -> None:
        super()._check_state()
        expected = len(self.classes_) if len(self.classes_) > 2 else 1
        if self.n_classes_ != len(self.classes_) or self.boosted_trees_.n_outputs != expected:
            raise ValueError(
                f"boosted_trees_ and n_classes_ must have {len(self.classes_)} classes, as "
                "classes_."
            )

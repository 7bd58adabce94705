"""The random forest classifier."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from ceiba._typing import Array
from ceiba.base import ScanScoreMixin, fitted
from ceiba.data.target import Task
from ceiba.ensemble.forest.base import BaseForest
from ceiba.ensemble.forest.grower import TrainingSample
from ceiba.ensemble.forest.multi_output import MultiOutputForest
from ceiba.tree.model.multi_output import split_outputs
from ceiba.tree.multi_output import check_class_lists, predicted_classes


class RandomForestClassifier(ScanScoreMixin, ClassifierMixin, BaseForest):
    """Random forest for classification, with missing values and nominal columns.

    Every tree is fully grown on a bootstrap sample, and every node draws a few columns; the forest
    predicts the mean of its trees' class probabilities, with ties for the first class. Numeric and
    ordinal columns are split at a threshold, nominal columns into two groups of categories; a
    category that was not seen in training is missing. All draws are keyed by the seed, the tree,
    and the draw or the path to the node: the forest is the same, bit for bit, for any number of
    threads. Nodes take sixteen bytes each, in memory and on disk; class weights that do not fit
    into a leaf are stored beside the nodes.

    The probabilities of a fully grown tree are 0 or 1, so the forest's probability is the fraction
    of trees that vote for a class. It is biased towards the middle, because trees err in different
    ways; larger leaves and ``leaf_probability="laplace"`` increase the bias. For well-calibrated
    probabilities calibrate on the out-of-bag probabilities (``oob_decision_function_``), which no
    tree was fitted to (Niculescu-Mizil & Caruana 2005).

    {parameters}

    Attributes
    ----------
    forest_ : Forest
        The trees; ``tree(i)`` returns one of them.
    estimators_ : sequence of DecisionTreeClassifier
        The trees as estimators, each made on access; also ``forest[i]``.
    estimators_samples_ : list of ndarray of int32
        Row indices of each tree's sample, repeated as drawn.
    batches_ : list of DrawnBatch
        How the trees' rows were drawn.
    classes_ : ndarray of shape (n_classes,), or list of ndarray
        The classes; with several outputs a list with an array for each.
    n_classes_ : int, or list of int
        Number of classes; with several outputs a list with a number for each.
    n_outputs_ : int
        Number of outputs: the columns of ``y``.
    oob_score_ : float
        With ``oob_score``: accuracy, or the given metric, on out-of-bag rows; with several outputs
        the fraction of rows whose classes are all right. All rows count the
        same in all out-of-bag results, as in scikit-learn: sample weights affect the draws only.
        Bagging weights rows by them, as ``score`` does with ``sample_weight``.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes) or (n_rows, n_classes, n_outputs)
        Class probabilities of each training row by the trees that were grown without it; NaN if
        there is none, and for rows of weight zero.
    oob_curve_ : OobCurve
        Of one target, the out-of-bag error as a function of the number of trees, with a confidence
        band; ``oob_curve_.summary()`` describes whether there are enough trees.
    oob_importance_ : PermutationImportance
        With ``importance=True``.
    feature_importances_ : ndarray of shape (n_features,)
    class_weight_ : ndarray of shape (n_classes,), or list of ndarray
        Factors of the class weights, if ``class_weight`` gives all trees the same; with several
        outputs a list with an array for each.
    n_features_in_, feature_names_in_, schema_
        Description of the columns.

    Examples
    --------
    >>> from ceiba import RandomForestClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> model = RandomForestClassifier(oob_score=True).fit(vote.table, vote.y)
    >>> model.oob_score_ > 0.94
    True

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45.
    Geurts, Ernst & Wehenkel (2006), "Extremely randomized trees", Machine Learning 63.
    Ho (1998), "The random subspace method for constructing decision forests", IEEE PAMI 20.
    Niculescu-Mizil & Caruana (2005), "Predicting good probabilities with supervised learning",
    ICML.
    """

    _task: ClassVar[Task] = "classification"
    _oob_name: ClassVar[str] = "oob_decision_function_"
    classes_: Any = fitted()
    n_classes_: Any = fitted()

    criterion: Annotated[
        Literal["gini", "entropy", "log_loss"],
        "Impurity that splits decrease: Gini impurity or entropy (log_loss is a synonym).",
    ] = "gini"
    class_weight: Annotated[
        Literal["balanced", "balanced_subsample"] | Mapping[Any, float] | list[Any] | None,
        "Factors of the weights of each class: a mapping (1 for other classes), 'balanced' for "
        "equal total weight of all classes, or 'balanced_subsample' for that in the sample of each "
        "tree. With several outputs the factors of a row's classes are multiplied; a list has a "
        "mapping for each.",
    ] = None
    leaf_probability: Annotated[
        Literal["plain", "laplace"],
        "Class probabilities of a leaf: fractions of its weight, or these after adding one row of "
        "each class.",
    ] = "plain"

    def predict(self, X: Any) -> Array:
        """Predict the class of largest mean probability; ties go to the first.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
        """
        if self.n_outputs_ > 1:
            return predicted_classes(self.classes_, self.predict_proba(X))
        return np.asarray(self.classes_[self._predict(X).argmax(axis=1)])

    def predict_proba(self, X: Any) -> Any:
        """Predict class probabilities: the mean over the trees of each row's leaf.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``. With several outputs a list with an array for each.
        """
        values = self._predict(X)
        if isinstance(self.forest_, MultiOutputForest):
            return split_outputs(values, self.forest_.output_classes)
        return values

    def predict_log_proba(self, X: Any) -> Any:
        """Predict logarithms of the class probabilities."""
        probabilities = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            if self.n_outputs_ > 1:
                return [np.log(of_output) for of_output in probabilities]
            return np.log(probabilities)

    @property
    def _leaf_smoothing(self) -> float:
        return 0.0 if self.leaf_probability == "plain" else 1.0

    def _score_oob(self, mean: Array, n_trees: Array, sample: TrainingSample) -> float:
        predicted = n_trees > 0
        assert sample.targets.label is not None
        label, index = sample.targets.label[predicted], mean[predicted].argmax(axis=1)
        if callable(self.oob_score):
            return float(self.oob_score(label, index))
        correct = index == label
        return float(correct.mean()) if len(correct) else float("nan")

    def _check_state(self) -> None:
        super()._check_state()
        if isinstance(self.forest_, MultiOutputForest):
            return check_class_lists(self, self.forest_.output_classes)
        if not self.forest_.n_classes == self.n_classes_ == len(self.classes_):
            raise ValueError(
                f"forest_ and n_classes_ must have {len(self.classes_)} classes, as classes_, got "
                f"{self.forest_.n_classes} and {self.n_classes_}."
            )

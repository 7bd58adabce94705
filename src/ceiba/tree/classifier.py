"""The decision tree that predicts classes."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from ceiba.base import Between, ScoresScans
from ceiba.data.target import Task
from ceiba.stats import TargetSurvey
from ceiba.stats.points import Array
from ceiba.tree.decision_tree import DecisionTree
from ceiba.tree.parameters import (
    Growth,
    Jobs,
    KeepTrace,
    MaxBins,
    MaxDepth,
    MaxFeatures,
    MaxLeafNodes,
    MinImpurityDecrease,
    MinImpuritySplit,
    MinSamplesLeaf,
    MinSamplesSplit,
    MinWeightFractionLeaf,
    Missing,
    Seed,
    Splits,
)
from ceiba.tree.structure import Tree


class DecisionTreeClassifier(ScoresScans, ClassifierMixin, DecisionTree):
    """Decision tree that predicts classes, from tables with gaps and nominal columns as they are.

    Numbers and ordinal columns are split at a threshold, nominal columns by groups of levels (or a
    branch for each); a level that training did not see is a gap. Gaps follow ``missing``. Infinity
    is a value like any other, larger than all. Columns are compared in their own types: whole
    numbers above 2^53 and floats of any scale are told apart as long as they differ. Of splits with
    equal gain the one of the first column, and there of the lowest threshold, is taken;
    ``tree_.ties`` counts the others. Weights enter in 64-bit fixed point, so that the tree does not
    depend on threads or partitions.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree; ``tree_.to_text()`` shows it.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    feature_importances_ : ndarray of shape (n_features,)
    trace_ : Trace
        With ``trace=True``: a frame for each split, in the order in which they were grown, with the
        best candidate of every column and the runner-up; at most 1000 frames and 64 MB.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> vote = datasets.load("vote")
    >>> model = DecisionTreeClassifier(max_depth=3).fit(vote.table, vote.y)
    >>> model.score(vote.table, vote.y) > 0.95
    True

    References
    ----------
    Breiman, Friedman, Olshen & Stone (1984), "Classification and regression trees".
    Quinlan (1986), "Induction of decision trees", Machine Learning 1.
    Fisher (1958), "On grouping for maximum homogeneity", JASA 53.
    Coppersmith, Hong & Hosking (1999), "Partitioning nominal attributes in decision trees", Data
    Mining and Knowledge Discovery 3.
    """

    _task: ClassVar[Task] = "classification"

    def __init__(
        self,
        *,
        criterion: Annotated[
            Literal["gini", "entropy", "log_loss", "gain_ratio", "error"],
            "What a split lowers: Gini impurity, entropy in bits (log_loss is another name of it), "
            "or the share of rows outside the majority; gain_ratio divides the gain of entropy by "
            "the entropy of the split itself.",
        ] = "gini",
        splits: Splits = "binary",
        max_bins: MaxBins = None,
        missing: Missing = "learned",
        max_depth: MaxDepth = None,
        min_samples_split: MinSamplesSplit = 2,
        min_samples_leaf: MinSamplesLeaf = 1,
        min_weight_fraction_leaf: MinWeightFractionLeaf = 0.0,
        min_impurity_decrease: MinImpurityDecrease = 0.0,
        min_impurity_split: MinImpuritySplit = 0.0,
        max_leaf_nodes: MaxLeafNodes = None,
        growth: Growth = "auto",
        max_features: MaxFeatures = None,
        class_weight: Annotated[
            Literal["balanced"] | Mapping[Any, float] | None,
            "Factor of each class's weights: a mapping (1 for classes that it leaves out), or "
            "'balanced' to give all classes the same number of rows.",
        ] = None,
        leaf_probability: Annotated[
            Literal["plain", "laplace", "m_estimate"],
            "Probabilities of a leaf: shares of its weight; with one row of each class added; or "
            "with m rows added that are shared as the classes are in training.",
        ] = "plain",
        m: Annotated[
            float, Between(0.0, inf, closed="left"), "Rows that m_estimate adds to a leaf."
        ] = 2.0,
        random_state: Seed = 0,
        n_jobs: Jobs = None,
        trace: KeepTrace = False,
    ) -> None:
        self.criterion = criterion
        self.splits = splits
        self.max_bins = max_bins
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity_split = min_impurity_split
        self.max_leaf_nodes = max_leaf_nodes
        self.growth = growth
        self.max_features = max_features
        self.class_weight = class_weight
        self.leaf_probability = leaf_probability
        self.m = m
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.trace = trace

    def predict(self, X: Any) -> Array:
        """The likeliest class of each row's leaf; of two the first.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        leaves = self._leaves(X)
        classes: Array = self.classes_[self.tree_.likeliest[self.tree_.child[leaves]]]
        return classes

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities of each row's leaf.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        leaves = self._leaves(X)
        return self.tree_.values_of(leaves)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities of each row's leaf."""
        with np.errstate(divide="ignore"):
            logs: Array = np.log(self.predict_proba(X))
        return logs

    def _class_weights(self, survey: TargetSurvey) -> Array | None:
        if self.class_weight is None:
            return None
        classes, counts = survey.classes, survey.class_counts
        assert classes is not None
        assert counts is not None
        if self.class_weight == "balanced":
            return survey.n_rows / (len(classes) * counts)
        return _listed_weights(self.class_weight, classes)

    def _finished(self, tree: Tree) -> Tree:
        """The tree with what its leaves predict in place of their class weights."""
        return tree.with_leaves(self._probabilities(tree.leaves, tree.value[0]))

    def _probabilities(self, weights: Array, root: Array) -> Array:
        total: Array = weights.sum(axis=1, keepdims=True)
        added = np.zeros(len(root))
        if self.leaf_probability == "laplace":
            added = np.ones(len(root))
        elif self.leaf_probability == "m_estimate":
            added = self.m * root / root.sum()
        return np.asarray((weights + added) / (total + added.sum()))

    def _class_names(self) -> dict[str, Any]:
        return {"classes": self.classes_}

    def _more_attributes(self, survey: TargetSurvey) -> dict[str, Any]:
        assert survey.classes is not None
        return {"classes_": survey.classes, "n_classes_": len(survey.classes)}

    def _check_state(self) -> None:
        super()._check_state()
        if self.tree_.leaves.shape[1] != len(self.classes_) or self.n_classes_ != len(
            self.classes_
        ):
            raise ValueError("the leaves of tree_ must have a column for each class")


def _listed_weights(given: Any, classes: Array) -> Array:
    weights = {_plain(key): value for key, value in given.items()}
    known = [_plain(label) for label in classes.tolist()]
    factors = np.array([float(weights.get(label, 1.0)) for label in known])
    unknown = [key for key in weights if key not in known]
    # A fold may lack a class that is named; a class that lacks a name beside one is a slip.
    if unknown and not all(label in weights for label in known):
        raise ValueError(f"class_weight names {unknown[0]!r}, and the classes are {known!r}")
    if not (np.isfinite(factors) & (factors > 0)).all():
        raise ValueError("class_weight must hold positive numbers; leave out rows by sample_weight")
    return factors


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label

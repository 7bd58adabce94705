"""The decision tree that predicts classes."""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from ceiba._typing import Array
from ceiba.base import Between, ScoresScans
from ceiba.data.target import Task
from ceiba.engine import Engine
from ceiba.stats import TargetSurvey
from ceiba.tree.base import DecisionTree
from ceiba.tree.grow.costs import ClassTotals, as_given, checked_costs, cost_weights
from ceiba.tree.grow.targets import FixedPoint
from ceiba.tree.model.tree import Tree
from ceiba.tree.parameters import (
    Algorithm,
    CcpAlpha,
    EmptyBranches,
    Growth,
    Intervals,
    Jobs,
    KeepTrace,
    MaxBins,
    MaxDepth,
    MaxFeatures,
    MaxLeafNodes,
    MaxSurrogates,
    MinImpurityDecrease,
    MinImpuritySplit,
    MinSamplesLeaf,
    MinSamplesSplit,
    MinWeightFractionLeaf,
    Missing,
    PruneFolds,
    PruneRule,
    Reuse,
    Seed,
    Splits,
    ThresholdCount,
    Thresholds,
    ThresholdsAt,
    ValidationShare,
)
from ceiba.tree.presets import Options


class DecisionTreeClassifier(ScoresScans, ClassifierMixin, DecisionTree):
    """Decision tree that predicts classes, from tables with gaps and nominal columns as they are.

    ``algorithm`` names a preset: CART, C4.5, ID3 or Hunt's; every parameter that is None is as the
    preset says. Numbers and ordinal columns are split at a threshold, nominal columns by groups of
    levels (or a branch for each); a level that training did not see is a gap. Gaps follow
    ``missing``. Infinity is a value like any other, larger than all. Columns are compared in their
    own types: whole numbers above 2^53 and floats of any scale are told apart as long as they
    differ. Of splits with equal gain the one of the first column, and there of the lowest
    threshold, is taken; ``tree_.ties`` counts the others. Weights enter in 64-bit fixed point, so
    that the tree does not depend on threads or partitions.

    {parameters}

    Attributes
    ----------
    tree_ : Tree
        The tree; ``tree_.to_text()`` shows it.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    pruning_ : Pruning
        Where the tree was pruned: how, the tree before, and a trace of the cuts.
    grown_tree_ : Tree
        The tree before any pruning.
    class_weight_ : ndarray of shape (n_classes,)
        Factors of the classes' weights, where ``class_weight`` asks for some.
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
        algorithm: Algorithm = "cart",
        criterion: Annotated[
            Literal["gini", "entropy", "log_loss", "gain_ratio", "error"] | None,
            "What a split lowers: Gini impurity, entropy in bits (log_loss is another name of it), "
            "or the share of rows outside the majority; gain_ratio divides the gain of entropy by "
            "the entropy of the split itself.",
        ] = None,
        splits: Splits = None,
        n_intervals: Intervals = None,
        thresholds: Thresholds = None,
        at: ThresholdsAt = "node",
        n_thresholds: ThresholdCount = 9,
        max_bins: MaxBins = None,
        missing: Missing = None,
        max_surrogates: MaxSurrogates = 5,
        reuse: Reuse = None,
        empty_branches: EmptyBranches = None,
        gain_guard: Annotated[
            bool | None,
            "With gain_ratio: only columns that gain at least as much as the average are compared, "
            "and a numeric column is cut where it gains most.",
        ] = None,
        mdl_correction: Annotated[
            bool | None,
            "With entropy or gain_ratio: the gain of a numeric cut is lowered by the bits that "
            "name it among the allowed cuts (Quinlan 1996).",
        ] = None,
        cut_share: Annotated[
            float | None,
            Between(0.0, 1.0),
            "Each side of a numeric cut needs this share of the known weight divided by the number "
            "of classes, but not more than 25.",
        ] = None,
        max_depth: MaxDepth = None,
        min_samples_split: MinSamplesSplit = None,
        min_samples_leaf: MinSamplesLeaf = None,
        leaf_rule: Annotated[
            Literal["every", "two"] | None,
            "Branches of a multiway split that need min_samples_leaf rows: every one that has any, "
            "or two of them.",
        ] = None,
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
        cost_matrix: Annotated[
            np.ndarray | None,
            "What it costs to predict class j (column) for a row of class i, in the order of "
            "``classes_``, 0 on the diagonal. Splits weigh classes by the costs of their rows' "
            "mistakes (Breiman's altered priors), leaves predict the class of least expected cost, "
            "pruning counts costs.",
        ] = None,
        leaf_probability: Annotated[
            Literal["plain", "laplace", "m_estimate"],
            "Probabilities of a leaf: shares of its weight; with one row of each class added; or "
            "with m rows added that are shared as the classes are in training.",
        ] = "plain",
        m: Annotated[
            float, Between(0.0, inf, closed="left"), "Rows that m_estimate adds to a leaf."
        ] = 2.0,
        collapse: Annotated[
            bool | None,
            "Whether subtrees that make no fewer mistakes in training than their root alone become "
            "leaves before any pruning (C4.5).",
        ] = None,
        pruning: Annotated[
            Literal["none", "reduced_error", "pessimistic", "cost_complexity"] | None,
            "How ``fit`` prunes the grown tree; see ``pruned``.",
        ] = None,
        raising: Annotated[
            bool | None,
            "Pessimistic: whether a node may be replaced by its heaviest branch, too.",
        ] = None,
        confidence: Annotated[
            float,
            Between(0.0, 0.5, closed="right"),
            "Pessimistic: chance that a leaf's errors exceed their estimate; less prunes more. "
            "Weights count as numbers of rows.",
        ] = 0.25,
        ccp_alpha: CcpAlpha = None,
        prune_risk: Annotated[
            Literal["impurity", "error"],
            "Cost complexity: whether a leaf costs its impurity (scikit-learn) or its mistakes "
            "(rpart, MATLAB).",
        ] = "impurity",
        prune_folds: PruneFolds = 10,
        prune_rule: PruneRule = "one_se",
        validation_share: ValidationShare = 0.25,
        random_state: Seed = 0,
        n_jobs: Jobs = None,
        trace: KeepTrace = False,
    ) -> None:
        self.algorithm = algorithm
        self.criterion = criterion
        self.splits = splits
        self.n_intervals = n_intervals
        self.thresholds = thresholds
        self.at = at
        self.n_thresholds = n_thresholds
        self.max_bins = max_bins
        self.missing = missing
        self.max_surrogates = max_surrogates
        self.reuse = reuse
        self.empty_branches = empty_branches
        self.gain_guard = gain_guard
        self.mdl_correction = mdl_correction
        self.cut_share = cut_share
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.leaf_rule = leaf_rule
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.min_impurity_split = min_impurity_split
        self.max_leaf_nodes = max_leaf_nodes
        self.growth = growth
        self.max_features = max_features
        self.class_weight = class_weight
        self.cost_matrix = cost_matrix
        self.leaf_probability = leaf_probability
        self.m = m
        self.collapse = collapse
        self.pruning = pruning
        self.raising = raising
        self.confidence = confidence
        self.ccp_alpha = ccp_alpha
        self.prune_risk = prune_risk
        self.prune_folds = prune_folds
        self.prune_rule = prune_rule
        self.validation_share = validation_share
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.trace = trace

    def predict(self, X: Any) -> Array:
        """The likeliest class of each row's leaf, or that of least expected cost; of two the first.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        classes: Array
        if hasattr(self, "tree_") and self.tree_.missing == "shared":
            classes = self.classes_[self.tree_.decided(self._told(X))]
            return classes
        leaves = self._leaves(X)
        classes = self.classes_[self.tree_.likeliest[self.tree_.child[leaves]]]
        return classes

    def predict_proba(self, X: Any) -> Array:
        """Class probabilities of each row's leaf.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return self._told(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the class probabilities of each row's leaf."""
        with np.errstate(divide="ignore"):
            logs: Array = np.log(self.predict_proba(X))
        return logs

    def _class_weights(self, survey: TargetSurvey) -> Array | None:
        return class_factors(self.class_weight, survey)

    def _check_target(self, options: Options, survey: TargetSurvey) -> None:
        if self.cost_matrix is not None:
            assert survey.classes is not None
            checked_costs(self.cost_matrix, survey.classes)

    def _cost_factors(
        self, engine: Engine, rows: Any, survey: TargetSurvey, options: Options
    ) -> Array | None:
        if self.cost_matrix is None:
            return None
        factors = cost_weights(self.cost_matrix)
        if not options.counts_weight:
            return factors
        # Rules that compare weights with numbers of rows need the weight of all to stay.
        fixed = FixedPoint.of(survey, self._class_weights(survey), squares=False)
        totals = engine.reduce(rows, ClassTotals.of, fixed).totals.astype(np.float64)
        return np.asarray(factors * (totals.sum() / (totals @ factors)))

    def _as_given(self, tree: Tree, survey: TargetSurvey, costs: Array | None) -> Tree:
        if costs is None:
            return tree
        whole = survey.whole_weights and self.class_weight is None and tree.missing != "shared"
        return as_given(tree, self.cost_matrix, costs, whole=whole)

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
        factors = self._class_weights(survey)
        weights = {} if factors is None else {"class_weight_": factors}
        return {"classes_": survey.classes, "n_classes_": len(survey.classes), **weights}

    def _check_state(self) -> None:
        super()._check_state()
        if self.tree_.leaves.shape[1] != len(self.classes_) or self.n_classes_ != len(
            self.classes_
        ):
            raise ValueError("the leaves of tree_ must have a column for each class")


def class_factors(class_weight: Any, survey: TargetSurvey) -> Array | None:
    """Factors of the classes' weights, in their order; None where all are 1."""
    if class_weight is None:
        return None
    classes, counts = survey.classes, survey.class_counts
    assert classes is not None
    assert counts is not None
    if isinstance(class_weight, str):
        return np.asarray(survey.n_rows / (len(classes) * np.maximum(counts, 1)))
    return _listed_weights(class_weight, classes)


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

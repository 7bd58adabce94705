"""The random forest that predicts classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin

from ceiba._typing import Array
from ceiba.base import ScoresScans
from ceiba.data.target import Task, class_places
from ceiba.ensemble.common.parameters import (
    Bootstrap,
    FeaturesPer,
    ForestMissing,
    ForestSeed,
    ForestThresholds,
    KeepImportance,
    MaxSamples,
    OutOfBagScore,
    RandomCuts,
    TreeCount,
    TreeFeatures,
    WarmStart,
)
from ceiba.ensemble.forest.base import RandomForest
from ceiba.ensemble.forest.grower import Bags
from ceiba.ensemble.forest.model import Forest
from ceiba.stats import TargetSurvey
from ceiba.tree.classifier import DecisionTreeClassifier, class_factors
from ceiba.tree.parameters import (
    Jobs,
    MaxBins,
    MaxDepth,
    MaxFeatures,
    MaxLeafNodes,
    MinImpurityDecrease,
    MinSamplesLeaf,
    MinSamplesSplit,
    MinWeightFractionLeaf,
)


class RandomForestClassifier(ScoresScans, ClassifierMixin, RandomForest):
    """Random forest that predicts classes, from tables with gaps and nominal columns as they are.

    Every tree is grown to the end on rows drawn with replacement, and every node looks at a few
    drawn columns; the forest predicts the mean of its trees' class shares, and of equal ones the
    first class. Numbers and ordinal columns are split at a threshold, nominal columns by two groups
    of levels; a level that training did not see is a gap. All draws are keyed by the seed, the
    tree and the draw or the node's path: the same forest, bit for bit, for any number of threads.
    Nodes take sixteen bytes each, in memory and on disk; class weights that do not fit into a
    leaf take a row beside them.

    The shares of a fully grown tree are 0 or 1, so the forest's probability is the share of trees
    that vote for a class. It is drawn towards the middle, because trees err in different ways;
    larger leaves and ``leaf_probability="laplace"`` draw it further. For probabilities that are to
    be taken at their word calibrate on the out-of-bag shares (``oob_decision_function_``), which no
    tree has learnt from (Niculescu-Mizil & Caruana 2005).

    {parameters}

    Attributes
    ----------
    forest_ : Forest
        The trees; ``tree(i)`` gives one to look at.
    classes_ : ndarray of shape (n_classes,)
    n_classes_ : int
    oob_score_ : float
        With ``oob_score=True``: accuracy on rows out of the bag. Rows count alike in all
        out-of-bag numbers, as in scikit-learn: sample weights decide what is drawn, and no more;
        bags weigh rows by them, as ``score`` does where it is given them.
    oob_decision_function_ : ndarray of shape (n_rows, n_classes)
        Class shares of each training row by the trees that did not draw it; NaN where all did, and
        for rows of weight zero.
    oob_curve_ : OobCurve
        The out-of-bag error as trees grow in number, with a band; ``oob_curve_.answer()`` says
        whether there are enough.
    oob_importance_ : PermutationImportance
        With ``importance=True``.
    feature_importances_ : ndarray of shape (n_features,)
    class_weight_ : ndarray of shape (n_classes,)
        Factors of the classes' weights, where ``class_weight`` asks for the same in all trees.
    n_features_in_, feature_names_in_, schema_
        What the columns were.

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

    def __init__(
        self,
        n_estimators: TreeCount = 100,
        *,
        criterion: Annotated[
            Literal["gini", "entropy", "log_loss"],
            "What a split lowers: Gini impurity, or entropy (log_loss is another name of it).",
        ] = "gini",
        thresholds: ForestThresholds = "midpoint",
        n_thresholds: RandomCuts = 1,
        max_bins: MaxBins = None,
        missing: ForestMissing = "learned",
        max_depth: MaxDepth = None,
        min_samples_split: MinSamplesSplit = 2,
        min_samples_leaf: MinSamplesLeaf = 1,
        min_weight_fraction_leaf: MinWeightFractionLeaf = 0.0,
        min_impurity_decrease: MinImpurityDecrease = 0.0,
        max_leaf_nodes: MaxLeafNodes = None,
        max_features: MaxFeatures = "sqrt",
        features_per: FeaturesPer = "node",
        tree_features: TreeFeatures = None,
        bootstrap: Bootstrap = True,
        max_samples: MaxSamples = None,
        class_weight: Annotated[
            Literal["balanced", "balanced_subsample"] | Mapping[Any, float] | None,
            "Factor of each class's weights: a mapping (1 for classes that it leaves out), "
            "'balanced' to give all classes the same number of rows, or 'balanced_subsample' to do "
            "so among the rows of each tree.",
        ] = None,
        leaf_probability: Annotated[
            Literal["plain", "laplace"],
            "Class shares of a leaf: of its weight, or with one row of each class added.",
        ] = "plain",
        oob_score: OutOfBagScore = False,
        importance: KeepImportance = False,
        warm_start: WarmStart = False,
        random_state: ForestSeed = 0,
        n_jobs: Jobs = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.thresholds = thresholds
        self.n_thresholds = n_thresholds
        self.max_bins = max_bins
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.min_impurity_decrease = min_impurity_decrease
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.features_per = features_per
        self.tree_features = tree_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.class_weight = class_weight
        self.leaf_probability = leaf_probability
        self.oob_score = oob_score
        self.importance = importance
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> Array:
        """The class of the largest mean share; of equal ones the first.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        told = self._told(X)
        classes: Array = self.classes_[self.forest_.decided(told)]
        return classes

    def predict_proba(self, X: Any) -> Array:
        """Mean over the trees of the class shares of each row's leaf.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Columns as in ``classes_``.
        """
        return self._told(X)

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the mean class shares."""
        with np.errstate(divide="ignore"):
            logs: Array = np.log(self.predict_proba(X))
        return logs

    def _member(self) -> DecisionTreeClassifier:
        return DecisionTreeClassifier(**self._member_options())

    @property
    def _balanced(self) -> bool:
        return isinstance(self.class_weight, str) and self.class_weight == "balanced_subsample"

    @property
    def _added(self) -> float:
        return 0.0 if self.leaf_probability == "plain" else 1.0

    def _class_weights(self, survey: TargetSurvey) -> Array | None:
        return None if self._balanced else class_factors(self.class_weight, survey)

    def _known_classes(self, survey: TargetSurvey, before: Forest | None) -> TargetSurvey:
        """The survey with all classes of the trees there are."""
        if before is None:
            return survey
        assert survey.classes is not None
        assert survey.class_counts is not None
        counts = np.zeros(len(self.classes_), np.int64)
        counts[class_places(survey.classes, self.classes_)] = survey.class_counts
        return replace(survey, classes=self.classes_, class_counts=counts)

    def _oob_score(self, mean: Array, count: Array, bags: Bags) -> float:
        known = count > 0
        assert bags.targets.label is not None
        right = mean[known].argmax(axis=1) == bags.targets.label[known]
        return float(right.mean()) if len(right) else float("nan")

    def _more_attributes(self, survey: TargetSurvey) -> dict[str, Any]:
        assert survey.classes is not None
        factors = self._class_weights(survey)
        weights = {} if factors is None else {"class_weight_": factors}
        return {"classes_": survey.classes, "n_classes_": len(survey.classes), **weights}

    def _check_same_target(self, other: Any) -> None:
        if not np.array_equal(self.classes_, other.classes_):
            raise ValueError("the forests predict other classes")

    def _check_state(self) -> None:
        super()._check_state()
        if not self.forest_.n_classes == self.n_classes_ == len(self.classes_):
            raise ValueError("forest_ must predict the classes of classes_")

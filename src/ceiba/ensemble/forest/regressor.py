"""The random forest that predicts numbers."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score

from ceiba._typing import Array
from ceiba.base import ScoresScans
from ceiba.data.target import Task
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
from ceiba.ensemble.forest.quantiles import LeafTargets
from ceiba.stats import TargetSurvey
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
from ceiba.tree.regressor import DecisionTreeRegressor, check_numbers

# What all trees say together stays below the largest float.
_SUMMABLE = 1e308


class RandomForestRegressor(ScoresScans, RegressorMixin, RandomForest):
    """Random forest that predicts numbers, from tables with gaps and nominal columns as they are.

    Every tree is grown to the end on rows drawn with replacement; the forest predicts the mean of
    its trees. Numbers and ordinal columns are split at a threshold, nominal columns by two groups
    of levels; a level that training did not see is a gap. All draws are keyed by the seed, the
    tree and the draw or the node's path: the same forest, bit for bit, for any number of threads.
    Nodes take sixteen bytes each, in memory and on disk.

    {parameters}

    Attributes
    ----------
    forest_ : Forest
        The trees; ``tree(i)`` gives one to look at.
    oob_score_ : float
        With ``oob_score=True``: R² on rows out of the bag. Rows count alike in all out-of-bag
        numbers, as in scikit-learn: sample weights decide what is drawn, and no more; bags weigh
        rows by them, as ``score`` does where it is given them.
    oob_prediction_ : ndarray of shape (n_rows,)
        What trees that did not draw a training row say of it; NaN where all did, and for rows of
        weight zero.
    oob_curve_ : OobCurve
        The out-of-bag error as trees grow in number, with a band; ``oob_curve_.answer()`` says
        whether there are enough.
    oob_errors_ : ndarray
        With ``oob_score=True``: targets less out-of-bag predictions, ascending.
    oob_importance_ : PermutationImportance
        With ``importance=True``.
    leaf_targets_ : LeafTargets
        With ``quantiles=True``.
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_, schema_
        What the columns were.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import RandomForestRegressor
    >>> X = np.arange(100.0)[:, None]
    >>> model = RandomForestRegressor(quantiles=True).fit(X, 2 * X[:, 0])
    >>> bool(abs(model.predict([[50.0]])[0] - 100) < 3)
    True
    >>> low, high = model.predict_quantiles([[50.0]], [0.05, 0.95])[0]
    >>> bool(low <= 100 <= high)
    True

    References
    ----------
    Breiman (2001), "Random forests", Machine Learning 45.
    Meinshausen (2006), "Quantile regression forests", Journal of Machine Learning Research 7.
    Zhang, Zimmerman, Nettleton & Nordman (2020), "Random forest prediction intervals", The American
    Statistician 74.
    """

    _task: ClassVar[Task] = "regression"
    _oob_name: ClassVar[str] = "oob_prediction_"

    def __init__(
        self,
        n_estimators: TreeCount = 100,
        *,
        criterion: Annotated[
            Literal["squared_error", "absolute_error", "poisson"],
            "What a split lowers: squared error, absolute error, or Poisson deviance, for counts "
            "and rates that are not negative.",
        ] = "squared_error",
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
        max_features: MaxFeatures = 1.0,
        features_per: FeaturesPer = "node",
        tree_features: TreeFeatures = None,
        bootstrap: Bootstrap = True,
        max_samples: MaxSamples = None,
        oob_score: OutOfBagScore = False,
        importance: KeepImportance = False,
        quantiles: Annotated[
            bool,
            "Whether the training targets of every leaf are kept, for predict_quantiles: four "
            "bytes a row and tree, and eight a node.",
        ] = False,
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
        self.oob_score = oob_score
        self.importance = importance
        self.quantiles = quantiles
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def predict(self, X: Any) -> Array:
        """Mean over the trees of the number of each row's leaf.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._told(X)

    def predict_quantiles(self, X: Any, q: Any) -> Array:
        """Quantiles of the targets to expect: of training rows, weighted by the leaves they share.

        Parameters
        ----------
        X : array, frame, Table or list
        q : float or sequence of float
            In [0, 1].

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, len(q))

        References
        ----------
        Meinshausen (2006), "Quantile regression forests", JMLR 7.
        """
        self._check_fitted()
        if not hasattr(self, "leaf_targets_"):
            raise ValueError("the targets of the leaves were not kept: fit with quantiles=True")
        wanted = np.atleast_1d(np.asarray(q, np.float64))
        if wanted.ndim != 1 or not ((wanted >= 0) & (wanted <= 1)).all():
            raise ValueError("q must be numbers from 0 to 1")
        leaves, threads = self._leaves(X)
        found: Array = self.leaf_targets_.quantiles(self.forest_, leaves, wanted, threads)
        return found[:, 0] if np.ndim(q) == 0 else found

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, method: Literal["oob", "quantiles"] = "oob"
    ) -> Array:
        """An interval that a new target lies in with the chance ``coverage``.

        Parameters
        ----------
        X : array, frame, Table or list
        coverage : float
            Between 0 and 1.
        method : "oob" or "quantiles"
            The prediction and the quantiles of the out-of-bag errors about it (as wide everywhere;
            needs ``oob_score=True``), or quantiles of the targets that share the row's leaves
            (as wide as the targets there vary; needs ``quantiles=True``).

        Returns
        -------
        ndarray of shape (n_rows, 2)

        References
        ----------
        Zhang, Zimmerman, Nettleton & Nordman (2020), "Random forest prediction intervals", The
        American Statistician 74.
        """
        self._check_fitted()
        if not 0 < coverage < 1:
            raise ValueError(f"coverage={coverage}: give a chance between 0 and 1")
        ends = [0.5 - coverage / 2, 0.5 + coverage / 2]
        if method == "quantiles":
            return self.predict_quantiles(X, ends)
        if method != "oob":
            raise ValueError(f"method={method!r}: it is 'oob' or 'quantiles'")
        if not len(getattr(self, "oob_errors_", ())):
            raise ValueError(
                "there are no out-of-bag errors: fit with oob_score=True, and so many trees that "
                "rows are out of some bag"
            )
        return np.asarray(self.predict(X)[:, None] + np.quantile(self.oob_errors_, ends))

    def _member(self) -> DecisionTreeRegressor:
        return DecisionTreeRegressor(**self._member_options())

    def _check_target(self, survey: TargetSurvey) -> None:
        check_numbers(self.criterion, survey)
        reach = max(abs(survey.target_least), abs(survey.target_most))
        if reach > _SUMMABLE / self.n_estimators:
            raise ValueError(
                f"targets reach {reach:.3g}, and the sum of what {self.n_estimators} trees say "
                "cannot be held: rescale y"
            )

    def _check_before(self, before: Forest | None, bags: Bags) -> None:
        if self.quantiles and before is not None and (before.keys[:, 2] != bags.mark).any():
            raise ValueError(
                "quantiles need all trees to be grown from the rows given, and some were grown "
                "from others: fit anew with warm_start=False, or set quantiles=False"
            )

    def _measured(self, forest: Forest, bags: Bags, threads: int) -> dict[str, Any]:
        measured = super()._measured(forest, bags, threads)
        if self.oob_score:
            errors = bags.rows.target.values - measured["oob_prediction_"]
            measured["oob_errors_"] = np.sort(errors[~np.isnan(errors)])
        if self.quantiles:
            measured["leaf_targets_"] = LeafTargets.of(forest, bags.given, threads)
        return measured

    def _check_state(self) -> None:
        super()._check_state()
        if self.forest_.n_classes:
            raise ValueError("forest_ must predict numbers")
        if "leaf_targets_" in vars(self):
            if not isinstance(self.leaf_targets_, LeafTargets):
                raise ValueError("leaf_targets_ must be the targets of leaves")
            self.leaf_targets_.check_forest(self.forest_)
        errors = vars(self).get("oob_errors_", np.empty(0))
        sound = isinstance(errors, np.ndarray) and errors.dtype == np.float64
        if not sound or errors.ndim != 1 or not np.isfinite(errors).all():
            raise ValueError("oob_errors_ must be numbers")

    def _oob_score(self, mean: Array, count: Array, bags: Bags) -> float:
        known = count > 0
        if known.sum() < 2:
            return float("nan")
        return float(r2_score(bags.rows.target.values[known], mean[known]))

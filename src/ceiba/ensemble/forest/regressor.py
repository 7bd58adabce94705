"""The random forest regressor."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import ScanScoreMixin, fitted
from ceiba.base.record import ArrayOf, check_values
from ceiba.base.value_types import format_value
from ceiba.data.target import Task
from ceiba.ensemble.forest.base import BaseForest
from ceiba.ensemble.forest.grower import ForestSample, TrainingSample
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.multi_output import MultiOutputForest
from ceiba.ensemble.forest.quantiles import LeafTargets
from ceiba.tree.multi_output import check_one_output
from ceiba.tree.parameters import MaxFeatures


class RandomForestRegressor(ScanScoreMixin, RegressorMixin, BaseForest):
    """Random forest for regression, with missing values and nominal columns.

    Every tree is fully grown on a bootstrap sample; the forest predicts the mean of its trees. For
    splits, draws and storage see `RandomForestClassifier`.

    {parameters}

    Attributes
    ----------
    forest_ : Forest
        The trees; ``tree(i)`` returns one of them.
    estimators_ : sequence of DecisionTreeRegressor
        The trees as estimators, each made on access; also ``forest[i]``.
    estimators_samples_ : list of ndarray of int32
        Row indices of each tree's sample, repeated as drawn.
    batches_ : list of DrawnBatch
        How the trees' rows were drawn.
    oob_score_ : float
        With ``oob_score``: R², or the given metric, on out-of-bag rows, which all count the same:
        sample weights affect the draws only.
    oob_prediction_ : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Prediction of each training row by the trees that were grown without it; NaN if there is
        none, and for rows of weight zero.
    oob_curve_ : OobCurve
        Of one target, the out-of-bag error as a function of the number of trees, with a confidence
        band.
    oob_errors_ : ndarray
        With ``oob_score=True``: targets minus out-of-bag predictions, ascending.
    oob_importance_ : PermutationImportance
        With ``importance=True``.
    leaf_targets_ : LeafTargets
        With ``quantiles=True``.
    n_outputs_ : int
        Number of outputs: the columns of ``y``.
    feature_importances_ : ndarray of shape (n_features,)
    n_features_in_, feature_names_in_, schema_
        Description of the columns.

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
    leaf_targets_: LeafTargets = fitted()
    oob_errors_: Array = fitted()

    criterion: Annotated[
        Literal["squared_error", "absolute_error", "poisson"],
        "Loss that splits decrease: squared error (friedman_mse is another name of it), absolute "
        "error, or Poisson deviance, for counts and rates that are not negative.",
    ] = "squared_error"
    max_features: MaxFeatures = 1.0
    quantiles: Annotated[
        bool,
        "Whether to keep the training targets of every leaf, for predict_quantiles: four bytes per "
        "row and tree, and eight per node.",
    ] = False

    def predict(self, X: Any) -> Array:
        """Predict the mean of the trees' predictions.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_outputs)
        """
        return self._predict(X)

    def predict_quantiles(self, X: Any, q: Any) -> Array:
        """Predict quantiles of the training targets, weighted by shared leaves.

        See Meinshausen (2006).

        Parameters
        ----------
        X : array, frame, Table or list
        q : float or sequence of float
            In [0, 1].

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, len(q))
        """
        check_is_fitted(self)
        check_one_output(self, "predict_quantiles()")
        if not hasattr(self, "leaf_targets_"):
            raise ValueError("predict_quantiles requires quantiles=True in fit.")
        probabilities = np.atleast_1d(np.asarray(q, np.float64))
        inside = (probabilities >= 0) & (probabilities <= 1)
        if probabilities.ndim != 1 or not inside.all():
            raise ValueError(f"q must be in [0, 1], got {q}.")
        leaves, threads = self._leaves(X)
        quantiles = self.leaf_targets_.quantiles(self.forest_, leaves, probabilities, threads)
        return np.asarray(quantiles[:, 0] if np.ndim(q) == 0 else quantiles)

    def predict_interval(
        self, X: Any, coverage: float = 0.9, *, method: Literal["oob", "quantiles"] = "oob"
    ) -> Array:
        """Predict an interval that contains a new target with probability ``coverage``.

        See Zhang et al. (2020) for the out-of-bag method.

        Parameters
        ----------
        X : array, frame, Table or list
        coverage : float
            Between 0 and 1.
        method : "oob" or "quantiles"
            The prediction plus quantiles of the out-of-bag errors (the same width for all rows;
            requires ``oob_score=True``), or quantiles of the targets that share the row's leaves
            (wider where targets vary more; requires ``quantiles=True``).

        Returns
        -------
        ndarray of shape (n_rows, 2)
        """
        check_is_fitted(self)
        if not 0 < coverage < 1:
            raise ValueError(f"coverage must be in (0, 1), got {coverage}.")
        check_one_output(self, "predict_interval()")
        ends = [0.5 - coverage / 2, 0.5 + coverage / 2]
        if method == "quantiles":
            return self.predict_quantiles(X, ends)
        if method != "oob":
            raise ValueError(f"method must be 'oob' or 'quantiles', got {method!r}.")
        if not len(getattr(self, "oob_errors_", ())):
            raise ValueError(
                "method='oob' requires oob_score=True in fit, and enough trees for out-of-bag rows."
            )
        return np.asarray(self.predict(X)[:, None] + np.quantile(self.oob_errors_, ends))

    def _check_previous(self, previous: Forest | None, sample: ForestSample) -> None:
        if not self.quantiles or previous is None:
            return
        if (previous.training_keys[:, 1] != sample.fingerprint).any():
            raise ValueError(
                "quantiles=True requires all trees to be grown from the same rows: set "
                "warm_start=False or quantiles=False."
            )

    def _oob_results(self, forest: Forest, sample: ForestSample, threads: int) -> dict[str, Any]:
        results = super()._oob_results(forest, sample, threads)
        if self.oob_score and forest.n_outputs == 1:
            errors = sample.rows.target.values - results["oob_prediction_"]
            results["oob_errors_"] = np.sort(errors[~np.isnan(errors)])
        if self.quantiles:
            results["leaf_targets_"] = LeafTargets.of(forest, sample.weighted_rows, threads)
        return results

    def _score_oob(self, mean: Array, n_trees: Array, sample: TrainingSample) -> float:
        predicted = n_trees > 0
        if predicted.sum() < 2:
            return float("nan")
        metric = self.oob_score if callable(self.oob_score) else r2_score
        return float(metric(sample.rows.target.values[predicted], mean[predicted]))

    def _check_state(self) -> None:
        super()._check_state()
        n_classes: Any = self.forest_.n_classes
        if isinstance(self.forest_, MultiOutputForest):
            n_classes = self.forest_.output_classes.tolist()
        if np.any(n_classes):
            raise ValueError(f"forest_ must be a regression forest, got {n_classes} classes.")
        if "leaf_targets_" in vars(self):
            if not isinstance(self.leaf_targets_, LeafTargets):
                value = format_value(self.leaf_targets_)
                raise ValueError(f"leaf_targets_ must be a LeafTargets, got {value}.")
            self.leaf_targets_.check_forest(self.forest_)
        errors = vars(self).get("oob_errors_", np.empty(0))
        ArrayOf("float64", "n").check("oob_errors_", errors, {})
        check_values("oob_errors_", errors, np.isfinite(errors), "finite")

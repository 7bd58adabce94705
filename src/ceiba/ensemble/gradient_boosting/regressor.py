"""The gradient boosting regressor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal, Protocol, runtime_checkable

import numpy as np
from sklearn.base import RegressorMixin, is_regressor

from ceiba._typing import Array
from ceiba.base import Between, ParameterError, ScanScoreMixin, check_unused
from ceiba.data.target import Task
from ceiba.ensemble.gradient_boosting.base import BaseGradientBoosting
from ceiba.ensemble.gradient_boosting.losses.base import Link, Loss
from ceiba.ensemble.gradient_boosting.losses.custom import CustomLoss, check_loss_object
from ceiba.ensemble.gradient_boosting.losses.log_link import Gamma, Poisson, Tweedie
from ceiba.ensemble.gradient_boosting.losses.regression import (
    AbsoluteError,
    Huber,
    Quantile,
    SquaredError,
)
from ceiba.ensemble.gradient_boosting.model import BoostedTrees
from ceiba.ensemble.gradient_boosting.parameters import warn_unused
from ceiba.stats import LabeledRows, TargetSummary

# By the values of the parameter ``loss``.
_LOSSES: dict[str, type[Loss]] = {
    "squared_error": SquaredError, "absolute_error": AbsoluteError, "huber": Huber,
    "quantile": Quantile, "poisson": Poisson, "gamma": Gamma, "tweedie": Tweedie,
}  # fmt: skip


@runtime_checkable
class LossFunction(Protocol):
    """A loss of the user: derivatives with respect to the raw score, on whole arrays.

    ``gradient`` and ``hessian`` are those of each row, not weighted: ``fit`` multiplies them by
    ``sample_weight``. All results are finite numbers, one for each row. The arrays are read-only.

    These methods are optional:

    - ``init(y, weight)`` returns the raw score before the first round, one number; 0 without the
      method. ``weight`` is None if ``fit`` got no ``sample_weight``.
    - ``loss(y, raw)`` returns the loss of each row, one number each. ``early_stopping``, ``X_val``,
      ``trace`` and ``verbose`` require it.
    - ``inverse_link(raw)`` returns the predictions of raw scores; without it they are the
      predictions.
    - ``link(prediction)``, the inverse of ``inverse_link``, returns the raw scores of predictions.
      An estimator as ``init`` requires it where there is ``inverse_link``.

    ``monotonic_cst`` orders raw scores: with a decreasing ``inverse_link`` the predictions have the
    opposite order. Where the loss has no curvature, ``hessian`` may return 1 for all rows.
    """

    def gradient(self, y: Array, raw: Array) -> Array:
        """Return the first derivative of the loss of each row."""
        ...

    def hessian(self, y: Array, raw: Array) -> Array:
        """Return the second derivative of the loss of each row: >= 0, and positive for some."""
        ...


class GradientBoostingRegressor(ScanScoreMixin, RegressorMixin, BaseGradientBoosting):
    """Gradient boosting for regression, with missing values and nominal columns.

    Every round fits a tree to the gradients of the loss and adds it to the prediction. For splits,
    missing values, categories and draws see `GradientBoostingClassifier`. Leaf values for
    ``loss="absolute_error"`` and ``"quantile"`` are quantiles of the residuals. With
    ``"poisson"``, ``"gamma"`` and ``"tweedie"`` the raw score is the logarithm of the prediction.

    {parameters}

    Attributes
    ----------
    boosted_trees_ : BoostedTrees
        The trees; ``tree(i)`` returns one of them.
    n_estimators_ : int
        Number of rounds, at most ``n_estimators``.
    n_trees_per_round_ : int
        1.
    init_ : estimator or None
        The fitted ``init`` predictor.
    losses_ : dict
        Mean loss after each round (half the squared error or half the deviance, the absolute
        error, the pinball loss, Huber's with the threshold of the first round): ``"training"``
        with ``trace`` or ``verbose``, ``"validation"`` with validation rows. After a warm start
        those of the earlier rounds come first, NaN where they were not recorded; rounds that early
        stopping dropped are the last ones.
    trace_ : Trace
        With ``trace=True``.
    feature_importances_ : ndarray of shape (n_features,)
        Relative total gain; ``importances("split")`` counts splits.
    n_features_in_, feature_names_in_, schema_
        Description of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import GradientBoostingRegressor
    >>> X = np.arange(200.0)[:, None]
    >>> model = GradientBoostingRegressor().fit(X, np.sin(X[:, 0] / 30))
    >>> model.score(X, np.sin(X[:, 0] / 30)) > 0.98
    True

    References
    ----------
    Friedman (2001), "Greedy function approximation: a gradient boosting machine", Annals of
    Statistics 29.
    Chen & Guestrin (2016), "XGBoost: a scalable tree boosting system", KDD.
    """

    _task: ClassVar[Task] = "regression"
    _loss_names: ClassVar[tuple[str, ...]] = tuple(_LOSSES)

    loss: Annotated[
        Literal[
            "squared_error", "absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"
        ]
        | LossFunction,
        "Loss, or an object with ``gradient(y, raw)`` and ``hessian(y, raw)``, which return an "
        "array each and are called once per round; it may have ``init(y, weight)``, "
        "``loss(y, raw)``, ``inverse_link(raw)`` and ``link(prediction)`` as well "
        "(`ceiba.ensemble.gradient_boosting.regressor.LossFunction`).",
    ] = "squared_error"
    alpha: Annotated[
        float,
        Between(0.0, 1.0, closed="neither"),
        "Quantile that loss='quantile' estimates; with 'huber' the quantile of the absolute "
        "residuals beyond which the loss is linear.",
    ] = 0.9
    power: Annotated[
        float,
        Between(1.0, 2.0, closed="neither"),
        "Power of the mean that the variance is proportional to, with loss='tweedie'.",
    ] = 1.5

    def predict(self, X: Any) -> Array:
        """Predict numbers.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        return self._inverse_link(self._raw_scores(X))

    def staged_predict(self, X: Any) -> Iterator[Array]:
        """Yield the predictions after each round."""
        yield from map(self._inverse_link, self._staged_raw_scores(X))

    def _target(
        self, labeled: LabeledRows, summary: TargetSummary, previous: BoostedTrees | None
    ) -> tuple[LabeledRows, dict[str, Any]]:
        return labeled, {}

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.init not in (None, "zero") and not is_regressor(self.init):
            raise ParameterError(
                f"init must be a regressor, got {type(self.init).__name__}, whose predictions are "
                "not numbers of the target: use one such as DecisionTreeRegressor(), or leave out "
                "init."
            )
        if not isinstance(self.loss, str):
            check_loss_object(self.loss, self.init)
        name = self.loss if isinstance(self.loss, str) else type(self.loss).__name__
        if name != "tweedie":
            check_unused(self, ["power"], f"loss={name!r}")
        if name not in ("quantile", "huber"):  # estimator checks set alpha of any learner
            warn_unused(
                self, "alpha", f"loss={name!r}", "The L1 penalty of leaf values is reg_alpha."
            )

    def _loss_parameters(self) -> tuple[str, ...]:
        return _LOSSES[self.loss].parameters if isinstance(self.loss, str) else ()

    def _loss(self, rows: LabeledRows, attributes: dict[str, Any], threads: int) -> Loss:
        data = np.asarray(rows.target.values, np.float64), rows.weight, threads
        if not isinstance(self.loss, str):
            return CustomLoss(*data, loss=self.loss)
        options: dict[str, Any] = {
            name: float(getattr(self, name)) for name in self._loss_parameters()
        }
        return _LOSSES[self.loss](*data, **options)

    def _link(self, loss: Any, classes: Array | None) -> Link:
        return _LOSSES[loss] if isinstance(loss, str) else CustomLoss.without_rows(loss)

    def _init_predictions(self, init: Any, X: Any, classes: Array | None) -> Array:
        return np.asarray(init.predict(X), np.float64).reshape(-1)

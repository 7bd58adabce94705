"""Base of AdaBoostClassifier and AdaBoostRegressor: parameters and rounds."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from typing import Annotated, Any, Literal, Self

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import _check_method_params

from ceiba._typing import Array
from ceiba.base import (
    AtLeast,
    Between,
    Iterations,
    Parameters,
    check_unused,
    fitted,
    parameter,
    reports_progress,
    seed_of,
)
from ceiba.base.record import check_values
from ceiba.data.table import Table
from ceiba.data.warn import warn_user
from ceiba.engine import Engine
from ceiba.ensemble.adaboost.fitters import (
    EstimatorFitter,
    RoundFitter,
    TreeFitter,
    accepts_weights,
    can_share_encoding,
    check_accepts_weights,
    round_context,
)
from ceiba.ensemble.adaboost.formulas import RoundResult, RowWeights
from ceiba.ensemble.common.base import BaseMetaEnsemble, class_attributes, warn_single_leaves
from ceiba.ensemble.common.parameters import MemberEstimator, Seed
from ceiba.ensemble.common.rows import TrainingData, accepts_table
from ceiba.ensemble.common.sample_fit import (
    ConstantMember,
    SampleFitter,
    has_one_weighted_class,
)
from ceiba.stats.labeled import LabeledRows
from ceiba.tree.parameters import Jobs

# Rows per block of a prediction. All members predict a block while it is in the cache of a core:
# 100 stumps on 50,000 rows of 28 columns take a third of the time of one pass per stump.
_BLOCK_ROWS = 8192


# At twice the estimator weight that minimizes the exponential loss of a round, this loss is what it
# was before the round; beyond, it is larger.
_MAX_DECREASING_RATE = 2.0


class AdaBoostParameters(Parameters):
    """Hyper-parameters of AdaBoost."""

    estimator: MemberEstimator = parameter(None, kw_only=False)
    n_estimators: Annotated[int, AtLeast(1), "Maximum number of rounds; each adds a member."] = 50
    learning_rate: Annotated[
        float,
        # Members that differ in less than a rounding error of the weights are all equal; with more
        # than some ten, only the rows of the last error have any weight.
        Between(1e-9, 100.0),
        "Factor of each estimator weight, from 1e-9 to 100: smaller values need more rounds and "
        "may overfit less; above 2 the loss can grow with every round.",
    ] = 1.0
    max_depth: Annotated[
        int | None,
        AtLeast(1),
        "Maximum depth of Ceiba's tree, with estimator=None; 1 for a stump. None for no limit.",
    ] = 1
    max_bins: Annotated[
        int | None,
        Between(2, 65_535),
        "Maximum number of bins per column for Ceiba's tree, with estimator=None; None for exact "
        "thresholds. Bins are computed once for all rounds, from a sample of 65,536 rows with "
        "their initial weights.",
    ] = None
    reweighting: Annotated[
        Literal["weights", "resampling"],
        "How members use the row weights: as ``sample_weight``, or as probabilities with which as "
        "many rows are drawn with replacement, for estimators that do not accept "
        "``sample_weight``.",
    ] = "weights"
    random_state: Seed = 0
    n_jobs: Jobs = None
    trace: Annotated[
        bool, "Whether to keep the rounds in ``trace_``, thinned above 1000 frames or 64 MB."
    ] = False


class BaseAdaBoost(AdaBoostParameters, BaseMetaEnsemble):
    """Base of AdaBoost: the rounds, and the predictions of the members."""

    estimator_weights_: Array = fitted()
    estimator_errors_: Array = fitted()
    stop_reason_: str = fitted()

    @reports_progress
    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit one member per round, with larger weights for rows of earlier errors.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows in memory. Ceiba's estimators are fitted to a Table, others to the array or frame
            as it was passed; for these a Table is converted to its array or to a pandas frame.
        y : array of shape (n_rows,)
            Classes or numbers.
        sample_weight : array of shape (n_rows,), optional
            Row weights in the first round; rows of weight zero count as absent. The factors by
            which later rounds change them are rounded to 36 bits or more, relative to the largest
            factor, but never to zero. Members get weights whose sum is the number of rows (of
            integer weights: their sum).
        **fit_params : dict
            Metadata for ``fit`` of the members, if scikit-learn's metadata routing is enabled.

        Returns
        -------
        self : estimator
        """
        estimator, params = self._prepare_fit(fit_params, X, y, sample_weight)
        engine, training = self._training_data(estimator, X, y, sample_weight, reset=True)
        params = _check_method_params(training.rows.data, params, training.positive)
        data = training.without_zero_weights()
        if has_one_weighted_class(training, data) and not accepts_table(estimator):
            estimator = ConstantMember()
        attributes = {**training.rows.attributes, **class_attributes(training.classes)}
        fitter = self._round_fitter(engine, estimator, data, params)
        iterations = Iterations(self, self.n_estimators, trace=self.trace, name="rounds")
        predict = partial(self._predict_member, classes=data.classes, threads=engine.threads)
        attributes = self._boost(fitter, predict, data, iterations, training.expand, attributes)
        if iterations.trace is not None:
            attributes["trace_"] = iterations.trace
        self._warn_no_progress(attributes, data)
        self._replace_fitted(attributes)
        return self

    def _boost(
        self,
        fitter: RoundFitter,
        predict: Callable[..., Array],
        data: TrainingData,
        iterations: Iterations,
        expand: Callable[[Array], Array],
        attributes: dict[str, Any],
    ) -> dict[str, Any]:
        """Run the rounds; ``expand`` adds rows of weight zero to values of the trace."""
        kept: list[tuple[Any, float, float]] = []  # estimator, weight and error of each member
        stop_reason = "rounds"

        def fitted_attributes() -> dict[str, Any]:
            estimators, alphas, errors = zip(*kept, strict=True)
            return {
                **attributes,
                "estimators_": list(estimators),
                "estimator_weights_": np.array(alphas),
                "estimator_errors_": np.array(errors),
                "stop_reason_": stop_reason,
            }

        row_weights = RowWeights.first(data.weight, len(data.rows))
        for iteration in iterations:
            weights = row_weights.values
            member, leaf = fitter.fit_round(weights, len(kept))
            with round_context(len(kept), "could not predict"):
                predictions = predict(member, data.rows.data, leaf=leaf)
            result, row_errors = self._evaluate_round(predictions, data, weights)
            row_values = {"weights": weights, **row_errors}
            frame = {name: partial(expand, values) for name, values in row_values.items()}
            stop_reason = result.stop_reason or stop_reason
            alpha, no_better_than_chance = result.estimator_weight, result.stop_reason == "chance"
            if no_better_than_chance and not kept:
                alpha = self._weight_of_poor_first_member(member, result)
            iteration.record(error=result.error, alpha=alpha, **frame)
            if not no_better_than_chance or not kept:
                kept.append((member, alpha, result.error))
            if not no_better_than_chance:
                iteration.report_attributes(fitted_attributes)
            if result.weight_factors is None:
                break
            row_weights = row_weights.multiplied(result.weight_factors)
        remedy = "relax the limits of the estimator's growth or pruning"
        warn_single_leaves([member for member, _, _ in kept], remedy)
        return fitted_attributes()

    def _warn_no_progress(self, attributes: dict[str, Any], data: TrainingData) -> None:
        """Warn if a large learning rate made the ensemble no better than its first member."""
        names = ("estimators_", "estimator_weights_", "estimator_errors_")
        if self.learning_rate <= _MAX_DECREASING_RATE or len(attributes["estimators_"]) == 1:
            return
        model = copy.copy(self)
        errors = []
        for n_members in (1, None):
            part = {name: attributes[name][:n_members] for name in names}
            model.__dict__.update({**attributes, **part})
            row_errors = self._row_errors(model.predict(data.rows.data), data)
            errors.append(float(np.average(row_errors, weights=data.weight)))
        if errors[1] >= errors[0]:
            warn_user(
                f"The mean error of the ensemble on the training rows, {errors[1]:.3g}, is not "
                f"below that of its first member, {errors[0]:.3g}: learning_rate="
                f"{self.learning_rate:g} is too large, as above {_MAX_DECREASING_RATE:g} the loss "
                "can grow with every round; decrease it.",
                UserWarning,
            )

    def _row_errors(self, predicted: Array, data: TrainingData) -> Array:
        """Return the error of each row, given the predictions of the ensemble."""
        raise NotImplementedError

    def _predict_member(
        self, member: Any, X: Any, classes: Array | None, threads: int, leaf: Array | None = None
    ) -> Array:
        """Return a member's predictions as boosting uses them, given the rows or their leaves."""
        raise NotImplementedError

    def _evaluate_round(
        self, predictions: Array, data: TrainingData, weights: Array
    ) -> tuple[RoundResult, dict[str, Array]]:
        """Return the result of a round, and the error of each row for the trace."""
        raise NotImplementedError

    def _weight_of_poor_first_member(self, member: Any, result: RoundResult) -> float:
        """Return the weight of a first member no better than chance, or raise ValueError."""
        raise NotImplementedError

    def _default_estimator(self) -> Any:
        return self._tree_class(
            max_depth=self.max_depth, max_bins=self.max_bins, n_jobs=self.n_jobs
        )

    def _check_estimator(self, estimator: Any) -> None:
        if self.estimator is None:
            return
        super()._check_estimator(estimator)
        check_unused(self, ["max_depth", "max_bins"], f"estimator={type(estimator).__name__}()")
        if self.reweighting == "weights":
            check_accepts_weights(estimator)

    def _round_fitter(
        self, engine: Engine, estimator: Any, data: TrainingData, params: dict[str, Any]
    ) -> RoundFitter:
        seed, resample = seed_of(self.random_state), self.reweighting == "resampling"
        if self.estimator is None or can_share_encoding(estimator):
            rows = LabeledRows(data.rows.data, data.target, data.weight)
            return TreeFitter.of(estimator, rows, engine, seed, resample)
        fitter = SampleFitter(data, accepts_weights(estimator), params)
        return EstimatorFitter(estimator, fitter, seed, resample)

    @property
    def _learned_classes(self) -> Array | None:
        """Classes among which the members choose; None for regression."""
        return None

    def _data_and_threads(self, X: Any) -> tuple[Any, int]:
        """Return the rows of a prediction for the members, and the number of threads."""
        engine, rows = self._prediction_rows(X)
        return rows.data, engine.threads

    def _member_predictions(self, data: Any, threads: int) -> Iterator[Array]:
        """Yield each member's predictions."""
        classes = self._learned_classes
        for number, member in enumerate(self.estimators_):
            with round_context(number, "could not predict"):
                predictions = self._predict_member(member, data, classes, threads)
            yield predictions

    def _predict_in_blocks(self, X: Any, predict: Callable[[Any, int], Array]) -> Array:
        """Return ``predict(data, threads)`` for all rows; large tables in blocks."""
        engine, rows = self._prediction_rows(X)
        data = rows.data
        if not isinstance(data, Table) or len(data) <= _BLOCK_ROWS:
            return predict(data, engine.threads)
        starts = range(0, len(data), _BLOCK_ROWS)
        blocks = [data.take(slice(first, first + _BLOCK_ROWS)) for first in starts]
        parts = engine.map(lambda block: predict(block, 1), blocks)
        return np.concatenate(parts)

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """Compute the accuracy, or R² of a regressor, after each round.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        """
        metric = accuracy_score if self._task == "classification" else r2_score
        for predicted in self.staged_predict(X):
            yield float(metric(y, predicted, sample_weight=sample_weight))

    @property
    def feature_importances_(self) -> Array:
        """Mean of the members' importances, weighted by ``estimator_weights_``."""
        importances = np.array(self._member_importances())
        return np.asarray(np.average(importances, axis=0, weights=self.estimator_weights_))

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of the members.

        ``sample_weight`` is consumed by the ensemble, which computes the members' weights.

        Returns
        -------
        MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=self._get_estimator(), method_mapping=mapping)

    def _check_members(self) -> None:
        members, weights = self.estimators_, self.estimator_weights_
        n_members = len(members)
        shapes = {weights.shape, self.estimator_errors_.shape}
        if not n_members or shapes != {(n_members,)}:
            raise ValueError(
                "estimators_, estimator_weights_ and estimator_errors_ must have the same length, "
                f"at least 1, got {n_members}, {weights.shape} and {self.estimator_errors_.shape}."
            )
        valid = np.isfinite(weights) & (weights > 0)
        check_values("estimator_weights_", weights, valid, "positive and finite")
        if self.stop_reason_ not in ("rounds", "perfect", "chance"):
            raise ValueError(
                f"stop_reason_ must be 'rounds', 'perfect' or 'chance', got {self.stop_reason_!r}."
            )
        for member in members:
            if member.n_features_in_ != self.n_features_in_:
                raise ValueError(
                    f"all members must have n_features_in_={self.n_features_in_}, as the ensemble "
                    f"has, got {member.n_features_in_}."
                )

"""Base of BaggingClassifier and BaggingRegressor: parameters and fit."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from numbers import Integral
from typing import Annotated, Any, Self

import numpy as np
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, _routing_enabled
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import (
    AtLeast,
    Iterations,
    Parameters,
    fitted,
    parameter,
    reports_progress,
    seed_of,
)
from ceiba.base.parameters import Verbose
from ceiba.data.target import merge_classes
from ceiba.engine import Engine
from ceiba.ensemble.bagging.members import (
    BaggedMembers,
    DrawnBatch,
    Member,
    MemberFitter,
    PredictFunction,
    PredictionSums,
    check_oob_possible,
    limit_blas_threads,
    out_of_bag_rows,
    sum_predictions,
    task_groups,
    with_sklearn_config,
)
from ceiba.ensemble.common.base import (
    BaseMetaEnsemble,
    accepts_sample_weight,
    class_attributes,
    warn_single_leaves,
)
from ceiba.ensemble.common.parameters import (
    Bootstrap,
    CountOrFraction,
    MaxSamples,
    MemberEstimator,
    Seed,
    WarmStart,
)
from ceiba.ensemble.common.rows import TrainingData, accepts_table
from ceiba.ensemble.common.sample_fit import SampleFitter, warn_all_constant
from ceiba.ensemble.common.sampling import RowSampler, check_warm_start
from ceiba.tree.explain.shap import TreeSum, node_predictions
from ceiba.tree.parameters import Jobs


class BaggingParameters(Parameters):
    """Hyper-parameters of bagging."""

    estimator: MemberEstimator = parameter(None, kw_only=False)
    n_estimators: Annotated[int, AtLeast(1), "Number of members."] = parameter(10, kw_only=False)
    max_samples: MaxSamples = None
    max_features: Annotated[
        CountOrFraction,
        "Columns drawn for each member: a number, or a fraction of all columns, rounded down but "
        "at least one.",
    ] = 1.0
    bootstrap: Bootstrap = True
    bootstrap_features: Annotated[
        bool, "Whether columns are drawn with replacement, so that one can occur twice."
    ] = False
    oob_score: Annotated[
        bool, "Whether to predict each training row by the members whose sample lacks it."
    ] = False
    warm_start: WarmStart = False
    random_state: Seed = 0
    n_jobs: Jobs = None
    verbose: Verbose = 0


class BaseBagging(BaggingParameters, BaseMetaEnsemble):
    """Base of bagging: draw samples, fit members and sum their predictions."""

    estimators_features_: list[Array] = fitted()

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Fit the members.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows in memory. Ceiba's estimators are fitted to a Table, others to the array or frame
            as it was passed; for these a Table is converted to its array or to a pandas frame.
        y : array of shape (n_rows,)
            Classes or numbers.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row. Rows are drawn by weight (``bootstrap=True``) or keep their weight;
            rows of weight zero count as absent.
        **fit_params : dict
            Metadata for ``fit`` of the members, if scikit-learn's metadata routing is enabled.

        Returns
        -------
        self : estimator
        """
        estimator, params = self._prepare_fit(fit_params, X, y, sample_weight)
        previous = self._previous_members(accepts_table(estimator))
        engine, training = self._training_data(
            estimator, X, y, sample_weight, reset=not previous.members
        )
        fitter = self._member_fitter(estimator, training, previous.seed, params)
        bagged = self._add_members(engine, previous, fitter, training)
        classes = training.target.classes
        if previous.members and classes is not None:
            # Existing members may have classes that these rows lack.
            classes = merge_classes(self.classes_, classes)
        columns = training.rows.attributes
        attributes = {**columns, **bagged.attributes(), **class_attributes(classes)}
        if self.oob_score:
            attributes |= self._oob_attributes(engine, bagged, training, attributes)
        self._replace_fitted(attributes)
        return self

    def _default_estimator(self) -> Any:
        tree = self._tree_class()
        return tree.set_fit_request(sample_weight=True) if _routing_enabled() else tree

    def _oob_attributes(
        self, engine: Engine, bagged: BaggedMembers, training: TrainingData, model: dict[str, Any]
    ) -> dict[str, Any]:
        classes: Array | None = model.get("classes_")
        predict = self._predict_function(classes, {})
        totals = sum_predictions(
            engine, bagged.members, training.rows, predict, classes, bagged.out_of_bag
        )
        rows = out_of_bag_rows(totals.n_members, bagged.batches[0].sampler.n_rows)
        return self._score_oob(totals, rows, training, model)

    def _predict_function(self, classes: Array | None, params: dict[str, Any]) -> PredictFunction:
        """Return the function that computes a member's predictions."""
        raise NotImplementedError

    def _score_oob(
        self, totals: PredictionSums, rows: Array, training: TrainingData, model: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the out-of-bag results of the ``rows`` that have a prediction."""
        raise NotImplementedError

    def _previous_members(self, as_table: bool) -> BaggedMembers:
        """Return the members that this fit adds to; none unless it is a warm start."""
        if not self.warm_start or not hasattr(self, "estimators_"):
            return BaggedMembers(seed_of(self.random_state))
        if as_table != ("schema_" in vars(self)):
            raise ValueError(
                "warm_start=True cannot mix Ceiba's estimators, which are fitted to tables, with "
                "those of other libraries: set warm_start=False."
            )
        bagged = BaggedMembers.of(self)
        check_warm_start(self.n_estimators, len(bagged.members), "members")
        return bagged

    def _member_fitter(
        self, estimator: Any, training: TrainingData, seed: int, params: dict[str, Any]
    ) -> MemberFitter:
        # Weights are used for the draws or passed to the members, so that none counts twice.
        weight, bootstrap = training.positive_weight, bool(self.bootstrap)
        n_rows = len(training.rows) if training.positive is None else len(training.positive)
        draw_weight = weight if bootstrap else None
        sampler = RowSampler.of(n_rows, draw_weight, self.max_samples, bootstrap)
        pass_weights = accepts_sample_weight(estimator)
        has_fractions = weight is not None and bool((weight % 1 != 0).any())
        if not bootstrap and not pass_weights and has_fractions:
            raise ValueError(
                f"sample_weight must be integers with bootstrap=False, because "
                f"{type(estimator).__name__} does not accept sample_weight: set bootstrap=True, "
                "or pass integer weights."
            )
        return MemberFitter(
            estimator, seed, SampleFitter(training, pass_weights, params), sampler, not bootstrap,
            column_count(self.max_features, training.rows.n_columns), self.bootstrap_features,
        )  # fmt: skip

    def _add_members(
        self, engine: Engine, previous: BaggedMembers, fitter: MemberFitter, training: TrainingData
    ) -> BaggedMembers:
        first = len(previous.members)
        # The fingerprint detects whether members that are added later have the same rows.
        needs_fingerprint = self.warm_start or self.oob_score
        fingerprint = training.fingerprint() if needs_fingerprint else ""
        sampler = fitter.sampler
        batch = DrawnBatch(
            self.n_estimators - first, len(training.rows), sampler.n_draws, sampler.replace,
            sampler.weights, sampler.all_rows, training.positive, fingerprint,
        )  # fmt: skip
        if self.oob_score:
            check_oob_possible([*previous.batches, batch])
        with nullcontext() if accepts_table(fitter.estimator) else limit_blas_threads(engine):
            members = self._fit_members(engine, fitter, range(first, self.n_estimators))
        bagged = previous.extended(members, replace(batch, n_members=len(members)))
        estimators = [member.estimator for member in bagged.members]
        warn_all_constant(estimators, type(fitter.estimator).__name__)
        if np.ptp(training.target.values) > 0:
            remedy = "relax the limits of the estimator's growth or pruning, increase max_samples"
            warn_single_leaves(estimators, remedy)
        return bagged

    def _fit_members(self, engine: Engine, fitter: MemberFitter, numbers: range) -> list[Member]:
        members: list[Member] = []
        groups = list(task_groups(numbers, engine.threads))
        fit = with_sklearn_config(fitter)
        for iteration in Iterations(self, len(groups), name="members"):
            members += engine.map(fit, groups[iteration.number - 1])
            iteration.record(fitted=len(members))
        return members

    def _totals(self, method: str, X: Any, params: dict[str, Any]) -> PredictionSums:
        """Add up the members' predictions for a method, with its metadata."""
        member_params = self._routed_params(method, self._member_method(), params)
        check_is_fitted(self)
        classes: Array | None = getattr(self, "classes_", None)
        return self._sum_predictions(X, self._predict_function(classes, member_params))

    def _sum_predictions(self, X: Any, predict: PredictFunction) -> PredictionSums:
        engine, rows = self._prediction_rows(X)
        members = BaggedMembers.of(self).members
        return sum_predictions(engine, members, rows, predict, getattr(self, "classes_", None))

    def _tree_sum(self) -> TreeSum:
        trees = self._member_trees()
        return TreeSum.of(
            trees,
            [self._node_scores(member) for member in self.estimators_],
            np.full(len(trees), 1 / len(trees)),
            self.schema_,
            self.estimators_features_,
        )

    def _node_scores(self, member: Any) -> Array:
        """Return what the leaves of a member predict, one row per node."""
        return node_predictions(member.tree_)

    @property
    def estimators_samples_(self) -> list[Array]:
        """Row indices of each member's sample, repeated as drawn.

        They are not stored but drawn again from the seed.
        """
        check_is_fitted(self)
        bagged = BaggedMembers.of(self)
        return [bagged.sample(number) for number in range(len(bagged.members))]

    @property
    def feature_importances_(self) -> Array:
        """Mean of the members' importances, if all have them; 0 for columns not drawn."""
        importances = self._member_importances()
        total: Array = np.zeros(self.n_features_in_)
        for columns, values in zip(self.estimators_features_, importances, strict=True):
            np.add.at(total, columns, values)
        return total / len(importances)

    def _member_method(self) -> str:
        """Return the name of the members' method that predictions call."""
        return "predict"

    def get_metadata_routing(self) -> MetadataRouter:
        """Return the metadata routing of the members.

        Returns
        -------
        MetadataRouter
        """
        mapping = MethodMapping().add(caller="fit", callee="fit")
        for method in ("predict", "predict_proba", "predict_log_proba"):
            if hasattr(self, method):
                mapping = mapping.add(caller=method, callee=self._member_method())
        if hasattr(self, "decision_function"):
            mapping = mapping.add(caller="decision_function", callee="decision_function")
        router = MetadataRouter(owner=self)
        return router.add(estimator=self._get_estimator(), method_mapping=mapping)

    def _check_members(self) -> None:
        BaggedMembers.of(self).check(self.n_features_in_)


def column_count(max_features: float, n_columns: int) -> int:
    """Return the number of columns drawn for each member."""
    if not isinstance(max_features, Integral):
        return max(1, int(max_features * n_columns))
    if max_features > n_columns:
        raise ValueError(
            f"max_features must be at most the number of columns, {n_columns}, or a fraction, got "
            f"{max_features}."
        )
    return int(max_features)

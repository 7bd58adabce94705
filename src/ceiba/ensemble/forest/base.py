"""Base of RandomForestClassifier and RandomForestRegressor: fit, predict, merge."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import Estimator, fitted, reports_progress, seed_of, validate
from ceiba.base.estimator import schema_attributes
from ceiba.data.source import Source
from ceiba.data.target import Task
from ceiba.data.warn import warn_user
from ceiba.engine import Engine, choose_engine
from ceiba.ensemble.common.rows import check_in_memory
from ceiba.ensemble.common.sampling import OutOfBagWarning, RowSampler
from ceiba.ensemble.forest.grower import ForestGrower, TrainingSample
from ceiba.ensemble.forest.importance import PermutationImportance
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.oob import OutOfBag
from ceiba.ensemble.forest.parameters import ForestParameters, tree_config
from ceiba.stats import Labeled, TargetSummary, ToLabeled
from ceiba.tree.base import check_target_summary
from ceiba.tree.config import n_drawn_columns
from ceiba.tree.model.tree import Tree
from ceiba.tree.scoring import predict_leaves, predict_values, score, table_of

# Fitted attributes about out-of-bag rows; they are dropped when trees are dropped or added.
_OOB_RESULTS = (
    "oob_score_", "oob_curve_", "oob_decision_function_", "oob_prediction_", "oob_errors_",
    "oob_importance_", "leaf_targets_",
)  # fmt: skip


class BaseForest(ForestParameters, Estimator):
    """Base of random forests: grow, predict, drop and merge trees, out-of-bag results."""

    _task: ClassVar[Task]
    # The fitted attribute with the out-of-bag predictions.
    _oob_name: ClassVar[str]
    forest_: Forest = fitted()

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the forest; with ``warm_start`` add trees to it.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows in memory.
        y : array of shape (n_rows,)
            Classes or numbers.
        sample_weight : array of shape (n_rows,), optional
            Rows of weight zero count as absent. Integer weights count as repeated rows; others are
            proportional to the probability of a draw, or weights of the rows if these are drawn
            without replacement.

        Returns
        -------
        self : estimator
        """
        validate(self)
        config = tree_config(self)
        check_in_memory(type(self).__name__, X)
        previous = getattr(self, "forest_", None) if self.warm_start else None
        engine, source = self._open_training(X, y, sample_weight, previous)
        rows = engine.rows(source.partitions, ToLabeled(self._task))
        summary = engine.reduce(rows, TargetSummary.of)
        check_target_summary(summary)
        summary = self._with_known_classes(summary, previous)
        self._check_target(summary)
        sample = self._training_sample(rows.table(), summary)
        self._check_previous(previous, sample)
        grower = ForestGrower(
            engine, rows, sample, config, source.schema, seed_of(self.random_state),
            self._columns_per_tree(len(source.schema)),
        )  # fmt: skip
        forest = self._grow(grower, previous)
        attributes = {
            **schema_attributes(source.schema),
            "forest_": forest,
            **self._extra_attributes(summary),
            **self._oob_results(forest, sample, engine.threads),
        }
        if self._oob_name in attributes:
            # One entry per input row, rows of weight zero included.
            n_rows = len(source.partitions[0].load().table)
            attributes[self._oob_name] = expand(attributes[self._oob_name], sample, n_rows)
        self._set_fitted(attributes, without=(*_OOB_RESULTS, "class_weight_"))
        return self

    def _open_training(
        self, X: Any, y: Any, sample_weight: Any, previous: Forest | None
    ) -> tuple[Engine, Source]:
        """Open rows with their own schema, or with that of the existing trees."""
        if previous is not None:
            self._check_columns(X)
        return choose_engine(
            X, sample_weight, y=y, supervised=True, n_jobs=self.n_jobs,
            schema=None if previous is None else previous.schema,
        )  # fmt: skip

    def _with_known_classes(self, summary: TargetSummary, previous: Forest | None) -> TargetSummary:
        """Return the summary with all classes of the existing trees."""
        return summary

    def _check_target(self, summary: TargetSummary) -> None:
        """Raise if the targets are not allowed with the criterion."""

    def _check_previous(self, previous: Forest | None, sample: TrainingSample) -> None:
        """Raise if all trees must have the same rows and the existing ones do not."""

    def _training_sample(self, rows: Labeled, summary: TargetSummary) -> TrainingSample:
        sampler = RowSampler.of(len(rows), rows.weight, self.max_samples, self.bootstrap)
        weights = self._class_weights(summary)
        return TrainingSample.of(rows, summary, self.criterion, sampler, weights, self._balanced)

    @property
    def _balanced(self) -> bool:
        """Whether every tree balances the classes of its own sample."""
        return False

    def _class_weights(self, summary: TargetSummary) -> Array | None:
        return None

    def _columns_per_tree(self, n_columns: int) -> int:
        if self.max_features_per == "node":
            return 0
        per_tree = self.max_features if self.max_features_per == "tree" else self.tree_features
        return n_drawn_columns(per_tree, n_columns)

    def _grow(self, grower: ForestGrower, previous: Forest | None) -> Forest:
        if previous is None:
            return grower.grow(0, self.n_estimators)
        n_new = self.n_estimators - previous.n_trees
        if n_new < 0:
            raise ValueError(
                f"n_estimators={self.n_estimators} must be larger or equal to "
                f"len(estimators_)={previous.n_trees} when warm_start==True: use without() to drop "
                "trees."
            )
        if n_new == 0:
            warn_user(
                "Warm-start fitting without increasing n_estimators does not fit new trees: there "
                f"are n_estimators={self.n_estimators} already.",
                UserWarning,
            )
            return previous
        new = grower.grow(previous.n_grown, previous.n_grown + n_new)
        check_same_columns(previous, new)
        return previous.merged(new)

    def _oob_results(self, forest: Forest, sample: TrainingSample, threads: int) -> dict[str, Any]:
        """Return the requested results on out-of-bag rows."""
        results: dict[str, Any] = {}
        if not (self.oob_score or self.importance):
            return results
        oob = OutOfBag.of(forest, sample, self._leaf_smoothing, threads)
        if self.oob_score:
            mean, n_trees, curve = oob.predict()
            warn_never_out_of_bag(int((n_trees == 0).sum()), len(n_trees))
            results[self._oob_name] = mean
            results["oob_curve_"] = curve
            results["oob_score_"] = self._score_oob(mean, n_trees, sample)
        if self.importance:
            results["oob_importance_"] = oob.permutation_importance(1, 0.95)
        return results

    def _score_oob(self, mean: Array, n_trees: Array, sample: TrainingSample) -> float:
        raise NotImplementedError

    def _extra_attributes(self, summary: TargetSummary) -> dict[str, Any]:
        return {}

    def _predict(self, X: Any) -> Array:
        """Return the mean of the trees' predictions for each row."""
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, table_of)
        values: Array = engine.predict(rows, predict_values, self.forest_, self._leaf_smoothing)
        return values

    def apply(self, X: Any) -> Array:
        """Return the leaf of each row in each tree.

        Returns
        -------
        ndarray of shape (n_rows, n_trees) and dtype int32
        """
        return self._leaves(X)[0]

    def _leaves(self, X: Any) -> tuple[Array, int]:
        """Return the leaves of the rows, and the number of threads."""
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, table_of)
        return engine.predict(rows, predict_leaves, self.forest_), engine.threads

    def _score_on(self, engine: Engine, source: Source) -> float:
        return score(self, self.forest_, engine, source, self._leaf_smoothing)

    @property
    def _leaf_smoothing(self) -> float:
        """Weight that is added to each class in each leaf."""
        return 0.0

    def tree(self, number: int) -> Tree:
        """Return one tree of the forest, for example to print ``tree(0).to_text()``."""
        check_is_fitted(self)
        return self.forest_.tree(number)

    def without(self, trees: Sequence[int]) -> Self:
        """Return the forest without some of its trees, and without out-of-bag results.

        Parameters
        ----------
        trees : sequence of int
            Numbers of the trees to drop.

        Returns
        -------
        estimator
        """
        check_is_fitted(self)
        return self._with_forest(self.forest_.without(trees))

    def merged(self, *others: Self) -> Self:
        """Return a forest with the trees of this one and of others.

        They must be fitted to the same columns.

        Returns
        -------
        estimator
            With the parameters of this one, and without out-of-bag results.
        """
        check_is_fitted(self)
        for other in others:
            if type(other) is not type(self):
                raise TypeError(
                    f"others must be instances of {type(self).__name__}, got "
                    f"{type(other).__name__}."
                )
            check_is_fitted(other)
            check_same_columns(self.forest_, other.forest_)
            self._check_same_target(other)
        forest = self.forest_.merged(*(other.forest_ for other in others))
        keys = np.column_stack([forest.tree_seeds, forest.samples[:, 1]])
        if len(np.unique(keys, axis=0)) < forest.n_trees:
            raise ValueError(
                "the merged forest would contain duplicate trees: fit the forests with different "
                "random_state."
            )
        return self._with_forest(forest)

    def _check_same_target(self, other: Self) -> None:
        """Raise unless both forests predict the same classes."""

    def _with_forest(self, forest: Forest) -> Self:
        model = copy.copy(self)
        for name in _OOB_RESULTS:
            model.__dict__.pop(name, None)
        model.n_estimators = forest.n_trees
        model.forest_ = forest
        return model

    @property
    def feature_importances_(self) -> Array:
        """Mean over the trees of the normalized decrease of impurity by each column.

        It favors columns with many values: see ``oob_importance`` and ``corrected_importances``.
        """
        check_is_fitted(self)
        return self.forest_.mean_importances()

    def oob_importance(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        n_repeats: int = 1,
        confidence_level: float = 0.95,
    ) -> PermutationImportance:
        """Compute the permutation importance of the columns on out-of-bag rows.

        Parameters
        ----------
        X, y, sample_weight
            As passed to ``fit``.
        n_repeats : int
            Permutations per tree and column, 1 to 255.
        confidence_level : float
            Confidence level of the null band.

        Returns
        -------
        PermutationImportance
        """
        if not isinstance(n_repeats, Integral) or not 1 <= n_repeats <= 255:
            raise ValueError(f"n_repeats must be an int in [1, 255], got {n_repeats}.")
        if not 0 < confidence_level < 1:
            raise ValueError(f"confidence_level must be in (0, 1), got {confidence_level}.")
        oob = self._out_of_bag(X, y, sample_weight)
        return oob.permutation_importance(int(n_repeats), float(confidence_level))

    def corrected_importances(self, X: Any, y: Any, sample_weight: Any = None) -> Array:
        """Compute the debiased decrease of impurity by each column.

        The decrease is computed on out-of-bag rows: how well the differences between a tree's node
        means at splits of a column agree with the deviations of these rows from the node mean. A
        column without information has zero importance on average, however many values it has. The
        importances are not normalized and can be negative by chance.

        Parameters
        ----------
        X, y, sample_weight
            As passed to ``fit``.

        Returns
        -------
        ndarray of shape (n_features,)

        References
        ----------
        Li, Wang, Basu, Kumbier & Yu (2019), "A debiased MDI feature importance measure for random
        forests", NeurIPS.
        """
        return self._out_of_bag(X, y, sample_weight).corrected_importances()

    def _out_of_bag(self, X: Any, y: Any, sample_weight: Any) -> OutOfBag:
        check_in_memory(type(self).__name__, X)
        engine, source = self._open_source(X, sample_weight, reset=False, y=y, task=self._task)
        rows = engine.rows(source.partitions, ToLabeled(self._task))
        summary = engine.reduce(rows, TargetSummary.of)
        summary = self._with_known_classes(summary, self.forest_)
        sample = self._training_sample(rows.table(), summary)
        return OutOfBag.of(self.forest_, sample, self._leaf_smoothing, engine.threads)

    def n_trees_sufficient(self) -> int | None:
        """Return the number of trees after which the out-of-bag error stays the same.

        None if the error has not settled; ``oob_curve_.summary()`` describes it in a sentence.
        """
        check_is_fitted(self)
        if not hasattr(self, "oob_curve_"):
            raise ValueError("n_trees_sufficient() requires oob_score=True in fit.")
        n_trees: int | None = self.oob_curve_.n_trees_sufficient
        return n_trees

    def _check_state(self) -> None:
        """Raise if a loaded model is inconsistent."""
        if not isinstance(getattr(self, "forest_", None), Forest):
            raise ValueError("forest_ must be a Forest.")
        if self.forest_.schema != self.schema_ or self.n_features_in_ != len(self.schema_):
            raise ValueError("forest_ must have the columns of schema_.")


def check_same_columns(one: Forest, other: Forest) -> None:
    """Raise unless two forests have the same columns and classes."""
    if one.schema != other.schema:
        raise ValueError("the forests must have the same columns, got different schemas.")
    if one.n_classes != other.n_classes:
        raise ValueError("the forests must have the same classes.")


def expand(values: Array, sample: TrainingSample, n_rows: int) -> Array:
    """Extend values to all input rows, with NaN for rows of weight zero."""
    kept = sample.weighted_rows.kept
    if kept is None:
        return values
    expanded = np.full((n_rows, *values.shape[1:]), np.nan)
    expanded[kept] = values
    return expanded


def warn_never_out_of_bag(n_inside: int, n_rows: int) -> None:
    """Warn if some rows are in the sample of every tree."""
    if n_inside:
        warn_user(
            f"{n_inside} of {n_rows} rows are in the sample of every tree, so that they have no "
            "out-of-bag prediction (NaN) and do not count in oob_score_: increase n_estimators, or "
            "decrease max_samples.",
            OutOfBagWarning,
        )

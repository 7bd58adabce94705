"""Base of RandomForestClassifier and RandomForestRegressor: fit, predict, merge."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix, hstack
from sklearn.utils.validation import check_is_fitted

from ceiba._native import NodeTest
from ceiba._typing import Array
from ceiba.base import (
    Iterations,
    ParameterError,
    check_unused,
    fitted,
    reports_progress,
    seed_of,
    validate,
)
from ceiba.base.estimator import schema_attributes
from ceiba.base.value_types import format_value
from ceiba.data.source import Source
from ceiba.data.target import Task, class_indices, is_multi_output
from ceiba.engine import Engine, choose_engine
from ceiba.engine.choose import check_in_memory
from ceiba.ensemble.bagging.members import DrawnBatch
from ceiba.ensemble.common.base import warn_constant
from ceiba.ensemble.common.members import MemberSequence
from ceiba.ensemble.common.rows import expand_rows
from ceiba.ensemble.common.sampling import RowSampler, check_warm_start
from ceiba.ensemble.forest.explain import forest_sum
from ceiba.ensemble.forest.grower import ForestSample, TrainingSample
from ceiba.ensemble.forest.model import Forest
from ceiba.ensemble.forest.multi_output_fit import (
    MultiOutputSample,
    check_same_outputs,
    check_single_output_parameters,
    same_classes,
    with_known_classes,
)
from ceiba.ensemble.forest.oob_learner import OOB_RESULTS, OutOfBagResults
from ceiba.ensemble.forest.prune import prune_forest
from ceiba.ensemble.forest.tree_view import depths, parents
from ceiba.ensemble.forest.trees import (
    TREE_PARAMETERS,
    ForestTrees,
    resolve_max_bins,
    unfitted_tree,
)
from ceiba.stats import TargetSummary, ToLabeledRows
from ceiba.stats.outputs import MultiOutputRows
from ceiba.tree.config import TreeConfig, n_drawn_columns
from ceiba.tree.constraints import check_leaf_probability, resolve_monotonic
from ceiba.tree.explain.shap import TreeSum
from ceiba.tree.explain.shap_mixin import TreeShapMixin
from ceiba.tree.model.node_dtype import NodeView
from ceiba.tree.model.sklearn_names import path_matrix
from ceiba.tree.model.tree import Tree
from ceiba.tree.multi_output import check_one_output, check_supported
from ceiba.tree.scoring import predict_batch, score, to_table

# The sum of all trees' predictions must stay below the largest float.
_MAX_SUM = 1e308
# With verbose, trees are grown in so many parts.
_PROGRESS_PARTS = 10


class BaseForest(MemberSequence, TreeShapMixin, OutOfBagResults):
    """Base of random forests: grow, predict, drop and merge trees."""

    _task: ClassVar[Task]
    batches_: list[DrawnBatch] = fitted()
    # Sign of each column, with monotonic_cst: a warm start must not change it.
    _monotonic: Array
    _state_names: ClassVar[tuple[str, ...]] = ("_monotonic",)

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the forest; with ``warm_start`` add trees to it.

        Parameters
        ----------
        X : array, frame, Table or list
            Rows in memory.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            Classes or numbers. Several columns are several targets of the same trees.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row. Rows are drawn by weight (``bootstrap=True``) or keep their weight;
            rows of weight zero count as absent.

        Returns
        -------
        self : estimator
        """
        validate(self)
        seed = seed_of(self.random_state)
        config = self._tree_config()
        if is_multi_output(y):
            check_single_output_parameters(self)
            check_supported(config)
        check_in_memory(type(self).__name__, X, y)
        previous = getattr(self, "forest_", None) if self.warm_start else None
        if previous is not None:
            self._check_columns(X)
        engine, source = choose_engine(
            X, sample_weight, y=y, supervised=True, n_jobs=self.n_jobs,
            schema=None if previous is None else previous.schema,
        )  # fmt: skip
        monotonic = resolve_monotonic(self.monotonic_cst, source.schema)
        if previous is not None:
            self._check_monotonic(monotonic)
        sample = self._training_sample(engine, source, previous)
        self._check_previous(previous, sample)
        if self.ccp_alpha > 0 and self._task == "regression" and sample.rows.weight is not None:
            raise ValueError(
                f"ccp_alpha={self.ccp_alpha} requires integer sample_weight with bootstrap=False, "
                "because leaves store numbers of rows: round the weights, or set bootstrap=True."
            )
        max_bins = resolve_max_bins(self, len(sample.rows))
        if max_bins != config.max_bins:  # replacing the fields takes 10 us, a 50th of iris
            config = replace(config, max_bins=max_bins)
        forest = self._grow(engine, sample, config, seed, previous)
        n_rows = len(source.partitions[0].load().table)
        attributes = self._fitted_attributes(previous, forest, sample, n_rows, engine.threads)
        if monotonic is not None:
            attributes["_monotonic"] = monotonic
        if forest.n_nodes == forest.n_trees and sample.varies:
            warn_constant(
                forest.n_trees,
                "decrease min_samples_split, min_samples_leaf, min_weight_fraction_leaf, "
                "min_impurity_decrease or ccp_alpha, increase max_samples",
            )
        self._set_fitted(attributes, without=(*OOB_RESULTS, "class_weight_", "_monotonic"))
        return self

    def _fitted_attributes(
        self, previous: Forest | None, forest: Forest, sample: ForestSample, n_rows: int,
        threads: int,
    ) -> dict[str, Any]:  # fmt: skip
        """Return the attributes that a fit to ``n_rows`` rows sets."""
        results = self._oob_results(forest, sample, threads)
        if self._oob_name in results:
            # One entry per input row, rows of weight zero included.
            kept = sample.weighted_rows.kept
            results[self._oob_name] = expand_rows(results[self._oob_name], kept, n_rows, np.nan)
        return {
            **schema_attributes(forest.schema),
            "forest_": forest,
            "batches_": self._batches(previous, forest, sample, n_rows),
            **sample.fitted_attributes(),
            **results,
        }

    def _tree_config(self) -> TreeConfig:
        """Return the configuration of the trees; raise for contradictions."""
        if self.max_features_per == "both" and self.tree_features is None:
            raise ParameterError("max_features_per='both' requires tree_features, got None.")
        if self.max_features_per != "both":
            check_unused(self, ["tree_features"], f"max_features_per={self.max_features_per!r}")
        if self.ccp_alpha > 0 and self.criterion == "absolute_error":
            raise ParameterError(
                f"ccp_alpha must be 0 with criterion='absolute_error', got {self.ccp_alpha}: a "
                "forest stores no medians of inner nodes. Use max_leaf_nodes or min_samples_leaf."
            )
        if self.thresholds != "random":
            check_unused(self, ["n_thresholds"], f"thresholds={self.thresholds!r}")
        if (self.oob_score or self.importance) and not (
            self.bootstrap or self.max_samples is not None
        ):
            name = "oob_score" if self.oob_score else "importance"
            raise ParameterError(
                "Out of bag estimation only available if bootstrap=True or max_samples is set, got "
                f"{name}={format_value(getattr(self, name))} with bootstrap=False and "
                "max_samples=None: no row would be out of bag."
            )
        if self.monotonic_cst is not None:
            check_leaf_probability(self)
        values = {name: getattr(self, name) for name in (*TREE_PARAMETERS, "n_thresholds")}
        if self.max_bins == "auto":
            values["max_bins"] = None  # until the number of rows is known
        max_features = None if self.max_features_per == "tree" else self.max_features
        return TreeConfig.of(**values, max_features=max_features)

    def _training_sample(
        self, engine: Engine, source: Source, previous: Forest | None
    ) -> ForestSample:
        """Return the rows, with all classes of the existing trees, and their sampler."""
        if is_multi_output(source.partitions[0].load().target):
            return self._multi_output_sample(engine, source, previous)
        if previous is not None:
            check_same_outputs(previous, 1)
        rows = engine.rows(source.partitions, ToLabeledRows(self._task))
        labeled, summary = rows.table(), engine.reduce(rows, TargetSummary.of)
        if labeled.weight is not None:  # rows of weight zero are dropped
            summary.require_rows()
        sampler = RowSampler.of(len(labeled), labeled.weight, self.max_samples, self.bootstrap)
        self._check_sums(summary)
        if previous is not None and summary.classes is not None:
            assert summary.class_counts is not None
            counts = np.zeros(len(self.classes_), np.int64)
            counts[class_indices(summary.classes, self.classes_)] = summary.class_counts
            summary = replace(summary, classes=self.classes_, class_counts=counts)
        class_weight = getattr(self, "class_weight", None)  # a regressor has none
        return TrainingSample.of(
            labeled, summary, sampler, self.criterion, class_weight,
            fractional=self.monotonic_cst is not None and self._task == "classification",
        )  # fmt: skip

    def _multi_output_sample(
        self, engine: Engine, source: Source, previous: Forest | None
    ) -> MultiOutputSample:
        """Return the rows with several targets, and their sampler."""
        output_rows = MultiOutputRows.of(source.partitions[0].load(), self._task)
        if previous is not None:
            check_same_outputs(previous, len(output_rows.outputs))
            output_rows = with_known_classes(output_rows, vars(self).get("classes_"))
        labeled = output_rows.labeled
        summary = TargetSummary((0,), None, None, 1.0, 1.0, True, np.nan, np.nan)
        for target in output_rows.outputs:
            rows = engine.prepared_rows(replace(labeled, target=target))
            summary = engine.reduce(rows, TargetSummary.of)
            summary.require_rows()
            self._check_sums(summary)
        sampler = RowSampler.of(len(labeled), labeled.weight, self.max_samples, self.bootstrap)
        class_weight = getattr(self, "class_weight", None)
        sample = MultiOutputSample.of(output_rows, summary, sampler, class_weight)
        self._check_multi_output_oob(sample.targets.output_classes)
        return sample

    def _check_sums(self, summary: TargetSummary) -> None:
        """Raise ValueError if the predictions of all trees cannot be summed."""
        largest = max(abs(summary.target_min), abs(summary.target_max))  # NaN for classes
        if largest > _MAX_SUM / self.n_estimators:
            raise ValueError(
                f"y must be at most {_MAX_SUM / self.n_estimators:.3g} in absolute value, so that "
                f"the predictions of {self.n_estimators} trees can be summed, got {largest:.3g}: "
                "rescale y."
            )

    def _check_monotonic(self, monotonic: Array | None) -> None:
        """Raise if a warm start changes the monotonic constraints."""
        known, signs = _signs(self), None if monotonic is None else monotonic.tolist()
        if known != signs:
            raise ParameterError(
                "warm_start=True requires the same monotonic_cst as the previous fit, "
                f"{known}, got {signs}: predictions are means of all trees; set "
                "warm_start=False to start anew."
            )

    def _check_previous(self, previous: Forest | None, sample: ForestSample) -> None:
        """Raise if all trees must have the same rows and the existing ones do not."""

    def _grow(
        self, engine: Engine, sample: ForestSample, config: TreeConfig, seed: int,
        previous: Forest | None,
    ) -> Forest:  # fmt: skip
        """Grow new trees until there are ``n_estimators``."""
        n_trees, first = (0, 0) if previous is None else (previous.n_trees, previous.n_grown)
        numbers = range(first, first + self.n_estimators - n_trees)
        if previous is not None:
            check_warm_start(self.n_estimators, n_trees, "trees", ": use drop_trees()")
            if not numbers:
                return previous
        columns_per_tree = 0
        if self.max_features_per != "node":
            by_tree = self.max_features_per == "tree"
            drawn = self.max_features if by_tree else self.tree_features
            columns_per_tree = n_drawn_columns(drawn, len(sample.rows.table.schema))
        grow = sample.tree_grower(config, seed, columns_per_tree, engine)
        # All trees at once keep the threads busy; in parts only to report progress.
        n_parts = min(_PROGRESS_PARTS, len(numbers)) if self.verbose else 1
        ends = [round(part * len(numbers) / n_parts) for part in range(n_parts + 1)]
        forests = [] if previous is None else [previous]
        for iteration in Iterations(self, n_parts, name="part"):
            part = numbers[ends[iteration.number - 1] : ends[iteration.number]]
            new = grow(part)
            if self.ccp_alpha > 0:
                new = prune_forest(new, float(self.ccp_alpha), self.criterion)
            forests.append(new)
            iteration.record(trees=n_trees + ends[iteration.number])
        return forests[0].merge_forests(*forests[1:]) if forests[1:] else forests[0]

    def _batches(
        self, previous: Forest | None, forest: Forest, sample: ForestSample, n_rows: int
    ) -> list[DrawnBatch]:
        """Return how the rows of the trees were drawn, once for each set of rows."""
        batches = [] if previous is None else getattr(self, "batches_", [])
        fingerprint = str(forest.training_keys[-1, 1])
        if forest is previous or any(batch.fingerprint == fingerprint for batch in batches):
            return batches
        sampler = sample.sampler
        # Any number of trees refer to a batch, by the fingerprint of their rows.
        batch = DrawnBatch(
            1, n_rows, sampler.n_draws, sampler.replace, sampler.weights,
            sampler.all_rows, sample.weighted_rows.kept, fingerprint,
        )  # fmt: skip
        return [*batches, batch]

    def _predict(self, X: Any) -> Array:
        """Return the mean of the trees' predictions for each row."""
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, to_table)
        model = (self.forest_, self._leaf_smoothing)
        return np.asarray(engine.predict(rows, predict_batch, type(self.forest_).predict, *model))

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
        rows = engine.rows(source.partitions, to_table)
        return engine.predict(rows, predict_batch, Forest.apply, self.forest_), engine.threads

    def _score_on(self, engine: Engine, source: Source) -> float:
        return score(self, self.forest_, engine, source, self._leaf_smoothing)

    def _tree_sum(self) -> TreeSum:
        check_one_output(self, "An explanation")
        return forest_sum(self.forest_, self._leaf_smoothing)

    @property
    def _score_name(self) -> str:  # type: ignore[override]
        return "probability" if self._task == "classification" else "prediction"

    def decision_path(self, X: Any) -> tuple[csr_matrix, Array]:
        """Return the nodes on the path of each row in each tree.

        Returns
        -------
        indicator : sparse matrix of shape (n_rows, n_nodes)
            1 for each node on a path of the row; the nodes of all trees, one tree after another.
        n_nodes_ptr : ndarray of shape (n_trees + 1,)
            The columns of tree i are ``indicator[:, n_nodes_ptr[i]:n_nodes_ptr[i + 1]]``.
        """
        leaves, offsets = self.apply(X), self.forest_.tree_offsets
        paths = []
        for tree in range(self.forest_.n_trees):
            nodes = self.forest_.nodes[offsets[tree] : offsets[tree + 1]]
            parent = parents(nodes, NodeView(nodes).kind == NodeTest.LEAF)
            paths.append(path_matrix(leaves[:, tree], parent, depths(parent)))
        return hstack(paths, format="csr"), np.array(offsets)

    @property
    def estimators_(self) -> ForestTrees:
        """The trees as estimators; each is made on access."""
        check_is_fitted(self)
        return ForestTrees(self)

    @property
    def estimator_(self) -> Any:
        """A decision tree that is not fitted, with the parameters of the trees."""
        check_is_fitted(self)
        return unfitted_tree(self, int(self.forest_.training_keys[-1, 0]))

    @property
    def estimators_samples_(self) -> list[Array]:
        """Row indices of each tree's sample, repeated as drawn; drawn again from the seeds."""
        check_is_fitted(self)
        forest, batches = self.forest_, getattr(self, "batches_", [])
        by_fingerprint = {batch.fingerprint: batch for batch in batches}
        keys = [str(key) for key in forest.training_keys[:, 1].tolist()]
        if not by_fingerprint.keys() >= set(keys):
            raise AttributeError(
                "estimators_samples_ requires a forest that stores how its rows were drawn, got "
                "one of an earlier version: fit it again."
            )
        drawn_batches = [by_fingerprint[key] for key in keys]
        draws = zip(drawn_batches, forest.tree_seeds.tolist(), strict=True)
        return [
            batch.input_rows(batch.sampler.draw(seed)).astype(np.int32) for batch, seed in draws
        ]

    @property
    def n_outputs_(self) -> int:
        """Number of outputs: the columns of y."""
        check_is_fitted(self)
        return self.forest_.n_outputs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            check_single_output_parameters(self)
            check_supported(self._tree_config())
            tags.target_tags.multi_output = True
        except (TypeError, ValueError):  # invalid parameters
            tags.target_tags.multi_output = False
        return tags

    def tree(self, number: int) -> Tree:
        """Return one tree of the forest, for example to print ``tree(0).to_text()``."""
        check_is_fitted(self)
        return self.forest_.tree(number)

    def drop_trees(self, trees: Sequence[int]) -> Self:
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
        return self._with_forest(self.forest_.drop_trees(trees))

    def merge_forests(self, *others: Self) -> Self:
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
            if other.schema_ != self.schema_:
                raise ValueError("the forests must have the same columns, got different schemas.")
            if self.n_outputs_ != other.n_outputs_:
                raise ValueError(
                    f"the forests must have the same targets, got {self.n_outputs_} and "
                    f"{other.n_outputs_}."
                )
            if not same_classes(vars(self).get("classes_"), vars(other).get("classes_")):
                raise ValueError("the forests must have the same classes.")
            if _signs(self) != _signs(other):
                raise ValueError(
                    "the forests must have the same monotonic_cst: predictions are means of all "
                    "trees."
                )
        forest = self.forest_.merge_forests(*(other.forest_ for other in others))
        keys = np.column_stack([forest.tree_seeds, forest.training_keys[:, 1]])
        if len(np.unique(keys, axis=0)) < forest.n_trees:
            raise ValueError(
                "the merged forest would contain duplicate trees: fit the forests with different "
                "random_state."
            )
        merged = self._with_forest(forest)
        batches = [batch for model in (self, *others) for batch in getattr(model, "batches_", [])]
        merged.batches_ = list({batch.fingerprint: batch for batch in batches}.values())
        return merged

    def _with_forest(self, forest: Forest) -> Self:
        model = copy.copy(self)
        for name in OOB_RESULTS:
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

    def _check_state(self) -> None:
        super()._check_state()
        if not isinstance(getattr(self, "forest_", None), Forest):
            value = format_value(getattr(self, "forest_", None))
            raise ValueError(f"forest_ must be a Forest, got {value}.")
        if self.forest_.schema != self.schema_:
            raise ValueError(
                f"forest_ must have the columns of schema_, {format_value(self.schema_.names)}, "
                f"got {format_value(self.forest_.schema.names)} or other kinds."
            )
        signs = getattr(self, "_monotonic", None)
        if signs is not None and (
            type(signs) is not np.ndarray
            or signs.shape != (len(self.schema_),)
            or not np.isin(signs, (-1, 0, 1)).all()
        ):
            raise ValueError("_monotonic must be an array of -1, 0 and 1, one for each column.")


def _signs(forest: BaseForest) -> list[int] | None:
    """Return the sign of each column in the monotonic constraints of a fit; None for none."""
    signs = vars(forest).get("_monotonic")
    return None if signs is None else [int(sign) for sign in signs]

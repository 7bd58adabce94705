"""The base class of the tree classifier and the tree regressor."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.utils.validation import check_is_fitted

from ceiba._typing import Array
from ceiba.base import Estimator, Iterations, fitted, reports_progress, seed_of
from ceiba.base.estimator import schema_attributes
from ceiba.base.value_types import format_value
from ceiba.data.schema import Schema
from ceiba.data.source import Source
from ceiba.data.table import Table
from ceiba.data.target import Task, is_multi_output
from ceiba.engine import Engine
from ceiba.stats import TargetSummary, ToLabeledRows
from ceiba.tree.config import TreeConfig, n_drawn_columns
from ceiba.tree.explain.dictionary import tree_nodes
from ceiba.tree.explain.rule_list import RuleList, rule_list
from ceiba.tree.explain.shap import TreeSum, node_predictions
from ceiba.tree.explain.shap_mixin import TreeShapMixin, path_conditions
from ceiba.tree.grow.grower import GrowthResult, TreeGrower
from ceiba.tree.grow.targets import FixedPointScale, GrowthInputs, WeightTotals
from ceiba.tree.model.sklearn_names import path_matrix
from ceiba.tree.model.tree import Tree
from ceiba.tree.multi_output import check_one_output, check_tree_options, fit_tree
from ceiba.tree.parameters import TreeParameters
from ceiba.tree.prune.pruning import (
    PruningMixin,
    check_record,
    prune_in_fit,
    split_validation,
)
from ceiba.tree.scoring import predict_batch, score, to_table

_MAX_PASSES = 10**6


class DecisionTree(TreeParameters, PruningMixin, TreeShapMixin, Estimator):
    """Grow, prune, apply and show a tree; subclasses predict."""

    _task: ClassVar[Task]
    tree_: Tree = fitted()

    @reports_progress
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory, of files (``ceiba.scan``) or on a cluster; the latter two need
            ``max_bins``.
        y : array of shape (n_rows,) or (n_rows, n_outputs)
            Classes or numbers; None if ``X`` is a scan with a target column. Several columns are
            several targets of one tree, for rows in memory.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero are ignored. Weights are resolved to 2^-52 of
            the total weight, and none counts less than that. A weight w counts as w rows in
            pessimistic pruning, ``mdl_correction``, ``min_split_fraction`` and
            ``leaf_probability``, and with ``missing="fractional"`` in ``min_samples_leaf``:
            their effect depends on the scale of the weights.

        Returns
        -------
        self : estimator
        """
        if is_multi_output(y):
            attributes = fit_tree(self, X, y, sample_weight)
            self._set_fitted(attributes, without=("trace_", "pruning_", "class_weight_"))
            return self
        engine, source = self._open_source(X, sample_weight, y=y, reset=True)
        config = TreeConfig.from_estimator(self)
        if not engine.in_memory:
            check_out_of_memory(config)
        schema, held_out = source.schema, None
        rows = engine.rows(source.partitions, ToLabeledRows(self._task))
        if config.pruning == "reduced_error":
            rows, held_out = split_validation(self, engine, rows)
        summary = engine.reduce(rows, TargetSummary.of)
        rows = rows.numbered(summary.rows)
        summary.require_rows()
        grower = self._make_grower(engine, rows, schema, summary, config)
        result = self._grow(grower, summary)
        attributes = self._fitted_attributes(schema, summary, result.tree)
        if self.trace:
            attributes["trace_"] = result.trace()
        # Pruned on a copy: a fit that fails leaves the estimator as it was.
        model = copy.copy(self)
        model._set_fitted(attributes, without=("trace_", "pruning_", "class_weight_"))
        if config.prunes:
            prune_in_fit(model, config, engine, rows, held_out)
        self.__dict__ = model.__dict__
        return self

    def _make_grower(
        self, engine: Engine, rows: Any, schema: Schema, summary: TargetSummary, config: TreeConfig
    ) -> TreeGrower:
        """Compute what must be known before the first split."""
        class_factors, cost_factors = self._class_factors(engine, rows, summary, config)
        scale = FixedPointScale.of(
            summary,
            class_factors,
            squares=config.criterion in ("squared_error", "poisson"),
            fractional=config.missing == "fractional" or config.bounds_probabilities,
            poisson=config.criterion == "poisson",
        )
        n_rows = total_weight = summary.n_rows
        if config.min_weight_fraction_leaf > 0 and scale.weighted:
            total_weight = int(engine.reduce(rows, WeightTotals.of, scale).totals.sum())
        seed = seed_of(self.random_state)
        inputs = GrowthInputs(schema, n_rows, total_weight, scale, seed, cost_factors)
        return TreeGrower.of(engine, rows, config, inputs)

    def _grow(self, grower: TreeGrower, summary: TargetSummary) -> GrowthResult:
        if self.max_bins is None:
            return grower.grow_exact()
        return grower.grow_binned(partial(Iterations, self, _MAX_PASSES, name="passes"))

    def _class_factors(
        self, engine: Engine, rows: Any, summary: TargetSummary, config: TreeConfig
    ) -> tuple[Array | None, Array | None]:
        """Return the factors of the rows' weights by class, and the part that stands for costs."""
        return None, None

    def _class_weights(self, summary: TargetSummary) -> Array | None:
        """Return the factors of ``class_weight``, or None."""
        return None

    def _fitted_attributes(
        self, schema: Schema, summary: TargetSummary, tree: Tree
    ) -> dict[str, Any]:
        """Return the attributes that a fit sets."""
        return {"tree_": self._with_predictions(tree), **schema_attributes(schema)}

    def _with_predictions(self, tree: Tree) -> Tree:
        """Return a grown tree with the predictions of its leaves."""
        return tree

    def _predict_rows(self, X: Any, method: Callable[..., Array]) -> Array:
        """Return what a method of the tree returns per row."""
        engine, source = self._open_source(X, reset=False)
        rows = engine.rows(source.partitions, to_table)
        return np.asarray(engine.predict(rows, predict_batch, method, self.tree_))

    def _score_on(self, engine: Engine, source: Source) -> float:
        return score(self, self.tree_, engine, source)

    def apply(self, X: Any) -> Array:
        """Return the number of the leaf of each row.

        With ``missing="fractional"`` a missing value follows the heaviest branch.

        Returns
        -------
        ndarray of shape (n_rows,) and dtype int32
        """
        return self._predict_rows(X, Tree.apply)

    def decision_path(self, X: Any) -> csr_matrix:
        """Return the nodes on the path of each row.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            1 for each node on the path of the row.
        """
        leaves = self.apply(X)
        return path_matrix(leaves, self.tree_.parent, self.tree_.depth)

    def get_depth(self) -> int:
        """Return the number of splits on the longest path from the root to a leaf."""
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves."""
        check_is_fitted(self)
        return self.tree_.n_leaves

    def to_text(self, **options: Any) -> str:
        """Return the tree as indented lines, with names of columns, categories and classes.

        Options are those of `ceiba.tree.explain.text.tree_text`.
        """
        check_is_fitted(self)
        return self.tree_.to_text(**{**self._class_names("to_text()"), **options})

    def to_dict(self) -> dict[str, Any]:
        """Return the tree as nested dictionaries; see `ceiba.tree.explain.dictionary.tree_dict`."""
        check_is_fitted(self)
        return self.tree_.to_dict(**self._class_names("to_dict()"))

    def to_rules(self, **options: Any) -> RuleList:
        """Return the tree as a list of rules; see `ceiba.tree.explain.rule_list`."""
        check_is_fitted(self)
        return rule_list(self.tree_, **{**self._class_names("to_rules()"), **options})

    def to_json(self, **options: Any) -> str:
        """Return the tree as JSON text, a flat list of nodes; see `ceiba.tree.explain`."""
        check_is_fitted(self)
        return json.dumps(tree_nodes(self.tree_, **self._class_names("to_json()")), **options)

    def _tree_sum(self) -> TreeSum:
        check_one_output(self, "An explanation")
        return TreeSum.of([self.tree_], [node_predictions(self.tree_)], np.ones(1))

    def _path(self, table: Table) -> list[str]:
        return path_conditions(self.tree_, table)

    @property
    def _score_name(self) -> str:  # type: ignore[override]
        return "probability" if self._task == "classification" else "prediction"

    def _class_names(self, what: str) -> dict[str, Any]:
        """Return the class labels as an option; errors of several outputs name ``what``."""
        check_one_output(self, what)
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        try:
            check_tree_options(self, TreeConfig.from_estimator(self))
            tags.target_tags.multi_output = True
        except (TypeError, ValueError):  # invalid parameters
            tags.target_tags.multi_output = False
        return tags

    @property
    def n_outputs_(self) -> int:
        """Number of outputs: the columns of y."""
        check_is_fitted(self)
        return self.tree_.n_outputs

    @property
    def max_features_(self) -> int:
        """Number of columns searched at each node."""
        check_is_fitted(self)
        return n_drawn_columns(self.max_features, self.n_features_in_) or self.n_features_in_

    @property
    def feature_importances_(self) -> Array:
        """Fraction of the impurity decrease that each column contributes.

        Columns with many values are favored: compare `sklearn.inspection.permutation_importance`.
        """
        check_is_fitted(self)
        return self.tree_.importances()

    def _check_state(self) -> None:
        super()._check_state()
        if not isinstance(getattr(self, "tree_", None), Tree) or self.tree_.schema != self.schema_:
            raise ValueError(
                "tree_ must be a Tree with the columns of schema_, "
                f"{format_value(self.schema_.names)}, got "
                f"{format_value(getattr(self, 'tree_', None))}."
            )
        if "pruning_" in vars(self):
            check_record(self.pruning_, self.tree_)


def check_out_of_memory(config: TreeConfig) -> None:
    """Raise ValueError for a configuration that needs the rows in memory."""
    in_memory, where = "requires rows in memory", "with files or a cluster"
    for is_set, message in (
        (config.max_bins is None, f"max_bins must be an int {where}, got None: set max_bins=255."),
        (
            config.criterion == "absolute_error",
            f"criterion='absolute_error' {in_memory}: use criterion='squared_error' {where}.",
        ),
        (
            config.missing_routing != "branch",
            f"missing={config.missing!r} {in_memory}: use missing='learned' {where}.",
        ),
        (
            config.pruning == "reduced_error",
            f"pruning='reduced_error' {in_memory}: fit with pruning='none' and call "
            "pruned('reduced_error', ...) with validation rows.",
        ),
        (
            config.cross_validates_alpha,
            f"pruning='cost_complexity' with ccp_alpha=None {in_memory} for cross-validation: set "
            f"ccp_alpha or pruning_step to a number {where}.",
        ),
        (
            config.pruning == "pessimistic" and config.subtree_raising,
            f"subtree_raising=True {in_memory}: set subtree_raising=False {where}.",
        ),
    ):
        if is_set:
            raise ValueError(message)

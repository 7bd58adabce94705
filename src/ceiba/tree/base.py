"""What the tree classifier and the tree regressor share."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix

from ceiba._typing import Array
from ceiba.base import Estimator, Steps, seed_of, watched
from ceiba.base.estimator import schema_attributes
from ceiba.data.schema import Schema
from ceiba.data.source import Chunk, Source
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.engine import Engine
from ceiba.stats import TargetSurvey, ToLabelled
from ceiba.tree.explain.dictionary import tree_nodes
from ceiba.tree.explain.rule_list import RuleList, rule_list
from ceiba.tree.grow.config import Ground, tree_rules
from ceiba.tree.grow.grower import Grower, Grown
from ceiba.tree.grow.targets import FixedPoint, TotalWeight
from ceiba.tree.grow.thresholds import CutRule
from ceiba.tree.grow.trace import tree_trace
from ceiba.tree.model.tree import Tree
from ceiba.tree.presets import Options, options_of
from ceiba.tree.prune.methods import Prunable
from ceiba.tree.prune.pruning import check_record, held_apart, prune_in_fit
from ceiba.tree.scoring import LeafNumbers, ToldValues, score_of

_MOST_CLASSES = 65_535


class DecisionTree(Prunable, Estimator):
    """Fitting and routing; what is predicted is the subclass's."""

    _task: ClassVar[Task]
    tree_: Tree

    @watched
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the tree.

        Parameters
        ----------
        X : array, frame, Table, list, scan or Dask collection
            Rows in memory, of files (``ceiba.scan``) or on a cluster; the latter two need
            ``max_bins``.
        y : array of shape (n_rows,)
            Classes or numbers; None where ``X`` is a scan that names its target.
        sample_weight : array of shape (n_rows,), optional
            Weight of each row; rows of weight zero count as absent. Weights are told apart to
            2^-52 of that of all rows together, and none counts less than that.

        Returns
        -------
        self : estimator
        """
        engine, source = self._open(X, sample_weight, y=y, reset=True)
        options = options_of(self)
        check_engine(self, options, engine)
        rows = engine.rows(source.partitions, ToLabelled(self._task))
        rows, held = held_apart(self, options, rows)
        survey = engine.reduce(rows, TargetSurvey.of)
        check_survey(survey)
        self._check_target(options, survey)
        grown = self._grow(engine, rows, source.schema, survey, options)
        attributes = self._learnt(source.schema, survey, grown.tree)
        if self.trace:
            attributes["trace_"] = tree_trace(grown)
        # Pruned before anything is kept: a fit that fails leaves the estimator as it was.
        fitted = copy.copy(self)
        fitted._become(attributes, without=("trace_", "pruning_", "class_weight_"))
        prune_in_fit(fitted, options, rows, held)
        self.__dict__ = fitted.__dict__
        return self

    def _check_target(self, options: Options, survey: TargetSurvey) -> None:
        """Refuse targets that a criterion or cost matrix does not suit."""

    def _learnt(self, schema: Schema, survey: TargetSurvey, tree: Tree) -> dict[str, Any]:
        """What a grown tree makes of the estimator."""
        return {
            **schema_attributes(schema),
            "tree_": self._finished(tree),
            **self._more_attributes(survey),
        }

    def _grow(
        self, engine: Engine, rows: Any, schema: Schema, survey: TargetSurvey, options: Options
    ) -> Grown:
        grower = self._grower(engine, rows, schema, survey, options)
        if self.max_bins is None:
            grown = grower.exact()
        else:
            levels = partial(Steps, self, 10**6, name="levels")
            grown = grower.binned(self.max_bins, grower.cuts.seed, levels)
        return replace(grown, tree=self._as_given(grown.tree, survey, grower.cost_factors))

    def _grower(
        self, engine: Engine, rows: Any, schema: Schema, survey: TargetSurvey, options: Options
    ) -> Grower:
        """All that is known before the first split."""
        costs = self._cost_factors(engine, rows, survey, options)
        fixed = FixedPoint.of(
            survey,
            product_of(self._class_weights(survey), costs),
            squares=options.criterion in ("squared_error", "poisson"),
            shares=options.missing == "fractional",
            poisson=options.criterion == "poisson",
        )
        rows = rows.numbered(survey.rows)
        seed, total = seed_of(self.random_state), survey.n_rows
        if self.min_weight_fraction_leaf > 0 and fixed.weighted:
            total = engine.reduce(rows, TotalWeight.of, fixed).total
        cuts = CutRule(options.thresholds, self.at, self.n_thresholds, seed)
        ground = Ground(schema, survey.n_rows, total, fixed, cuts, costs)
        rules = tree_rules(self, options, ground)
        return Grower(
            engine, rows, schema, fixed, rules, survey.n_rows,
            options.criterion == "absolute_error", cuts, options.gap_way, costs,
        )  # fmt: skip

    def _cost_factors(
        self, engine: Engine, rows: Any, survey: TargetSurvey, options: Options
    ) -> Array | None:
        """What a cost matrix multiplies the weights of classes by, while the tree grows."""
        return None

    def _as_given(self, tree: Tree, survey: TargetSurvey, costs: Array | None) -> Tree:
        """The tree with the weights that rows were given with."""
        return tree

    def _class_weights(self, survey: TargetSurvey) -> Array | None:
        return None

    def _finished(self, tree: Tree) -> Tree:
        return tree

    def _more_attributes(self, survey: TargetSurvey) -> dict[str, Any]:
        return {}

    def _leaves(self, X: Any) -> Array:
        """Number of the leaf of every row."""
        engine, source = self._open(X, reset=False)
        rows = engine.rows(source.partitions, as_table)
        leaves: Array = engine.reduce(rows, LeafNumbers.of, self.tree_).numbers
        return leaves

    def _told(self, X: Any) -> Array:
        """What the tree says of every row."""
        engine, source = self._open(X, reset=False)
        rows = engine.rows(source.partitions, as_table)
        told: Array = engine.reduce(rows, ToldValues.of, self.tree_).values
        return told

    def _score_on(self, engine: Engine, source: Source) -> float:
        return score_of(self, engine, source)

    def apply(self, X: Any) -> Array:
        """Number of the leaf that each row of ``X`` comes to.

        Rows with gaps that go down several branches (missing="fractional") follow the heaviest.

        Returns
        -------
        ndarray of shape (n_rows,) and dtype int32
        """
        return self._leaves(X)

    def decision_path(self, X: Any) -> csr_matrix:
        """The nodes that each row of ``X`` passes through.

        Returns
        -------
        sparse matrix of shape (n_rows, n_nodes)
            1 where the row passes through the node.
        """
        leaves = self._leaves(X)
        tree = self.tree_
        lengths = tree.depth[leaves] + 1
        ends = np.cumsum(lengths)
        indices = np.empty(int(ends[-1]) if len(ends) else 0, np.int32)
        at, place = leaves, ends - 1
        while len(at):  # all rows climb together, from their leaves to the root
            indices[place] = at
            climbing = tree.parent[at] >= 0
            at, place = tree.parent[at[climbing]], place[climbing] - 1
        pointers = np.concatenate([[0], ends])
        ones = np.ones(len(indices), np.int64)
        return csr_matrix((ones, indices, pointers), shape=(len(leaves), tree.n_nodes))

    def get_depth(self) -> int:
        """Splits on the longest way from the root to a leaf."""
        self._check_fitted()
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Number of leaves."""
        self._check_fitted()
        return self.tree_.n_leaves

    def to_text(self, **options: Any) -> str:
        """The tree as indented lines, with the names of columns, levels and classes.

        Options are those of `ceiba.tree.explain.text.tree_text`.
        """
        self._check_fitted()
        return self.tree_.to_text(**{**self._class_names(), **options})

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested dictionaries; see `ceiba.tree.explain.dictionary.tree_dict`."""
        self._check_fitted()
        return self.tree_.to_dict(**self._class_names())

    def to_rules(self, **options: Any) -> RuleList:
        """The tree as a list of rules (see `ceiba.tree.explain.rule_list`)."""
        self._check_fitted()
        return rule_list(self.tree_, **{**self._class_names(), **options})

    def to_json(self, **options: Any) -> str:
        """The tree as JSON text, a flat list of nodes (see `ceiba.tree.explain`)."""
        self._check_fitted()
        return json.dumps(tree_nodes(self.tree_, **self._class_names()), **options)

    def _class_names(self) -> dict[str, Any]:
        return {}

    @property
    def feature_importances_(self) -> Array:
        """Share of each column in the decrease of impurity.

        Columns with many values are favoured: compare `sklearn.inspection.permutation_importance`.
        """
        self._check_fitted()
        return self.tree_.importances()

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)

    def _check_state(self) -> None:
        """What a model file must satisfy."""
        if not isinstance(getattr(self, "tree_", None), Tree) or self.tree_.schema != self.schema_:
            raise ValueError("tree_ must be a tree of the columns of schema_")
        if "pruning_" in vars(self):
            check_record(self.pruning_, self.tree_)
        if self.n_features_in_ != len(self.schema_):
            raise ValueError("n_features_in_ must be the number of columns of the schema")


def product_of(one: Array | None, other: Array | None) -> Array | None:
    """Factors of both; None stands for 1."""
    if one is None or other is None:
        return other if one is None else one
    return one * other


def as_table(chunk: Chunk) -> Table:
    """Rows that are only to be routed."""
    return chunk.table


def check_survey(survey: TargetSurvey) -> None:
    """Refuse what no tree can be grown from."""
    if survey.n_rows == 0:
        raise ValueError("every row has weight zero: there is nothing to learn from")
    if survey.classes is not None and len(survey.classes) > _MOST_CLASSES:
        raise ValueError(
            f"y has {len(survey.classes):,} classes, and a tree takes at most {_MOST_CLASSES:,}: "
            "for numbers use DecisionTreeRegressor"
        )


def check_engine(model: DecisionTree, options: Options, engine: Engine) -> None:
    """Refuse what only rows in memory can do."""
    if engine.name == "local":
        return
    if model.max_bins is None:
        raise ValueError(
            "exact thresholds need the rows in memory: set max_bins=255, or another number, to "
            "grow a binned tree on files or a cluster"
        )
    if options.criterion == "absolute_error":
        raise ValueError(
            "absolute error needs the rows in memory: use criterion='squared_error' on files or a "
            "cluster"
        )
    if options.missing in ("fractional", "surrogate"):
        raise ValueError(
            f"missing={options.missing!r} needs the rows in memory: use missing='learned' on "
            "files or a cluster"
        )
    check_pruning(model, options)


def check_pruning(model: DecisionTree, options: Options) -> None:
    """Refuse pruning that needs rows in memory."""
    if options.pruning == "reduced_error":
        raise ValueError(
            "pruning='reduced_error' holds out rows in memory: grow with pruning='none' and call "
            "pruned('reduced_error', ...) with validation rows"
        )
    if options.pruning == "cost_complexity" and model.ccp_alpha is None:
        raise ValueError(
            "cross-validation of ccp_alpha needs the rows in memory: give ccp_alpha a number"
        )
    if options.pruning == "pessimistic" and options.raising:
        raise ValueError(
            "subtree raising needs the rows in memory: set raising=False on files or a cluster"
        )

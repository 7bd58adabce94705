"""What the tree classifier and the tree regressor share."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from scipy.sparse import csr_matrix

from ceiba.base import Estimator, Steps, seed_of, watched
from ceiba.base.estimator import schema_attributes
from ceiba.data.source import Chunk, Source
from ceiba.data.table import Table
from ceiba.data.target import Task
from ceiba.engine import Engine
from ceiba.stats import TargetSurvey, ToLabelled
from ceiba.stats.fixed_point import FixedPoint
from ceiba.stats.points import Array
from ceiba.stats.total_weight import TotalWeight
from ceiba.tree.grow import Grower, Grown
from ceiba.tree.leaf_numbers import LeafNumbers
from ceiba.tree.rules import tree_rules
from ceiba.tree.score import score_of
from ceiba.tree.structure import Tree
from ceiba.tree.tree_trace import tree_trace

_MOST_CLASSES = 65_535


class DecisionTree(Estimator):
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
        self._check_engine(engine)
        rows = engine.rows(source.partitions, ToLabelled(self._task))
        survey = engine.reduce(rows, TargetSurvey.of)
        check_survey(survey)
        fixed = FixedPoint.of(
            survey, self._class_weights(survey), squares=self.criterion == "squared_error"
        )
        grown = self._grow(engine, rows.numbered(survey.rows), source.schema, survey, fixed)
        tree = self._finished(grown.tree)
        attributes = {**schema_attributes(source.schema), "tree_": tree}
        if self.trace:
            attributes["trace_"] = tree_trace(grown)
        for name in ("feature_names_in_", "trace_"):
            self.__dict__.pop(name, None)
        self.__dict__.update({**attributes, **self._more_attributes(survey)})
        return self

    def _grow(
        self, engine: Engine, rows: Any, schema: Any, survey: TargetSurvey, fixed: FixedPoint
    ) -> Grown:
        seed = seed_of(self.random_state)
        total = survey.n_rows
        if self.min_weight_fraction_leaf > 0 and fixed.weighted:
            total = engine.reduce(rows, TotalWeight.of, fixed).total
        rules = tree_rules(self, fixed, survey.n_rows, len(schema), total, seed)
        ranks = self.criterion == "absolute_error"
        grower = Grower(engine, rows, schema, fixed, rules, survey.n_rows, ranks)
        if self.max_bins is None:
            return grower.exact()
        return grower.binned(self.max_bins, seed, partial(Steps, self, 10**6, name="levels"))

    def _check_engine(self, engine: Engine) -> None:
        if engine.name == "local":
            return
        if self.max_bins is None:
            raise ValueError(
                "exact thresholds need the rows in memory: set max_bins=255, or another number, to "
                "grow a binned tree on files or a cluster"
            )
        if self.criterion == "absolute_error":
            raise ValueError(
                "absolute error needs the rows in memory: use criterion='squared_error' on files "
                "or a cluster"
            )

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

    def _score_on(self, engine: Engine, source: Source) -> float:
        return score_of(self, engine, source)

    def apply(self, X: Any) -> Array:
        """Number of the leaf that each row of ``X`` comes to.

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

        Options are those of `ceiba.tree.text.tree_text`.
        """
        self._check_fitted()
        return self.tree_.to_text(**{**self._class_names(), **options})

    def to_dict(self) -> dict[str, Any]:
        """The tree as nested dictionaries; see `ceiba.tree.dictionary.tree_dict`."""
        self._check_fitted()
        return self.tree_.to_dict(**self._class_names())

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
        if self.n_features_in_ != len(self.schema_):
            raise ValueError("n_features_in_ must be the number of columns of the schema")


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

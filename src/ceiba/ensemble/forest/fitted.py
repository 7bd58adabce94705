"""What a fitted forest can tell of rows, and how its trees are dropped and merged."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from ceiba._typing import Array
from ceiba.base import Estimator
from ceiba.data.source import Source
from ceiba.engine import Engine
from ceiba.ensemble.forest.model import Forest
from ceiba.tree.base import as_table
from ceiba.tree.model.tree import Tree
from ceiba.tree.scoring import LeafNumbers, ToldValues, scored

# Fitted attributes that are not always there.
OPTIONAL = (
    "feature_names_in_", "oob_score_", "oob_curve_", "oob_decision_function_", "oob_prediction_",
    "oob_errors_", "oob_importance_", "leaf_targets_", "class_weight_",
)  # fmt: skip


class FittedForest(Estimator):
    """Predictions, trees and importances from ``forest_``, and forests of other trees.

    How it is grown is the business of the learner that inherits from it.
    """

    forest_: Forest

    def _told(self, X: Any) -> Array:
        """What the forest says of every row."""
        engine, source = self._open(X, reset=False)
        rows = engine.rows(source.partitions, as_table)
        told: Array = engine.reduce(rows, ToldValues.of, self.forest_, self._added).values
        return told

    def apply(self, X: Any) -> Array:
        """Number of the leaf that each row of ``X`` comes to in each tree.

        Returns
        -------
        ndarray of shape (n_rows, n_trees) and dtype int32
        """
        return self._leaves(X)[0]

    def _leaves(self, X: Any) -> tuple[Array, int]:
        """Leaves of every row, and how many threads looked for them."""
        engine, source = self._open(X, reset=False)
        rows = engine.rows(source.partitions, as_table)
        return engine.reduce(rows, LeafNumbers.of, self.forest_).numbers, engine.threads

    def _score_on(self, engine: Engine, source: Source) -> float:
        return scored(self, self.forest_, engine, source, self._added)

    @property
    def _added(self) -> float:
        """What is added to the weight of every class in every leaf."""
        return 0.0

    def tree(self, number: int) -> Tree:
        """One tree of the forest, to look at: ``tree(0).to_text()``."""
        self._check_fitted()
        return self.forest_.tree(number)

    def without(self, trees: Sequence[int]) -> Self:
        """The forest without some of its trees; out-of-bag results are dropped.

        Parameters
        ----------
        trees : sequence of int
            Their numbers.

        Returns
        -------
        estimator
        """
        self._check_fitted()
        return self._with_forest(self.forest_.without(trees))

    def merged(self, *others: Self) -> Self:
        """The trees of this forest and of others, grown elsewhere on the same columns.

        Returns
        -------
        estimator
            With the parameters of this one; out-of-bag results are dropped.
        """
        self._check_fitted()
        for other in others:
            if type(other) is not type(self):
                raise TypeError(f"a {type(self).__name__} is merged with others of its kind")
            other._check_fitted()
            check_alike(self.forest_, other.forest_)
            self._check_same_target(other)
        forest = self.forest_.joined(*(other.forest_ for other in others))
        if len(np.unique(forest.keys[:, [0, 2]], axis=0)) < forest.n_trees:
            raise ValueError(
                "a tree would be there twice: grow the forests with different random_state"
            )
        return self._with_forest(forest)

    def _check_same_target(self, other: Self) -> None:
        """Refuse forests that predict other classes."""

    def _with_forest(self, forest: Forest) -> Self:
        model = copy.copy(self)
        for name in OPTIONAL:
            if name not in ("feature_names_in_", "class_weight_"):
                model.__dict__.pop(name, None)
        model.n_estimators = forest.n_trees
        model.forest_ = forest
        return model

    @property
    def feature_importances_(self) -> Array:
        """Mean share of each column in the decrease of impurity.

        Columns with many values are favoured: see ``oob_importance`` and
        ``corrected_importances``.
        """
        self._check_fitted()
        return self.forest_.mean_importances()

    def _check_fitted(self) -> None:
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)

    def _check_state(self) -> None:
        """What a model file must satisfy."""
        if not isinstance(getattr(self, "forest_", None), Forest):
            raise ValueError("forest_ must be a forest")
        if self.forest_.schema != self.schema_ or self.n_features_in_ != len(self.schema_):
            raise ValueError("forest_ must be of the columns of schema_")


def check_alike(one: Forest, other: Forest) -> None:
    """Refuse forests of other columns or classes."""
    if one.schema != other.schema:
        raise ValueError("the forests were grown on other columns: their schemas differ")
    if one.n_classes != other.n_classes:
        raise ValueError("the forests predict other classes")

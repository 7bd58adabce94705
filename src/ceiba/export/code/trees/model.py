"""Trees, leaf predictions and rules from which code is generated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.schema import Schema
from ceiba.export.boosting import BOOSTING_LEARNERS, Link, boosting_link, check_boosting
from ceiba.export.checks import check_no_times, check_tree_members
from ceiba.export.trees import (
    forest_trees,
    leaf_predictions,
    member_predictions,
    prediction_table,
)
from ceiba.tree.explain.rule import Rule
from ceiba.tree.explain.rule_list import RuleList
from ceiba.tree.model.tree import Tree

TREE_LEARNERS = (
    "BaggingClassifier", "BaggingRegressor", "DecisionTreeClassifier", "DecisionTreeRegressor",
    "ExtraTreesClassifier", "ExtraTreesRegressor", "RandomForestClassifier",
    "RandomForestRegressor", *BOOSTING_LEARNERS,
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class CodeTree:
    """A tree, the indices of its columns among those of the model, and its predictions.

    ``table`` has the distinct predictions of the leaves, ``row_of_leaf`` the row of each leaf.
    """

    tree: Tree
    columns: Sequence[int]
    table: Array
    row_of_leaf: Array

    @classmethod
    def of(cls, tree: Tree, columns: Sequence[int], values: Array) -> CodeTree:
        """Return a tree with predictions by node."""
        return cls(tree, columns, *prediction_table(tree, values))


@dataclass(frozen=True, slots=True, eq=False)
class RawScores:
    """How the trees of gradient boosting are added up: tree t belongs to score t % n_scores."""

    first: list[float]
    link: Link

    @property
    def n_scores(self) -> int:
        """Number of raw scores."""
        return len(self.first)


@dataclass(frozen=True, slots=True, eq=False)
class CodeModel:
    """Trees whose mean is predicted, or whose sum has ``raw_scores`` as link and constant.

    ``classes`` are plain labels, or None for regression; ``costs`` those of a cost matrix, or
    empty; ``rules`` precede the trees, which predict rows that no rule covers.
    """

    title: str
    schema: Schema
    trees: tuple[CodeTree, ...]
    classes: list[Any] | None
    costs: Array
    rules: RuleList | None = None
    raw_scores: RawScores | None = None

    @classmethod
    def of(cls, model: Any) -> CodeModel:
        """Return the trees and rules of a model; raise NotExpressibleError for other models."""
        if isinstance(model, RuleList):
            labels = None if model.labels is None else model.labels.tolist()
            code_model = cls._of_trees("RuleList", model.schema, [model.tree], labels, model)
        else:
            code_model = cls._of_estimator(model)
        check_no_times(code_model.schema, "Code has no type for")
        return code_model

    @classmethod
    def _of_estimator(cls, model: Any) -> CodeModel:
        name = type(model).__name__
        labels = model.classes_.tolist() if hasattr(model, "classes_") else None
        if hasattr(model, "tree_"):
            return cls._of_trees(name, model.schema_, [model.tree_], labels)
        if hasattr(model, "forest_"):
            return cls._of_trees(name, model.schema_, list(forest_trees(model)), labels)
        if hasattr(model, "boosted_trees_"):
            return cls._of_boosting(model, labels)
        check_tree_members(model, "Code")
        pairs = zip(model.estimators_, model.estimators_features_, strict=True)
        classes = getattr(model, "classes_", None)
        trees = tuple(
            CodeTree.of(member.tree_, columns.tolist(), member_predictions(member, classes))
            for member, columns in pairs
        )
        return cls(f"{name} of Ceiba", model.schema_, trees, labels, np.empty((0, 0)))

    @classmethod
    def _of_boosting(cls, model: Any, labels: list[Any] | None) -> CodeModel:
        check_boosting(model, "Code")
        boosted = model.boosted_trees_
        forest = boosted.to_forest()
        trees = [forest.tree(number) for number in range(boosted.n_trees)]
        raw_scores = RawScores(boosted.first_scores.tolist(), boosting_link(model))
        code_model = cls._of_trees(type(model).__name__, model.schema_, trees, labels)
        return replace(code_model, raw_scores=raw_scores)

    @classmethod
    def _of_trees(
        cls,
        name: str,
        schema: Schema,
        trees: Sequence[Tree],
        labels: list[Any] | None,
        rules: RuleList | None = None,
    ) -> CodeModel:
        columns = range(len(schema))
        code_trees = tuple(CodeTree.of(tree, columns, leaf_predictions(tree)) for tree in trees)
        costs = trees[0].costs if len(trees) == 1 else np.empty((0, 0))
        return cls(f"{name} of Ceiba", schema, code_trees, labels, costs, rules)

    @property
    def n_values(self) -> int:
        """Number of classes, or 1."""
        return 1 if self.classes is None else len(self.classes)

    def rule_prediction(self, rule: Rule) -> Any:
        """Return the class, or the number, that a rule predicts, as a plain value."""
        if self.classes is None:
            return float(rule.prediction)
        assert rule.class_index is not None
        return self.classes[rule.class_index]

    @property
    def needs_trees(self) -> bool:
        """Whether trees predict: rules alone cover every row if missing values have a branch."""
        if self.rules is None:
            return True
        return self.rules.default is None and self.rules.tree.missing != "branch"

"""A tree as a list of if-then rules, one for each leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from ceiba._typing import Array
from ceiba.base import unused_error
from ceiba.data.schema import Schema
from ceiba.data.table import Table
from ceiba.tree.explain.conditions import (
    ConditionEvaluator,
    RuleCondition,
    branch_condition,
    merge_conditions,
)
from ceiba.tree.explain.dictionary import class_labels
from ceiba.tree.explain.rule import ConditionDropper, Rule
from ceiba.tree.explain.text import check_format
from ceiba.tree.model.multi_output import check_single_output
from ceiba.tree.model.tree import Tree

Order = Literal["tree", "confidence", "coverage"]
_CONFIDENCE = 0.25


@dataclass(frozen=True, eq=False)
class RuleList:
    """Rules of a tree; the first rule that covers a row predicts it.

    Parameters
    ----------
    rules : tuple of Rule
    tree : Tree
        The tree that they come from.
    labels : ndarray or None
        Labels of the classes; None for regression.
    default : Rule or None
        Rule of the rows that no other covers, if conditions were dropped. None if the rules cover
        every row whose missing values the tree sends to a single branch.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets
    >>> from ceiba.tree.explain.rule_list import rule_list
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(max_depth=2).fit(iris.table, iris.y)
    >>> rules = rule_list(model.tree_, classes=model.classes_)
    >>> print(rules.to_text(show_missing=False))
    if petal length (cm) <= 2.45 then setosa (50 rows, p = 1)
    if petal length (cm) > 2.45 and petal width (cm) <= 1.75 then versicolor (54 rows, p = 0.907)
    if petal length (cm) > 2.45 and petal width (cm) > 1.75 then virginica (46 rows, p = 0.978)
    >>> bool((rules.predict(iris.table) == model.predict(iris.table)).all())
    True
    """

    rules: tuple[Rule, ...]
    tree: Tree
    labels: Array | None = None
    default: Rule | None = None

    def __len__(self) -> int:
        return len(self.rules)

    def __iter__(self) -> Iterator[Rule]:
        return iter(self.rules)

    def __getitem__(self, index: int) -> Rule:
        return self.rules[index]

    def __repr__(self) -> str:
        return f"RuleList({len(self.rules)} rules)"

    def __str__(self) -> str:
        return self.to_text()

    @property
    def schema(self) -> Schema:
        """Columns of the tree."""
        return self.tree.schema

    def to_text(self, *, show_missing: bool = True, max_labels: int = 10, decimals: int = 3) -> str:
        """Format the rules as lines.

        Parameters
        ----------
        show_missing : bool
            Whether to mark conditions that a missing value satisfies ("or missing").
        max_labels : int
            Maximum number of categories of a condition to list.
        decimals : int
            Maximum number of decimals; thresholds have at least six significant digits.
        """
        check_format(max_labels, decimals)
        lines = [
            rule.to_text(show_missing=show_missing, max_labels=max_labels, decimals=decimals)
            for rule in self.rules
        ]
        if self.default is not None:
            lines.append(f"otherwise {self.default.prediction_text(decimals)}")
        return "\n".join(lines)

    def apply(self, X: Any) -> Array:
        """Return the index of the first rule that covers each row; -1 for none.

        Parameters
        ----------
        X : array, frame, list or Table
            Rows with the columns of training; a category unseen in training is missing.
        """
        table = Table.of(X, self.schema, expected_by="this rule list")
        evaluator = ConditionEvaluator(table, self.tree.columns)
        first_rule = np.full(len(table), -1, np.int64)
        open_rows = np.arange(len(table))
        for index, rule in enumerate(self.rules):
            rows = open_rows
            for condition in rule.conditions:
                rows = rows[evaluator.satisfied(condition, rows)]
            first_rule[rows] = index
            open_rows = open_rows[first_rule[open_rows] < 0]
        return first_rule

    def predict(self, X: Any) -> Array:
        """Predict each row by the first rule that covers it.

        If no conditions were dropped, the predictions equal those of the tree: the tree itself
        predicts rows that no rule covers, because they have a missing value for which the tree uses
        several branches or surrogates.

        Parameters
        ----------
        X : array, frame, list or Table

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = Table.of(X, self.schema, expected_by="this rule list")
        first_rule = self.apply(table)
        # An index of -1 takes the last entry: the default, where there is one.
        rules = self.rules if self.default is None else (*self.rules, self.default)
        if self.labels is None:
            predicted = np.array([rule.prediction for rule in rules])[first_rule]
        else:
            predicted = self.labels[np.array([rule.class_index for rule in rules])[first_rule]]
        uncovered = np.flatnonzero(first_rule < 0)
        if self.default is None and len(uncovered):
            rest = table.take(uncovered)
            predicted[uncovered] = (
                self.tree.predict(rest)
                if self.labels is None
                else self.labels[self.tree.predict_class(rest)]
            )
        return predicted


def rule_list(
    tree: Tree,
    *,
    classes: Sequence[Any] | None = None,
    order: Order | None = None,
    simplify: bool = True,
    drop: bool = False,
    X: Any = None,
    y: Any = None,
    sample_weight: Any = None,
    confidence: float = _CONFIDENCE,
) -> RuleList:
    """Convert a tree to a list of rules, one for each leaf.

    Parameters
    ----------
    tree : Tree
    classes : sequence, optional
        Labels of the classes (``classes_`` of the estimator); by default their indices.
    order : {"tree", "confidence", "coverage"}, optional
        Order of the leaves, or descending by confidence (`Rule.confidence`, the probability of the
        predicted class) or by weight. By default "tree", and with ``drop`` "confidence", which then
        is ascending by pessimistic error rate.
    simplify : bool
        Whether to combine the conditions on each column: thresholds into an interval, sets of
        categories into their intersection; rules that no row can satisfy are left out. Otherwise
        there is one condition for each split on the path.
    drop : bool
        Whether to drop conditions as C4.5rules does: repeatedly the one without which the
        pessimistic error rate of the rule is lowest, as long as that does not raise it. Each end of
        an interval is a condition. Duplicate rules are merged and rules without conditions left
        out; rows that no rule covers get the class that is most frequent among them. Rules may then
        overlap, and rows, weights and confidence are those of all rows that a rule covers.
    X, y, sample_weight
        Training rows, for ``drop``; ``y`` holds labels of ``classes``.
    confidence : float in (0, 0.5]
        Confidence factor of the pessimistic error rate, CF in C4.5, for ``drop``: the smaller, the
        more is dropped. It has nothing to do with ``order="confidence"``; it is
        ``prune_confidence`` of trees.

    Notes
    -----
    A missing value satisfies a condition if the tree sends it to that branch ("or missing"). Trees
    grown with missing="fractional" or "surrogate" send it to no single branch: there it satisfies
    no condition, as in C4.5rules.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier
    >>> rows = [{"light": "red"}, {"light": "amber"}, {"light": "green"}, {"light": None}]
    >>> model = DecisionTreeClassifier().fit(rows, ["stop", "stop", "go", "stop"])
    >>> print(rule_list(model.tree_, classes=model.classes_))
    if light = green then go (1 row, p = 1)
    if light in {amber, red} or missing then stop (3 rows, p = 1)

    References
    ----------
    Quinlan (1993), "C4.5: programs for machine learning", chapter 5.
    """
    check_single_output(tree.n_outputs, "A list of rules")
    labels = class_labels(tree, classes)
    order = order or ("confidence" if drop else "tree")
    training = {"X": X, "y": y, "sample_weight": sample_weight}
    _check_options(tree, order, simplify, drop, training, confidence)
    rules = [
        _leaf_rule(tree, leaf, conditions, labels)
        for leaf, conditions in _leaf_conditions(tree, simplify)
        if not simplify or all(condition.is_satisfiable for condition in conditions)
    ]
    class_array, default = None, None
    if labels is not None:
        class_array = np.asarray(range(len(labels)) if classes is None else classes)
    if drop:
        assert labels is not None
        assert class_array is not None
        dropper = ConditionDropper(tree, labels, class_array, **training, confidence=confidence)
        rules, default = dropper.drop_conditions(rules)
    if order == "coverage":
        rules.sort(key=lambda rule: -rule.weight)
    elif order == "confidence":
        rules.sort(key=_error_and_weight)
    return RuleList(tuple(rules), tree, class_array, default)


def _leaf_conditions(tree: Tree, simplify: bool) -> Iterator[tuple[int, tuple[RuleCondition, ...]]]:
    """Yield each leaf and the conditions on its path, in depth-first order."""
    stack: list[tuple[int, tuple[RuleCondition, ...]]] = [(0, ())]
    while stack:
        node, conditions = stack.pop()
        if tree.is_leaf[node]:
            yield node, conditions
            continue
        split = tree.split(node)
        column = tree.schema[split.column]
        # Otherwise a missing value has no single branch.
        has_missing_branch = tree.missing == "branch" or (
            tree.missing == "surrogate" and not tree.surrogates_of(node)
        )
        branches = []
        for branch, child in enumerate(tree.children(node)):
            missing = has_missing_branch and branch == split.missing_branch
            path = (*conditions, branch_condition(split, branch, column, missing))
            branches.append((child, merge_conditions(path) if simplify else path))
        stack += reversed(branches)


def _leaf_rule(
    tree: Tree, leaf: int, conditions: tuple[RuleCondition, ...], labels: list[Any] | None
) -> Rule:
    n_rows, weight = int(tree.n_rows[leaf]), float(tree.weight[leaf])
    if labels is None:
        value = tree.leaf_values(np.array([leaf]))[0].item()
        return Rule(conditions, value, n_rows, weight, node=leaf)
    row = int(tree.child[leaf])
    k = int(tree.leaf_class[row])
    class_weights, confidence = tuple(tree.node_values[leaf].tolist()), float(tree.leaves[row, k])
    return Rule(conditions, labels[k], n_rows, weight, class_weights, confidence, k, leaf)


def _error_and_weight(rule: Rule) -> tuple[float, float]:
    assert rule.confidence is not None
    error = 1 - rule.confidence if rule.pessimistic_error is None else rule.pessimistic_error
    return error, -rule.weight


def _check_options(
    tree: Tree, order: str, simplify: bool, drop: bool, training: dict[str, Any], confidence: float
) -> None:
    if order not in get_args(Order):
        raise ValueError(f"order must be one of {get_args(Order)}, got {order!r}.")
    if not tree.is_classification and order == "confidence":
        raise ValueError("order='confidence' requires a classification tree: use order='coverage'.")
    if not drop:
        for name, value in training.items():
            if value is not None:
                raise unused_error(name, "drop=False", value)
        if confidence != _CONFIDENCE:
            raise unused_error("confidence", "drop=False", confidence, _CONFIDENCE)
        return
    if not tree.is_classification:
        raise ValueError("drop=True requires a classification tree.")
    if not simplify:
        raise ValueError("drop=True requires simplify=True.")
    if training["X"] is None or training["y"] is None:
        raise ValueError("drop=True requires the training rows: pass X and y.")

"""If-then rules, and the dropping of their conditions by pessimistic error rates (C4.5rules).

    while dropping some condition does not raise the pessimistic error rate of the rule:
        drop the condition without which the rate is lowest

Quinlan (1993), "C4.5: programs for machine learning", chapter 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._repr import fields_repr
from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.data.target import Target
from ceiba.stats.labeled import LabeledRows, known_class_indices
from ceiba.stats.points import check_sample_weight
from ceiba.tree.explain.conditions import (
    ConditionEvaluator,
    RuleCondition,
    format_decimals,
    merge_conditions,
)
from ceiba.tree.explain.text import rows_text
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.pessimistic import added_errors, check_confidence


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, then this prediction.

    Parameters
    ----------
    conditions : tuple of RuleCondition
        Empty for a rule that covers every row.
    prediction : label or float
    n_rows, weight : int and float
        Training rows that the rule covers, and their weight.
    class_weights : tuple of float or None
        Weight of each class among them; None for regression.
    confidence : float or None
        Probability of the predicted class; None for regression.
    class_index : int or None
        Index of the predicted class; None for regression.
    node : int
        Leaf that the rule comes from; -1 for none.
    pessimistic_error : float or None
        Pessimistic error rate, if conditions were dropped by it.
    """

    conditions: tuple[RuleCondition, ...]
    prediction: Any
    n_rows: int
    weight: float
    class_weights: tuple[float, ...] | None = None
    confidence: float | None = None
    class_index: int | None = None
    node: int = -1
    pessimistic_error: float | None = None

    __repr__ = fields_repr

    def to_text(self, *, show_missing: bool = True, max_labels: int = 10, decimals: int = 3) -> str:
        """Format the rule; options as in `ceiba.tree.explain.rule_list.RuleList.to_text`."""
        texts = [
            condition.to_text(show_missing=show_missing, max_labels=max_labels, decimals=decimals)
            for condition in self.conditions
        ]
        if len(texts) > 1:
            texts = [f"({text})" if text.endswith(" or missing") else text for text in texts]
        lead = f"if {' and '.join(texts)} then" if texts else "always"
        return f"{lead} {self.prediction_text(decimals)}"

    def prediction_text(self, decimals: int) -> str:
        """Format the prediction: ``yes (12 rows, p = 0.92)``."""
        rows = rows_text(self.n_rows, self.weight, decimals)
        if self.confidence is None:
            return f"{format_decimals(self.prediction, decimals)} ({rows})"
        return f"{self.prediction} ({rows}, p = {format_decimals(self.confidence, decimals)})"

    def __str__(self) -> str:
        return self.to_text()


class ConditionDropper:
    """Drop conditions of rules by their pessimistic error rates on the training rows.

    ``weights``, of shape (n_rows, n_classes), has the weight of each row in the column of its
    class; ``confidence``, in (0, 0.5], is that of the pessimistic error rate.
    """

    def __init__(
        self,
        tree: Tree,
        labels: list[Any],
        classes: Array,
        X: Any,
        y: Any,
        sample_weight: Any,
        confidence: float,
    ) -> None:
        check_confidence(confidence)
        table = Table.of(X, tree.schema, expected_by="this tree")
        codes = _class_codes(table, y, classes)
        self.tree, self.labels, self.confidence = tree, labels, confidence
        self.evaluator = ConditionEvaluator(table, tree.columns)
        self.weights = np.zeros((len(table), len(labels)))
        self.weights[np.arange(len(table)), codes] = (
            1.0 if sample_weight is None else check_sample_weight(sample_weight, len(table))
        )

    def drop_conditions(self, rules: Sequence[Rule]) -> tuple[list[Rule], Rule]:
        """Return the rules with fewer conditions, and the default rule."""
        distinct: dict[tuple[Any, ...], Rule] = {}
        uncovered = np.ones(len(self.weights), bool)
        for rule in rules:
            shorter, covered = self._shorten(rule)
            if shorter.conditions:
                key = (shorter.class_index, frozenset(shorter.conditions))
                distinct.setdefault(key, shorter)
                uncovered &= ~covered
        return list(distinct.values()), self._default_rule(uncovered)

    def _shorten(self, rule: Rule) -> tuple[Rule, Array]:
        """Return the rule with the conditions that are kept, and the rows that it covers."""
        assert rule.class_index is not None
        parts = [part for condition in rule.conditions for part in condition.parts()]
        failed = np.array([~self.evaluator.satisfied(part) for part in parts])
        failed = failed.reshape(len(parts), len(self.weights))
        correct = self.weights[:, rule.class_index]
        weight = self.weights.sum(axis=1)
        kept = list(range(len(parts)))
        rate = self._error_rates(failed[kept], correct, weight)[-1]
        while kept:
            rates = self._error_rates(failed[kept], correct, weight)[:-1]
            best = int(rates.argmin())
            if rates[best] > rate:
                break
            rate = float(rates[best])
            del kept[best]
        covered: Array = np.logical_not(failed[kept].any(axis=0))
        conditions = merge_conditions(parts[k] for k in kept)
        shorter = replace(
            self._count_rows(covered, rule.class_index), conditions=conditions, node=rule.node,
            pessimistic_error=float(rate),
        )  # fmt: skip
        return shorter, covered

    def _error_rates(self, failed: Array, correct: Array, weight: Array) -> Array:
        """Return the pessimistic error rate without each condition, and last with all."""
        n_failed = failed.sum(axis=0)
        satisfied, fails_once = n_failed == 0, n_failed == 1
        # A row that fails a single condition is covered once that condition is dropped.
        gained = failed[:, fails_once]
        covered = np.append(
            weight[satisfied].sum() + gained @ weight[fails_once], weight[satisfied].sum()
        )
        right = np.append(
            correct[satisfied].sum() + gained @ correct[fails_once], correct[satisfied].sum()
        )
        errors = np.maximum(covered - right, 0.0)
        rates = np.ones(len(covered))
        positive = covered > 0
        N, e = covered[positive], errors[positive]
        rates[positive] = (e + added_errors(N, e, self.confidence)) / N
        return rates

    def _default_rule(self, uncovered: Array) -> Rule:
        """Return the rule of the uncovered rows, or of all rows if there are none."""
        has_rows = self.weights[uncovered].any()
        weights = self.weights[uncovered if has_rows else slice(None)].sum(axis=0)
        class_index = int(self.tree.decide(weights[None])[0])
        rule = self._count_rows(uncovered, class_index)
        if has_rows:
            return rule
        return replace(rule, confidence=float(weights[class_index] / weights.sum()))

    def _count_rows(self, covered: Array, class_index: int) -> Rule:
        """Return a rule without conditions, with the counts of the rows that it covers."""
        weights = self.weights[covered].sum(axis=0)
        total = float(weights.sum())
        fraction = float(weights[class_index]) / total if total > 0 else 0.0
        n_rows = int(self.weights[covered].any(axis=1).sum())
        return Rule(
            (), self.labels[class_index], n_rows, total, tuple(weights.tolist()), fraction,
            class_index,
        )  # fmt: skip


def _class_codes(table: Table, y: Any, classes: Array) -> Array:
    """Return the index of each row's label in ``classes``."""
    target = Target.of(y, len(table), task="classification")
    codes = known_class_indices(LabeledRows(table, target), classes)
    if (codes < 0).any():
        assert target.classes is not None
        label = target.classes.tolist()[target.values[codes < 0][0]]
        raise ValueError(
            f"y contains {label!r}, which is not in classes={classes.tolist()!r}: pass the "
            "classes_ of the estimator as classes."
        )
    return codes

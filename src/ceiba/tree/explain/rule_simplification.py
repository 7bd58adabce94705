"""Dropping of rule conditions by pessimistic error rates, as C4.5rules does.

    while dropping some condition does not raise the pessimistic error rate of the rule:
        drop the condition without which the rate is lowest

Quinlan (1993), "C4.5: programs for machine learning", chapter 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.tree.explain.rule import ConditionEvaluator, Rule, merge_conditions
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.pessimistic import added_errors, check_confidence


@dataclass(frozen=True, slots=True, eq=False)
class RuleSimplifier:
    """Drop conditions of rules on the training rows.

    ``weights``, of shape (n_rows, n_classes), has the weight of each row in the column of its
    class; ``confidence``, in (0, 0.5], is that of the pessimistic error rate.
    """

    tree: Tree
    labels: list[Any]
    evaluator: ConditionEvaluator
    weights: Array
    confidence: float

    @classmethod
    def of(
        cls,
        tree: Tree,
        labels: list[Any],
        classes: Array,
        X: Any,
        y: Any,
        sample_weight: Any,
        confidence: float,
    ) -> RuleSimplifier:
        """Check and encode the training rows."""
        check_confidence(confidence)
        table = Table.of(X, tree.schema, expected_by="this tree")
        class_index = _encode_labels(classes, y, len(table))
        weights = np.zeros((len(table), len(labels)))
        weights[np.arange(len(table)), class_index] = _row_weights(sample_weight, len(table))
        return cls(tree, labels, ConditionEvaluator(table, tree.columns), weights, confidence)

    def simplify(self, rules: Sequence[Rule]) -> tuple[list[Rule], Rule]:
        """Return the rules with fewer conditions, and the default rule."""
        simplified: dict[tuple[Any, ...], Rule] = {}
        uncovered = np.ones(len(self.weights), bool)
        for rule in rules:
            shorter, covered = self._drop_conditions(rule)
            if shorter.conditions:
                key = (shorter.class_index, frozenset(shorter.conditions))
                simplified.setdefault(key, shorter)
                uncovered &= ~covered
        return list(simplified.values()), self._default_rule(uncovered)

    def _drop_conditions(self, rule: Rule) -> tuple[Rule, Array]:
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


def _encode_labels(classes: Array, y: Any, n: int) -> Array:
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"y must have shape ({n},), as X has {n} rows, got {y.shape}.")
    index = {label: code for code, label in enumerate(classes.tolist())}
    encoded = [index.get(label, -1) for label in y.tolist()]
    if -1 in encoded:
        raise ValueError(
            f"y contains {y.tolist()[encoded.index(-1)]!r}, which is not in classes="
            f"{classes.tolist()!r}: pass the classes_ of the estimator as classes."
        )
    return np.array(encoded, np.int64)


def _row_weights(given: Any, n: int) -> Array:
    if given is None:
        return np.ones(n)
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n,) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"sample_weight must be {n} finite numbers >= 0.")
    return weights

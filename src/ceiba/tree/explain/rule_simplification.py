"""Dropping conditions of rules by their pessimistic error rates, as C4.5rules does.

    while some condition can go without raising the rule's estimate:
        drop the one without which the estimate is least

Quinlan (1993), "C4.5: programs for machine learning", chapter 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.table import Table
from ceiba.tree.explain.rule import Cells, Rule, RuleCondition, merged
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.pessimistic import added_errors


@dataclass(frozen=True, slots=True, eq=False)
class Dropper:
    """Training rows, and how sure an error rate must be.

    Parameters
    ----------
    tree : Tree
    labels : list
        Labels of its classes.
    cells : Cells
        Values of the rows.
    weights : ndarray of shape (n_rows, n_classes)
        Weight of each row in the column of its class.
    confidence : float
    """

    tree: Tree
    labels: list[Any]
    cells: Cells
    weights: Array
    confidence: float

    @classmethod
    def of(
        cls,
        tree: Tree,
        labels: list[Any],
        names: Array,
        X: Any,
        y: Any,
        sample_weight: Any,
        confidence: float,
    ) -> Dropper:
        """The rows that a user gives, checked."""
        if not 0 < confidence <= 0.5:
            raise ValueError(f"confidence={confidence!r}: give a number above 0 and up to 0.5")
        table = Table.of(X, tree.schema, who="this tree")
        codes = _codes(names, y, len(table))
        weights = np.zeros((len(table), len(labels)))
        weights[np.arange(len(table)), codes] = _row_weights(sample_weight, len(table))
        return cls(tree, labels, Cells(table, tree.columns), weights, confidence)

    def dropped(self, rules: Sequence[Rule]) -> tuple[list[Rule], Rule]:
        """The rules with fewer conditions, and what decides where none of them does."""
        found: dict[tuple[Any, ...], Rule] = {}
        uncovered = np.ones(len(self.weights), bool)
        for rule in rules:
            shorter, inside = self._shortened(rule)
            if shorter.conditions:
                found.setdefault((shorter.class_number, frozenset(shorter.conditions)), shorter)
                uncovered &= ~inside
        return list(found.values()), self._default(uncovered)

    def _shortened(self, rule: Rule) -> tuple[Rule, Array]:
        assert rule.class_number is not None
        parts = [part for condition in rule.conditions for part in condition.parts()]
        failed = np.array([~self.cells.meet(part) for part in parts])
        failed = failed.reshape(len(parts), len(self.weights))
        right = self.weights[:, rule.class_number]
        weight = self.weights.sum(axis=1)
        kept = list(range(len(parts)))
        estimate = self._estimates(failed[kept], right, weight)[-1]
        while kept:
            estimates = self._estimates(failed[kept], right, weight)[:-1]
            best = int(estimates.argmin())
            if estimates[best] > estimate:
                break
            estimate = float(estimates[best])
            del kept[best]
        inside: Array = np.logical_not(failed[kept].any(axis=0))
        return self._counted(rule, [parts[k] for k in kept], inside, float(estimate)), inside

    def _estimates(self, failed: Array, right: Array, weight: Array) -> Array:
        """Pessimistic error rate without each condition, and last that with all of them."""
        failures = failed.sum(axis=0)
        met, nearly = failures == 0, failures == 1
        # A row that fails just one condition is covered once that one is gone.
        lost = failed[:, nearly]
        covered = np.append(weight[met].sum() + lost @ weight[nearly], weight[met].sum())
        correct = np.append(right[met].sum() + lost @ right[nearly], right[met].sum())
        errors = np.maximum(covered - correct, 0.0)
        rates = np.ones(len(covered))
        some = covered > 0
        N, e = covered[some], errors[some]
        rates[some] = (e + added_errors(N, e, self.confidence)) / N
        return rates

    def _counted(
        self, rule: Rule, conditions: list[RuleCondition], inside: Array, estimate: float
    ) -> Rule:
        counted = self._rule(inside, rule.class_number)
        return replace(counted, conditions=merged(conditions), node=rule.node, estimate=estimate)

    def _default(self, uncovered: Array) -> Rule:
        """The class for rows without a rule: the cheapest of them, or of all if there are none."""
        some = self.weights[uncovered].any()
        weights = self.weights[uncovered if some else slice(None)].sum(axis=0)
        code = int(self.tree.decided(weights[None])[0])
        found = self._rule(uncovered, code)
        return found if some else replace(found, confidence=float(weights[code] / weights.sum()))

    def _rule(self, inside: Array, code: int | None) -> Rule:
        assert code is not None
        weights = self.weights[inside].sum(axis=0)
        total = float(weights.sum())
        share = float(weights[code]) / total if total > 0 else 0.0
        rows = int(self.weights[inside].any(axis=1).sum())
        return Rule((), self.labels[code], rows, total, tuple(weights.tolist()), share, code)


def _codes(names: Array, y: Any, n: int) -> Array:
    y = np.asarray(y)
    if y.shape != (n,):
        raise ValueError(f"y has shape {y.shape}, and X has {n} rows")
    place = {label: code for code, label in enumerate(names.tolist())}
    codes = [place.get(label, -1) for label in y.tolist()]
    if -1 in codes:
        raise ValueError(
            f"y holds {y.tolist()[codes.index(-1)]!r}, which is none of the classes "
            f"{names.tolist()!r}: give the classes_ of the estimator as classes"
        )
    return np.array(codes, np.int64)


def _row_weights(given: Any, n: int) -> Array:
    if given is None:
        return np.ones(n)
    weights = np.asarray(given, dtype=np.float64)
    if weights.shape != (n,) or not (np.isfinite(weights) & (weights >= 0)).all():
        raise ValueError(f"sample_weight must be {n} finite numbers, none of them negative")
    return weights

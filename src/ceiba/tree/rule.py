"""One rule of a tree: if some conditions hold, then a prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ceiba.tree.condition import number_words
from ceiba.tree.rule_condition import RuleCondition


@dataclass(frozen=True, slots=True)
class Rule:
    """If all conditions hold, then this prediction.

    Parameters
    ----------
    conditions : tuple of RuleCondition
        Empty where the rule asks nothing.
    prediction : label or float
    rows, weight : int and float
        Training rows that the rule covers, and their weight.
    class_weights : tuple of float or None
        Weight of each class among them; None for numbers.
    confidence : float or None
        Probability of the predicted class; None for numbers.
    class_number : int or None
        Number of the predicted class; None for numbers.
    node : int
        The leaf that it comes from; -1 for none.
    estimate : float or None
        Pessimistic error rate, where conditions were dropped by it.
    """

    conditions: tuple[RuleCondition, ...]
    prediction: Any
    rows: int
    weight: float
    class_weights: tuple[float, ...] | None = None
    confidence: float | None = None
    class_number: int | None = None
    node: int = -1
    estimate: float | None = None

    def text(self, *, gaps: bool = True, max_labels: int = 10, decimals: int = 3) -> str:
        """The rule in words; options as in `ceiba.tree.rule_list.RuleList.to_text`."""
        words = [
            condition.text(gaps=gaps, max_labels=max_labels, decimals=decimals)
            for condition in self.conditions
        ]
        if len(words) > 1:
            words = [f"({word})" if word.endswith(" or missing") else word for word in words]
        lead = f"if {' and '.join(words)} then" if words else "always"
        return f"{lead} {self.result(decimals)}"

    def result(self, decimals: int) -> str:
        """What follows: ``yes (12 rows, p = 0.92)``."""
        rows = f"{self.rows} row{'s' * (self.rows != 1)}"
        if self.weight != self.rows:
            rows += f" of weight {number_words(self.weight, decimals)}"
        if self.confidence is None:
            return f"{number_words(self.prediction, decimals)} ({rows})"
        return f"{self.prediction} ({rows}, p = {number_words(self.confidence, decimals)})"

    def __str__(self) -> str:
        return self.text()

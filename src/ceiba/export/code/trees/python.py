"""Python code of trees: a module without imports, but for exp of gradient boosting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ceiba.data.schema import Column
from ceiba.export.code.languages.python import head, literal, one_line
from ceiba.export.code.trees.model import CodeModel, CodeTree, RawScores
from ceiba.export.code.trees.nested import (
    NestedLanguage,
    branch_weights,
    tree_functions,
)


class _Python(NestedLanguage):
    and_word, or_word, true, false = "and", "or", "True", "False"

    def compare(self, index: int, column: Column, operator: str, number: Any) -> str:
        return f"x[{index}] {operator} {literal(number)}"

    def is_missing(self, index: int, column: Column) -> str:
        return f"x[{index}] != x[{index}]"

    def is_known(self, index: int, column: Column) -> str:
        return f"x[{index}] == x[{index}]"

    def is_member(
        self, index: int, column: Column, categories: Sequence[Any], negated: bool
    ) -> str:
        if len(categories) == 1:
            return f"x[{index}] {'!=' if negated else '=='} {literal(categories[0])}"
        labels = ", ".join(map(literal, categories))
        return f"x[{index}] {'not in' if negated else 'in'} {{{labels}}}"

    def conditional(self, cases: Sequence[tuple[str, str]], default: str) -> str:
        parts = [f"({value}) if {test} else " for test, value in cases]
        return f"({''.join(parts)}{default})"

    def function(self, name: str) -> list[str]:
        return [f"def {name}(x):"]

    def function_end(self) -> list[str]:
        return []

    def if_line(self, word: str, test: str, comment: str) -> str:
        note = f"  # {one_line(comment)}" if comment else ""
        return f"{word}{' ' if test else ''}{test}:{note}"

    def block_end(self) -> list[str]:
        return []

    def return_line(self, value: str) -> str:
        return f"return {value}"

    def call(self, name: str) -> str:
        return f"{name}(x)"


def python_code(model: CodeModel) -> str:
    """Return a module with ``predict(row)`` and, of a classifier, ``predict_proba(row)``."""
    language = _Python()
    scores = model.raw_scores
    imports = "from math import exp" if scores is not None and scores.link != "identity" else ""
    parts = [head(model.title, model.schema, model.classes, imports)]
    if model.needs_trees:
        for number, code_tree in enumerate(model.trees):
            parts += _tree(language, code_tree, number)
        parts += [_mean(model)] if scores is None else _linked_scores(model, scores)
    parts.append(_rules(language, model) if model.rules is not None else _predict(model))
    return "\n\n\n".join("\n".join(part) for part in parts) + "\n"


def _tree(language: _Python, code_tree: CodeTree, number: int) -> list[list[str]]:
    name = f"_tree_{number}"
    rows = [f"    {row!r}," for row in code_tree.table.tolist()]
    table = [f"{name.upper()}_PREDICTIONS = [", *rows, "]"]
    if code_tree.tree.missing == "fractional":
        return [table, _weighted_tree(language, code_tree, name)]
    return [table, *tree_functions(language, code_tree, name), _look_up(name)]


def _look_up(name: str) -> list[str]:
    return [
        f"def {name}_prediction(x):",
        f"    return {name.upper()}_PREDICTIONS[{name}(x)]",
    ]


def _weighted_tree(language: _Python, code_tree: CodeTree, name: str) -> list[str]:
    """Return a function that follows a row with a missing value down all branches."""
    tree, table = code_tree.tree, f"{name.upper()}_PREDICTIONS"
    lines = [f"def {name}_prediction(x):", "    weight = [0.0] * " + str(tree.n_nodes)]
    lines.append("    weight[0] = 1.0")

    def branch_weight(has_branch: str, taken: str, fraction: float) -> str:
        return f"(float({taken}) if {has_branch} else {fraction!r})"

    for child, parent, factor in branch_weights(language, code_tree, branch_weight):
        lines.append(f"    weight[{child}] = weight[{parent}] * {factor}")
    leaves = {node: int(row) for node, row in enumerate(code_tree.row_of_leaf.tolist()) if row >= 0}
    return [
        *lines,
        f"    rows = {leaves!r}",
        "    return [",
        f"        sum(weight[leaf] * {table}[row][k] for leaf, row in rows.items())",
        f"        for k in range({code_tree.table.shape[1]})",
        "    ]",
    ]


def _tree_list(model: CodeModel) -> str:
    names = ", ".join(f"_tree_{number}_prediction" for number in range(len(model.trees)))
    return f"TREES = [{names}]"


def _linked_scores(model: CodeModel, scores: RawScores) -> list[list[str]]:
    """Return the sums of the trees' predictions, and their link under the name of the mean."""
    links = {
        "identity": ["return scores"],
        # As in the model, the logarithm of a prediction is at most 700.
        "log": ["return [exp(min(scores[0], 700.0))]"],
        "logit": ["return _softmax([0.0, scores[0]])"],
        "half_logit": ["return _softmax([0.0, 2 * scores[0]])"],
        "softmax": ["return _softmax(scores)"],
    }
    lines = ["return [1.0]"] if model.n_values < 2 and model.classes else links[scores.link]
    parts = [[_tree_list(model), f"FIRST_SCORES = {scores.first!r}"], [
        "def _raw_scores(row):",
        "    x = _values(row)",
        "    scores = list(FIRST_SCORES)",
        "    for number, tree in enumerate(TREES):",
        "        scores[number % len(scores)] += tree(x)[0]",
        "    return scores",
    ]]  # fmt: skip
    if "_softmax" in lines[0]:
        parts.append([
            "def _softmax(scores):",
            "    top = max(scores)",
            "    weights = [exp(score - top) for score in scores]",
            "    return [weight / sum(weights) for weight in weights]",
        ])  # fmt: skip
    body = ["def _mean(row):", "    scores = _raw_scores(row)", *(f"    {line}" for line in lines)]
    return [*parts, body]


def _mean(model: CodeModel) -> list[str]:
    return [
        _tree_list(model),
        "",
        "",
        "def _mean(row):",
        "    x = _values(row)",
        "    predictions = [tree(x) for tree in TREES]",
        "    return [sum(values) / len(TREES) for values in zip(*predictions)]",
    ]


def _predict(model: CodeModel) -> list[str]:
    if model.classes is None:
        return ["def predict(row):", "    return _mean(row)[0]"]
    lines = ["def predict_proba(row):", "    return _mean(row)", "", ""]
    lines += _costs(model)
    return [*lines, "def predict(row):", *(f"    {line}" for line in _decide(model))]


def _costs(model: CodeModel) -> list[str]:
    if not len(model.costs):
        return []
    return [f"COSTS = {model.costs.tolist()!r}", "", ""]


def _decide(model: CodeModel) -> list[str]:
    if not len(model.costs):
        return ["p = _mean(row)", "return CLASSES[p.index(max(p))]"]
    return [
        "p = _mean(row)",
        "cost = [sum(a * c for a, c in zip(p, column)) for column in zip(*COSTS)]",
        "return CLASSES[cost.index(min(cost))]",
    ]


def _rules(language: _Python, model: CodeModel) -> list[str]:
    rules = model.rules
    assert rules is not None
    lines = _costs(model) if model.needs_trees else []
    lines += ["def predict(row):", "    x = _values(row)"]
    for rule in rules:
        test = " and ".join(language.condition(condition) for condition in rule.conditions)
        result = literal(model.rule_prediction(rule))
        lines += [f"    if {test or language.true}:", f"        return {result}"]
    if rules.default is not None:
        last = [f"return {literal(model.rule_prediction(rules.default))}"]
    elif not model.needs_trees:
        last = ['raise ValueError("no rule covers the row")']
    else:
        last = ["return _mean(row)[0]"] if model.classes is None else _decide(model)
    return [*lines, *(f"    {line}" for line in last)]

"""SQL code of a model: one SELECT statement.

Common table expressions compute, one after the other, the leaf of each row in each tree, the means
of the predictions, and the class. Conditions are flat, one for each leaf, because databases limit
the depth of expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ceiba.data.schema import Column, Schema
from ceiba.export.code.languages.sql import (
    TableExpressions,
    balanced_sum,
    computed_name,
    largest,
    literal,
    quoted_name,
)
from ceiba.export.code.trees.conditions import Language, NodeTests
from ceiba.export.code.trees.model import CodeModel, CodeTree, RawScores
from ceiba.export.code.trees.nested import branch_weights
from ceiba.tree.explain.conditions import branch_condition, merge_conditions
from ceiba.tree.explain.rule import Rule


class _Sql(Language):
    and_word, or_word, true, false = "AND", "OR", "(1 = 1)", "(1 = 0)"

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def _column_name(self, index: int) -> str:
        """Return the name of a column of the model: a member may repeat it under another name."""
        return quoted_name(self._schema[index].name)

    def compare(self, index: int, column: Column, operator: str, number: Any) -> str:
        return f"{self._column_name(index)} {operator} {literal(number)}"

    def is_missing(self, index: int, column: Column) -> str:
        return f"{self._column_name(index)} IS NULL"

    def is_known(self, index: int, column: Column) -> str:
        return f"{self._column_name(index)} IS NOT NULL"

    def is_member(
        self, index: int, column: Column, categories: Sequence[Any], negated: bool
    ) -> str:
        # A comparison with NULL is unknown, which counts as false wherever it is used here.
        name = self._column_name(index)
        if len(categories) == 1:
            test = f"{name} {'<>' if negated else '='} {literal(categories[0])}"
        else:
            labels = ", ".join(map(literal, categories))
            test = f"{name} {'NOT IN' if negated else 'IN'} ({labels})"
        return f"({name} IS NULL OR {test})" if negated else test

    def conditional(self, cases: Sequence[tuple[str, str]], default: str) -> str:
        whens = " ".join(f"WHEN {test} THEN {value}" for test, value in cases)
        return f"CASE {whens} ELSE {default} END"


def sql_code(model: CodeModel, table: str, keep: Sequence[str]) -> str:
    """Return a SELECT statement with the predictions of each row of a table."""
    language, expressions = _Sql(model.schema), TableExpressions(table)
    if model.rules:
        expressions.add({"rule": _rule_index(language, model)})
    if model.needs_trees:
        expressions.add(_leaf_columns(language, model))
        if model.raw_scores is None:
            expressions.add(_means(language, model))
        else:
            _add_linked_scores(language, model, model.raw_scores, expressions)
    outputs: dict[str, str] = {}
    prediction = _decision(model) if model.needs_trees else "NULL"
    if model.rules is not None:
        prediction = _rule_prediction(model, prediction)
    elif model.classes is not None:
        outputs = {
            f"probability_{label}": computed_name(f"mean_{k}")
            for k, label in enumerate(model.classes)
        }
    return f"-- {model.title}.\n" + expressions.select(keep, {"prediction": prediction, **outputs})


def _leaf_columns(language: _Sql, model: CodeModel) -> dict[str, str]:
    """Return, for each tree that sends a row to one leaf, the row of its prediction."""
    columns = {}
    for number, code_tree in enumerate(model.trees):
        if code_tree.tree.missing == "fractional" or code_tree.tree.is_leaf[0]:
            continue
        cases = "\n      ".join(
            f"WHEN {test} THEN {int(code_tree.row_of_leaf[leaf])}"
            for leaf, test in _leaf_tests(language, code_tree)
        )
        columns[f"leaf_{number}"] = f"CASE\n      {cases}\n    END"
    return columns


def _leaf_tests(language: _Sql, code_tree: CodeTree) -> Iterator[tuple[int, str]]:
    """Yield each leaf with the conditions on its path."""
    tree = code_tree.tree
    pending: list[tuple[int, tuple[Any, ...]]] = [(0, ())]
    while pending:
        node, path = pending.pop()
        if tree.is_leaf[node]:
            yield node, language.all_of([_text(language, part) for part in path])
        elif tree.missing == "surrogate":
            tests = NodeTests(language, tree, node, code_tree.columns)
            branches = enumerate(tree.children(node))
            pending += reversed([(child, (*path, tests.taken(b))) for b, child in branches])
        else:
            pending += reversed(list(_merged_paths(code_tree, node, path)))


def _text(language: _Sql, part: Any) -> str:
    return part if isinstance(part, str) else language.condition(part)


def _merged_paths(
    code_tree: CodeTree, node: int, path: tuple[Any, ...]
) -> Iterator[tuple[int, Any]]:
    """Yield the branches of a node with the conditions of their paths, one for each column."""
    tree = code_tree.tree
    split = tree.split(node)
    column, index = tree.schema[split.column], code_tree.columns[split.column]
    for branch, child in enumerate(tree.children(node)):
        condition = branch_condition(split, branch, column, branch == split.missing_branch)
        yield child, merge_conditions((*path, replace(condition, column_index=index)))


def _means(language: _Sql, model: CodeModel) -> dict[str, str]:
    """Return the mean prediction of the trees for each class, or the number."""
    n_trees = len(model.trees)
    columns = {}
    for k in range(model.n_values):
        terms = [
            _prediction(language, code_tree, number, k)
            for number, code_tree in enumerate(model.trees)
        ]
        total = balanced_sum(terms)
        columns[f"mean_{k}"] = total if n_trees == 1 else f"{total} / {n_trees}e0"
    return columns


def _add_linked_scores(
    language: _Sql, model: CodeModel, scores: RawScores, expressions: TableExpressions
) -> None:
    """Add the sums of the trees, and their link under the names of means."""
    n, numbered = scores.n_scores, list(enumerate(model.trees))
    sums = {}
    for k in range(n):
        terms = [_prediction(language, code_tree, t, 0) for t, code_tree in numbered[k::n]]
        sums[f"score_{k}"] = balanced_sum([literal(scores.first[k]), *terms])
    expressions.add(sums)
    names = [computed_name(name) for name in sums]
    if model.classes is None:
        # As in the model, the logarithm of a prediction is at most 700.
        limited = f"CASE WHEN {names[0]} > 700e0 THEN 700e0 ELSE {names[0]} END"
        expressions.add({"mean_0": f"EXP({limited})" if scores.link == "log" else names[0]})
        return
    if len(model.classes) == 1:
        expressions.add({"mean_0": "1e0"})
        return
    if scores.link != "softmax":
        names = ["0e0", f"2 * {names[0]}" if scores.link == "half_logit" else names[0]]
    expressions.add({"top": largest(names, names)})
    top = computed_name("top")
    # Databases raise errors instead of returning 0.
    expressions.add({
        f"weight_{k}": f"CASE WHEN {name} - {top} < -700e0 THEN 0e0 ELSE EXP({name} - {top}) END"
        for k, name in enumerate(names)
    })  # fmt: skip
    weights = [computed_name(f"weight_{k}") for k in range(len(names))]
    total = balanced_sum(weights)
    expressions.add({f"mean_{k}": f"{weight} / {total}" for k, weight in enumerate(weights)})


def _prediction(language: _Sql, code_tree: CodeTree, number: int, k: int) -> str:
    values = code_tree.table[:, k].tolist()
    if code_tree.tree.is_leaf[0]:
        return literal(values[0])
    if code_tree.tree.missing == "fractional":
        return _weighted_prediction(language, code_tree, k)
    cases = " ".join(f"WHEN {row} THEN {literal(value)}" for row, value in enumerate(values))
    return f"CASE {computed_name(f'leaf_{number}')} {cases} END"


def _weighted_prediction(language: _Sql, code_tree: CodeTree, k: int) -> str:
    """Return the sum over leaves, each with the product of the weights on its path."""
    tree = code_tree.tree

    def branch_weight(has_branch: str, taken: str, fraction: float) -> str:
        weight = literal(fraction)
        return f"CASE WHEN {taken} THEN 1e0 WHEN {has_branch} THEN 0e0 ELSE {weight} END"

    factors: dict[int, str] = {0: ""}
    for child, parent, factor in branch_weights(language, code_tree, branch_weight):
        factors[child] = f"{factors[parent]} * {factor}" if factors[parent] else factor
    return balanced_sum(
        [
            f"{factors[leaf]} * {literal(code_tree.table[code_tree.row_of_leaf[leaf], k].item())}"
            for leaf in np.flatnonzero(tree.is_leaf).tolist()
        ]
    )


def _decision(model: CodeModel) -> str:
    """Return the predicted class, or the number."""
    if model.classes is None:
        return computed_name("mean_0")
    n = len(model.classes)
    means = [computed_name(f"mean_{k}") for k in range(n)]
    scores, operator = means, ">="
    if len(model.costs):
        scores = [
            balanced_sum([f"{means[i]} * {literal(float(model.costs[i, j]))}" for i in range(n)])
            for j in range(n)
        ]
        operator = "<="
    return largest(scores, [literal(label) for label in model.classes], operator)


def _rule_index(language: _Sql, model: CodeModel) -> str:
    assert model.rules is not None
    cases = "\n      ".join(
        f"WHEN {language.all_of([language.condition(c) for c in rule.conditions])} THEN {number}"
        for number, rule in enumerate(model.rules)
    )
    return f"CASE\n      {cases}\n      ELSE -1\n    END"


def _rule_prediction(model: CodeModel, otherwise: str) -> str:
    rules = model.rules
    assert rules is not None

    def value(rule: Rule) -> str:
        return literal(model.rule_prediction(rule))

    cases = " ".join(f"WHEN {number} THEN {value(rule)}" for number, rule in enumerate(rules))
    last = otherwise if rules.default is None else value(rules.default)
    if not cases:
        return last
    return f"CASE {computed_name('rule')} {cases} ELSE {last} END"

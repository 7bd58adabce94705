"""C code of trees: C99 functions of an array of doubles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ceiba.data.schema import Column
from ceiba.export.checks import check_float64_threshold
from ceiba.export.code.languages.c import comment_text, double_literal, head
from ceiba.export.code.trees.model import CodeModel, CodeTree, RawScores
from ceiba.export.code.trees.nested import (
    NestedLanguage,
    branch_weights,
    tree_functions,
)

# Sets of more categories are tables.
_MAX_COMPARISONS = 4


class _C(NestedLanguage):
    and_word, or_word, true, false = "&&", "||", "1", "0"

    def __init__(self) -> None:
        self.sets: dict[tuple[int, ...], str] = {}

    def compare(self, index: int, column: Column, operator: str, number: Any) -> str:
        check_float64_threshold(column, number, "C compares doubles")
        return f"x[{index}] {operator} {double_literal(float(number))}"

    def is_missing(self, index: int, column: Column) -> str:
        return f"isnan(x[{index}])"

    def is_known(self, index: int, column: Column) -> str:
        return f"!isnan(x[{index}])"

    def is_member(
        self, index: int, column: Column, categories: Sequence[Any], negated: bool
    ) -> str:
        codes = [column.categories.index(category) for category in categories]
        if len(codes) <= _MAX_COMPARISONS:
            test = " || ".join(f"x[{index}] == {code}" for code in codes)
            test = f"({test})" if len(codes) > 1 or negated else test
        else:
            flags = [0] * len(column.categories)
            for code in codes:
                flags[code] = 1
            name = self.sets.setdefault(tuple(flags), f"set_{len(self.sets)}")
            test = f"is_member(x[{index}], {name}, {len(flags)})"
        return f"!{test}" if negated else test

    def conditional(self, cases: Sequence[tuple[str, str]], default: str) -> str:
        parts = [f"{test} ? {value} : " for test, value in cases]
        return f"({''.join(parts)}{default})"

    def function(self, name: str) -> list[str]:
        return [f"static int {name}(const double *x) {{"]

    def unused(self) -> list[str]:
        return ["(void)x;"]

    def function_end(self) -> list[str]:
        return ["}"]

    def if_line(self, word: str, test: str, comment: str) -> str:
        note = f"  /* {comment_text(comment)} */" if comment else ""
        head = {"if": "if", "elif": "} else if", "else": "} else"}[word]
        return f"{head}{f' ({test})' if test else ''} {{{note}"

    def block_end(self) -> list[str]:
        return ["}"]

    def return_line(self, value: str) -> str:
        return f"return {value};"

    def call(self, name: str) -> str:
        return f"{name}(x)"


def c_code(model: CodeModel) -> str:
    """Return C functions ``predict`` and, of a classifier, ``predict_proba``."""
    language = _C()
    parts: list[list[str]] = []
    if model.needs_trees:
        for number, code_tree in enumerate(model.trees):
            parts += _tree(language, code_tree, number)
        parts.append(_mean(model))
    parts.append(_rules(language, model) if model.rules is not None else _predict(model))
    parts = [head(model.title, model.schema, model.classes), *_sets(language), *parts]
    return "\n\n".join("\n".join(part) for part in parts) + "\n"


def _sets(language: _C) -> list[list[str]]:
    if not language.sets:
        return []
    lines = [
        f"static const unsigned char {name}[{len(flags)}] = {{{', '.join(map(str, flags))}}};"
        for flags, name in language.sets.items()
    ]
    return [
        lines,
        [
            "static int is_member(double code, const unsigned char *set, int n) {",
            "    return code >= 0 && code < n && set[(int)code];",
            "}",
        ],
    ]


def _tree(language: _C, code_tree: CodeTree, number: int) -> list[list[str]]:
    name, shape = f"tree_{number}", code_tree.table.shape
    rows = [f"    {{{', '.join(map(double_literal, row))}}}," for row in code_tree.table.tolist()]
    table = [f"static const double {name}_predictions[{shape[0]}][{shape[1]}] = {{", *rows, "};"]
    if code_tree.tree.missing == "fractional":
        return [table, _weighted_tree(language, code_tree, name)]
    add = [
        f"static void add_{name}(const double *x, double *sum) {{",
        f"    const double *prediction = {name}_predictions[{name}(x)];",
        f"    for (int k = 0; k < {shape[1]}; ++k) sum[k] += prediction[k];",
        "}",
    ]
    return [table, *tree_functions(language, code_tree, name), add]


def _weighted_tree(language: _C, code_tree: CodeTree, name: str) -> list[str]:
    """Return a function that follows a row with a missing value down all branches."""
    n_nodes = code_tree.tree.n_nodes
    rows = ", ".join(map(str, code_tree.row_of_leaf.tolist()))
    lines = [
        f"static void add_{name}(const double *x, double *sum) {{",
        f"    static const int rows[{n_nodes}] = {{{rows}}};",
        f"    double weight[{n_nodes}];",
        "    weight[0] = 1.0;",
    ]
    if n_nodes == 1:
        lines += [f"    {line}" for line in language.unused()]

    def branch_weight(has_branch: str, taken: str, fraction: float) -> str:
        return f"({has_branch} ? ({taken} ? 1.0 : 0.0) : {double_literal(fraction)})"

    for child, parent, factor in branch_weights(language, code_tree, branch_weight):
        lines.append(f"    weight[{child}] = weight[{parent}] * {factor};")
    return [
        *lines,
        f"    for (int node = 0; node < {n_nodes}; ++node)",
        f"        for (int k = 0; rows[node] >= 0 && k < {code_tree.table.shape[1]}; ++k)",
        f"            sum[k] += weight[node] * {name}_predictions[rows[node]][k];",
        "}",
    ]


def _linked_scores(model: CodeModel, scores: RawScores) -> list[str]:
    """Return the link of the sums of the trees, under the name of the mean."""
    n = scores.n_scores
    if model.classes is not None and len(model.classes) == 1:
        body = ["    (void)scores;", "    mean[0] = 1.0;"]
    elif scores.link in ("identity", "log"):
        # As in the model, the logarithm of a prediction is at most 700.
        link = "exp(fmin(scores[0], 700.0))" if scores.link == "log" else "scores[0]"
        body = [f"    mean[0] = {link};"]
    else:
        body = [f"    for (int k = 0; k < {n}; ++k) mean[k] = scores[k];"]
        if scores.link != "softmax":
            log_odds = "2.0 * scores[0]" if scores.link == "half_logit" else "scores[0]"
            body = ["    mean[0] = 0.0;", f"    mean[1] = {log_odds};"]
        body += [
            "    double top = mean[0], total = 0.0;",
            "    for (int k = 1; k < N_CLASSES; ++k) if (mean[k] > top) top = mean[k];",
            "    for (int k = 0; k < N_CLASSES; ++k) total += mean[k] = exp(mean[k] - top);",
            "    for (int k = 0; k < N_CLASSES; ++k) mean[k] /= total;",
        ]
    return [
        "static void mean_prediction(const double *x, double *mean) {",
        f"    double scores[{n}] = {{{', '.join(map(double_literal, scores.first))}}};",
        *(f"    add_tree_{t}(x, scores + {t % n});" for t in range(len(model.trees))),
        *body,
        "}",
    ]


def _mean(model: CodeModel) -> list[str]:
    n, k = len(model.trees), model.n_values
    if model.raw_scores is not None:
        return _linked_scores(model, model.raw_scores)
    return [
        "static void mean_prediction(const double *x, double *mean) {",
        f"    for (int k = 0; k < {k}; ++k) mean[k] = 0.0;",
        *(f"    add_tree_{number}(x, mean);" for number in range(n)),
        f"    for (int k = 0; k < {k}; ++k) mean[k] /= {n};",
        "}",
    ]


def _predict(model: CodeModel) -> list[str]:
    if model.classes is None:
        return [
            "double predict(const double *x) {",
            *(f"    {line}" for line in _last_lines(model)),
            "}",
        ]
    return [
        "/* Fill the probability of each class. */",
        "void predict_proba(const double *x, double *probabilities) {",
        "    mean_prediction(x, probabilities);",
        "}",
        "",
        "/* Return the index of the predicted class. */",
        "int predict(const double *x) {",
        *(f"    {line}" for line in _last_lines(model)),
        "}",
    ]


def _last_lines(model: CodeModel) -> list[str]:
    """Return the lines that predict by the trees."""
    if model.classes is None:
        return ["double mean[1];", "mean_prediction(x, mean);", "return mean[0];"]
    lines = ["double p[N_CLASSES];", "mean_prediction(x, p);", "int best = 0;"]
    if not len(model.costs):
        return [
            *lines,
            "for (int k = 1; k < N_CLASSES; ++k) if (p[k] > p[best]) best = k;",
            "return best;",
        ]
    rows = ", ".join(f"{{{', '.join(map(double_literal, row))}}}" for row in model.costs.tolist())
    return [
        *lines,
        f"static const double costs[N_CLASSES][N_CLASSES] = {{{rows}}};",
        "double cost[N_CLASSES];",
        "for (int k = 0; k < N_CLASSES; ++k) {",
        "    cost[k] = 0.0;",
        "    for (int j = 0; j < N_CLASSES; ++j) cost[k] += p[j] * costs[j][k];",
        "    if (cost[k] < cost[best]) best = k;",
        "}",
        "return best;",
    ]


def _rules(language: _C, model: CodeModel) -> list[str]:
    rules = model.rules
    assert rules is not None
    kind = "double" if model.classes is None else "int"
    lines = [f"{kind} predict(const double *x) {{"]

    def value(rule: Any) -> str:
        return double_literal(rule.prediction) if model.classes is None else str(rule.class_index)

    for rule in rules:
        tests = [language.condition(condition) for condition in rule.conditions]
        lines.append(f"    if ({' && '.join(tests) or '1'}) return {value(rule)};")
    if rules.default is not None:
        lines += [] if rules else [f"    {line}" for line in language.unused()]
        lines.append(f"    return {value(rules.default)};")
    elif model.needs_trees:
        lines += [f"    {line}" for line in _last_lines(model)]
    else:  # not reached: the rules cover every row
        lines.append("    return -1;" if model.classes is not None else "    return NAN;")
    return [*lines, "}"]

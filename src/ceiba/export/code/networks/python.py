"""Python code of a network: a module that imports nothing but math."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba.export.code.languages.python import head, literal, one_line
from ceiba.export.code.networks.model import REFUSED, REMEDY, CodeFamily, CodeNetwork


def python_code(network: CodeNetwork) -> str:
    """Return a module with ``predict(row)`` and ``predict_proba(row)``."""
    names = ["exp"]
    names += ["isfinite"] if network.has_densities else []
    names += ["log"] if network.sends_messages else []
    imports = f"from math import {', '.join(names)}"
    parts = [head(network.title, network.schema, network.classes, imports)]
    parts.append([f"LOG_PRIORS = {_text(network.bias)}"])
    if network.features:
        families = _message_families if network.sends_messages else _table_families
        parts += [_features(network), *families(network)]
    parts += [*_densities(network), _scores(network), _PREDICT_PROBA, _PREDICT]
    return "\n\n\n".join("\n".join(part) for part in parts) + "\n"


def _features(network: CodeNetwork) -> list[str]:
    rows = []
    for feature in network.features:
        categories = {category: code for code, category in enumerate(feature.column.categories)}
        values = list(feature.thresholds) if feature.is_numeric else categories
        rows.append(f"    ({feature.index}, {_text(values)}),  # {one_line(feature.column.name)}")
    return [
        "# Index of each column of the network, with the codes of categories, or thresholds.",
        *_listed("FEATURES", rows),
        "",
        "",
        "def _codes(x):",
        "    # A missing value, or no category, has the code after the last category.",
        "    codes = []",
        "    for index, values in FEATURES:",
        "        value = x[index]",
        "        if isinstance(values, dict):",
        "            codes.append(values.get(value, len(values)))",
        "        elif value != value:",
        "            codes.append(len(values) + 1)",
        "        else:",
        "            codes.append(sum(value >= threshold for threshold in values))",
        "    return codes",
    ]


def _table_families(network: CodeNetwork) -> list[list[str]]:
    """Return code that adds one row of each table."""
    rows = [
        f"    ({list(family.members)!r}, {_text(_nested(family.table))}),"
        for family in network.families
    ]
    tables = [
        "# Columns by whose codes a table is indexed, and log probabilities of each class.",
        *_listed("FAMILIES", rows),
    ]
    refusal = [
        "        if table is None:",
        f'            raise ValueError("{REFUSED}: {REMEDY}")',
    ]
    add = [
        "def _log_probabilities(codes):",
        "    scores = list(LOG_PRIORS)",
        "    for members, table in FAMILIES:",
        "        for feature in members:",
        "            table = table[codes[feature]]",
        *(refusal if network.refuses_missing else []),
        "        scores = [score + value for score, value in zip(scores, table)]",
        "    return scores",
    ]
    return [tables, add]


def _nested(table: Any) -> Any:
    """Return a table as lists, with None for a missing parent of a known feature."""
    if table.ndim > 1:
        return [_nested(part) for part in table]
    return None if np.isnan(table).any() else table.tolist()


def _message_families(network: CodeNetwork) -> list[list[str]]:
    """Return code that sums over missing values by messages from children to parents."""
    rows = [f"    ({_message_table(family)})," for family in network.families]
    tables = [
        "# Parent, column, and log probabilities by their categories and the class; each parent",
        "# precedes its children.",
        *_listed("FAMILIES", rows),
    ]
    send = [
        "def _categories(code, n):",
        "    # A missing value may be each of the categories.",
        "    return [code] if code < n else range(n)",
        "",
        "",
        "def _log_probability(codes, k):",
        "    # A message has the log probability of a column and of all below it, for each",
        "    # category of the parent.",
        "    messages = {}",
        "    for parent, feature, table in reversed(FAMILIES):",
        "        given = 0 if parent is None else codes[parent]",
        "        for row in _categories(given, len(table)):",
        "            terms = [",
        "                table[row][code][k] + messages.get((feature, code), 0.0)",
        "                for code in _categories(codes[feature], len(table[row]))",
        "            ]",
        "            top = max(terms)",
        "            message = top + log(sum(exp(term - top) for term in terms))",
        "            messages[parent, row] = messages.get((parent, row), 0.0) + message",
        "    return LOG_PRIORS[k] + messages[None, 0]",
        "",
        "",
        "def _log_probabilities(codes):",
        "    return [_log_probability(codes, k) for k in range(len(CLASSES))]",
    ]
    return [tables, send]


def _message_table(family: CodeFamily) -> str:
    """Return parent, feature and table without the codes of missing values."""
    parent = family.parents[0] if family.parents else None
    return f"{parent}, {family.feature}, {_text(family.known_table.tolist())}"


def _densities(network: CodeNetwork) -> list[list[str]]:
    parts = []
    if network.normals:
        rows = [
            f"    ({normal.index}, {normal.mean!r}, {normal.factor!r}, {normal.constant!r}),"
            for normal in network.normals
        ]
        note = "# Index of each normal column, with mean, factor and constant of each class."
        parts.append([note, *_listed("NORMALS", rows)])
    if network.counts:
        rows = [
            f"    ({count.index}, {count.log_rate!r}, {count.rate!r})," for count in network.counts
        ]
        note = "# Index of each column of counts, with log rate and rate of each class."
        parts.append([note, *_listed("COUNTS", rows)])
    return parts


def _scores(network: CodeNetwork) -> list[str]:
    first = "_log_probabilities(_codes(x))" if network.features else "LOG_PRIORS"
    lines = ["def _scores(row):", "    x = _values(row)"]
    if not network.has_densities:
        return [*lines, f"    return {first}"]
    lines.append(f"    scores = {first}")
    if network.normals:
        lines += [
            "    for index, means, factors, constants in NORMALS:",
            "        if x[index] == x[index]:",
            "            z = [(x[index] - mean) * factor for mean, factor in zip(means, factors)]",
            "            terms = [constant - a * a for constant, a in zip(constants, z)]",
            "            scores = [score + term for score, term in zip(scores, terms)]",
        ]
    if network.counts:
        lines += [
            "    for index, log_rates, rates in COUNTS:",
            "        if x[index] == x[index]:",
            "            if x[index] < 0 or x[index] % 1 != 0:",
            '                raise ValueError(f"x[{index}] must be a count, got {x[index]!r}.")',
            "            terms = [x[index] * a - rate for a, rate in zip(log_rates, rates)]",
            "            scores = [score + term for score, term in zip(scores, terms)]",
        ]
    return [
        *lines,
        "    # Values so far away that every density is zero: the frequencies of the classes.",
        "    return scores if any(map(isfinite, scores)) else LOG_PRIORS",
    ]


_PREDICT_PROBA = [
    "def predict_proba(row):",
    "    scores = _scores(row)",
    "    top = max(scores)",
    "    weights = [exp(score - top) for score in scores]",
    "    return [weight / sum(weights) for weight in weights]",
]

_PREDICT = [
    "def predict(row):",
    "    scores = _scores(row)",
    "    return CLASSES[scores.index(max(scores))]",
]


def _listed(name: str, rows: list[str]) -> list[str]:
    return [f"{name} = [", *rows, "]"]


def _text(value: Any) -> str:
    """Return nested lists and dictionaries of literals."""
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text(key)}: {_text(own)}' for key, own in value.items())}}}"
    return literal(value)

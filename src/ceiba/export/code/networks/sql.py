"""SQL code of a network: one SELECT statement.

Common table expressions compute, one after the other, codes of the columns, log probabilities of
the classes, the largest of them, and what is divided by their sum. Sums over missing values would
need a step for each depth of the network, and a column for each category and class: rows that
need them have NULL.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from ceiba.export.code.languages.sql import (
    TableExpressions,
    balanced_sum,
    computed_name,
    largest,
    literal,
    quoted_name,
)
from ceiba.export.code.networks.model import REFUSED, REMEDY, CodeFamily, CodeFeature, CodeNetwork

# Databases raise errors instead of returning 0 or infinity: exponents below and deviations beyond
# are not computed.
_MIN_EXPONENT, _MAX_DEVIATION = -700.0, 1e150
_MAX_DOUBLE = "1.7976931348623157e308"
# Log density of values that are so far away; no class has a smaller one otherwise.
_LOST = -1e300


def sql_code(network: CodeNetwork, table: str, keep: Sequence[str]) -> str:
    """Return a SELECT statement with the predictions of each row of a table."""
    used = [k for k, prior in enumerate(network.bias) if math.isfinite(prior)]
    steps = TableExpressions(table)
    steps.add({f"code_{j}": _code(feature) for j, feature in enumerate(network.features)})
    steps.add(_deviations(network, used))
    steps.add({f"score_{k}": _score(network, k) for k in used})
    scores = [computed_name(f"score_{k}") for k in used]
    steps.add({"top": largest(scores, scores)})
    steps.add({f"weight_{k}": _weight(network, k) for k in used})
    weights = [computed_name(f"weight_{k}") for k in used]
    steps.add({"total": balanced_sum(weights)})
    prediction = largest(weights, [literal(network.classes[k]) for k in used])
    if network.has_arcs or network.counts:
        prediction = f"CASE WHEN {computed_name('top')} IS NOT NULL THEN {prediction} END"
    probabilities = {
        f"probability_{label}": f"{computed_name(f'weight_{k}')} / {computed_name('total')}"
        if k in used
        else "0e0"
        for k, label in enumerate(network.classes)
    }
    outputs = {"prediction": prediction, **probabilities}
    note = f"-- NULL where {REFUSED}: {REMEDY}\n" if network.has_arcs else ""
    return f"-- {network.title}.\n{note}" + steps.select(keep, outputs)


def _code(feature: CodeFeature) -> str:
    """Return the code of a column; that after the last category is a missing value."""
    name = quoted_name(feature.column.name)
    if not feature.is_numeric:
        categories = feature.column.categories
        cases = " ".join(f"WHEN {literal(c)} THEN {code}" for code, c in enumerate(categories))
        return f"CASE {name} {cases} ELSE {len(categories)} END"
    n = len(feature.thresholds)
    cases = " ".join(
        f"WHEN {name} < {literal(threshold)} THEN {code}"
        for code, threshold in enumerate(feature.thresholds)
    )
    return f"CASE WHEN {name} IS NULL THEN {n + 1} {cases} ELSE {n} END"


def _deviations(network: CodeNetwork, used: Sequence[int]) -> dict[str, str]:
    """Return the deviation of each normal column from the mean of each class."""
    columns = {}
    for i, normal in enumerate(network.normals):
        name = quoted_name(network.schema[normal.index].name)
        for k in used:
            mean, factor = literal(normal.mean[k]), literal(normal.factor[k])
            columns[f"deviation_{i}_{k}"] = f"({name} - {mean}) * {factor}"
    return columns


def _score(network: CodeNetwork, k: int) -> str:
    terms = [literal(network.bias[k])]
    terms += [_look_up(network, family, k) for family in network.families]
    for i, normal in enumerate(network.normals):
        z = computed_name(f"deviation_{i}_{k}")
        limits = f"{literal(-_MAX_DEVIATION)} AND {literal(_MAX_DEVIATION)}"
        terms.append(
            f"CASE WHEN {z} IS NULL THEN 0e0 WHEN {z} BETWEEN {limits} "
            f"THEN {literal(normal.constant[k])} - {z} * {z} ELSE {literal(_LOST)} END"
        )
    for count in network.counts:
        x = quoted_name(count.name)
        terms.append(
            f"CASE WHEN {x} IS NULL THEN 0e0 "
            f"WHEN {x} < 0 OR {x} <> FLOOR({x}) OR {x} > {_MAX_DOUBLE} THEN NULL "
            f"WHEN {x} > {literal(-_LOST)} THEN {literal(_LOST)} "
            f"ELSE {x} * {literal(count.log_rate[k])} - {literal(count.rate[k])} END"
        )
    return balanced_sum(terms)


def _look_up(network: CodeNetwork, family: CodeFamily, k: int) -> str:
    """Return the log probability of a column; NULL if a parent is missing and the column is not."""
    index = ""
    for j in family.members:
        code = computed_name(f"code_{j}")
        index = f"({index}) * {network.features[j].n_codes} + {code}" if index else code
    values = family.table[..., k].ravel().tolist()
    cases = " ".join(
        f"WHEN {row} THEN {literal(value)}"
        for row, value in enumerate(values)
        if not math.isnan(value)
    )
    return f"CASE {index} {cases} END"


def _weight(network: CodeNetwork, k: int) -> str:
    """Return the probability of a class relative to that of the most probable one."""
    top, score = computed_name("top"), computed_name(f"score_{k}")
    cases = f"WHEN {score} - {top} < {literal(_MIN_EXPONENT)} THEN 0e0"
    if network.has_densities:  # lost in every class: the frequencies of the classes
        prior = literal(math.exp(network.bias[k]))
        cases = f"WHEN {top} < {literal(0.1 * _LOST)} THEN {prior} {cases}"
    return f"CASE {cases} ELSE EXP({score} - {top}) END"

"""Shapley values of a tree by their definition: over all coalitions of columns."""

from __future__ import annotations

from itertools import combinations
from math import factorial

import numpy as np

from ceiba.tree.explain.conditions import ConditionEvaluator, branch_condition


def branches(tree, table):
    """Return {inner node: branch of each row}."""
    evaluator = ConditionEvaluator(table, tree.columns)
    found = {}
    for node in np.flatnonzero(~tree.is_leaf).tolist():
        split = tree.split(node)
        column = tree.schema[split.column]
        satisfied = [
            evaluator.satisfied(
                branch_condition(split, branch, column, branch == split.missing_branch)
            )
            for branch in range(int(tree.n_branches[node]))
        ]
        found[node] = np.argmax(satisfied, axis=0)
    return found


def path_dependent_value(tree, branch, values, row, known, node=0):
    """Return the expected prediction if only some columns are known."""
    if tree.is_leaf[node]:
        return values[node]
    children = tree.children(node)
    if tree.column[node] in known:
        child = children[branch[node][row]]
        return path_dependent_value(tree, branch, values, row, known, child)
    weight = tree.weight[children]
    weight = weight / weight.sum() if weight.sum() > 0 else np.ones(len(weight)) / len(weight)
    return sum(
        w * path_dependent_value(tree, branch, values, row, known, child)
        for w, child in zip(weight, children, strict=True)
    )


def interventional_value(tree, branch, values, row, known, others):
    """Return the mean prediction if the other columns come from the rows of a background."""
    total = 0.0
    for other in others:
        node = 0
        while not tree.is_leaf[node]:
            source = row if tree.column[node] in known else other
            node = tree.children(node)[branch[node][source]]
        total = total + values[node]
    return total / len(others)


def shapley_values(value_of, n_columns):
    """Return the Shapley values of a function of sets of columns."""
    total = 0
    columns = range(n_columns)
    values = {
        known: value_of(set(known))
        for size in range(n_columns + 1)
        for known in combinations(columns, size)
    }
    total = np.zeros((n_columns, len(values[()])))
    for j in columns:
        for known, value in values.items():
            if j in known:
                continue
            n = len(known)
            weight = factorial(n) * factorial(n_columns - n - 1) / factorial(n_columns)
            total[j] += weight * (values[tuple(sorted((*known, j)))] - value)
    return total

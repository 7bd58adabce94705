"""The trace of a tree: its splits in the order in which they were made."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._native import ColumnType
from ceiba._typing import Array
from ceiba.base import Trace
from ceiba.tree.explain.conditions import branch_text, branch_values
from ceiba.tree.grow.grower import GrowthResult


def growth_trace(result: GrowthResult) -> Trace:
    """Return one frame per split, with the best candidate of each column.

    A frame holds ``node``, ``children``, ``column``, ``name``, ``split`` (its first condition),
    ``n_rows``, ``impurity``, ``gain``, ``ties``, ``method``, ``runner_up`` (name, or None) and
    ``runner_up_gain``, and for every column ``candidate_gain``, by which the columns were compared
    (for gain_ratio the ratio; -1 without a split, NaN if the column was not drawn), and
    ``candidate_threshold`` (the largest value that goes left, or the edge of its bin; NaN for
    nominal columns). At most 1000 frames and 64 MB are kept; see `ceiba.base.Trace`.
    """
    tree, trace = result.tree, Trace()
    assert result.candidate_gains is not None
    assert result.candidate_codes is not None
    for number, node in enumerate(tree.inner_nodes.tolist(), start=1):
        gains, codes = result.candidate_gains[node], result.candidate_codes[node]
        values = _frame(result, node)
        values["candidate_gain"] = gains
        values["candidate_threshold"] = _thresholds(result, codes, gains)
        trace.record(number, values)
    return trace


def _frame(result: GrowthResult, node: int) -> dict[str, Any]:
    tree = result.tree
    split = tree.split(node)
    other = int(tree.runner_up_column[node])
    return {
        "node": node,
        "children": np.array(tree.children(node)),
        "column": split.column,
        "name": split.name,
        "split": branch_text(
            split, 0, tree.schema[split.column], branch_values(split, 0, tree.missing)
        ),
        "n_rows": int(tree.n_rows[node]),
        "impurity": float(tree.impurity[node]),
        "gain": float(tree.gain[node]),
        "ties": int(tree.ties[node]),
        "method": split.method,
        "runner_up": None if other < 0 else tree.schema[other].name,
        "runner_up_gain": float(tree.runner_up_gain[node]),
    }


def _thresholds(result: GrowthResult, codes: Array, gains: Array) -> Array:
    """Return the thresholds of the candidates of one node."""
    columns, thresholds = result.tree.columns, np.full(len(codes), np.nan)
    for j, code in enumerate(codes.tolist()):
        kind = columns.types[j]
        if gains[j] >= 0 and kind != ColumnType.NOMINAL:
            thresholds[j] = (
                code if kind == ColumnType.ORDINAL else result.values.value(columns, j, code)
            )
    return thresholds

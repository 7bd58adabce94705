"""The trace of a tree: its splits in the order in which they were grown."""

from __future__ import annotations

from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import Trace
from ceiba.tree.explain.conditions import branch_cases, condition
from ceiba.tree.grow.encoding import NOMINAL, ORDINAL
from ceiba.tree.grow.grower import Grown


def tree_trace(grown: Grown) -> Trace:
    """One frame a split: what was chosen, what each column had to offer, and the runner-up.

    A frame holds ``node``, ``children``, ``column``, ``name``, ``split`` (its first condition),
    ``n_rows``, ``impurity``, ``gain``, ``ties``, ``method``, ``runner_up`` (name, or None) and
    ``runner_up_gain``, and for every column ``candidate_gain``, by which the columns were compared
    (for gain_ratio the ratio; -1 where it could not split, NaN where it was not drawn), and
    ``candidate_cut`` (the largest value that goes left, or the edge of its bin; NaN for nominal
    columns). At most 1000 frames and 64 MB are kept; see `ceiba.base.Trace`.
    """
    tree, trace = grown.tree, Trace()
    assert grown.gains is not None
    assert grown.cuts is not None
    for step, node in enumerate(tree._inner.tolist(), start=1):
        values = _frame(grown, node)
        values["candidate_gain"] = grown.gains[node]
        values["candidate_cut"] = _cuts(grown, grown.cuts[node], grown.gains[node])
        trace.record(step, values)
    return trace


def _frame(grown: Grown, node: int) -> dict[str, Any]:
    tree = grown.tree
    split = tree.split(node)
    other = int(tree.runner_up_column[node])
    return {
        "node": node,
        "children": np.array(tree.children(node)),
        "column": split.column,
        "name": split.name,
        "split": condition(
            split, 0, tree.schema[split.column], branch_cases(split, 0, tree.missing)
        ),
        "n_rows": int(tree.n_rows[node]),
        "impurity": float(tree.impurity[node]),
        "gain": float(tree.gain[node]),
        "ties": int(tree.ties[node]),
        "method": split.method,
        "runner_up": None if other < 0 else tree.schema[other].name,
        "runner_up_gain": float(tree.runner_up_gain[node]),
    }


def _cuts(grown: Grown, codes: Array, gains: Array) -> Array:
    """Values of the candidates' cuts."""
    columns, found = grown.tree.columns, np.full(len(codes), np.nan)
    for j, code in enumerate(codes.tolist()):
        kind = columns.types[j]
        if gains[j] >= 0 and kind != NOMINAL:
            found[j] = code if kind == ORDINAL else grown.scale.number(columns, j, code)
    return found

"""From an estimator's parameters to the rules by which its tree is grown."""

from __future__ import annotations

import math
from numbers import Integral
from typing import Any

from ceiba.stats.fixed_point import FixedPoint
from ceiba.stats.growing import TreeRules

CRITERIA = {
    "gini": 0, "entropy": 1, "log_loss": 1, "gain_ratio": 2, "error": 3,
    "squared_error": 4, "absolute_error": 5,
}  # fmt: skip
MISSING = {"learned": 0, "branch": 1, "majority": 2}
GROWTH = {"depth_first": 0, "level_wise": 1, "best_first": 2}
_DEEPEST = 2**62


def tree_rules(
    estimator: Any, fixed: FixedPoint, n_rows: int, n_columns: int, total: int, seed: int
) -> TreeRules:
    """The rules for ``n_rows`` rows of together ``total`` weight, in units of the fixed point."""
    e = estimator
    growth = e.growth
    if growth == "auto":
        growth = "depth_first" if e.max_leaf_nodes is None else "best_first"
    return TreeRules(
        {
            "criterion": CRITERIA[e.criterion],
            "gaps": MISSING[e.missing],
            "growing": GROWTH[growth],
            "multiway": e.splits == "multiway",
            "least_rows": least_rows(e.min_samples_leaf, n_rows, 1),
            "least_weight": math.ceil(e.min_weight_fraction_leaf * total),
            "classes": 0 if fixed.classes is None else len(fixed.classes),
            "weighted": fixed.weighted,
            "max_depth": _DEEPEST if e.max_depth is None else int(e.max_depth),
            "least_to_split": least_rows(e.min_samples_split, n_rows, 2),
            "max_leaves": int(e.max_leaf_nodes or 0),
            "columns_a_node": columns_a_node(e.max_features, n_columns),
            "least_decrease": float(e.min_impurity_decrease),
            "enough": float(e.min_impurity_split),
            "seed": seed,
            "weight_unit": fixed.relative_unit,
            "target_unit": fixed.target_unit,
            "square_unit": fixed.square_unit,
            "centre": fixed.centre,
            "candidates": bool(e.trace),
        }
    )


def least_rows(asked: int | float, n_rows: int, least: int) -> int:
    """A number of rows, given as such or as a share of all."""
    if isinstance(asked, Integral):
        return int(asked)
    return max(least, math.ceil(asked * n_rows))


def columns_a_node(asked: int | float | str | None, n_columns: int) -> int:
    """How many columns a node looks at; 0 for all."""
    if asked is None:
        return 0
    if asked == "sqrt":
        return max(1, int(math.sqrt(n_columns)))
    if asked == "log2":
        return max(1, int(math.log2(n_columns)))
    if isinstance(asked, Integral):
        return min(int(asked), n_columns)
    return max(1, int(float(asked) * n_columns))

"""From an estimator's parameters to the rules by which its tree is grown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ceiba._typing import Array
from ceiba.data.schema import Kind, Schema
from ceiba.tree.grow.statistics import TreeRules
from ceiba.tree.grow.targets import FixedPoint
from ceiba.tree.grow.thresholds import CutRule
from ceiba.tree.presets import Options

CRITERIA = {
    "gini": 0, "entropy": 1, "log_loss": 1, "gain_ratio": 2, "error": 3,
    "squared_error": 4, "absolute_error": 5, "poisson": 6,
}  # fmt: skip
MISSING = {"learned": 0, "branch": 1, "majority": 2, "fractional": 3, "surrogate": 4}
REUSE = {"all": 0, "numeric": 1, "none": 2}
# No side of a numeric cut needs more than this weight, whatever cut_share asks (Quinlan 1993).
MOST_LEAST = 25
# Columns with as many levels as this share of the rows do not count in the average gain.
MANY_LEVELS = 0.3
GROWTH = {"depth_first": 0, "level_wise": 1, "best_first": 2}
_DEEPEST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What a tree grows from, beside its rows: all of it is known before the first split.

    Parameters
    ----------
    schema : Schema
    n_rows, total : int
        Rows, and their weight in units of the fixed point.
    fixed : FixedPoint
    cuts : CutRule
        With the seed of the fit.
    cost_factors : ndarray or None
        What costs multiply the weights of classes by.
    """

    schema: Schema
    n_rows: int
    total: int
    fixed: FixedPoint
    cuts: CutRule
    cost_factors: Array | None = None


def tree_rules(estimator: Any, options: Options, ground: Ground) -> TreeRules:
    """The rules of growing."""
    e, fixed = estimator, ground.fixed
    growth = e.growth
    if growth == "auto":
        growth = "depth_first" if e.max_leaf_nodes is None else "best_first"
    return TreeRules(
        {
            "criterion": CRITERIA[options.criterion],
            "growing": GROWTH[growth],
            "reuse": REUSE[options.reuse],
            "classes": 0 if fixed.classes is None else len(fixed.classes),
            "weighted": fixed.weighted,
            "max_depth": _DEEPEST if e.max_depth is None else int(e.max_depth),
            "least_to_split": least_rows(options.min_samples_split, ground.n_rows, 2),
            "max_leaves": int(e.max_leaf_nodes or 0),
            "columns_a_node": columns_a_node(e.max_features, len(ground.schema)),
            "many_levels": many_levels(ground.schema, ground.n_rows),
            "surrogates": int(e.max_surrogates),
            "least_decrease": float(e.min_impurity_decrease),
            "enough": float(e.min_impurity_split),
            "seed": ground.cuts.seed,
            "weight_unit": fixed.relative_unit,
            "target_unit": fixed.target_unit,
            "square_unit": fixed.square_unit,
            "centre": fixed.centre,
            "candidates": bool(e.trace),
            **split_rules(e, options, ground),
        }
    )


def split_rules(estimator: Any, options: Options, ground: Ground) -> dict[str, Any]:
    """How one column of one node may be split."""
    e, fixed = estimator, ground.fixed
    rows = least_rows(options.min_samples_leaf, ground.n_rows, 1)
    weight = math.ceil(e.min_weight_fraction_leaf * ground.total)
    if options.missing == "fractional":
        # Shares of rows add up to weights, which may be a rounding short.
        weight = max(weight, math.ceil(in_units(rows * (1 - 1e-9), fixed)))
        rows = 1
    return {
        "gaps": MISSING[options.missing],
        "multiway": options.splits != "binary",
        "intervals": (e.n_intervals or 1) if options.splits == "intervals" else 0,
        "empty": options.empty_branches,
        "two": options.leaf_rule == "two",
        "guard": options.gain_guard,
        "mdl": options.mdl_correction,
        "least_rows": rows,
        "least_weight": weight,
        "most_least": math.floor(in_units(MOST_LEAST, fixed)),
        "cut_share": float(options.cut_share),
        "real_unit": fixed.weight_unit,
        "cuts": ground.cuts.code,
        "n_cuts": int(ground.cuts.n_thresholds),
        "exact_values": e.max_bins is None,
        "factors": [] if ground.cost_factors is None else ground.cost_factors.tolist(),
    }


def in_units(weight: float, fixed: FixedPoint) -> float:
    """A weight in units of the fixed point; more than all rows have is as good as any more."""
    return min(weight / fixed.weight_unit, float(_DEEPEST))


def many_levels(schema: Schema, n_rows: int) -> float:
    """Levels from which on a column does not count in the average gain; infinite where all do."""
    limit = MANY_LEVELS * n_rows
    many = [column.kind is Kind.NOMINAL and len(column.levels) >= limit for column in schema]
    return math.inf if all(many) else limit


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

"""From a `TreeConfig` and the data to the parameter struct of the kernels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from numbers import Integral
from typing import Any, TypeVar

from ceiba import _native
from ceiba._native import Criterion, FeatureReuse, GrowthOrder, MissingPolicy, ThresholdGrid
from ceiba._typing import Array
from ceiba.data.schema import Column, Kind, Schema
from ceiba.tree.config import TreeConfig
from ceiba.tree.grow.targets import FixedPointScale

_Member = TypeVar("_Member", bound=IntEnum)

# No side of a numeric split needs more than this weight, whatever min_split_fraction is (Quinlan
# 1993).
_MAX_MIN_SIDE_WEIGHT = 25
# Columns with at least this fraction of the rows as categories do not count in the average gain.
_MANY_CATEGORIES = 0.3
_UNLIMITED = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class GrowthInputs:
    """Facts about the data that must be known before the first split.

    Parameters
    ----------
    schema : Schema
    n_rows : int
    total_weight : int
        Weight of all rows in units of the fixed-point scale; used by min_weight_fraction_leaf.
    scale : FixedPointScale
    seed : int
    cost_factors : ndarray or None
        Factors of the class weights that stand for a cost matrix.
    """

    schema: Schema
    n_rows: int
    total_weight: int
    scale: FixedPointScale
    seed: int
    cost_factors: Array | None = None


@dataclass(frozen=True, eq=False)
class GrowthConfig:
    """The parameter struct of the kernels as plain values, which can be sent to workers."""

    values: dict[str, Any]

    def __reduce__(self) -> tuple[Any, ...]:
        return GrowthConfig, (self.values,)

    @classmethod
    def of(
        cls, config: TreeConfig, inputs: GrowthInputs, *, weighted: bool | None = None
    ) -> GrowthConfig:
        """Translate a configuration; ``weighted`` as in the scale if not given."""
        growth, scale, columns = config.growth, inputs.scale, list(inputs.schema)
        if growth == "auto":
            growth = "depth_first" if config.max_leaf_nodes is None else "best_first"
        return cls(
            {
                "criterion": _member(Criterion, config.criterion),
                "growth_order": _member(GrowthOrder, growth),
                "feature_reuse": _member(FeatureReuse, config.feature_reuse),
                "n_classes": 0 if scale.classes is None else len(scale.classes),
                "weighted": scale.weighted if weighted is None else weighted,
                "max_depth": _UNLIMITED if config.max_depth is None else int(config.max_depth),
                "min_rows_split": _min_rows(config.min_samples_split, inputs.n_rows, 2),
                "max_leaves": int(config.max_leaf_nodes or 0),
                "columns_per_node": n_drawn_columns(config.max_features, len(columns)),
                "many_categories": _many_categories(columns, inputs.n_rows),
                "max_surrogates": int(config.max_surrogates),
                "min_impurity_decrease": float(config.min_impurity_decrease),
                "min_impurity": float(config.min_impurity_split),
                "seed": inputs.seed,
                "weight_unit": scale.relative_weight_unit,
                "target_unit": scale.target_unit,
                "square_unit": scale.square_unit,
                "target_center": scale.target_center,
                "keep_candidates": bool(config.trace),
                **_split_values(config, inputs),
            }
        )

    @cached_property
    def native(self) -> _native.TreeConfig:
        """The parameter struct."""
        struct = _native.TreeConfig()
        for name, value in self.values.items():
            setattr(struct, name, value)
        return struct

    @property
    def cell_size(self) -> int:
        """Numbers per histogram cell."""
        return int((self.values["n_classes"] or 2) + self.values["weighted"])

    def count_rows(self, cells: Array) -> int:
        """Return the number of rows in the cells of some nodes."""
        if self.values["weighted"]:
            return int(cells[:, -1].sum())
        return int(cells.sum()) if self.values["n_classes"] else int(cells[:, 0].sum())


def _split_values(config: TreeConfig, inputs: GrowthInputs) -> dict[str, Any]:
    """Return the values that decide how one column of one node may be split."""
    scale, grid = inputs.scale, _member(ThresholdGrid, config.thresholds)
    rows = _min_rows(config.min_samples_leaf, inputs.n_rows, 1)
    weight = math.ceil(config.min_weight_fraction_leaf * inputs.total_weight)
    if config.missing == "fractional":
        # Fractions of rows add up to weights, which may be short by a rounding error.
        weight = max(weight, math.ceil(_in_units(rows * (1 - 1e-9), scale)))
        rows = 1
    if config.threshold_scope == "root" and not config.all_thresholds:
        grid = ThresholdGrid.GIVEN
    factors = inputs.cost_factors
    return {
        "missing": _member(MissingPolicy, config.missing),
        "multiway": config.splits != "binary",
        "n_intervals": (config.n_intervals or 1) if config.splits == "intervals" else 0,
        "empty_branches": config.empty_branches,
        "two_branches_suffice": config.min_leaf_branches == "two",
        "average_gain_guard": config.above_average_gain,
        "mdl_penalty": config.mdl_correction,
        "min_rows": rows,
        "min_weight": weight,
        "max_min_side_weight": math.floor(_in_units(_MAX_MIN_SIDE_WEIGHT, scale)),
        "min_side_fraction": float(config.min_split_fraction),
        "real_unit": scale.weight_unit,
        "threshold_grid": grid,
        "n_thresholds": int(config.n_thresholds),
        "exact_values": config.max_bins is None,
        "cost_factors": [] if factors is None else factors.tolist(),
    }


def _member(kind: type[_Member], name: str) -> _Member:
    """Return the member of an enumeration that a parameter value names."""
    return kind[name.upper()]


def _in_units(weight: float, scale: FixedPointScale) -> float:
    """Return a weight in units of the scale, at most more than all rows have."""
    return min(weight / scale.weight_unit, float(_UNLIMITED))


def _many_categories(columns: list[Column], n_rows: int) -> float:
    """Return the number of categories that excludes a column from the average gain.

    It is infinite if that would exclude all columns.
    """
    limit = _MANY_CATEGORIES * n_rows
    many = [column.kind is Kind.NOMINAL and len(column.categories) >= limit for column in columns]
    return math.inf if all(many) else limit


def _min_rows(value: int | float, n_rows: int, minimum: int) -> int:
    """Return a number of rows, given as such or as a fraction of all."""
    if isinstance(value, Integral):
        return int(value)
    return max(minimum, math.ceil(value * n_rows))


def n_drawn_columns(max_features: int | float | str | None, n_columns: int) -> int:
    """Return the number of columns that ``max_features`` stands for; 0 for all."""
    if max_features is None:
        return 0
    if max_features == "sqrt":
        return max(1, int(math.sqrt(n_columns)))
    if max_features == "log2":
        return max(1, int(math.log2(n_columns)))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_columns)
    return max(1, int(float(max_features) * n_columns))

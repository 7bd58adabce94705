"""The configuration of a tree: a named preset, overridden by single parameters.

`GrowthConfig` is the same as the kernels take it.

Hunt, Marin & Stone (1966), "Experiments in induction". Quinlan (1986), "Induction of decision
trees", Machine Learning 1. Quinlan (1993), "C4.5: programs for machine learning". Breiman,
Friedman, Olshen & Stone (1984), "Classification and regression trees".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from ceiba import _native
from ceiba._native import Criterion, FeatureReuse, GrowthOrder, MissingPolicy, ThresholdGrid
from ceiba.base import ParameterError, unused_error
from ceiba.data.schema import Column, Kind

if TYPE_CHECKING:
    from ceiba.tree.grow.targets import FixedPointScale, GrowthInputs

MissingRouting = Literal["branch", "fractional", "surrogate"]

PRESETS: dict[str, dict[str, Any]] = {
    "cart": {
        "criterion": "gini", "splits": "binary", "thresholds": "midpoint", "missing": "learned",
        "feature_reuse": "all", "empty_branches": False, "above_average_gain": False,
        "mdl_correction": False, "min_split_fraction": 0.0, "min_samples_split": 2,
        "min_samples_leaf": 1, "min_leaf_branches": "all", "collapse": False, "pruning": "none",
        "subtree_raising": False,
    },
}  # fmt: skip
PRESETS["hunt"] = PRESETS["cart"] | {
    "splits": "multiway", "missing": "branch", "empty_branches": True,
}  # fmt: skip
PRESETS["id3"] = PRESETS["hunt"] | {"criterion": "entropy", "feature_reuse": "numeric"}
PRESETS["c45"] = PRESETS["hunt"] | {
    "criterion": "gain_ratio", "thresholds": "value", "missing": "fractional",
    "above_average_gain": True, "mdl_correction": True, "min_split_fraction": 0.1,
    "min_samples_split": 4, "min_samples_leaf": 2, "min_leaf_branches": "two", "collapse": True,
    "pruning": "pessimistic", "subtree_raising": True,
}  # fmt: skip
_ENTROPY_CRITERIA = ("entropy", "log_loss", "gain_ratio")
_REGRESSION_CRITERIA = ("squared_error", "absolute_error", "poisson")
# No side of a numeric split needs more than this weight, whatever min_split_fraction is (Quinlan
# 1993).
_MAX_MIN_SIDE_WEIGHT = 25
# Columns with at least this fraction of the rows as categories do not count in the average gain.
_MANY_CATEGORIES = 0.3
_UNLIMITED = 2**62
_Member = TypeVar("_Member", bound=IntEnum)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeConfig:
    """How a tree is grown and pruned, with the preset resolved.

    The fields have the names and meanings of the parameters of ``DecisionTreeClassifier``. Trees,
    forests and boosting share this class.

    Examples
    --------
    >>> TreeConfig.of("c45", max_depth=3).criterion
    'gain_ratio'
    >>> TreeConfig.of(criterion="squared_error", max_bins=255, min_samples_leaf=5).missing
    'learned'
    """

    criterion: str
    splits: str
    thresholds: str
    missing: str
    feature_reuse: str
    empty_branches: bool
    above_average_gain: bool
    mdl_correction: bool
    min_split_fraction: float
    min_samples_split: int | float
    min_samples_leaf: int | float
    min_leaf_branches: str
    collapse: bool
    pruning: str
    subtree_raising: bool
    n_intervals: int | None = None
    threshold_scope: str = "node"
    n_thresholds: int = 9
    max_bins: int | None = None
    max_surrogates: int = 5
    max_depth: int | None = None
    min_weight_fraction_leaf: float = 0.0
    min_impurity_decrease: float = 0.0
    min_impurity_split: float = 0.0
    max_leaf_nodes: int | None = None
    growth: str = "auto"
    max_features: int | float | str | None = None
    ccp_alpha: float | None = None
    trace: bool = False

    @classmethod
    def of(cls, algorithm: str = "cart", **parameters: Any) -> TreeConfig:
        """Return the preset, overridden by the parameters that are not None.

        Raises `ParameterError` for parameters that contradict each other.
        """
        given = {name: value for name, value in parameters.items() if value is not None}
        preset = PRESETS[algorithm]
        values = {**preset, **_adapt_preset(preset, given), **given}
        if "pruning" not in given and given.get("ccp_alpha", 0.0) > 0:
            values["pruning"] = "cost_complexity"
        config = cls(**values)
        _check_splits(config)
        _check_thresholds(config, given)
        _check_criterion(config)
        return config

    @classmethod
    def from_estimator(cls, estimator: Any) -> TreeConfig:
        """Return the configuration of an estimator's parameters."""
        names = ("algorithm", *cls.__dataclass_fields__)
        return cls.of(**{n: getattr(estimator, n) for n in names if hasattr(estimator, n)})

    @property
    def is_regression(self) -> bool:
        """Whether the criterion is one of numbers."""
        return self.criterion in _REGRESSION_CRITERIA

    @property
    def missing_routing(self) -> MissingRouting:
        """Value of `Tree.missing`: where rows with a missing value go at prediction."""
        routing: dict[str, MissingRouting] = {
            "fractional": "fractional", "surrogate": "surrogate",
        }  # fmt: skip
        return routing.get(self.missing, "branch")

    @property
    def all_thresholds(self) -> bool:
        """Whether a split may lie between any two neighboring values."""
        return self.thresholds in ("midpoint", "value")

    @property
    def compares_weight(self) -> bool:
        """Whether weights are compared with numbers of rows."""
        return self.missing == "fractional" or self.mdl_correction or self.min_split_fraction > 0

    @property
    def prunes(self) -> bool:
        """Whether ``fit`` prunes the grown tree."""
        return self.pruning != "none" or self.collapse


def _adapt_preset(preset: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """Return other values for settings of a preset that the given parameters rule out."""
    adapted: dict[str, Any] = {}
    criterion, splits = given.get("criterion", preset["criterion"]), given.get("splits")
    if criterion != "gain_ratio":
        adapted["above_average_gain"] = False
    if criterion not in _ENTROPY_CRITERIA or splits == "intervals":
        adapted["mdl_correction"] = False
    if splits == "intervals":
        adapted |= {"thresholds": "midpoint", "min_split_fraction": 0.0}
    if splits == "binary":
        adapted |= {"empty_branches": False, "min_leaf_branches": "all"}
    if "max_bins" in given and preset["thresholds"] == "value":
        adapted["thresholds"] = "midpoint"  # values inside a bin are unknown
    return adapted


def _check_splits(config: TreeConfig) -> None:
    splits = f"splits={config.splits!r}"
    if config.splits == "binary":
        if config.empty_branches:
            raise unused_error("empty_branches", splits, True)
        if config.min_leaf_branches == "two":
            raise unused_error("min_leaf_branches", splits, "two")
    if config.splits != "intervals" and config.n_intervals is not None:
        raise unused_error("n_intervals", splits, config.n_intervals)
    if config.splits == "intervals":
        if config.mdl_correction:
            raise unused_error("mdl_correction", splits, True)
        if config.min_split_fraction > 0:
            raise unused_error("min_split_fraction", splits, config.min_split_fraction)
        if config.n_intervals is None and config.is_regression:
            raise ParameterError(
                "splits='intervals' requires n_intervals for regression, got None: the "
                "description length that chooses the number of intervals needs classes."
            )
    if config.missing == "surrogate" and config.splits != "binary":
        raise ParameterError(
            f"missing='surrogate' requires splits='binary', got {config.splits!r}."
        )


def _check_thresholds(config: TreeConfig, given: dict[str, Any]) -> None:
    if config.splits == "intervals" and config.thresholds != "midpoint":
        raise ParameterError(
            f"splits='intervals' requires thresholds='midpoint', got {config.thresholds!r}."
        )
    if config.threshold_scope == "root" and config.all_thresholds:
        raise unused_error(
            "threshold_scope", f"thresholds={config.thresholds!r}", "root", default="node"
        )
    if config.max_bins is not None and given.get("thresholds") == "value":
        raise ParameterError(
            f"thresholds='value' requires max_bins=None, got {config.max_bins}."
        )  # fmt: skip


def _check_criterion(config: TreeConfig) -> None:
    criterion = f"criterion={config.criterion!r}"
    if config.above_average_gain and config.criterion != "gain_ratio":
        raise unused_error("above_average_gain", criterion, True)
    if config.mdl_correction and config.criterion not in _ENTROPY_CRITERIA:
        raise unused_error("mdl_correction", criterion, True)
    if (config.ccp_alpha or 0.0) > 0 and config.pruning != "cost_complexity":
        raise unused_error("ccp_alpha", f"pruning={config.pruning!r}", config.ccp_alpha)
    if config.criterion != "absolute_error":
        return
    for name, value, allowed in (
        ("splits", config.splits, ("binary", "multiway")),
        ("thresholds", config.thresholds, ("midpoint", "value")),
        ("missing", config.missing, ("learned", "branch", "majority")),
        ("empty_branches", config.empty_branches, (False,)),
    ):
        if value not in allowed:
            options = " or ".join(f"{name}={choice!r}" for choice in allowed)
            raise ParameterError(
                f"criterion='absolute_error' requires {options}, got {value!r}: the other values "
                "need criterion='squared_error'."
            )


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
    """Return the categories that exclude a column from the average gain, unless all have them."""
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

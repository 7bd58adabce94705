"""The configuration of a tree: a named preset, overridden by single parameters.

`GrowthConfig` is the same as the kernels take it.

Hunt, Marin & Stone (1966), "Experiments in induction". Quinlan (1986), "Induction of decision
trees", Machine Learning 1. Quinlan (1993), "C4.5: programs for machine learning". Breiman,
Friedman, Olshen & Stone (1984), "Classification and regression trees".
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

from ceiba import _native
from ceiba._native import Criterion, FeatureReuse, GrowthOrder, MissingPolicy, ThresholdGrid
from ceiba.base import ParameterError, check_unused, declared, unused_error
from ceiba.data.schema import Column, Kind
from ceiba.tree.constraints import (
    check_leaf_probability,
    check_monotonic_classes,
    check_subtree_raising,
    resolve_interactions,
    resolve_monotonic,
)

if TYPE_CHECKING:
    from ceiba.tree.grow.targets import FixedPointScale, GrowthInputs

MissingRouting = Literal["branch", "fractional", "surrogate"]

PRESETS: dict[str, dict[str, Any]] = {
    "cart": {
        "criterion": "gini", "splits": "binary", "thresholds": "midpoint", "missing": "learned",
        "feature_reuse": "all", "empty_branches": False, "above_average_gain": False,
        "mdl_correction": False, "category_correction": True, "min_split_fraction": 0.0,
        "min_samples_split": 2, "min_samples_leaf": 1, "min_leaf_branches": "all",
        "collapse": False, "pruning": "none", "subtree_raising": False,
    },
}  # fmt: skip
PRESETS["hunt"] = PRESETS["cart"] | {
    "splits": "multiway", "missing": "branch", "empty_branches": True,
    "category_correction": False,
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


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeConfig:
    """How a tree is grown and pruned, with the preset resolved.

    The fields have the names and meanings of the parameters of ``DecisionTreeClassifier``. Trees,
    forests and boosting share this class.
    """

    criterion: str
    splits: str
    thresholds: str
    missing: str
    feature_reuse: str
    empty_branches: bool
    above_average_gain: bool
    mdl_correction: bool
    category_correction: bool
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
    monotonic_cst: Any = None
    interaction_cst: Any = None
    ccp_alpha: float | None = None
    pruning_step: int | None = None
    trace: bool = False

    @classmethod
    def of(cls, algorithm: str = "cart", **parameters: Any) -> TreeConfig:
        """Return the preset, overridden by the parameters that are not None.

        Raises `ParameterError` for parameters that contradict each other.
        """
        given = {name: value for name, value in parameters.items() if value is not None}
        preset = PRESETS[algorithm]
        values = {**preset, **_adapt_preset(preset, given), **given}
        if "pruning" not in given and (given.get("ccp_alpha", 0.0) > 0 or "pruning_step" in given):
            values["pruning"] = "cost_complexity"
        config = cls(**values)
        _check(config)
        return config

    @classmethod
    def from_estimator(cls, estimator: Any) -> TreeConfig:
        """Return the configuration of an estimator's parameters, which must all have an effect."""
        kind: Any = type(estimator)
        names = _shared_parameters(kind)
        values = {name: getattr(estimator, name) for name in names}
        if estimator.splitter == "random":
            check_unused(estimator, ["thresholds", "n_thresholds"], "splitter='random'")
            values |= {"thresholds": "random", "n_thresholds": 1}
        config = cls.of(**values)
        if config.thresholds not in ("quantile", "equal_width", "random"):
            check_unused(estimator, ["n_thresholds"], f"thresholds={config.thresholds!r}")
        if config.missing != "surrogate":
            check_unused(estimator, ["max_surrogates"], f"missing={config.missing!r}")
        probability = getattr(estimator, "leaf_probability", "m_estimate")
        if probability != "m_estimate":
            check_unused(estimator, ["m_prior"], f"leaf_probability={probability!r}")
        if config.monotonic_cst is not None:
            check_leaf_probability(estimator)
        return config

    @property
    def is_regression(self) -> bool:
        """Whether the criterion is one of numbers."""
        return self.criterion in _REGRESSION_CRITERIA

    @property
    def bounds_probabilities(self) -> bool:
        """Whether constraints may move class weights of leaves, which then need fine units."""
        return self.monotonic_cst is not None and not self.is_regression

    @property
    def missing_routing(self) -> MissingRouting:
        """Value of `Tree.missing`: where rows with a missing value go at prediction."""
        if self.missing == "fractional":
            return "fractional"
        return "surrogate" if self.missing == "surrogate" else "branch"

    @property
    def all_thresholds(self) -> bool:
        """Whether a split may lie between any two neighboring values."""
        return self.thresholds in ("midpoint", "value")

    @property
    def compares_weight(self) -> bool:
        """Whether weights are compared with numbers of rows."""
        return self.missing == "fractional" or self.mdl_correction or self.min_split_fraction > 0

    @property
    def cross_validates_alpha(self) -> bool:
        """Whether cross-validation chooses the subtree of cost-complexity pruning."""
        return (
            self.pruning == "cost_complexity"
            and self.ccp_alpha is None
            and self.pruning_step is None
        )

    @property
    def prunes(self) -> bool:
        """Whether ``fit`` prunes the grown tree."""
        return self.pruning != "none" or self.collapse


@cache
def _shared_parameters(cls: type) -> list[str]:
    """Return the parameters of an estimator class that are settings of `TreeConfig`."""
    names = ("algorithm", *TreeConfig.__dataclass_fields__)
    own = {entry.name for entry in declared(cls)}
    return [name for name in names if name in own]


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


def _check(config: TreeConfig) -> None:
    """Raise `ParameterError` for parameters that contradict each other."""
    binary, intervals = config.splits == "binary", config.splits == "intervals"
    # A parameter, its values without effect, and the setting with which it has none.
    for name, unset, setting, is_unused in (
        ("empty_branches", (False,), "splits", binary),
        ("min_leaf_branches", ("all",), "splits", binary),
        ("n_intervals", (None,), "splits", not intervals),
        ("mdl_correction", (False,), "splits", intervals),
        ("min_split_fraction", (0.0,), "splits", intervals),
        ("threshold_scope", ("node",), "thresholds", config.all_thresholds),
        ("above_average_gain", (False,), "criterion", config.criterion != "gain_ratio"),
        ("mdl_correction", (False,), "criterion", config.criterion not in _ENTROPY_CRITERIA),
        ("ccp_alpha", (None, 0.0), "pruning", config.pruning != "cost_complexity"),
        ("pruning_step", (None,), "pruning", config.pruning != "cost_complexity"),
    ):
        value = getattr(config, name)
        if is_unused and value not in unset:
            default = None if name in PRESETS["cart"] else unset[0]
            raise unused_error(name, f"{setting}={getattr(config, setting)!r}", value, default)
    # A setting, and the values that another parameter may have with it.
    for setting, chosen, name, allowed in (
        ("missing", "surrogate", "splits", ("binary",)),
        ("splits", "intervals", "thresholds", ("midpoint",)),
        ("thresholds", "value", "max_bins", (None,)),
        ("criterion", "absolute_error", "splits", ("binary", "multiway")),
        ("criterion", "absolute_error", "thresholds", ("midpoint", "value")),
        ("criterion", "absolute_error", "missing", ("learned", "branch", "majority")),
        ("criterion", "absolute_error", "empty_branches", (False,)),
    ):
        value = getattr(config, name)
        if getattr(config, setting) == chosen and value not in allowed:
            choices = " or ".join(f"{name}={choice!r}" for choice in allowed)
            raise ParameterError(f"{setting}={chosen!r} requires {choices}, got {value!r}.")
    if config.monotonic_cst is not None or config.interaction_cst is not None:
        _check_constraints(config)
    if config.pruning_step is not None and config.ccp_alpha is not None:
        raise ParameterError(
            "ccp_alpha and pruning_step both select a subtree of the cost-complexity path, got "
            f"{config.ccp_alpha!r} and {config.pruning_step!r}: set one of them."
        )
    if intervals and config.n_intervals is None and config.is_regression:
        raise ParameterError(
            "splits='intervals' requires n_intervals for regression, got None: the description "
            "length that chooses the number of intervals needs classes."
        )


def _check_constraints(config: TreeConfig) -> None:
    """Raise `ParameterError` for settings under which constraints would not hold."""
    scored_with_others = ("learned", "branch", "majority")
    if config.monotonic_cst is not None and config.pruning == "pessimistic":
        check_subtree_raising(config.subtree_raising)
    for constraint, name, is_allowed, remedy, reason in (
        (
            "monotonic_cst", "splits", config.splits == "binary", "splits='binary'",
            "two branches are ordered by their values",
        ),
        (
            "monotonic_cst", "criterion", config.criterion != "absolute_error",
            "criterion='squared_error' or 'poisson'", "means are compared, not medians",
        ),
        (
            "monotonic_cst", "missing", config.missing in scored_with_others,
            "missing='learned', 'branch' or 'majority'",
            "rows that are routed after a split is chosen would move the values of its branches",
        ),
        (
            "interaction_cst", "missing", config.missing != "surrogate", "another missing",
            "surrogate splits test other columns",
        ),
    ):  # fmt: skip
        if getattr(config, constraint) is not None and not is_allowed:
            raise ParameterError(
                f"{constraint} requires {remedy}, got {getattr(config, name)!r}: {reason}."
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
        interactions = None
        if config.interaction_cst is not None:
            interactions = resolve_interactions(config.interaction_cst, inputs.schema)
        if growth == "auto":
            growth = "depth_first" if config.max_leaf_nodes is None else "best_first"
        return cls(
            {
                "criterion": Criterion[config.criterion.upper()],
                "growth_order": GrowthOrder[growth.upper()],
                "feature_reuse": FeatureReuse[config.feature_reuse.upper()],
                "n_classes": 0 if scale.classes is None else len(scale.classes),
                "weighted": scale.weighted if weighted is None else weighted,
                "max_depth": _UNLIMITED if config.max_depth is None else int(config.max_depth),
                "min_rows_split": _min_rows(config.min_samples_split, inputs.n_rows, 2),
                "max_leaves": int(config.max_leaf_nodes or 0),
                "columns_per_node": n_drawn_columns(config.max_features, len(columns)),
                "many_categories": _many_categories(columns, inputs.n_rows),
                "category_correction": config.category_correction and _has_many(columns),
                "interactions": [each.tolist() for each in interactions or ()],
                "max_surrogates": int(config.max_surrogates),
                "min_impurity_decrease": float(config.min_impurity_decrease),
                "min_impurity": float(config.min_impurity_split),
                "seed": inputs.seed,
                "weight_unit": math.ldexp(1.0, -scale.weight_bits),
                "target_unit": math.ldexp(1.0, -scale.target_bits),
                "square_unit": math.ldexp(1.0, -scale.square_bits),
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
    scale, grid = inputs.scale, ThresholdGrid[config.thresholds.upper()]
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
        "monotonic": [] if config.monotonic_cst is None else _signs(config.monotonic_cst, inputs),
        "missing": MissingPolicy[config.missing.upper()],
        "multiway": config.splits != "binary",
        "n_intervals": (config.n_intervals or 1) if config.splits == "intervals" else 0,
        "empty_branches": config.empty_branches,
        "two_branches_suffice": config.min_leaf_branches == "two",
        "above_average_gain": config.above_average_gain,
        "mdl_correction": config.mdl_correction,
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


def _signs(monotonic_cst: Any, inputs: GrowthInputs) -> list[int]:
    """Return the sign of each column, or an empty list if no split can break a constraint."""
    signs = resolve_monotonic(monotonic_cst, inputs.schema)
    classes = inputs.scale.classes
    if signs is None or (classes is not None and len(classes) == 1):
        return []
    check_monotonic_classes(0 if classes is None else len(classes))
    return list(signs.tolist())


def _in_units(weight: float, scale: FixedPointScale) -> float:
    """Return a weight in units of the scale, at most more than all rows have."""
    return min(weight / scale.weight_unit, float(_UNLIMITED))


def _many_categories(columns: list[Column], n_rows: int) -> float:
    """Return the categories that exclude a column from the average gain, unless all have them."""
    limit = _MANY_CATEGORIES * n_rows
    many = [column.kind is Kind.NOMINAL and len(column.categories) >= limit for column in columns]
    return math.inf if all(many) else limit


def _has_many(columns: list[Column]) -> bool:
    """Return whether some nominal column has so many categories that its gain is corrected."""
    return any(
        column.kind is Kind.NOMINAL and len(column.categories) > _native.FEW_CATEGORIES
        for column in columns
    )


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

"""Named presets: what the parameters mean that are None.

Hunt, Marin & Stone (1966), "Experiments in induction". Quinlan (1986), "Induction of decision
trees", Machine Learning 1. Quinlan (1993), "C4.5: programs for machine learning". Breiman,
Friedman, Olshen & Stone (1984), "Classification and regression trees".
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

PRESETS: dict[str, dict[str, Any]] = {
    "cart": {
        "criterion": "gini", "splits": "binary", "thresholds": "midpoint", "missing": "learned",
        "reuse": "all", "empty_branches": False, "gain_guard": False, "mdl_correction": False,
        "cut_share": 0.0, "min_samples_split": 2, "min_samples_leaf": 1, "leaf_rule": "every",
        "collapse": False, "pruning": "none", "raising": False,
    },
}  # fmt: skip
PRESETS["hunt"] = PRESETS["cart"] | {
    "splits": "multiway", "missing": "branch", "empty_branches": True,
}  # fmt: skip
PRESETS["id3"] = PRESETS["hunt"] | {"criterion": "entropy", "reuse": "numeric"}
PRESETS["c45"] = PRESETS["hunt"] | {
    "criterion": "gain_ratio", "thresholds": "value", "missing": "fractional", "gain_guard": True,
    "mdl_correction": True, "cut_share": 0.1, "min_samples_split": 4, "min_samples_leaf": 2,
    "leaf_rule": "two", "collapse": True, "pruning": "pessimistic", "raising": True,
}  # fmt: skip
_LOGARITHMIC = ("entropy", "log_loss", "gain_ratio")


@dataclass(frozen=True, slots=True)
class Options:
    """What an estimator's parameters come to under its preset."""

    criterion: str
    splits: str
    thresholds: str
    missing: str
    reuse: str
    empty_branches: bool
    gain_guard: bool
    mdl_correction: bool
    cut_share: float
    min_samples_split: int | float
    min_samples_leaf: int | float
    leaf_rule: str
    collapse: bool
    pruning: str
    raising: bool

    @property
    def gap_way(self) -> str:
        """What `Tree.missing` says."""
        return {"fractional": "shared", "surrogate": "surrogate"}.get(self.missing, "branch")

    @property
    def counts_weight(self) -> bool:
        """Whether a rule compares weights with numbers of rows."""
        return self.missing == "fractional" or self.mdl_correction or self.cut_share > 0

    @property
    def every_cut(self) -> bool:
        """Whether numeric columns may be cut between any two neighbouring values."""
        return self.thresholds in ("midpoint", "value")


def options_of(estimator: Any) -> Options:
    """The preset, overridden by the parameters that are not None; contradictions are refused."""
    asked = {entry.name: getattr(estimator, entry.name, None) for entry in fields(Options)}
    given = {name: value for name, value in asked.items() if value is not None}
    preset = PRESETS[getattr(estimator, "algorithm", "cart")]
    suited = _suited(preset, given)
    if getattr(estimator, "max_bins", None) is not None and preset["thresholds"] == "value":
        suited["thresholds"] = "midpoint"  # of what is known of values: edges of bins
    options = Options(**{**preset, **suited, **given})
    if given.get("pruning") is None and (estimator.ccp_alpha or 0.0) > 0:
        options = Options(**{**_as_dict(options), "pruning": "cost_complexity"})
    _check(estimator, options, given)
    return options


def _as_dict(options: Options) -> dict[str, Any]:
    return {entry.name: getattr(options, entry.name) for entry in fields(Options)}


def _suited(preset: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """What a preset's other settings become where one that was given rules them out."""
    suited: dict[str, Any] = {}
    criterion = given.get("criterion", preset["criterion"])
    if criterion != "gain_ratio":
        suited["gain_guard"] = False
    if criterion not in _LOGARITHMIC or given.get("splits") == "intervals":
        suited["mdl_correction"] = False
    if given.get("splits") == "intervals":
        suited |= {"thresholds": "midpoint", "cut_share": 0.0}
    if given.get("splits") == "binary":
        suited |= {"empty_branches": False, "leaf_rule": "every"}
    return suited


def _check(estimator: Any, options: Options, given: dict[str, Any]) -> None:
    for wrong, sentence in (
        (options.gain_guard and options.criterion != "gain_ratio",
         "gain_guard compares gain ratios: use it with criterion='gain_ratio'"),
        (options.mdl_correction and options.criterion not in _LOGARITHMIC,
         "mdl_correction counts bits: use it with criterion='entropy' or 'gain_ratio'"),
        (options.empty_branches and options.splits == "binary",
         "empty_branches belongs to multiway splits: set splits='multiway'"),
        (options.leaf_rule == "two" and options.splits == "binary",
         "leaf_rule='two' belongs to multiway splits: set splits='multiway'"),
        (estimator.n_intervals is not None and options.splits != "intervals",
         "n_intervals belongs to splits='intervals'"),
        (options.splits == "intervals" and not options.every_cut,
         "intervals are cut between any two values: leave thresholds at 'midpoint'"),
        (options.splits == "intervals" and options.thresholds == "value",
         "intervals are cut halfway between values: set thresholds='midpoint'"),
        (estimator.at == "root" and options.every_cut,
         "at='root' needs a rule for cuts, such as thresholds='median': between any two "
         "neighbouring values is the same in all nodes"),
        (options.missing == "surrogate" and options.splits != "binary",
         "surrogates stand in for splits in two: set splits='binary', or missing='fractional'"),
        ((estimator.ccp_alpha or 0.0) > 0 and options.pruning != "cost_complexity",
         "ccp_alpha is the price of a leaf in pruning='cost_complexity': leave one of them out"),
        (options.thresholds == "value" and estimator.max_bins is not None
         and "thresholds" in given,
         "thresholds='value' needs all values: set max_bins=None"),
    ):  # fmt: skip
        if wrong:
            raise ValueError(sentence)
    if options.splits == "intervals" and (options.mdl_correction or options.cut_share > 0):
        raise ValueError(
            "mdl_correction and cut_share are rules for a single cut: leave them out with "
            "splits='intervals'"
        )
    _check_numbers(estimator, options)


def _check_numbers(estimator: Any, options: Options) -> None:
    if options.splits == "intervals" and estimator.n_intervals is None and _of_numbers(options):
        raise ValueError(
            "the description length of intervals is that of classes: say how many by n_intervals"
        )
    if options.criterion != "absolute_error":
        return
    if not options.every_cut or options.splits == "intervals":
        raise ValueError(
            "absolute error is searched between any two values: set splits='binary' and "
            "thresholds='midpoint', or use criterion='squared_error'"
        )
    if options.missing in ("fractional", "surrogate"):
        raise ValueError(
            f"missing={options.missing!r} needs sums, which medians are not: use "
            "criterion='squared_error', or missing='learned'"
        )
    if options.empty_branches:
        raise ValueError("empty_branches needs a criterion of sums: use 'squared_error'")


def _of_numbers(options: Options) -> bool:
    return options.criterion in ("squared_error", "absolute_error", "poisson")

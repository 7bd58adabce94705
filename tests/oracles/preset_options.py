"""Options of the naive trees of all presets, and the presets."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from tests.oracles.tree_naive import Options


@dataclass(frozen=True)
class PresetOptions(Options):
    """All options of growing, without pruning.

    ``costs`` is the cost matrix: ``costs[i][j]`` is the cost of predicting j if i is true.
    """

    thresholds: str = "midpoint"
    threshold_scope: str = "node"
    n_thresholds: int = 9
    n_intervals: int | None = None
    max_surrogates: int = 5
    feature_reuse: str = "all"
    empty_branches: bool = False
    above_average_gain: bool = False
    mdl_correction: bool = False
    min_split_fraction: float = 0.0
    min_leaf_branches: str = "all"
    costs: tuple | None = None


CART = PresetOptions()
HUNT = replace(CART, splits="multiway", missing="branch", empty_branches=True)
ID3 = replace(HUNT, criterion="entropy", feature_reuse="numeric")
C45 = replace(
    CART,
    criterion="gain_ratio",
    splits="multiway",
    thresholds="value",
    missing="fractional",
    empty_branches=True,
    above_average_gain=True,
    mdl_correction=True,
    min_split_fraction=0.1,
    min_samples_leaf=2,
    min_leaf_branches="two",
    min_samples_split=4,
)
PRESETS = {"hunt": HUNT, "id3": ID3, "c45": C45, "cart": CART}
# Options of classifiers only.
OF_CLASSES = {
    "above_average_gain",
    "mdl_correction",
    "min_split_fraction",
    "min_leaf_branches",
    "costs",
}


def changes(options, start):
    """Return the options that differ from a preset, under the estimator's names."""
    names = [entry.name for entry in fields(options)]
    found = {n: getattr(options, n) for n in names if getattr(options, n) != getattr(start, n)}
    if "costs" in found:
        found["cost_matrix"] = [[float(c) for c in row] for row in found.pop("costs")]
    return found

"""The options of a lecture's tree, and the presets that name whole sets of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from tests.oracles.tree_naive import Options


@dataclass(frozen=True)
class LectureOptions(Options):
    """All that decides how a tree grows; pruning is no part of it.

    ``costs`` is the cost matrix: ``costs[i][j]`` is the cost of predicting j where i is true.
    """

    thresholds: str = "midpoint"
    at: str = "node"
    n_thresholds: int = 9
    n_intervals: int | None = None
    max_surrogates: int = 5
    reuse: str = "all"
    empty_branches: bool = False
    gain_guard: bool = False
    mdl_correction: bool = False
    cut_share: float = 0.0
    leaf_rule: str = "every"
    costs: tuple | None = None


CART = LectureOptions()
HUNT = replace(CART, splits="multiway", missing="branch", empty_branches=True)
ID3 = replace(HUNT, criterion="entropy", reuse="numeric")
C45 = replace(
    CART,
    criterion="gain_ratio",
    splits="multiway",
    thresholds="value",
    missing="fractional",
    empty_branches=True,
    gain_guard=True,
    mdl_correction=True,
    cut_share=0.1,
    min_samples_leaf=2,
    leaf_rule="two",
    min_samples_split=4,
)
PRESETS = {"hunt": HUNT, "id3": ID3, "c45": C45, "cart": CART}
# A regressor knows neither classes nor presets.
OF_CLASSES = {"gain_guard", "mdl_correction", "cut_share", "leaf_rule", "costs"}


def changes(options, start):
    """The options that differ from those of a preset, under the estimator's names."""
    names = [entry.name for entry in fields(options)]
    found = {n: getattr(options, n) for n in names if getattr(options, n) != getattr(start, n)}
    if "costs" in found:
        found["cost_matrix"] = [[float(c) for c in row] for row in found.pop("costs")]
    return found

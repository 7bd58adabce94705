"""Drawing a tree that is far too large for one figure: folded, pixels included.

No other library folds trees. The peer is ours again, drawing a tree with hardly more nodes than
the figure shows: the difference is the cost of the nodes that are not shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from benchmarks.tree import peers
from benchmarks.tree.data import normal_table
from benchmarks.workload import Check, Implementation, Metrics, Workload

N_COLUMNS = 10
SMALL = 32
STYLES = {"boxes": {}, "compact": {"compact": True}}
LABELS = {"ceiba": {}, f"ceiba, {SMALL} leaves": {"max_leaf_nodes": SMALL}}


def make_data(seed: int, n_rows: int) -> dict[str, dict[str, Any]]:
    """Return the trees by label; growing them is not timed."""
    sample = normal_table("classification", seed, n_rows, N_COLUMNS)
    trees = {
        label: peers.ceiba("classification", **parameters).fit(sample).model.tree_
        for label, parameters in LABELS.items()
    }
    return dict.fromkeys(STYLES, trees)


def draw(label: str, style: str) -> Callable[[dict[str, Any]], Any]:
    """Return a function that draws the figure and renders it by Agg."""

    def run(trees: dict[str, Any]) -> Any:
        # A tree caches derived values: a copy starts without them.
        tree = replace(trees[label])
        figure = import_module("ceiba.plots").tree(tree, **STYLES[style])
        figure.pixels()
        return figure

    return run


def quality(figure: Any, trees: dict[str, Any]) -> Metrics:
    """Count the words in the figure, and return its width and height in inches."""
    width, height = figure.get_size_inches()
    words = sum(len(text.get_text().split()) for text in figure.axes[0].texts)
    return {"words": float(words), "width": float(width), "height": float(height)}


WORKLOADS = (
    Workload(
        name="tree-plot",
        title="a tree of about 20,000 nodes drawn folded, canvas included",
        make_data=make_data,
        implementations=tuple(
            Implementation(label, draw(label, style), style, label == "ceiba", "matplotlib")
            for style in STYLES
            for label in LABELS
        ),
        quality=quality,
        # A figure with much less text than that of a small tree would be easy to draw fast.
        checks=(Check("words", 0.25, "at least"),),
        n_rows=60_000,
        quick_n_rows=3_000,
    ),
)

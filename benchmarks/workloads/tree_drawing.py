"""Drawing a tree that is far too large to be seen at once: folded, down to the pixels.

Nobody else folds: the line beside ours is ours again, drawing a tree that has hardly more nodes
than a picture. What separates the two is the price of the nodes that are not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import Any

from benchmarks import tree_peers
from benchmarks.tree_data import normal
from benchmarks.workload import Check, Contestant, Numbers, Workload

COLUMNS = 10
SMALL = 32
STYLES = {"boxes": {}, "compact": {"compact": True}}
LABELS = {"ceiba": {}, f"ceiba, {SMALL} leaves": {"max_leaf_nodes": SMALL}}


def data(seed: int, rows: int) -> dict[str, dict[str, Any]]:
    """Trees by label; growing them is not timed."""
    sample = normal("classes", seed, rows, COLUMNS)
    fits = {label: tree_peers.ceiba("classes", **limits).fit for label, limits in LABELS.items()}
    trees = {label: fit(sample).model.tree_ for label, fit in fits.items()}
    return dict.fromkeys(STYLES, trees)


def draw(label: str, style: str) -> Callable[[dict[str, Any]], Any]:
    """The picture, painted by Agg."""

    def run(trees: dict[str, Any]) -> Any:
        # A tree keeps what it was asked: everyone draws one that was never asked anything.
        fresh = replace(trees[label])
        picture = import_module("ceiba.plots").tree(fresh, **STYLES[style])
        picture.pixels()
        return picture

    return run


def quality(picture: Any, trees: dict[str, Any]) -> Numbers:
    """How many words stand in the picture, and its height and width in inches."""
    width, height = picture.get_size_inches()
    words = sum(len(text.get_text().split()) for text in picture.axes[0].texts)
    return {"words": float(words), "width": float(width), "height": float(height)}


WORKLOADS = (
    Workload(
        name="tree-drawing",
        title="a tree of about 20,000 nodes drawn folded, canvas included",
        data=data,
        contestants=tuple(
            Contestant(label, draw(label, style), style, label == "ceiba", "matplotlib")
            for style in STYLES
            for label in LABELS
        ),
        quality=quality,
        # A picture that says much less than one of a small tree would be no feat.
        checks=(Check("words", 0.25, "no less"),),
        rows=60_000,
        quick_rows=3_000,
    ),
)

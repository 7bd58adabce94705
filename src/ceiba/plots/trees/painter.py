"""Draw the frames of a tree: its growth split by split, and its pruning."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.playback import frame_iteration, frame_names
from ceiba.plots.style import (
    ACCENT,
    INK,
    TICK_SIZE,
    count_text,
    label_bars,
    shorten_names,
    shorten_to_width,
    style_axes,
)
from ceiba.plots.trees.diagram import DiagramBuilder, TreeDiagram
from ceiba.plots.trees.nodes import CardWriter, NodeCard
from ceiba.plots.trees.rendering import DiagramAxes, draw_title
from ceiba.plots.trees.tree import labeled_tree
from ceiba.tree.model.subtrees import any_above
from ceiba.tree.model.tree import Tree

_MAX_NODES = 40
_MAX_COLUMNS = 10
_MIN_FONT = 5
_TITLE_WIDTH = 47.0  # up to the title of the comparison, in units of the font size
_OTHER = "#9DB8CC"
# Compared quantity of a pruning frame -> its title.
_MEASURES = {
    "error": "Validation error", "estimate": "Estimated errors", "errors": "Training errors",
    "risk": "Risk",
}  # fmt: skip
_ESTIMATES = {"errors_tree": "subtree", "errors_leaf": "leaf", "errors_branch": "raised branch"}


@dataclass(frozen=True, slots=True, eq=False)
class TreeState:
    """Masks of the nodes that exist at one frame, are split, or were removed by pruning."""

    exists: Array
    is_split: Array
    is_pruned: Array

    @classmethod
    def during_growth(cls, tree: Tree, n_splits: int) -> TreeState:
        """Return the state after so many splits."""
        is_split = np.zeros(tree.n_nodes, bool)
        is_split[tree.inner_nodes[:n_splits]] = True
        exists = np.append(True, is_split[tree.parent[1:]])
        return cls(exists, is_split, np.zeros(tree.n_nodes, bool))

    @classmethod
    def during_pruning(cls, tree: Tree, frames: Iterable[Any]) -> TreeState:
        """Return the state after frames in which a node became a leaf or was replaced."""
        collapsed, pruned, replaced = (np.zeros(tree.n_nodes, bool) for _ in range(3))
        for frame in frames:
            node, branch = int(frame["node"]), raised_branch(frame)
            if branch is None:
                collapsed[node] = True
            else:
                replaced[node] = True
                pruned[[child for child in tree.children(node) if child != branch]] = True
        pruned |= any_above(tree.parent, collapsed | pruned)
        pruned |= replaced
        return cls(~pruned, ~pruned & ~collapsed & ~tree.is_leaf, pruned)


def raised_branch(frame: Any) -> int | None:
    """Return the branch that replaces the frame's node; None if that becomes a leaf."""
    branch = frame["replaced_by"] if "replaced_by" in frame_names(frame) else None
    return None if branch is None else int(branch)


class TreePainter:
    """Draw the frames of a tree: each split or pruning step, and its comparison.

    Nodes keep their positions; pruned nodes turn gray. Rows and classes of a node are those of
    growth. If the trace was thinned, only the frames that it kept are drawn. ``X`` is not used.
    """

    def __init__(self, frames: Sequence[Any], X: Any, model: Any) -> None:
        if model is None:
            raise ValueError("A trace of a tree requires the tree: play the fitted model.")
        tree, labels, _ = labeled_tree(model)
        self._frames = frames
        self._tree: Tree = getattr(model, "grown_tree_", tree)
        self._writer = CardWriter(self._tree, labels, max_labels=3, compact=True, numbered=True)
        self._diagrams: dict[tuple[float, float], tuple[TreeDiagram, Array]] = {}

    def layout(self, figure: Any) -> tuple[Any, Any]:
        """Make axes for the tree, and to its right for the comparison."""
        # Fixed positions, since the font size depends on the size of the axes.
        figure.set_layout_engine("none")
        left = figure.add_axes((0.01, 0.02, 0.65, 0.85))
        right = figure.add_axes((0.79, 0.14, 0.19, 0.73))
        return left, right

    def draw(self, axes: tuple[Any, Any], index: int) -> None:
        """Draw the tree at one frame, and the comparison that decided it."""
        diagram_axes = DiagramAxes.on(axes[0], self._writer.colors)
        diagram, shown_as = self._diagram(diagram_axes.available)
        cards, emphasis = self._cards(diagram, shown_as, self._state(index))
        emphasis[int(shown_as[self._changed_node(index)])] = "highlighted"
        diagram_axes.draw(diagram, cards, emphasis)
        draw_title(axes[0], self._title(index))
        if self._is_growth(index):
            self._draw_candidates(axes[1], index)
        else:
            self._draw_comparison(axes[1], index)

    def _is_growth(self, index: int) -> bool:
        return "children" in frame_names(self._frames[index])

    def _state(self, index: int) -> TreeState:
        if self._is_growth(index):
            return TreeState.during_growth(self._tree, frame_iteration(self._frames[index], index))
        pruning = [self._frames[i] for i in range(index + 1) if not self._is_growth(i)]
        return TreeState.during_pruning(self._tree, pruning)

    def _changed_node(self, index: int) -> int:
        """Return the node that is split, becomes a leaf, or replaces its parent."""
        frame = self._frames[index]
        branch = None if self._is_growth(index) else raised_branch(frame)
        return int(frame["node"]) if branch is None else branch

    def _diagram(self, available: tuple[float, float]) -> tuple[TreeDiagram, Array]:
        """Return one diagram for all frames, so that nothing moves, and `_shown_as`."""
        if available not in self._diagrams:
            builder = DiagramBuilder(
                self._writer, max_nodes=_MAX_NODES, make_cards=self._alternatives,
                min_font=_MIN_FONT,
            )  # fmt: skip
            diagram = builder.build(available)
            self._diagrams[available] = diagram, _shown_as(self._tree, diagram.nodes)
        return self._diagrams[available]

    def _alternatives(self, node: int, kind: str, label: str) -> list[NodeCard]:
        kinds = dict.fromkeys((kind, "leaf"))
        return [self._writer.card(node, kind, label) for kind in kinds]

    def _cards(
        self, diagram: TreeDiagram, shown_as: Array, state: TreeState
    ) -> tuple[list[NodeCard], dict[int, str]]:
        cards, emphasis = [], {}
        hidden = state.exists & (shown_as != np.arange(len(shown_as)))
        n_nodes = np.bincount(shown_as[hidden], minlength=len(shown_as))
        n_leaves = np.bincount(shown_as[hidden & ~state.is_split], minlength=len(shown_as))
        for node, turns in zip(diagram.nodes, diagram.alternatives, strict=True):
            card = turns[0 if state.is_split[node] or state.is_pruned[node] else -1]
            if card.kind == "folded" and state.exists[node]:
                title = (f"+ {count_text(int(n_nodes[node]), 'node')}",)
                leaves = count_text(int(n_leaves[node]), "leaf")
                card = replace(card, title=title, facts=(f"[{node}] {leaves}",))
            cards.append(card)
            if not state.exists[node]:
                emphasis[node] = "removed" if state.is_pruned[node] else "hidden"
        return cards, emphasis

    def _title(self, index: int) -> str:
        frame = self._frames[index]
        node = int(frame["node"])
        if self._is_growth(index):
            number, last = frame_iteration(frame, index), len(self._tree.inner_nodes)
            split = shorten_to_width(frame["split"], _TITLE_WIDTH)
            return f"Split {number:,} of {last:,}: node {node:,}, gain {frame['gain']:.3g}\n{split}"
        pruning = [i for i in range(len(self._frames)) if not self._is_growth(i)]
        branch = raised_branch(frame)
        change = f"node {node:,} becomes a leaf"
        if branch is not None:
            change = f"node {branch:,} replaces node {node:,}"
        leaves = count_text(int(frame["n_leaves"]), "leaf")
        return f"Pruning {pruning.index(index) + 1:,} of {len(pruning):,}: {change}, {leaves} left"

    def _draw_candidates(self, ax: Any, index: int) -> None:
        """Draw the best gain of each column, the largest at the top.

        Another column than the chosen one may have the largest gain: that of many categories is
        corrected when columns are compared, and C4.5 excludes gains below the average.
        """
        frame = self._frames[index]
        gain, chosen = np.asarray(frame["candidate_gain"], dtype=float), int(frame["column"])
        usable = np.flatnonzero(gain >= 0)
        ranked = usable[np.argsort(-gain[usable], kind="stable")]
        best = ranked[:_MAX_COLUMNS]
        if chosen not in best:
            best = np.append(best[:-1], chosen)
        names = shorten_names([self._tree.schema[int(j)].name for j in best], 18)
        colors = [ACCENT if j == chosen else _OTHER for j in best]
        ax.barh(np.arange(len(best)), gain[best], color=colors, height=0.7)
        _style_bars(ax, names, "Best gain per column")
        rest = len(gain) - len(best)
        notes = [f"{rest:,} more: smaller or none"] if rest else []
        if ranked[0] != chosen and gain[ranked[0]] > gain[chosen]:
            notes.append("larger gains:\ncorrected or excluded")
        ax.set_xlabel("\n".join(notes), fontsize=TICK_SIZE, color=INK)

    def _draw_comparison(self, ax: Any, index: int) -> None:
        """Draw the quantities that pruning compared, the chosen one highlighted."""
        title, values, chosen = _compared(self._frames[index])
        colors = [ACCENT if name == chosen else _OTHER for name in values]
        ax.barh(np.arange(len(values)), list(values.values()), color=colors, height=0.5)
        for line, value in enumerate(values.values()):
            ax.text(0, line - 0.36, f"{value:.4g}", fontsize=TICK_SIZE, color=INK, va="center")
        _style_bars(ax, list(values), title)


def _style_bars(ax: Any, names: list[str], title: str) -> None:
    style_axes(ax, title=title)
    label_bars(ax, names)
    ax.set_ylim(max(len(names), 3) - 0.4, -0.6)
    ax.locator_params(axis="x", nbins=4)


def _compared(frame: Any) -> tuple[str, dict[str, float], str]:
    """Return title, quantities and chosen quantity of a pruning frame."""
    names = frame_names(frame)
    if "errors_tree" in names:
        estimates = {label: float(frame[name]) for name, label in _ESTIMATES.items()}
        finite = {label: value for label, value in estimates.items() if np.isfinite(value)}
        chosen = "errors_leaf" if raised_branch(frame) is None else "errors_branch"
        return "Estimated errors", finite, _ESTIMATES[chosen]
    measure = next((name for name in _MEASURES if f"{name}_before" in names), None)
    if measure is None:
        return "", {}, ""
    values = {when: float(frame[f"{measure}_{when}"]) for when in ("before", "after")}
    return _MEASURES[measure], values, "after"


def _shown_as(tree: Tree, visible: Sequence[int]) -> Array:
    """Return the visible node for each node: itself, or the folded one above."""
    shown = np.full(tree.n_nodes, -1)
    shown[visible] = visible
    parent, found = tree.parent.tolist(), shown.tolist()
    for node in range(1, tree.n_nodes):  # branches have larger indices than their parent
        if found[node] < 0:
            found[node] = found[parent[node]]
    return np.array(found)

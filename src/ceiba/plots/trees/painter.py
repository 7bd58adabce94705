"""Frames of a tree: it grows split by split, and is pruned cut by cut."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.playback.painter import frame_names, frame_step
from ceiba.plots.style import ACCENT, INK, TICK_SIZE, tidy
from ceiba.plots.trees.nodes import Card, NodeWriter, counted, short
from ceiba.plots.trees.page import Legend, Page
from ceiba.plots.trees.scene import Scene, Stage
from ceiba.plots.trees.tree import Subject, draw_title
from ceiba.tree.model.traversal import any_above
from ceiba.tree.model.tree import Tree


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """Which nodes of a grown tree are there at one step.

    Attributes
    ----------
    there, split, lost : array of bool
        Nodes that are there, those of them that are split, and those that pruning has taken away.
    """

    there: Array
    split: Array
    lost: Array

    @classmethod
    def growing(cls, tree: Tree, splits: int) -> Moment:
        """After so many splits."""
        split = growth_order(tree) < splits
        there = np.append(True, split[tree.parent[1:]])
        return cls(there, split, np.zeros(tree.n_nodes, bool))

    @classmethod
    def pruning(cls, tree: Tree, frames: Iterable[Any]) -> Moment:
        """After the cuts of these frames: nodes become leaves, or a branch takes their place."""
        cut, lost, raised = (np.zeros(tree.n_nodes, bool) for _ in range(3))
        for frame in frames:
            node, heir = int(frame["node"]), raised_branch(frame)
            if heir is None:
                cut[node] = True
            else:
                raised[node] = True
                lost[[child for child in tree.children(node) if child != heir]] = True
        lost |= any_above(tree.parent, cut | lost)
        lost |= raised
        return cls(~lost, ~lost & ~cut & ~tree.is_leaf, lost)


def raised_branch(frame: Any) -> int | None:
    """The branch that takes the place of the frame's node; None where that becomes a leaf."""
    found = frame["replacing"] if "replacing" in frame_names(frame) else None
    return None if found is None else int(found)


def growth_order(tree: Tree) -> Array:
    """When each node was split, counted from 0; leaves never."""
    turn = np.full(tree.n_nodes, tree.n_nodes)
    inner = np.flatnonzero(~tree.is_leaf)
    order = inner[np.argsort(tree.child[inner], kind="stable")]
    turn[order] = np.arange(len(order))
    return turn


_MOST_NODES = 40
_MOST_COLUMNS = 10
_QUIET = "#9DB8CC"
# What frames of cuts compare -> its title.
_MEASURES = {
    "error": "Validation error", "estimate": "Estimated errors", "errors": "Training errors",
    "risk": "Risk",
}  # fmt: skip
_ESTIMATES = {"errors_tree": "as it was", "errors_leaf": "as a leaf", "errors_branch": "raised"}


class TreePainter:
    """Draws the tree as it stood at each split or cut, and what was weighed there.

    Nodes keep their places; what pruning takes away turns grey. Rows and classes of a node are
    those of growing. Of a trace that was thinned, only the steps that it kept are drawn.

    Parameters
    ----------
    frames : sequence of frames
        Of growth (``node``, ``children``, ``split``, ``gain``, ``candidate_gain``) or of pruning
        (``node``, ``n_leaves``, and what was compared).
    X : array, frame or table
        Not drawn: a tree shows its columns, not the rows.
    model : fitted estimator
        Whose tree it is.
    """

    def __init__(self, frames: Sequence[Any], X: Any, model: Any) -> None:
        if model is None:
            raise ValueError("frames of a tree need the tree: play the fitted model itself")
        subject = Subject.of(model)
        tree = getattr(model, "grown_tree_", subject.tree)
        self._frames = frames
        self._tree: Tree = tree
        self._writer = NodeWriter(tree, subject.labels, max_labels=3, compact=True)
        self._legend = Legend(subject.labels, self._writer.colours)
        self._scenes: dict[tuple[float, float], tuple[Scene, Array]] = {}

    def layout(self, figure: Any) -> tuple[Any, Any]:
        """The tree to the left, what was weighed to the right."""
        # Fixed places: sizes of text are chosen by the room that the tree has.
        figure.set_layout_engine("none")
        left = figure.add_axes((0.01, 0.02, 0.65, 0.88))
        right = figure.add_axes((0.79, 0.14, 0.19, 0.76))
        return left, right

    def draw(self, axes: tuple[Any, Any], place: int) -> None:
        """Draw the tree at one step, and how the step was decided."""
        page = Page.on(axes[0], self._legend)
        scene, owner = self._scene(page.room)
        cards, tones = self._cards(scene, owner, self._moment(place))
        tones[int(owner[self._centre(place)])] = "lit"
        page.canvas(scene, self._tree.weight).draw(cards, tones)
        page.draw_legend()
        draw_title(axes[0], self._title(place))
        if self._grows(place):
            self._draw_candidates(axes[1], place)
        else:
            self._draw_comparison(axes[1], place)

    def _grows(self, place: int) -> bool:
        return "children" in frame_names(self._frames[place])

    def _moment(self, place: int) -> Moment:
        if self._grows(place):
            return Moment.growing(self._tree, frame_step(self._frames[place], place))
        cuts = [self._frames[i] for i in range(place + 1) if not self._grows(i)]
        return Moment.pruning(self._tree, cuts)

    def _centre(self, place: int) -> int:
        """The node that the step is about: what is split, cut or raised."""
        frame = self._frames[place]
        heir = None if self._grows(place) else raised_branch(frame)
        return int(frame["node"]) if heir is None else heir

    def _scene(self, room: tuple[float, float]) -> tuple[Scene, Array]:
        """One layout for all frames, so that nothing moves; and who stands for each node in it."""
        if room not in self._scenes:
            stage = Stage(self._writer, max_nodes=_MOST_NODES, make=self._alternatives, smallest=5)
            scene = stage.fitted(room)
            self._scenes[room] = scene, _owners(self._tree, scene.part.nodes)
        return self._scenes[room]

    def _alternatives(self, node: int, kind: str, label: str) -> list[Card]:
        kinds = dict.fromkeys((kind, "leaf"))
        return [self._writer.card(node, kind, label) for kind in kinds]

    def _cards(self, scene: Scene, owner: Array, now: Moment) -> tuple[list[Card], dict[int, str]]:
        """A card and a tone for each shown node, as things stand."""
        cards, tones = [], {}
        hidden = owner != np.arange(len(owner))
        nodes = np.bincount(owner[hidden & now.there], minlength=len(owner))
        leaves = np.bincount(owner[hidden & now.there & ~now.split], minlength=len(owner))
        for node, turns in zip(scene.part.nodes, scene.cards, strict=True):
            card = turns[0 if now.split[node] or now.lost[node] else -1]
            if card.kind == "folded" and now.there[node]:
                title = (f"+ {counted(int(nodes[node]), 'node')}",)
                card = replace(card, title=title, facts=(counted(int(leaves[node]), "leaf"),))
            cards.append(card)
            if not now.there[node]:
                tones[node] = "ghost" if now.lost[node] else "gone"
        return cards, tones

    def _title(self, place: int) -> str:
        frame = self._frames[place]
        if self._grows(place):
            step, last = frame_step(frame, place), int((~self._tree.is_leaf).sum())
            words = f"Split {step:,} of {last:,}, node {int(frame['node']):,}"
            return f"{words}: {short(frame['split'], 40)}, gain {frame['gain']:.3g}"
        cuts = [i for i in range(len(self._frames)) if not self._grows(i)]
        node, heir = int(frame["node"]), raised_branch(frame)
        done = (
            f"{node:,} becomes a leaf" if heir is None else f"{heir:,} takes the place of {node:,}"
        )
        left = counted(int(frame["n_leaves"]), "leaf")
        return f"Cut {cuts.index(place) + 1:,} of {len(cuts):,}: node {done}, {left} left"

    def _draw_candidates(self, ax: Any, place: int) -> None:
        """What each column had to offer, the best at the top."""
        frame = self._frames[place]
        gain = np.asarray(frame["candidate_gain"], dtype=float)
        usable = np.flatnonzero(gain >= 0)
        best = usable[np.argsort(-gain[usable], kind="stable")][:_MOST_COLUMNS]
        names = [short(self._tree.schema[int(j)].name, 18) for j in best]
        colours = [ACCENT if j == frame["column"] else _QUIET for j in best]
        ax.barh(np.arange(len(best)), gain[best], color=colours, height=0.7)
        self._dress(ax, names, "What columns offer")
        rest = len(gain) - len(best)
        if rest:
            ax.set_xlabel(f"{rest:,} more, or without a split", fontsize=TICK_SIZE, color=INK)

    def _draw_comparison(self, ax: Any, place: int) -> None:
        """What the pruner compared, with what it took in the accent's colour."""
        title, values, taken = _compared(self._frames[place])
        colours = [ACCENT if name == taken else _QUIET for name in values]
        ax.barh(np.arange(len(values)), list(values.values()), color=colours, height=0.5)
        for at, value in enumerate(values.values()):
            ax.text(0, at - 0.36, f"{value:.4g}", fontsize=TICK_SIZE, color=INK, va="center")
        self._dress(ax, list(values), title)

    def _dress(self, ax: Any, names: list[str], title: str) -> None:
        tidy(ax, title=title)
        ax.set_yticks(np.arange(len(names)), names)
        for label in ax.get_yticklabels():
            label.set_parse_math(False)
        ax.set_ylim(max(len(names), 3) - 0.4, -0.6)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        ax.locator_params(axis="x", nbins=4)


def _compared(frame: Any) -> tuple[str, dict[str, float], str]:
    """Title, numbers by name, and the name of what was taken, of a frame of pruning."""
    held = frame_names(frame)
    if "errors_tree" in held:
        known = {words: float(frame[name]) for name, words in _ESTIMATES.items()}
        taken = "as a leaf" if raised_branch(frame) is None else "raised"
        return "Estimated errors", {k: v for k, v in known.items() if np.isfinite(v)}, taken
    measure = next((name for name in _MEASURES if f"{name}_before" in held), None)
    if measure is None:
        return "", {}, ""
    values = {when: float(frame[f"{measure}_{when}"]) for when in ("before", "after")}
    return _MEASURES[measure], values, "after"


def _owners(tree: Tree, shown: Sequence[int]) -> Array:
    """The shown node that stands for each node: itself, or the folded one that hides it."""
    owner = np.full(tree.n_nodes, -1)
    owner[shown] = shown
    parent, found = tree.parent.tolist(), owner.tolist()
    for node in range(1, tree.n_nodes):  # branches have greater numbers than their node
        if found[node] < 0:
            found[node] = found[parent[node]]
    return np.array(found)

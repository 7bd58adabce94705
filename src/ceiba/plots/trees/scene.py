"""As much of a tree as fits on the paper, ready to be drawn."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from ceiba.plots.trees.layout import Layout, tree_layout
from ceiba.plots.trees.nodes import Card, Cases, NodeWriter
from ceiba.plots.trees.part import Part, opened_nodes, shown_part

LARGEST, SMALLEST = 11.0, 6.0  # sizes of text, in points
# Less paper than this, in units of the font's size, no node takes.
_NODE_AREA = 40.0

# Node, kind and condition -> its card, or several that take turns in one place.
CardMaker = Callable[[int, str, str], Sequence[Card]]


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Shown nodes, the cards that take turns at each, and their places."""

    part: Part
    cards: list[Sequence[Card]]
    layout: Layout

    def font(self, room: tuple[float, float]) -> float:
        """Size of text, in points, at which it fits into a room of points."""
        fits = (room[0] / self.layout.width, room[1] / self.layout.height)
        return min(LARGEST, *fits)

    @property
    def front(self) -> list[Card]:
        """The first card of each node."""
        return [cards[0] for cards in self.cards]


@dataclass(slots=True, eq=False)
class Stage:
    """What a picture of a tree may show, and who writes its cards.

    Parameters
    ----------
    writer : NodeWriter
    start : int
        The first node.
    max_nodes, max_depth : int, optional
        Most nodes, and most levels below the first.
    first : collection of int
        Nodes to be opened before all others.
    make : callable, optional
        Makes the cards of a node; those of ``writer`` unless given.
    smallest : float
        Size of text, in points, below which more is folded.
    """

    writer: NodeWriter
    start: int = 0
    max_nodes: int | None = None
    max_depth: int | None = None
    first: Collection[int] = ()
    make: CardMaker | None = None
    smallest: float = SMALLEST
    _cards: dict[tuple[int, str], Sequence[Card]] = field(default_factory=dict)
    _labels: dict[int, tuple[str, Cases]] = field(default_factory=dict)

    def fitted(self, room: tuple[float, float]) -> Scene:
        """The most that fits into a room of points: fewer levels first, then fewer nodes."""
        opened = self._opened(room, self.max_depth)
        scene = self._scene(opened)
        while scene.layout.height * self.smallest > room[1] and len(scene.part.nodes) > 1:
            levels = int((scene.layout.floor * self.smallest <= room[1]).sum())
            opened = self._opened(room, max(levels - 1, 0))
            scene = self._scene(opened)
        if self._fits(scene, room):
            return scene
        fits, large = 0, len(opened)
        while large - fits > 1:
            middle = (fits + large) // 2
            if self._fits(self._scene(opened[:middle]), room):
                fits = middle
            else:
                large = middle
        return self._scene(opened[:fits])

    def _fits(self, scene: Scene, room: tuple[float, float]) -> bool:
        return scene.font(room) >= self.smallest

    def _opened(self, room: tuple[float, float], max_depth: int | None) -> list[int]:
        area = room[0] * room[1] / self.smallest**2
        most = max(1, int(area / _NODE_AREA))
        return opened_nodes(
            self.writer.tree,
            self.start,
            max_nodes=most if self.max_nodes is None else min(most, self.max_nodes),
            max_depth=max_depth,
            first=self.first,
        )

    def _scene(self, opened: Collection[int]) -> Scene:
        part = shown_part(self.writer.tree, self.start, opened)
        split = set(opened)
        cards = [self._cards_of(node, node in split) for node in part.nodes]
        sizes = np.array(
            [
                [max(size) for size in zip(*map(_sizes, alternatives), strict=True)]
                for alternatives in cards
            ]
        )
        return Scene(part, cards, tree_layout(part.branches, *sizes.T))

    def _cards_of(self, node: int, opened: bool) -> Sequence[Card]:
        kind = "split" if opened else "leaf" if self.writer.tree.is_leaf[node] else "folded"
        if (node, kind) not in self._cards:
            self._cards[node, kind] = self._make(node, kind, self._label(node)[0])
        return self._cards[node, kind]

    def _make(self, node: int, kind: str, label: str) -> Sequence[Card]:
        return (
            [self.writer.card(node, kind, label)]
            if self.make is None
            else self.make(node, kind, label)
        )

    def _label(self, node: int) -> tuple[str, Cases]:
        """The condition that leads to a node; there is none at the start."""
        if node == self.start:
            return "", {}
        if node not in self._labels:
            tree = self.writer.tree
            above = int(tree.parent[node])
            found = self.writer.branch_labels(above, self._label(above)[1])
            self._labels.update(zip(tree.children(above), found, strict=True))
        return self._labels[node]


def _sizes(card: Card) -> tuple[float, float, float]:
    return card.width, card.box_height, card.label_height

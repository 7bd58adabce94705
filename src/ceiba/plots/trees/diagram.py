"""Choose the nodes of a tree that fit on the page, and arrange them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ceiba.plots.trees.layout import Layout, tree_layout
from ceiba.plots.trees.nodes import CardWriter, NodeCard, PossibleValues
from ceiba.tree.explain.folding import unfolded_nodes
from ceiba.tree.model.tree import Tree

MAX_FONT, MIN_FONT = 11.0, 6.0  # points
# Lower bound of the area of a node, in units of the squared font size.
_MIN_NODE_AREA = 40.0

# Node, kind and condition -> its card, or several alternatives for one position.
CardMaker = Callable[[int, str, str], Sequence[NodeCard]]


@dataclass(frozen=True, eq=False)
class VisibleTree:
    """The visible part of a tree, each node before its branches."""

    nodes: list[int]
    branches: list[list[int]]  # indices into nodes; empty for leaves and folded nodes

    @cached_property
    def parent(self) -> list[int]:
        """Index of the parent of each visible node; -1 for the root."""
        parent = [-1] * len(self.nodes)
        for index, below in enumerate(self.branches):
            for child in below:
                parent[child] = index
        return parent


def visible_tree(tree: Tree, root: int, expanded: Collection[int]) -> VisibleTree:
    """Return the part below ``root`` with these nodes expanded."""
    visible, stack = VisibleTree([], []), [(root, -1)]
    expanded = set(expanded)
    while stack:
        node, parent = stack.pop()
        index = len(visible.nodes)
        visible.nodes.append(node)
        visible.branches.append([])
        if parent >= 0:
            visible.branches[parent].append(index)
        if node in expanded:
            stack += [(child, index) for child in reversed(tree.children(node))]
    return visible


@dataclass(frozen=True, slots=True, eq=False)
class TreeDiagram:
    """Visible nodes, the alternative cards of each, and their positions."""

    visible: VisibleTree
    alternatives: list[Sequence[NodeCard]]
    layout: Layout

    def font_size(self, available: tuple[float, float]) -> float:
        """Return the font size at which the diagram fits into a size in points."""
        fitting = (available[0] / self.layout.width, available[1] / self.layout.height)
        return min(MAX_FONT, *fitting)

    @property
    def cards(self) -> list[NodeCard]:
        """The first card of each node."""
        return [cards[0] for cards in self.alternatives]


@dataclass(slots=True, eq=False)
class DiagramBuilder:
    """Build the largest diagram of a tree that fits."""

    writer: CardWriter
    root: int = 0
    max_nodes: int | None = None
    max_depth: int | None = None  # below the root
    preferred: Collection[int] = ()  # nodes to be expanded before all others
    make_cards: CardMaker | None = None  # by default the card of the writer
    min_font: float = MIN_FONT  # below it, more nodes are folded
    _cards: dict[tuple[int, str], Sequence[NodeCard]] = field(default_factory=dict)
    _labels: dict[int, tuple[str, PossibleValues]] = field(default_factory=dict)

    def build(self, available: tuple[float, float]) -> TreeDiagram:
        """Return the largest diagram for a size in points: reduce depth first, then nodes."""
        expanded = self._expanded(available, self.max_depth)
        diagram = self._diagram(expanded)
        while (
            diagram.layout.height * self.min_font > available[1] and len(diagram.visible.nodes) > 1
        ):
            depths = int((diagram.layout.depth_bottom * self.min_font <= available[1]).sum())
            expanded = self._expanded(available, max(depths - 1, 0))
            diagram = self._diagram(expanded)
        if self._fits(diagram, available):
            return diagram
        fitting, too_many = 0, len(expanded)
        while too_many - fitting > 1:
            middle = (fitting + too_many) // 2
            if self._fits(self._diagram(expanded[:middle]), available):
                fitting = middle
            else:
                too_many = middle
        return self._diagram(expanded[:fitting])

    def _fits(self, diagram: TreeDiagram, available: tuple[float, float]) -> bool:
        return diagram.font_size(available) >= self.min_font

    def _expanded(self, available: tuple[float, float], max_depth: int | None) -> list[int]:
        area = available[0] * available[1] / self.min_font**2
        fitting = max(1, int(area / _MIN_NODE_AREA))
        max_nodes = fitting if self.max_nodes is None else min(fitting, self.max_nodes)
        return unfolded_nodes(
            self.writer.tree,
            self.root,
            max_nodes=max_nodes,
            max_depth=max_depth,
            priority=self._priority,
        )

    def _priority(self, node: int) -> tuple[bool, float, int]:
        """Sort preferred nodes first, then nodes by decreasing weight."""
        return node not in self.preferred, -float(self.writer.tree.weight[node]), node

    def _diagram(self, expanded: Collection[int]) -> TreeDiagram:
        visible = visible_tree(self.writer.tree, self.root, expanded)
        split = set(expanded)
        cards = [self._cards_of(node, node in split) for node in visible.nodes]
        sizes = np.array([_max_size(alternatives) for alternatives in cards])
        return TreeDiagram(visible, cards, tree_layout(visible.branches, *sizes.T))

    def _cards_of(self, node: int, is_expanded: bool) -> Sequence[NodeCard]:
        kind = "split" if is_expanded else "leaf" if self.writer.tree.is_leaf[node] else "folded"
        if (node, kind) not in self._cards:
            label = self._label(node)[0]
            if self.make_cards is None:
                self._cards[node, kind] = [self.writer.card(node, kind, label)]
            else:
                self._cards[node, kind] = self.make_cards(node, kind, label)
        return self._cards[node, kind]

    def _label(self, node: int) -> tuple[str, PossibleValues]:
        """Return the condition that leads to a node; empty for the root."""
        if node == self.root:
            return "", {}
        if node not in self._labels:
            tree = self.writer.tree
            parent = int(tree.parent[node])
            labels = self.writer.branch_labels(parent, self._label(parent)[1])
            self._labels.update(zip(tree.children(parent), labels, strict=True))
        return self._labels[node]


def _max_size(cards: Sequence[NodeCard]) -> tuple[float, ...]:
    """Return the maximum width, box height and label height of alternative cards."""
    sizes = [(card.width, card.box_height, card.label_height) for card in cards]
    return tuple(max(size) for size in zip(*sizes, strict=True))

"""Choose the nodes of a tree that fit on the page, and arrange them without overlaps.

Lengths are in units of the font size, so that a layout is valid for any font size.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from ceiba._typing import Array
from ceiba.plots.trees.nodes import CardWriter, NodeCard, PossibleValues
from ceiba.tree.explain.text import unfolded_nodes

MAX_FONT, MIN_FONT = 11.0, 6.0  # points
# Lower bound of the area of a node, in units of the squared font size.
_MIN_NODE_AREA = 40.0
# Distance between neighbors, and between a depth and the conditions that lead to the next.
_BESIDE, _BELOW = 1.0, 2.0

# Node, kind and condition -> its card, or several alternatives for one position.
CardMaker = Callable[[int, str, str], Sequence[NodeCard]]


@dataclass(frozen=True, slots=True)
class Layout:
    """Positions of the drawn nodes, in units of the font size, downwards from the top."""

    x: Array  # center of each node
    top: Array  # upper end of each node's box; its condition is right above
    depth: Array  # of each node, 0 for the first
    depth_top: Array  # upper end of each depth, conditions included
    depth_bottom: Array  # lower end of the tallest box at each depth
    width: float
    height: float


@dataclass(frozen=True, slots=True, eq=False)
class TreeDiagram:
    """Visible nodes, each before its branches, their alternative cards and positions."""

    nodes: list[int]
    parents: list[int]  # index of each node's parent in nodes; -1 for the first
    alternatives: list[Sequence[NodeCard]]
    layout: Layout
    weight: Array  # of every node of the tree, for the width of the edges

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
        while diagram.layout.height * self.min_font > available[1] and len(diagram.nodes) > 1:
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
        tree, split, stack = self.writer.tree, set(expanded), [(self.root, -1)]
        nodes: list[int] = []
        parents: list[int] = []
        branches: list[list[int]] = []
        while stack:
            node, parent = stack.pop()
            if parent >= 0:
                branches[parent].append(len(nodes))
            if node in split:
                stack += [(child, len(nodes)) for child in reversed(tree.children(node))]
            nodes.append(node)
            parents.append(parent)
            branches.append([])
        cards = [self._cards_of(node, node in split) for node in nodes]
        sizes = np.array([_max_size(alternatives) for alternatives in cards])
        return TreeDiagram(nodes, parents, cards, tree_layout(branches, *sizes.T), tree.weight)

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


def tree_layout(
    branches: Sequence[Sequence[int]], widths: Array, boxes: Array, labels: Array
) -> Layout:
    """Arrange a tree of boxes of any size, each node before its branches.

    ``widths`` include the conditions; ``boxes`` and ``labels`` are heights.

    Examples
    --------
    >>> import numpy as np
    >>> layout = tree_layout([[1, 2], [], []], np.full(3, 4.0), np.full(3, 2.0), np.zeros(3))
    >>> layout.x.tolist(), layout.width
    ([4.5, 2.0, 7.0], 9.0)
    """
    depth = np.zeros(len(branches), np.int64)
    for node, below in enumerate(branches):
        depth[list(below)] = depth[node] + 1
    x = TidyLayout(branches, widths).positions()
    x -= (x - widths / 2).min()
    label = _max_per_depth(depth, labels)
    box = _max_per_depth(depth, boxes)
    step = label + box
    step[1:] += _BELOW
    bottom = np.cumsum(step)
    top = bottom - box
    width, height = float((x + widths / 2).max()), float(bottom[-1])
    return Layout(x, top[depth], depth, top - label, bottom, width, height)


def _max_per_depth(depth: Array, sizes: Array) -> Array:
    maximum = np.zeros(int(depth.max()) + 1)
    np.maximum.at(maximum, depth, sizes)
    return maximum


class TidyLayout:
    """Center the nodes along their depth, in linear time.

    A node is centered above its branches, subtrees are as close as their contours allow, and equal
    subtrees are drawn equally. Names follow the second paper, with w for a left neighbor of v.

    References
    ----------
    Reingold & Tilford (1981), "Tidier drawings of trees", IEEE Transactions on Software
    Engineering 7. Buchheim, Jünger & Leipert (2002), "Improving Walker's algorithm to run in
    linear time", Graph Drawing.
    """

    def __init__(self, branches: Sequence[Sequence[int]], widths: Array) -> None:
        n = len(branches)
        self.branches = branches
        self.widths = widths.tolist()
        self.prelim, self.mod, self.shift, self.change = ([0.0] * n for _ in range(4))
        self.thread = [-1] * n
        self.ancestor = list(range(n))
        self.parent, self.number = [-1] * n, [0] * n
        for v, below in enumerate(branches):
            for number, child in enumerate(below):
                self.parent[child], self.number[child] = v, number
        # The default ancestor of the paper: the subtree that a deeper contour belongs to.
        self.default = [below[0] if below else -1 for below in branches]

    def positions(self) -> Array:
        """Walk up to place the subtrees, then down to add up their shifts."""
        for v in self._children_first():
            self._first_walk(v)
            if self.number[v]:
                self._apportion(v)
        found = np.array(self.prelim)
        moved = np.zeros(len(found))
        for v, below in enumerate(self.branches):
            found[v] += moved[v]
            moved[list(below)] = moved[v] + self.mod[v]
        return found

    def _children_first(self) -> list[int]:
        order, stack = [], [0]
        while stack:
            v = stack.pop()
            order.append(v)
            stack += self.branches[v]
        return order[::-1]

    def _first_walk(self, v: int) -> None:
        """Place v beside its left neighbor, or above the middle of its branches."""
        middle, below = 0.0, self.branches[v]
        if below:
            self._execute_shifts(v)
            middle = (self.prelim[below[0]] + self.prelim[below[-1]]) / 2
        if self.number[v]:
            w = self._sibling(v, self.number[v] - 1)
            self.prelim[v] = self.prelim[w] + self._distance(w, v)
            self.mod[v] = self.prelim[v] - middle
        else:
            self.prelim[v] = middle

    def _apportion(self, v: int) -> None:
        """Move the subtree of v off the subtrees to its left, along both contours at once."""
        inner_right, outer_right = v, v
        inner_left, outer_left = self._sibling(v, self.number[v] - 1), self._sibling(v, 0)
        sum_ir = sum_or = self.mod[v]
        sum_il, sum_ol = self.mod[inner_left], self.mod[outer_left]
        while self._right(inner_left) >= 0 and self._left(inner_right) >= 0:
            inner_left, inner_right = self._right(inner_left), self._left(inner_right)
            outer_left, outer_right = self._left(outer_left), self._right(outer_right)
            self.ancestor[outer_right] = v
            distance = self.prelim[inner_right] + sum_ir - self.prelim[inner_left] - sum_il
            shift = self._distance(inner_left, inner_right) - distance
            if shift > 0:
                self._move_subtree(self._ancestor(inner_left, v), v, shift)
                sum_ir, sum_or = sum_ir + shift, sum_or + shift
            sum_il += self.mod[inner_left]
            sum_ir += self.mod[inner_right]
            sum_ol += self.mod[outer_left]
            sum_or += self.mod[outer_right]
        if self._right(inner_left) >= 0 and self._right(outer_right) < 0:
            self.thread[outer_right] = self._right(inner_left)
            self.mod[outer_right] += sum_il - sum_or
        if self._left(inner_right) >= 0 and self._left(outer_left) < 0:
            self.thread[outer_left] = self._left(inner_right)
            self.mod[outer_left] += sum_ir - sum_ol
            self.default[self.parent[v]] = v

    def _execute_shifts(self, v: int) -> None:
        shift = change = 0.0
        for w in reversed(self.branches[v]):
            self.prelim[w] += shift
            self.mod[w] += shift
            change += self.change[w]
            shift += self.shift[w] + change

    def _move_subtree(self, left: int, right: int, shift: float) -> None:
        """Shift a subtree; those between are shifted in proportion later."""
        between = self.number[right] - self.number[left]
        self.change[right] -= shift / between
        self.shift[right] += shift
        self.change[left] += shift / between
        self.prelim[right] += shift
        self.mod[right] += shift

    def _ancestor(self, inner_left: int, v: int) -> int:
        """Return the sibling of v whose subtree contains a node of the left contour."""
        ancestor = self.ancestor[inner_left]
        return ancestor if self.parent[ancestor] == self.parent[v] else self.default[self.parent[v]]

    def _left(self, v: int) -> int:
        return self.branches[v][0] if self.branches[v] else self.thread[v]

    def _right(self, v: int) -> int:
        return self.branches[v][-1] if self.branches[v] else self.thread[v]

    def _sibling(self, v: int, number: int) -> int:
        return self.branches[self.parent[v]][number]

    def _distance(self, w: int, v: int) -> float:
        return float((self.widths[w] + self.widths[v]) / 2 + _BESIDE)

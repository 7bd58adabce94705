"""Draw the trees of several pruning steps side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.docstrings import documented
from ceiba.plots.style import count_text, new_figure, set_note
from ceiba.plots.trees.diagram import DiagramBuilder, TreeDiagram
from ceiba.plots.trees.nodes import CardWriter, Colors, NodeCard
from ceiba.plots.trees.rendering import INCH, MAX_SIZE, DiagramAxes, check_size, draw_title
from ceiba.plots.trees.tree import labeled_tree
from ceiba.tree.explain.text import check_view
from ceiba.tree.model.subtrees import collapse, kept_nodes
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import CostComplexityPath, Risk, cost_complexity_path

_MAX_PANELS, _MAX_COLUMNS = 6, 3
_CARDS: dict[str, Any] = {"compact": True, "max_labels": 3}
# Points: margin around all panels, space between them, height of a title, minimum width of a panel.
_MARGIN, _SPACE, _TITLE, _MIN_WIDTH = 10.0, 14.0, 26.0, 290.0


@documented
def pruning_steps(
    model: Any,
    steps: Sequence[int] | None = None,
    risk: Risk = "impurity",
    *,
    classes: Sequence[Any] | None = None,
    max_nodes: int | None = 64,
    max_size: tuple[float, float] = MAX_SIZE,
    figure: Any = None,
) -> Any:
    """Draw the trees of several steps of cost-complexity pruning side by side.

    Step 0 is the grown tree, the last step its root; see `ceiba.tree.cost_complexity_path`. Every
    node has the same position in all panels, and pruned nodes are light gray. Nodes that do not fit
    are folded into a shape that states how many nodes of the step it contains.

    Parameters
    ----------
    model : fitted tree estimator or Tree
        For a pruned estimator the grown tree is used.
    steps : sequence of int, optional
        Pruning steps to draw; by default up to six, from all leaves to one.
    risk : {"impurity", "error"}
        Risk that is traded off against the number of leaves.
    {classes}
    max_nodes : int, optional
        Maximum number of nodes to show per panel; None for as many as fit.
    {max_size}
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier().fit(iris.table, iris.y)
    >>> picture = plots.pruning_steps(model, [0, 3, 4], "error")
    >>> [ax.get_title(loc="left") for ax in picture.axes[:-1]]
    ['Step 0: 9 leaves', 'Step 3: 3 leaves', 'Step 4: 2 leaves']
    """
    tree, labels, _ = labeled_tree(model, classes)
    if hasattr(model, "pruned"):
        # Steps are counted on the tree that the estimator's collapsing leaves, as in `pruned`.
        tree = model.pruned("none").tree_
    check_size(max_size, figure=figure)
    check_view(tree, max_nodes=max_nodes)
    path = cost_complexity_path(tree, risk)
    chosen = _default_steps(path) if steps is None else _checked_steps(steps, path)
    writer = CardWriter(tree, labels, **_CARDS)
    panels = [_Panel.of(writer, model, path, step) for step in chosen]

    def make_cards(node: int, kind: str, label: str) -> list[NodeCard]:
        others = [panel.card(node, kind, label) for panel in panels]
        return [writer.card(node, kind, label), *(card for card in others if card is not None)]

    builder = DiagramBuilder(writer, max_nodes=max_nodes, make_cards=make_cards)
    grid = _PanelGrid(figure, len(panels), writer.colors, max_size)
    diagram = builder.build(grid.available)
    axes = grid.make_axes(diagram)
    for panel_axes, panel in zip(axes, panels, strict=True):
        panel.draw(panel_axes, diagram, path)
    return axes[0].ax.figure


def _default_steps(path: CostComplexityPath) -> list[int]:
    """Choose steps whose numbers of leaves decrease by about the same factor."""
    if path.n_steps <= _MAX_PANELS:
        return list(range(path.n_steps))
    targets = np.geomspace(path.n_leaves[0], 1, _MAX_PANELS)
    distance = np.abs(np.log(path.n_leaves)[:, None] - np.log(targets))
    return [int(step) for step in np.unique(distance.argmin(axis=0))]


def _checked_steps(steps: Sequence[int], path: CostComplexityPath) -> list[int]:
    listed = [int(step) for step in steps]
    if not listed:
        raise ValueError("steps must contain at least one step, or be None, got none.")
    for step in listed:
        if not 0 <= step < path.n_steps:
            raise ValueError(f"steps must be in [0, {path.n_steps - 1}], got {step}.")
    return listed


@dataclass(frozen=True, slots=True, eq=False)
class _Panel:
    """The tree of one step, and the index of each grown node in it (-1 if pruned)."""

    step: int
    grown: CardWriter
    writer: CardWriter
    index: Array

    @classmethod
    def of(cls, grown: CardWriter, model: Any, path: CostComplexityPath, step: int) -> _Panel:
        tree, pruned = grown.tree, path.pruned_nodes(step)
        kept = kept_nodes(tree, pruned)
        index = np.full(tree.n_nodes, -1)
        index[kept] = np.arange(len(kept))
        if len(pruned):
            tree = collapse(tree, pruned)
            # The leaves predict as those of the model do.
            tree = tree if isinstance(model, Tree) else model._with_predictions(tree)
        return cls(step, grown, CardWriter(tree, grown.labels, **_CARDS), index)

    def card(self, node: int, kind: str, label: str) -> NodeCard | None:
        """Write a node of the grown tree as it is in this step; None if it was pruned."""
        index = int(self.index[node])
        if index < 0:
            return None
        kind = "leaf" if self.writer.tree.is_leaf[index] else kind
        card = replace(self.writer.card(index, kind, label), node=node)
        if self.grown.labels is not None:
            return card
        # All panels share the color scale of the grown tree.
        colors = self.grown.colors
        return replace(card, bar=colors.bar(node), tint=colors.tint(node))

    def draw(self, axes: DiagramAxes, diagram: TreeDiagram, path: CostComplexityPath) -> None:
        cards, emphasis = [], {}
        for first in diagram.cards:
            card = self.card(first.node, first.kind, " ".join(first.label))
            if card is None:
                emphasis[first.node] = "removed"
            cards.append(first if card is None else card)
        axes.draw(diagram, cards, emphasis)
        leaves = count_text(int(path.n_leaves[self.step]), "leaf")
        draw_title(axes.ax, f"Step {self.step}: {leaves}")
        alpha, risk = path.alphas[self.step], path.risks[self.step]
        set_note(axes.ax, f"alpha {alpha:.3g}, risk {risk:.3g}")


class _PanelGrid:
    """Panels of one size in rows and columns, in points, above the legend of the colors."""

    def __init__(
        self, figure: Any, n_panels: int, colors: Colors, max_size: tuple[float, float]
    ) -> None:
        self.figure, self.n_panels, self.colors = figure, n_panels, colors
        self.n_rows = ceil(n_panels / _MAX_COLUMNS)
        self.n_columns = ceil(n_panels / self.n_rows)
        self.width, self.height = max_size[0] * INCH, max_size[1] * INCH
        if figure is not None:
            scale = INCH / figure.dpi
            self.width, self.height = figure.bbox.width * scale, figure.bbox.height * scale

    @property
    def available(self) -> tuple[float, float]:
        """Width and height for the tree of one panel."""
        below = self.colors.legend_height(self.width) + 2 * _MARGIN
        width = (self.width - 2 * _MARGIN - (self.n_columns - 1) * _SPACE) / self.n_columns
        height = (self.height - below) / self.n_rows - _TITLE - _SPACE
        return max(width, 1.0), max(height, 1.0)

    def make_axes(self, diagram: TreeDiagram) -> list[DiagramAxes]:
        """Make axes for the panels; a new figure is as large as they need."""
        width, height = self.available
        if self.figure is None:
            font = diagram.font_size(self.available)
            width = min(width, max(font * diagram.layout.width, _MIN_WIDTH))
            height = min(height, font * diagram.layout.height)
        below = self.colors.legend_height(self.n_columns * width) + 2 * _MARGIN
        full = (
            2 * _MARGIN + self.n_columns * width + (self.n_columns - 1) * _SPACE,
            below + self.n_rows * (height + _TITLE + _SPACE),
        )
        figure = self.figure
        if figure is None:
            figure = new_figure(full[0] / INCH, full[1] / INCH)
            figure.set_layout_engine("none")
        axes = []
        for index in range(self.n_panels):
            row, column = divmod(index, self.n_columns)
            left = _MARGIN + column * (width + _SPACE)
            bottom = full[1] - row * (height + _TITLE + _SPACE) - _TITLE - height
            box = [left / full[0], bottom / full[1], width / full[0], height / full[1]]
            axes.append(DiagramAxes.on(figure.add_axes(box), None))
        box = [_MARGIN / full[0], _MARGIN / full[1], 1 - 2 * _MARGIN / full[0], below / full[1]]
        DiagramAxes.on(figure.add_axes(box), self.colors).draw_legend()
        return axes

"""The trees of several pruning levels, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.style import LABEL_SIZE, MUTED, new_figure
from ceiba.plots.trees.nodes import Card, NodeWriter, counted
from ceiba.plots.trees.page import INCH, Legend, Page, check_size
from ceiba.plots.trees.scene import Scene, Stage
from ceiba.plots.trees.tree import Subject, check_view, draw_title
from ceiba.tree.model.edit import collapse
from ceiba.tree.model.traversal import kept_nodes
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.path import ComplexityPath, complexity_path
from ceiba.tree.prune.risk import Risk

__all__ = ["tree_levels"]

_MOST_PANELS, _ABREAST = 6, 3
# In points: around all, between panels, above each for its title, and the least width of one.
_EDGE, _APART, _HEAD, _NARROWEST = 10.0, 14.0, 26.0, 290.0


def tree_levels(
    model: Any,
    levels: Sequence[int] | None = None,
    risk: Risk = "impurity",
    *,
    classes: Sequence[Any] | None = None,
    max_nodes: int | None = 64,
    max_size: tuple[float, float] = (16.0, 10.0),
    figure: Any = None,
) -> Any:
    """Draw the trees of several pruning levels side by side, what each has lost in light grey.

    Level 0 is the grown tree, the last its root alone; see `ceiba.tree.prune.path.complexity_path`.
    Every node stands at the same place in all panels. What has no room is folded, and says how
    many nodes of that level it hides.

    Parameters
    ----------
    model : fitted tree estimator or Tree
        Of a pruned estimator the tree that was grown.
    levels : sequence of int, optional
        Which levels; up to six, from all leaves to one, unless given.
    risk : {"impurity", "error"}
        What is weighed against the number of leaves.
    classes : sequence, optional
        Labels of the classes; those of the estimator unless given.
    max_nodes : int, optional
        Most nodes to show in a panel; None for as many as fit.
    max_size : tuple of float
        Width and height in inches that a new figure may grow to.
    figure : Figure or SubFigure, optional
        Where to draw; a new figure unless given.

    Returns
    -------
    Figure
        A panel for each level, and one for the legend.

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier().fit(iris.table, iris.y)
    >>> picture = plots.tree_levels(model, [0, 3, 4], "error")
    >>> [ax.get_title(loc="left") for ax in picture.axes[:-1]]
    ['Level 0: 9 leaves', 'Level 3: 3 leaves', 'Level 4: 2 leaves']
    """
    subject = _grown(Subject.of(model, classes), model)
    check_view(subject.tree, max_nodes=max_nodes)
    path = complexity_path(subject.tree, risk)
    chosen = _default_levels(path) if levels is None else _checked(levels, path)
    writer = _writer(subject.tree, subject.labels)
    panels = [_Panel.of(writer, model, path, level) for level in chosen]
    legend = Legend(subject.labels, writer.colours)
    stage = Stage(writer, max_nodes=max_nodes, make=_maker(writer, panels))
    grid = _Grid.of(figure, len(panels), legend, max_size)
    scene = stage.fitted(grid.room)
    pages = grid.pages(scene)
    for page, panel in zip(pages, panels, strict=True):
        panel.draw(page, scene, subject.tree, path)
    return pages[0].ax.figure


def _grown(subject: Subject, model: Any) -> Subject:
    # Levels are counted on what the estimator's collapsing leaves, as `pruned` does.
    grown = model.pruned("none").tree_ if hasattr(model, "pruned") else None
    return subject if grown is None else replace(subject, tree=grown)


def _writer(tree: Tree, labels: list[Any] | None) -> NodeWriter:
    return NodeWriter(tree, labels, compact=True, max_labels=3)


def _default_levels(path: ComplexityPath) -> list[int]:
    """Levels whose numbers of leaves shrink by about the same factor."""
    if path.n_levels <= _MOST_PANELS:
        return list(range(path.n_levels))
    wanted = np.geomspace(path.n_leaves[0], 1, _MOST_PANELS)
    far = np.abs(np.log(path.n_leaves)[:, None] - np.log(wanted))
    return [int(level) for level in np.unique(far.argmin(axis=0))]


def _checked(levels: Sequence[int], path: ComplexityPath) -> list[int]:
    listed = [int(level) for level in levels]
    if not listed:
        raise ValueError("levels is empty: give at least one level, or None")
    wrong = [level for level in listed if not 0 <= level < path.n_levels]
    if wrong:
        raise ValueError(f"level {wrong[0]}: the tree has levels 0 to {path.n_levels - 1}")
    return listed


@dataclass(frozen=True, slots=True, eq=False)
class _Panel:
    """The tree of one level, and which number each node of the grown tree has in it."""

    level: int
    grown: NodeWriter
    writer: NodeWriter
    number: Array

    @classmethod
    def of(cls, grown: NodeWriter, model: Any, path: ComplexityPath, level: int) -> _Panel:
        tree, cuts = grown.tree, path.cuts(level)
        kept = kept_nodes(tree, cuts)
        number = np.full(tree.n_nodes, -1)
        number[kept] = np.arange(len(kept))
        return cls(level, grown, _writer(_pruned(tree, model, cuts), grown.labels), number)

    def card(self, node: int, kind: str, label: str) -> Card | None:
        """The card of a node of the grown tree in this level's tree; None where it has gone."""
        number = int(self.number[node])
        if number < 0:
            return None
        kind = "leaf" if self.writer.tree.is_leaf[number] else kind
        card = replace(self.writer.card(number, kind, label), node=node)
        if self.grown.labels is not None:
            return card
        # The scale of numbers is that of the grown tree in all panels.
        colours = self.grown.colours
        return replace(card, bar=colours.bar(node), tint=colours.tint(node))

    def draw(self, page: Page, scene: Scene, tree: Tree, path: ComplexityPath) -> None:
        places = list(enumerate(scene.part.nodes))
        kinds = [card.kind for card in scene.front]
        labels = [" ".join(card.label) for card in scene.front]
        made = [self.card(node, kinds[i], labels[i]) for i, node in places]
        tones = {node: "ghost" for i, node in places if made[i] is None}
        cards = [card or scene.front[i] for i, card in enumerate(made)]
        page.canvas(scene, tree.weight).draw(cards, tones)
        leaves = counted(int(path.n_leaves[self.level]), "leaf")
        draw_title(page.ax, f"Level {self.level}: {leaves}")
        words = f"alpha {path.alphas[self.level]:.3g}, risk {path.risks[self.level]:.3g}"
        page.ax.set_title(words, loc="right", fontsize=LABEL_SIZE, color=MUTED, pad=8)


def _pruned(tree: Tree, model: Any, cuts: Array) -> Tree:
    """The tree with these cuts, with what the model's leaves predict."""
    if not len(cuts):
        return tree
    cut = collapse(tree, cuts)
    return cut if isinstance(model, Tree) else model._finished(cut)


def _maker(writer: NodeWriter, panels: Sequence[_Panel]) -> Any:
    def make(node: int, kind: str, label: str) -> list[Card]:
        others = [panel.card(node, kind, label) for panel in panels]
        return [writer.card(node, kind, label), *(card for card in others if card is not None)]

    return make


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """Panels of one size in rows and columns, in points."""

    figure: Any
    n: int
    legend: Legend
    width: float
    height: float

    @classmethod
    def of(cls, figure: Any, n: int, legend: Legend, largest: tuple[float, float]) -> _Grid:
        if figure is None:
            check_size(largest)
            return cls(None, n, legend, largest[0] * INCH, largest[1] * INCH)
        scale = INCH / figure.dpi
        return cls(figure, n, legend, figure.bbox.width * scale, figure.bbox.height * scale)

    @property
    def columns(self) -> int:
        return self.n if self.n <= _ABREAST else ceil(self.n / ceil(self.n / _ABREAST))

    @property
    def rows(self) -> int:
        return ceil(self.n / self.columns)

    @property
    def room(self) -> tuple[float, float]:
        """Width and height of one panel's tree."""
        low = self.legend.height(self.width) + 2 * _EDGE
        width = (self.width - 2 * _EDGE - (self.columns - 1) * _APART) / self.columns
        height = (self.height - low) / self.rows - _HEAD - _APART
        return max(width, 1.0), max(height, 1.0)

    def pages(self, scene: Scene) -> list[Page]:
        """Axes for the panels, on a figure as large as they need unless there is one."""
        width, height = self.room
        if self.figure is None:
            font = scene.font(self.room)
            width = min(width, max(font * scene.layout.width, _NARROWEST))
            height = min(height, font * scene.layout.height)
        low = self.legend.height(self.columns * width) + 2 * _EDGE
        full = (
            2 * _EDGE + self.columns * width + (self.columns - 1) * _APART,
            low + self.rows * (height + _HEAD + _APART),
        )
        figure = self._new(full) if self.figure is None else self.figure
        pages = []
        for place in range(self.n):
            left = _EDGE + place % self.columns * (width + _APART)
            down = full[1] - (place // self.columns) * (height + _HEAD + _APART) - _HEAD - height
            box = [left / full[0], down / full[1], width / full[0], height / full[1]]
            pages.append(Page.on(figure.add_axes(box), None))
        foot = figure.add_axes(
            [_EDGE / full[0], _EDGE / full[1], 1 - 2 * _EDGE / full[0], low / full[1]]
        )
        Page.on(foot, self.legend).draw_legend()
        return pages

    def _new(self, full: tuple[float, float]) -> Any:
        figure = new_figure(full[0] / INCH, full[1] / INCH)
        figure.set_layout_engine("none")
        return figure

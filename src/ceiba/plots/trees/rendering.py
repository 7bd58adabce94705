"""Render a tree diagram on axes whose coordinates are points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import unused_error
from ceiba.plots.style import (
    ACCENT,
    INK,
    MUTED,
    TITLE_SIZE,
    blend,
    new_figure,
    set_title,
    text_width,
)
from ceiba.plots.trees.diagram import DiagramBuilder, TreeDiagram
from ceiba.plots.trees.nodes import BAR, FLARE, LINE, PAD, SMALL, Colors, NodeCard

MAX_SIZE = (16.0, 10.0)  # of a new figure, in inches
INCH = 72.0  # points
_MARGIN = 10.0
_TITLE = 30.0

_EDGE = "#9A9A9A"
_FOLDED = "#F3F3F3"
_REMOVED, _REMOVED_TEXT = "#E2E2E2", "#C2C2C2"
_FADE = 0.68  # fraction of white in faded nodes
_CORNER_RADIUS = 0.5
_CORNER = np.linspace(0, np.pi / 2, 5)

Drawn = Sequence[tuple[int, NodeCard, str]]  # index of the node, its card and emphasis


@dataclass(frozen=True, slots=True, eq=False)
class DiagramAxes:
    """Axes in points with space for a tree, and its legend at the bottom."""

    ax: Any
    width: float  # in points
    height: float
    colors: Colors | None  # of the legend; None without one

    @classmethod
    def on(cls, ax: Any, colors: Colors | None) -> DiagramAxes:
        """Prepare given axes, with the size that the layout will give them."""
        ax.set_axis_off()
        figure = ax.figure.figure  # the whole figure, if the axes are in a subfigure
        engine = figure.get_layout_engine()
        if engine is not None and ax.get_subplotspec() is not None:
            engine.execute(figure)
        box = ax.get_window_extent()
        scale = INCH / figure.dpi
        found = cls(ax, box.width * scale, box.height * scale, colors)
        ax.set(xlim=(0.0, found.width), ylim=(found.height, 0.0))
        return found

    @property
    def available(self) -> tuple[float, float]:
        """Width and height, in points, that are left for the tree."""
        return _available(self.width, self.height, self.colors)

    def draw(
        self,
        diagram: TreeDiagram,
        cards: Sequence[NodeCard] | None = None,
        emphasis: Mapping[int, str] | None = None,
    ) -> None:
        """Draw a diagram centered, at the font size that fits, and the legend.

        Emphasis is "highlighted", "faded", "removed" or "hidden".
        """
        font = diagram.font_size(self.available)
        left = (self.width - font * diagram.layout.width) / 2
        free = self.available[1] - font * diagram.layout.height
        renderer = _Renderer(self.ax, diagram, font, (left, free / 2))
        renderer.draw(diagram.cards if cards is None else cards, emphasis or {})
        self.draw_legend()

    def draw_legend(self) -> None:
        """Draw the legend, if there is one."""
        if self.colors is not None:
            self.colors.draw_legend(self.ax, self.width, self.height)


def _available(width: float, height: float, colors: Colors | None) -> tuple[float, float]:
    """Return the size that a legend leaves, in points."""
    below = colors.legend_height(width) + _MARGIN if colors is not None else 0.0
    return width, max(height - below, 1.0)


def check_size(max_size: tuple[float, float], **given: Any) -> None:
    """Refuse a new figure too small to be legible, and a size for the ``given`` ax or figure."""
    for name, where in given.items():
        if where is not None and tuple(max_size) != MAX_SIZE:
            raise unused_error("max_size", f"a given {name}", max_size, MAX_SIZE)
    if not min(max_size) >= 1:
        raise ValueError(f"max_size must be at least 1 inch in both directions, got {max_size}.")


def draw_title(ax: Any, title: str) -> None:
    """Set a title that may contain names, in which $ is no formula."""
    set_title(ax, title, parse_math=False)


def place_diagram(
    ax: Any,
    builder: DiagramBuilder,
    title: str,
    max_size: tuple[float, float],
    note: str = "",
) -> tuple[DiagramAxes, TreeDiagram]:
    """Fit a tree to the axes, or make a figure as large as it needs, up to a size in inches.

    Space is left for the title and for a note behind it.
    """
    colors = builder.writer.colors
    if ax is not None:
        draw_title(ax, title)
        axes = DiagramAxes.on(ax, colors)
        return axes, builder.build(axes.available)
    max_width = max_size[0] * INCH - 2 * _MARGIN
    available = _available(max_width, max_size[1] * INCH - _TITLE - _MARGIN, colors)
    diagram = builder.build(available)
    font = diagram.font_size(available)
    title_width = text_width(title + note) * TITLE_SIZE
    width = max(diagram.layout.width * font, title_width, min(colors.legend_width(), max_width))
    height = diagram.layout.height * font + colors.legend_height(width) + _MARGIN
    full = width + 2 * _MARGIN, height + _TITLE + _MARGIN
    figure = new_figure(full[0] / INCH, full[1] / INCH)
    # The axes are measured in points, so that text fits: a layout engine must not move them.
    figure.set_layout_engine("none")
    box = [_MARGIN / full[0], _MARGIN / full[1], width / full[0], height / full[1]]
    return DiagramAxes.on(figure.add_axes(box), colors), diagram


@dataclass(frozen=True, slots=True, eq=False)
class _Renderer:
    """Draw boxes, bars and edges as one collection each, and the texts."""

    ax: Any
    diagram: TreeDiagram
    font: float  # in points
    origin: tuple[float, float]  # upper left corner of the diagram

    def draw(self, cards: Sequence[NodeCard], emphasis: Mapping[int, str]) -> None:
        drawn = [
            (index, card, emphasis.get(card.node, "plain"))
            for index, card in enumerate(cards)
            if emphasis.get(card.node) != "hidden"
        ]
        self._draw_edges(drawn)
        self._draw_boxes(drawn)
        self._draw_bars(drawn)
        for index, card, look in drawn:
            self._draw_texts(index, card, look)

    def _box(self, index: int, card: NodeCard) -> tuple[float, float, float, float]:
        """Return left, top, right and bottom of a node's box."""
        layout, half = self.diagram.layout, card.box_width / 2
        x, top = float(layout.x[index]), float(layout.top[index])
        left, upper = self._at(x - half, top)
        right, lower = self._at(x + half, top + card.box_height)
        return left, upper, right, lower

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return self.origin[0] + self.font * x, self.origin[1] + self.font * y

    def _draw_edges(self, drawn: Drawn) -> None:
        from matplotlib.collections import LineCollection

        parents = self.diagram.parents
        cards = {index: card for index, card, _ in drawn}
        below = [entry for entry in drawn if parents[entry[0]] >= 0]
        weight = self.diagram.weight
        total = float(weight[self.diagram.nodes[0]]) or 1.0
        root_weight = np.sqrt([float(weight[card.node]) / total for _, card, _ in below])
        edges = LineCollection(
            [self._edge(index, card, cards) for index, card, _ in below],
            linewidths=self.font * (0.07 + 0.25 * root_weight),
            colors=[_edge_color(look) for _, _, look in below],
            capstyle="round",
            joinstyle="round",
            zorder=1,
            gid="edges",
            clip_on=False,
        )
        self.ax.add_collection(edges, autolim=False)

    def _edge(
        self, index: int, card: NodeCard, cards: Mapping[int, NodeCard]
    ) -> list[tuple[float, float]]:
        """Return a line from the parent down past its depth, across, and to the condition."""
        layout, parent = self.diagram.layout, self.diagram.parents[index]
        x, top, depth = float(layout.x[index]), float(layout.top[index]), int(layout.depth[index])
        parent_x, bottom = float(layout.x[parent]), float(layout.depth_bottom[depth - 1])
        box_bottom = float(layout.top[parent]) + cards[parent].box_height
        points = [
            (parent_x, box_bottom),
            (parent_x, bottom),
            (x, float(layout.depth_top[depth])),
            (x, top - card.label_height),
        ]
        return [self._at(*point) for point in points]

    def _draw_boxes(self, drawn: Drawn) -> None:
        from matplotlib.collections import PolyCollection

        looks = [_box_look(card, look) for _, card, look in drawn]
        boxes = PolyCollection(
            [self._outline(index, card) for index, card, _ in drawn],
            facecolors=[look[0] for look in looks],
            edgecolors=[look[1] for look in looks],
            linewidths=[self.font * look[2] for look in looks],
            linestyles=["--" if card.kind == "folded" else "-" for _, card, _ in drawn],
            zorder=2,
            gid="boxes",
            clip_on=False,
        )
        self.ax.add_collection(boxes, autolim=False)

    def _outline(self, index: int, card: NodeCard) -> Array:
        left, top, right, bottom = self._box(index, card)
        if card.kind == "folded":
            flare = self.font * FLARE
            corners = [[left, top], [right, top], [right + flare, bottom], [left - flare, bottom]]
            return np.array(corners)
        return _rounded(left, top, right, bottom, self.font * _CORNER_RADIUS)

    def _draw_bars(self, drawn: Drawn) -> None:
        from matplotlib.collections import PolyCollection

        pieces = [piece for entry in drawn if entry[2] != "removed" for piece in self._bar(*entry)]
        corners, colors = [piece[0] for piece in pieces], [piece[1] for piece in pieces]
        look: dict[str, Any] = {"linewidths": 0, "zorder": 3, "gid": "bars"}
        bars = PolyCollection(corners, facecolors=colors, **look)
        self.ax.add_collection(bars, autolim=False)

    def _bar(self, index: int, card: NodeCard, look: str) -> Iterator[tuple[Array, str]]:
        left, top, right, _ = self._box(index, card)
        inset = self.font * 0.8
        start, width = left + inset, right - left - 2 * inset
        top += self.font * (1.2 * PAD + LINE * (len(card.title) + len(card.facts)))
        bottom = top + self.font * BAR
        for fraction, color in card.bar:
            end = start + fraction * width
            corners = np.array([[start, top], [end, top], [end, bottom], [start, bottom]])
            yield corners, blend(color, _FADE) if look == "faded" else color
            start = end

    def _draw_texts(self, index: int, card: NodeCard, look: str) -> None:
        x = float(self.diagram.layout.x[index])
        top = float(self.diagram.layout.top[index])
        y = top - card.label_height + 0.3
        for text in card.label:
            y += LINE
            self._write(card, look, x, y, text, MUTED if look == "plain" else INK)
        y = top + PAD
        for size, weight, color, lines in _paragraphs(card):
            if size == SMALL:
                y += BAR + PAD
            for text in lines:
                y += LINE * size
                if look != "removed" or weight == "bold":
                    self._write(card, look, x, y, text, color, size=size, weight=weight)

    def _write(
        self, card: NodeCard, look: str, x: float, y: float, text: str, color: str,
        *, size: float = 1.0, weight: str = "normal",
    ) -> None:  # fmt: skip
        if look == "removed":
            color = _REMOVED_TEXT
        elif look == "faded":
            color = blend(color, _FADE)
        self.ax.text(
            *self._at(x, y - 0.3 * LINE * size), text, fontsize=size * self.font, color=color,
            weight=weight, ha="center", va="baseline", parse_math=False, zorder=4,
            gid=f"node {card.node}",
        )  # fmt: skip


def _paragraphs(card: NodeCard) -> list[tuple[float, str, str, tuple[str, ...]]]:
    """Return size, weight, color and lines; the small ones are below the bar."""
    return [
        (1.0, "bold", INK, card.title),
        (1.0, "normal", INK, card.facts),
        (SMALL, "normal", MUTED, card.notes),
        (1.0, "bold", ACCENT, card.marks),
    ]


def _box_look(card: NodeCard, look: str) -> tuple[str, str, float]:
    """Return face color, edge color and edge width (in font sizes) of a box."""
    face = {"leaf": blend(card.tint, 0.86), "folded": _FOLDED}.get(card.kind, "white")
    edge = card.tint if card.kind == "leaf" else MUTED
    if look == "removed":
        return "white", _REMOVED, 0.08
    if look == "faded":
        return blend(face, _FADE), blend(edge, _FADE), 0.1
    if look == "highlighted":
        return face, ACCENT, 0.28
    return face, edge, 0.12


def _edge_color(look: str) -> str:
    colors = {"highlighted": ACCENT, "removed": _REMOVED, "faded": blend(_EDGE, _FADE)}
    return colors.get(look, _EDGE)


def _rounded(left: float, top: float, right: float, bottom: float, radius: float) -> Array:
    """Return the outline of a box whose corners are quarter circles of a few points."""
    sin, cos = radius * np.sin(_CORNER), radius * np.cos(_CORNER)
    x = [left + radius - cos, right - radius + sin, right - radius + cos, left + radius - sin]
    y = [top + radius - sin, top + radius - cos, bottom - radius + sin, bottom - radius + cos]
    return np.column_stack([np.concatenate(x), np.concatenate(y)])

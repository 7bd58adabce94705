"""Puts the cards of a tree on axes: boxes, bars and edges as collections, words as texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.style import ACCENT, INK, MUTED
from ceiba.plots.trees.colors import blend
from ceiba.plots.trees.nodes import BAR, FLARE, LINE, PAD, SMALL, Card
from ceiba.plots.trees.scene import Scene

_EDGE = "#9A9A9A"
_FOLDED = "#F3F3F3"
_GHOST, _GHOST_TEXT = "#E2E2E2", "#C2C2C2"
_FADE = 0.68  # how far faded nodes go towards white
_ROUND = 0.5  # radius of a box's corners
_CORNER = np.linspace(0, np.pi / 2, 5)


@dataclass(frozen=True, slots=True, eq=False)
class Canvas:
    """A scene drawn on axes whose coordinates are points, downwards from the top.

    Parameters
    ----------
    ax : Axes
    scene : Scene
    font : float
        Size of text in points.
    origin : tuple of float
        Where the scene's upper left corner lies.
    weight : array
        Weight of every node of the tree: edges are as thick.
    """

    ax: Any
    scene: Scene
    font: float
    origin: tuple[float, float]
    weight: Array

    def draw(self, cards: Sequence[Card], tones: Mapping[int, str] | None = None) -> None:
        """Draw a card for each node; ``tones`` are "lit", "faded", "ghost" or "gone" by node."""
        toned = {card.node: "plain" for card in cards} | dict(tones or {})
        drawn = [
            (place, card, toned[card.node])
            for place, card in enumerate(cards)
            if toned[card.node] != "gone"
        ]
        self._draw_edges(drawn)
        self._draw_boxes(drawn)
        self._draw_bars(drawn)
        for place, card, tone in drawn:
            self._draw_words(place, card, tone)

    def box(self, place: int, card: Card) -> tuple[float, float, float, float]:
        """Left, top, right and bottom of a node's box."""
        layout, half = self.scene.layout, card.box_width / 2
        x, top = float(layout.x[place]), float(layout.top[place])
        left, up = self._at(x - half, top)
        right, low = self._at(x + half, top + card.box_height)
        return left, up, right, low

    def _at(self, x: float, y: float) -> tuple[float, float]:
        return self.origin[0] + self.font * x, self.origin[1] + self.font * y

    def _draw_edges(self, drawn: Sequence[tuple[int, Card, str]]) -> None:
        from matplotlib.collections import LineCollection

        cards = {place: card for place, card, _ in drawn}
        below = [
            (place, card, tone) for place, card, tone in drawn if self.scene.part.parent[place] >= 0
        ]
        whole = float(self.weight[self.scene.part.nodes[0]]) or 1.0
        share = np.sqrt([float(self.weight[card.node]) / whole for _, card, _ in below])
        self.ax.add_collection(
            LineCollection(
                [self._edge(place, card, cards) for place, card, _ in below],
                linewidths=self.font * (0.07 + 0.25 * share),
                colors=[_edge_colour(tone) for _, _, tone in below],
                capstyle="round",
                joinstyle="round",
                zorder=1,
                gid="edges",
                clip_on=False,
            ),
            autolim=False,
        )

    def _edge(self, place: int, card: Card, cards: Mapping[int, Card]) -> list[tuple[float, float]]:
        """Down from the box above to the foot of its level, across, and down to the condition."""
        layout, above = self.scene.layout, self.scene.part.parent[place]
        x, top = float(layout.x[place]), float(layout.top[place])
        level = int(layout.level[place])
        start, foot = float(layout.x[above]), float(layout.floor[level - 1])
        box = float(layout.top[above]) + cards[above].box_height
        points = [(start, box), (start, foot), (x, float(layout.band[level]))]
        return [self._at(*point) for point in [*points, (x, top - card.label_height)]]

    def _draw_boxes(self, drawn: Sequence[tuple[int, Card, str]]) -> None:
        from matplotlib.collections import PolyCollection

        looks = [_look(card, tone) for _, card, tone in drawn]
        self.ax.add_collection(
            PolyCollection(
                [self._outline(place, card) for place, card, _ in drawn],
                facecolors=[look[0] for look in looks],
                edgecolors=[look[1] for look in looks],
                linewidths=[self.font * look[2] for look in looks],
                linestyles=["--" if card.kind == "folded" else "-" for _, card, _ in drawn],
                zorder=2,
                gid="boxes",
                clip_on=False,
            ),
            autolim=False,
        )

    def _outline(self, place: int, card: Card) -> Array:
        left, top, right, low = self.box(place, card)
        if card.kind == "folded":
            flare = self.font * FLARE
            return np.array([[left, top], [right, top], [right + flare, low], [left - flare, low]])
        return _rounded(left, top, right, low, self.font * _ROUND)

    def _draw_bars(self, drawn: Sequence[tuple[int, Card, str]]) -> None:
        from matplotlib.collections import PolyCollection

        pieces = [piece for entry in drawn if entry[2] != "ghost" for piece in self._bar(*entry)]
        self.ax.add_collection(
            PolyCollection(
                [corners for corners, _ in pieces],
                facecolors=[colour for _, colour in pieces],
                linewidths=0,
                zorder=3,
                gid="bars",
            ),
            autolim=False,
        )

    def _bar(self, place: int, card: Card, tone: str) -> Iterator[tuple[Array, str]]:
        left, top, right, _ = self.box(place, card)
        inset = self.font * 0.8
        start, width = left + inset, right - left - 2 * inset
        top += self.font * (1.2 * PAD + LINE * (len(card.title) + len(card.facts)))
        low = top + self.font * BAR
        for share, colour in card.bar:
            end = start + share * width
            corners = np.array([[start, top], [end, top], [end, low], [start, low]])
            yield corners, blend(colour, _FADE) if tone == "faded" else colour
            start = end

    def _draw_words(self, place: int, card: Card, tone: str) -> None:
        x = float(self.scene.layout.x[place])
        top = float(self.scene.layout.top[place])
        y = top - card.label_height + 0.3
        for text in card.label:
            y += LINE
            self._write(card, tone, x, y, text, MUTED if tone == "plain" else INK)
        y = top + PAD
        for size, weight, colour, lines in _paragraphs(card):
            if size == SMALL:
                y += BAR + PAD
            for text in lines:
                y += LINE * size
                if tone != "ghost" or weight == "bold":
                    self._write(card, tone, x, y, text, colour, size=size, weight=weight)

    def _write(
        self, card: Card, tone: str, x: float, y: float, text: str, colour: str,
        *, size: float = 1.0, weight: str = "normal",
    ) -> None:  # fmt: skip
        if tone == "ghost":
            colour = _GHOST_TEXT
        elif tone == "faded":
            colour = blend(colour, _FADE)
        place = self._at(x, y - 0.3 * LINE * size)
        self.ax.text(
            *place, text, fontsize=size * self.font, color=colour, weight=weight, ha="center",
            va="baseline", parse_math=False, zorder=4, gid=f"node {card.node}",
        )  # fmt: skip


def _paragraphs(card: Card) -> list[tuple[float, str, str, tuple[str, ...]]]:
    """Size, weight, colour and lines, from the top; the small ones stand below the bar."""
    return [
        (1.0, "bold", INK, card.title),
        (1.0, "normal", INK, card.facts),
        (SMALL, "normal", MUTED, card.notes),
        (1.0, "bold", ACCENT, card.marks),
    ]


def _look(card: Card, tone: str) -> tuple[str, str, float]:
    """Face, outline and its width (in units of the font's size) of a box."""
    face = {"leaf": blend(card.tint, 0.86), "folded": _FOLDED}.get(card.kind, "white")
    outline = card.tint if card.kind == "leaf" else MUTED
    if tone == "ghost":
        return "white", _GHOST, 0.08
    if tone == "faded":
        return blend(face, _FADE), blend(outline, _FADE), 0.1
    if tone == "lit":
        return face, ACCENT, 0.28
    return face, outline, 0.12


def _edge_colour(tone: str) -> str:
    return {"lit": ACCENT, "ghost": _GHOST, "faded": blend(_EDGE, _FADE)}.get(tone, _EDGE)


def _rounded(left: float, top: float, right: float, low: float, radius: float) -> Array:
    """Corners of a box, each as a few points of a quarter circle."""
    sin, cos = radius * np.sin(_CORNER), radius * np.cos(_CORNER)
    x = [left + radius - cos, right - radius + sin, right - radius + cos, left + radius - sin]
    y = [top + radius - sin, top + radius - cos, low - radius + sin, low - radius + cos]
    return np.column_stack([np.concatenate(x), np.concatenate(y)])

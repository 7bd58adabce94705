"""What the nodes of a drawn tree say, and how much room their words take."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from textwrap import wrap
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.trees.colors import Bar, Colours, colours_of
from ceiba.plots.trees.part import Below
from ceiba.tree.explain.conditions import GAP, branch_cases, condition, number_words
from ceiba.tree.explain.text import WHY
from ceiba.tree.model.split import Split
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import REASONS
from ceiba.tree.prune.risk import leaf_labels

# All lengths in units of the font's size.
LINE, PAD, BAR, SMALL = 1.3, 0.5, 0.8, 0.88
FLARE = 0.9  # how much wider a folded node is at its foot, on each side
_SIDES, _NARROWEST = 0.8, 6.0
# Small letters are set on whole pixels, which makes some texts wider than the font says.
_SLACK = 1.07
_WIDEST = 27  # characters of a line
# Up to so many classes, all counts stand in the order of the legend; beyond, the largest by name.
_UNNAMED, _NAMED = 4, 3

# What rows of a node may have in the columns tested above it: levels, and a gap.
Cases = Mapping[int, frozenset[Any]]


@dataclass(frozen=True)
class Card:
    """One drawn node.

    Attributes
    ----------
    node : int
    kind : {"split", "leaf", "folded"}
    label : tuple of str
        Lines of the condition that leads to it.
    title, facts, notes, marks : tuple of str
        Lines in bold, above the bar, small below it, and in the accent's colour at the foot.
    bar : tuple of (share, colour)
    tint : str
        Colour of what it predicts.
    """

    node: int
    kind: str
    label: tuple[str, ...]
    title: tuple[str, ...]
    facts: tuple[str, ...]
    bar: Bar
    notes: tuple[str, ...]
    tint: str
    marks: tuple[str, ...] = ()

    @cached_property
    def box_width(self) -> float:
        """Width of the box at its head."""
        widths = [text_width(text, bold=True) for text in self.title + self.marks]
        widths += [text_width(text) for text in self.facts]
        widths += [SMALL * text_width(text) for text in self.notes]
        return max(_NARROWEST, 2 * _SIDES + max(widths))

    @cached_property
    def width(self) -> float:
        """Width of all: the box, and the condition above it."""
        flared = self.box_width + 2 * FLARE * (self.kind == "folded")
        return max(flared, *(0.6 + text_width(text) for text in self.label), 0.0)

    @cached_property
    def box_height(self) -> float:
        """Height of the box."""
        lines = len(self.title) + len(self.facts) + len(self.marks) + SMALL * len(self.notes)
        return 2 * PAD + LINE * lines + BAR + PAD

    @cached_property
    def label_height(self) -> float:
        """Height of the condition."""
        return LINE * len(self.label) + 0.5 * bool(self.label)


@dataclass(frozen=True, eq=False)
class NodeWriter:
    """Writes the cards of a tree's nodes.

    Parameters
    ----------
    tree : Tree
    labels : list or None
        Labels of the classes; None for numbers.
    runner_ups : bool
        Name the best split of another column.
    max_labels : int
        Most levels of a branch to list.
    decimals : int
    compact : bool
        Only the title, the bar and the rows.
    """

    tree: Tree
    labels: list[Any] | None
    runner_ups: bool = False
    max_labels: int = 5
    decimals: int = 3
    compact: bool = False

    @cached_property
    def below(self) -> Below:
        """What hangs at each node."""
        return Below.of(self.tree)

    @cached_property
    def colours(self) -> Colours:
        """Colours of the classes or numbers."""
        return colours_of(self.tree)

    @cached_property
    def _labels(self) -> Array:
        """Place of the class that each node would predict as a leaf."""
        return leaf_labels(self.tree)

    def card(self, node: int, kind: str, label: str = "", marks: Sequence[str] = ()) -> Card:
        """The card of a node as a ``split``, as a ``leaf`` (also of a split node) or ``folded``."""
        title, facts, notes, predicted = getattr(self, f"_{kind}")(node)
        if self.compact:
            notes = []
        else:
            facts, notes = [*facts, *self._rows(node)], [*self._value(node), *notes]
        if self.compact and kind != "folded":
            facts = [counted(int(self.tree.n_rows[node]), "row")]
        return Card(
            node, kind, tuple(_wrapped(label)), tuple(title), tuple(facts),
            self.colours.bar(node), tuple(notes), self.colours.tint(node, predicted), tuple(marks),
        )  # fmt: skip

    def branch_labels(self, node: int, possible: Cases) -> Iterator[tuple[str, Cases]]:
        """The condition of each branch, and what rows may have in the columns tested so far."""
        split = self.tree.split(node)
        column, here = self.tree.schema[split.column], possible.get(split.column)
        for branch in range(split.n_branches):
            cases = branch_cases(split, branch)
            if self.tree.missing != "branch":  # gaps have no branch of their own
                cases = [case for case in cases if case is not GAP]
            if here is not None:
                cases = [case for case in cases if case in here]
            text = condition(
                split, branch, column, cases, max_labels=self.max_labels, decimals=self.decimals
            )
            yield _unnamed(text, split), {**possible, split.column: frozenset(cases)}

    def number(self, value: float) -> str:
        """A number in as many digits as asked for."""
        return number_words(value, self.decimals)

    def _split(self, node: int) -> tuple[list[str], list[str], list[str], None]:
        tree = self.tree
        gain, ties = f"gain {self.number(float(tree.gain[node]))}", int(tree.ties[node])
        notes = [f"{gain}, {counted(ties, 'tie')}" if ties else gain]
        other = int(tree.runner_up_column[node])
        if self.runner_ups and other >= 0:
            named = short(f"next: {tree.schema[other].name}")
            notes.append(f"{named}, {self.number(float(tree.runner_up_gain[node]))}")
        return [short(tree.schema[int(tree.column[node])].name)], [], notes, None

    def _leaf(self, node: int) -> tuple[list[str], list[str], list[str], int | None]:
        tree = self.tree
        grown = bool(tree.is_leaf[node])
        notes = _wrapped(WHY[REASONS[tree.reason[node]]]) if grown else []
        if self.labels is None:
            value = float(tree.values_of(np.array([node]))[0] if grown else tree.value[node, 0])
            return [f"→ {self.number(value)}"], [], notes, None
        if not grown:
            predicted = int(self._labels[node])
            return [short(f"→ {self.labels[predicted]}")], [], notes, predicted
        row = int(tree.child[node])
        predicted = int(tree.likeliest[row])
        likely = self.number(float(tree.leaves[row, predicted]))
        return [short(f"→ {self.labels[predicted]}")], [f"p = {likely}"], notes, predicted

    def _folded(self, node: int) -> tuple[list[str], list[str], list[str], None]:
        nodes, leaves = int(self.below.nodes[node]), int(self.below.leaves[node])
        name = short(self.tree.schema[int(self.tree.column[node])].name)
        return [f"+ {counted(nodes, 'node')}"], [counted(leaves, "leaf")], [f"by {name}"], None

    def _rows(self, node: int) -> list[str]:
        rows, weight = int(self.tree.n_rows[node]), float(self.tree.weight[node])
        text = [f"[{node}] {counted(rows, 'row')}"]
        return text if weight == rows else [*text, f"weight {self.number(weight)}"]

    def _value(self, node: int) -> list[str]:
        value = self.tree.value[node].tolist()
        if self.labels is None:
            return [] if self.tree.is_leaf[node] else [f"value {self.number(value[0])}"]
        if len(value) <= _UNNAMED:
            return [" · ".join(self.number(weight) for weight in value)]
        there = sorted((k for k, weight in enumerate(value) if weight), key=lambda k: -value[k])
        shown = [f"{short(self.labels[k], 18)}: {self.number(value[k])}" for k in there[:_NAMED]]
        rest = len(there) - _NAMED
        return _wrapped(", ".join([*shown, f"… {rest} more"] if rest > 0 else shown))


def _unnamed(text: str, split: Split) -> str:
    """A condition without its column, which stands in the node above."""
    low, between, high = text.partition(f" < {split.name} <= ")
    if between and split.kind == "intervals":
        end = " or missing" * high.endswith(" or missing")
        return f"({low}, {high.removesuffix(end)}]{end}"
    rest = text.removeprefix(f"{split.name} ")
    if rest.startswith("<= "):
        return f"≤ {rest[3:]}"
    if rest.startswith("= "):
        return rest[2:] or "''"
    if rest.startswith("in {"):
        levels, _, end = rest[4:].rpartition("}")
        return levels + end
    return rest


def counted(n: int, noun: str) -> str:
    """A number and its noun: 1 leaf, 2,000 leaves."""
    if n != 1:
        noun = "leaves" if noun == "leaf" else f"{noun}s"
    return f"{n:,} {noun}"


def short(text: Any, most: int = _WIDEST) -> str:
    """At most so many characters, on one line."""
    words = " ".join(str(text).split())
    return words if len(words) <= most else f"{words[: most - 1]}…"


def _wrapped(text: str) -> list[str]:
    return wrap(text, _WIDEST - 3, max_lines=3, placeholder=" …", break_on_hyphens=False)


def text_width(text: str, *, bold: bool = False) -> float:
    """Width of a text in units of its size, with some slack."""
    from matplotlib.font_manager import FontProperties, findfont

    font = findfont(FontProperties(weight="bold" if bold else "normal"))
    return _SLACK * sum(_letter_width(letter, font) for letter in text)


@lru_cache(maxsize=4096)
def _letter_width(letter: str, font: str) -> float:
    """Measured between two others: a space alone has no width."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    face = FontProperties(fname=font, size=1.0)
    width = float(text_to_path.get_text_width_height_descent(f"x{letter}x", face, False)[0])
    return max(width - _letter_width("", font), 0.0) if letter else width

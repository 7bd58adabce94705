"""The texts and colors of the nodes of a drawn tree, and their size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from textwrap import wrap
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots import style
from ceiba.plots.style import MAX_LINE, count_text, shorten, text_width
from ceiba.tree.explain.conditions import MISSING_VALUE, branch_text, branch_values, format_decimals
from ceiba.tree.explain.text import LEAF_REASONS
from ceiba.tree.model.split import Split
from ceiba.tree.model.subtrees import SubtreeSizes
from ceiba.tree.model.tree import Tree
from ceiba.tree.model.validate import REASONS

# All lengths are in units of the font size.
LINE, PAD, BAR, SMALL = 1.3, 0.5, 0.8, 0.88
FLARE = 0.9  # additional width of a folded node at its bottom, on each side
_SIDE, _MIN_WIDTH = 0.8, 6.0
# Up to so many classes all weights are listed in the order of the legend, beyond that the largest.
_MAX_UNNAMED, _MAX_NAMED = 4, 3

# Possible values, categories and missing, of rows of a node in the columns tested above it.
PossibleValues = Mapping[int, frozenset[Any]]

_LEGEND_LINE, _SCALE_HEIGHT, _SCALE_WIDTH = 15.0, 34.0, 170.0  # points
_MAX_NAMES = 28

Bar = tuple[tuple[float, str], ...]  # fraction of the width and color of each part


class ClassColors:
    """A color for each class, bars of class proportions, and the legend of the classes."""

    def __init__(self, tree: Tree, labels: list[Any]) -> None:
        self._value = tree.node_values
        names = [shorten(label, 24) for label in labels[:_MAX_NAMES]]
        rest = len(labels) - len(names)
        self._names = [*names, f"… {rest} more classes"] if rest else names
        self._entry_colors = [style.color_of(k) for k in range(len(names))] + ["none"] * (rest > 0)

    def bar(self, node: int) -> Bar:
        """Return proportion and color of each class in a node."""
        value = self._value[node]
        total = float(value.sum())
        return tuple(
            (float(value[k]) / total, style.color_of(int(k))) for k in np.flatnonzero(value)
        )

    def tint(self, node: int, predicted: int | None = None) -> str:
        """Return the color of the predicted class, by default the one of largest weight."""
        return style.color_of(int(self._value[node].argmax() if predicted is None else predicted))

    def legend_width(self) -> float:
        """Return the width, in points, of the legend in one line."""
        return len(self._names) * self._entry_width()

    def legend_height(self, width: float) -> float:
        """Return the height, in points, that the legend needs in a width."""
        return _LEGEND_LINE * -(-len(self._names) // self._n_columns(width)) + 4.0

    def draw_legend(self, ax: Any, width: float, height: float) -> None:
        """Draw the legend at the bottom of axes of a width and height in points."""
        from matplotlib.patches import Patch

        pairs = zip(self._entry_colors, self._names, strict=True)
        legend = ax.legend(
            handles=[Patch(facecolor=color, label=name) for color, name in pairs],
            loc="lower center", ncols=self._n_columns(width), borderaxespad=0.0, borderpad=0.1,
            handlelength=1.2, handleheight=0.8, labelspacing=0.35, columnspacing=1.4,
            **style.LEGEND,
        )  # fmt: skip
        for text in legend.get_texts():
            text.set_parse_math(False)

    def _entry_width(self) -> float:
        return (max(map(text_width, self._names)) + 3.5) * style.LABEL_SIZE

    def _n_columns(self, width: float) -> int:
        return min(len(self._names), max(1, int(width / self._entry_width())))


class NumberColors:
    """Colors along the range of a tree's values, bars as long as a value, and their scale."""

    def __init__(self, tree: Tree) -> None:
        self._value: Array = tree.node_values[:, 0]
        self._low, self._high = float(self._value.min()), float(self._value.max())

    def bar(self, node: int) -> Bar:
        """Return the position of a node's value in the range, and the rest."""
        filled = max(self._position(node), 0.03)  # even the smallest value shows its color
        return ((filled, self.tint(node)), (1 - filled, style.GRID))

    def tint(self, node: int, predicted: int | None = None) -> str:
        """Return the color of a node's value; ``predicted`` applies to classes only."""
        from matplotlib import colormaps
        from matplotlib.colors import to_hex

        return str(to_hex(colormaps[style.COLOR_MAP](self._position(node))))

    def legend_width(self) -> float:
        """Return the width of the scale in points."""
        return _SCALE_WIDTH

    def legend_height(self, width: float) -> float:
        """Return the height of the scale in points."""
        return _SCALE_HEIGHT

    def draw_legend(self, ax: Any, width: float, height: float) -> None:
        """Draw the scale at the bottom of axes of a width and height in points."""
        from matplotlib.ticker import MaxNLocator

        fraction = min(_SCALE_WIDTH / width, 1.0)
        inset = ax.inset_axes([(1 - fraction) / 2, 18.0 / height, fraction, 9.0 / height])
        scale = style.color_scale(self._low, self._high)
        bar = style.add_color_bar(ax.figure, scale, cax=inset, orientation="horizontal")
        bar.locator = MaxNLocator(4)

    def _position(self, node: int) -> float:
        # Halved, so that a range that spans all floats does not overflow.
        width = self._high / 2 - self._low / 2
        return (float(self._value[node]) / 2 - self._low / 2) / width if width > 0 else 0.5


Colors = ClassColors | NumberColors


@dataclass(frozen=True)
class NodeCard:
    """The texts and colors of one drawn node."""

    node: int
    kind: str  # split, leaf or folded
    label: tuple[str, ...]  # lines of the condition that leads to the node
    title: tuple[str, ...]  # lines in bold
    facts: tuple[str, ...]  # lines above the bar
    bar: Bar
    notes: tuple[str, ...]  # small lines below the bar
    tint: str  # color of the prediction
    marks: tuple[str, ...] = ()  # highlighted lines at the bottom

    @cached_property
    def box_width(self) -> float:
        """Width of the box at its top."""
        widths = [text_width(text, bold=True) for text in self.title + self.marks]
        widths += [text_width(text) for text in self.facts]
        widths += [SMALL * text_width(text) for text in self.notes]
        return max(_MIN_WIDTH, 2 * _SIDE + max(widths))

    @cached_property
    def width(self) -> float:
        """Width of the box and the condition above it."""
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
class CardWriter:
    """Write the cards of a tree's nodes."""

    tree: Tree
    labels: list[Any] | None  # class labels; None for numbers
    runner_ups: bool = False  # name the best split of another column
    max_labels: int = 5  # categories to list per branch
    decimals: int = 3
    compact: bool = False  # title, bar and number of rows only
    numbered: bool = False  # write the number of the node also if compact
    first_number: int = 0  # number of the root

    @cached_property
    def below(self) -> SubtreeSizes:
        """Number of nodes and leaves below each node."""
        return SubtreeSizes.of(self.tree)

    @cached_property
    def colors(self) -> Colors:
        """Colors of the classes or numbers."""
        labels = self.labels
        return NumberColors(self.tree) if labels is None else ClassColors(self.tree, labels)

    @cached_property
    def _class_indices(self) -> Array:
        """Class that each node would predict as a leaf."""
        return self.tree.node_classes

    def card(self, node: int, kind: str, label: str = "", marks: Sequence[str] = ()) -> NodeCard:
        """Write a node as "split", as "leaf" (possible for any node) or as "folded"."""
        title, facts, notes, predicted = getattr(self, f"_{kind}")(node)
        if self.compact:
            notes = []
        else:
            facts, notes = [*facts, *self._rows(node)], [*self._value(node), *notes]
        if self.compact and kind != "folded":
            facts = [count_text(int(self.tree.n_rows[node]), "row")]
        if self.compact and self.numbered:
            facts = [f"[{node + self.first_number}] {facts[0]}"]
        return NodeCard(
            node, kind, tuple(_wrap(label)), tuple(title), tuple(facts),
            self.colors.bar(node), tuple(notes), self.colors.tint(node, predicted), tuple(marks),
        )  # fmt: skip

    def branch_labels(
        self, node: int, possible: PossibleValues
    ) -> Iterator[tuple[str, PossibleValues]]:
        """Yield the condition of each branch, and the values that remain possible there."""
        split = self.tree.split(node)
        column, here = self.tree.schema[split.column], possible.get(split.column)
        for branch in range(split.n_branches):
            values = branch_values(split, branch)
            if self.tree.missing != "branch":  # missing values have no branch of their own
                values = [value for value in values if value is not MISSING_VALUE]
            if here is not None:
                values = [value for value in values if value in here]
            text = branch_text(
                split, branch, column, values, max_labels=self.max_labels, decimals=self.decimals
            )
            yield _without_column(text, split), {**possible, split.column: frozenset(values)}

    def number(self, value: float) -> str:
        """Format a number with the given decimals."""
        return format_decimals(value, self.decimals)

    def _split(self, node: int) -> tuple[list[str], list[str], list[str], None]:
        tree = self.tree
        gain, ties = f"gain {self.number(float(tree.gain[node]))}", int(tree.ties[node])
        notes = [f"{gain}, {count_text(ties, 'tie')}" if ties else gain]
        other = int(tree.runner_up_column[node])
        if self.runner_ups and other >= 0:
            name = shorten(f"next: {tree.schema[other].name}")
            notes.append(f"{name}, {self.number(float(tree.runner_up_gain[node]))}")
        return [shorten(tree.schema[int(tree.column[node])].name)], [], notes, None

    def _leaf(self, node: int) -> tuple[list[str], list[str], list[str], int | None]:
        tree = self.tree
        is_leaf = bool(tree.is_leaf[node])
        notes = _wrap(LEAF_REASONS[REASONS[tree.reason[node]]]) if is_leaf else []
        if self.labels is None:
            value = float(
                tree.leaf_values(np.array([node]))[0] if is_leaf else tree.node_values[node, 0]
            )
            return [f"→ {self.number(value)}"], [], notes, None
        if not is_leaf:
            predicted = int(self._class_indices[node])
            return [shorten(f"→ {self.labels[predicted]}")], [], notes, predicted
        row = int(tree.child[node])
        predicted = int(tree.leaf_class[row])
        probability = self.number(float(tree.leaves[row, predicted]))
        return [shorten(f"→ {self.labels[predicted]}")], [f"p = {probability}"], notes, predicted

    def _folded(self, node: int) -> tuple[list[str], list[str], list[str], None]:
        nodes, leaves = int(self.below.nodes[node]), int(self.below.leaves[node])
        name = shorten(self.tree.schema[int(self.tree.column[node])].name)
        title, facts = f"+ {count_text(nodes, 'node')}", count_text(leaves, "leaf")
        return [title], [facts], [f"by {name}"], None

    def _rows(self, node: int) -> list[str]:
        rows, weight = int(self.tree.n_rows[node]), float(self.tree.weight[node])
        text = [f"[{node + self.first_number}] {count_text(rows, 'row')}"]
        return text if weight == rows else [*text, f"weight {self.number(weight)}"]

    def _value(self, node: int) -> list[str]:
        value = self.tree.node_values[node].tolist()
        if self.labels is None:
            return [] if self.tree.is_leaf[node] else [f"value {self.number(value[0])}"]
        if len(value) <= _MAX_UNNAMED:
            return [" · ".join(self.number(weight) for weight in value)]
        present = sorted((k for k, weight in enumerate(value) if weight), key=lambda k: -value[k])
        shown = [
            f"{shorten(self.labels[k], 18)}: {self.number(value[k])}" for k in present[:_MAX_NAMED]
        ]
        rest = len(present) - _MAX_NAMED
        return _wrap(", ".join([*shown, f"… {rest} more"] if rest > 0 else shown))


def _without_column(text: str, split: Split) -> str:
    """Remove the column from a condition, since it is named in the parent node."""
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
        categories, _, end = rest[4:].rpartition("}")
        return categories + end
    return rest


def _wrap(text: str) -> list[str]:
    return wrap(text, MAX_LINE - 3, max_lines=3, placeholder=" …", break_on_hyphens=False)

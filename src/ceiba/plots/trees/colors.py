"""Colors of a tree's nodes, and their legend."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots import style
from ceiba.tree.model.tree import Tree

_COLOR_MAP = "viridis"
# Blend with white or black, by this fraction, whenever the class colors repeat.
_REPETITIONS = ((0.0, "white"), (0.5, "white"), (0.45, "black"))

_LEGEND_LINE, _SCALE_HEIGHT, _SCALE_WIDTH = 15.0, 34.0, 170.0  # points
_MAX_NAMES = 28

Bar = tuple[tuple[float, str], ...]  # fraction of the width and color of each part


class ClassColors:
    """A color for each class, and bars of class proportions."""

    def __init__(self, tree: Tree) -> None:
        self._value = tree.value

    def bar(self, node: int) -> Bar:
        """Return proportion and color of each class in a node."""
        value = self._value[node]
        total = float(value.sum())
        return tuple((float(value[k]) / total, class_color(int(k))) for k in np.flatnonzero(value))

    def tint(self, node: int, predicted: int | None = None) -> str:
        """Return the color of the predicted class, by default the one of largest weight."""
        return class_color(int(self._value[node].argmax() if predicted is None else predicted))


class NumberColors:
    """Colors along the range of a tree's values, and bars as long as a value."""

    def __init__(self, tree: Tree) -> None:
        self._value: Array = tree.value[:, 0]
        self.low, self.high = float(self._value.min()), float(self._value.max())

    def bar(self, node: int) -> Bar:
        """Return the position of a node's value in the range, and the rest."""
        filled = max(self._position(node), 0.03)  # even the smallest value shows its color
        return ((filled, self.tint(node)), (1 - filled, style.GRID))

    def tint(self, node: int, predicted: int | None = None) -> str:
        """Return the color of a node's value; ``predicted`` applies to classes only."""
        from matplotlib import colormaps
        from matplotlib.colors import to_hex

        return str(to_hex(colormaps[_COLOR_MAP](self._position(node))))

    def mappable(self) -> Any:
        """Return the color scale for a color bar."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        return ScalarMappable(Normalize(self.low, self.high), _COLOR_MAP)

    def _position(self, node: int) -> float:
        # Halved, so that a range that spans all floats does not overflow.
        width = self.high / 2 - self.low / 2
        return (float(self._value[node]) / 2 - self.low / 2) / width if width > 0 else 0.5


Colors = ClassColors | NumberColors


def node_colors(tree: Tree) -> Colors:
    """Return the colors of a classification or regression tree."""
    return ClassColors(tree) if tree.is_classification else NumberColors(tree)


def class_color(index: int) -> str:
    """Return the color of a class; paler, then darker, when the seven colors repeat."""
    fraction, other = _REPETITIONS[index // len(style.PALETTE) % len(_REPETITIONS)]
    return blend(style.color_of(index), fraction, other)


def blend(color: str, fraction: float, other: str = "white") -> str:
    """Blend a color with another, by the fraction of the second."""
    from matplotlib.colors import to_hex, to_rgb

    first, second = (np.array(to_rgb(c)) for c in (color, other))
    return str(to_hex((1 - fraction) * first + fraction * second))


@dataclass(frozen=True, slots=True, eq=False)
class Legend:
    """The classes in their colors, or the scale of numbers."""

    labels: list[Any] | None  # class labels; None for numbers
    colors: Colors

    @property
    def names(self) -> list[str]:
        """The texts, in the order of the classes."""
        assert self.labels is not None
        names = [style.shorten(label, 24) for label in self.labels[:_MAX_NAMES]]
        rest = len(self.labels) - len(names)
        return [*names, f"… {rest} more classes"] if rest else names

    def n_columns(self, width: float) -> int:
        """Return the number of names that fit side by side in a width of points."""
        return min(len(self.names), max(1, int(width / self._entry_width())))

    def width(self) -> float:
        """Return the width, in points, of all entries in one line."""
        return _SCALE_WIDTH if self.labels is None else len(self.names) * self._entry_width()

    def height(self, width: float) -> float:
        """Return the height, in points, that the legend needs in a width."""
        if self.labels is None:
            return _SCALE_HEIGHT
        return _LEGEND_LINE * -(-len(self.names) // self.n_columns(width)) + 4.0

    def draw(self, ax: Any, width: float, height: float) -> None:
        """Draw the legend at the bottom of axes of a width and height in points."""
        if isinstance(self.colors, NumberColors):
            self._draw_scale(ax, self.colors, width, height)
        else:
            self._draw_names(ax, width)

    def _entry_width(self) -> float:
        return (max(style.text_width(name) for name in self.names) + 3.5) * style.LABEL_SIZE

    def _draw_names(self, ax: Any, width: float) -> None:
        from matplotlib.patches import Patch

        assert self.labels is not None
        colors = [class_color(k) for k in range(min(len(self.labels), _MAX_NAMES))]
        colors += ["none"] * (len(self.names) - len(colors))
        pairs = zip(colors, self.names, strict=True)
        legend = ax.legend(
            handles=[Patch(facecolor=color, label=name) for color, name in pairs],
            loc="lower center", ncols=self.n_columns(width), borderaxespad=0.0, borderpad=0.1,
            handlelength=1.2, handleheight=0.8, labelspacing=0.35, columnspacing=1.4,
            **style.LEGEND,
        )  # fmt: skip
        for text in legend.get_texts():
            text.set_parse_math(False)

    def _draw_scale(self, ax: Any, colors: NumberColors, width: float, height: float) -> None:
        from matplotlib.ticker import MaxNLocator

        fraction = min(_SCALE_WIDTH / width, 1.0)
        inset = ax.inset_axes([(1 - fraction) / 2, 18.0 / height, fraction, 9.0 / height])
        bar = ax.figure.colorbar(colors.mappable(), cax=inset, orientation="horizontal")
        bar.outline.set_visible(False)
        bar.locator = MaxNLocator(4)
        bar.ax.tick_params(
            labelsize=style.TICK_SIZE, color=style.MUTED, labelcolor=style.INK, length=3
        )

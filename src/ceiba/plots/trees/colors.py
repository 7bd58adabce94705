"""Colours of a tree's nodes: those of their classes, or of their place on a scale of numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.plots.style import GRID, PALETTE, colour_of
from ceiba.tree.model.tree import Tree
from ceiba.tree.prune.risk import is_of_classes

_SCALE = "viridis"
# How far each further round of the class colours goes towards white or black.
_ROUNDS = ((0.0, "white"), (0.5, "white"), (0.45, "black"))

Bar = tuple[tuple[float, str], ...]


class ClassColours:
    """A colour for each class, and bars of class shares."""

    def __init__(self, tree: Tree) -> None:
        self._value = tree.value

    def bar(self, node: int) -> Bar:
        """Share and colour of each class that a node has."""
        value = self._value[node]
        total = float(value.sum())
        return tuple((float(value[k]) / total, class_colour(int(k))) for k in np.flatnonzero(value))

    def tint(self, node: int, predicted: int | None = None) -> str:
        """Colour of the class that a node predicts, its heaviest unless given."""
        return class_colour(int(self._value[node].argmax() if predicted is None else predicted))


class NumberColours:
    """Colours along the range of a tree's values, and bars that reach as far as a value."""

    def __init__(self, tree: Tree) -> None:
        self._value: Array = tree.value[:, 0]
        self.low, self.high = float(self._value.min()), float(self._value.max())

    def bar(self, node: int) -> Bar:
        """How far along the scale a node's value lies, and the rest."""
        share = self._share(node)
        filled = max(share, 0.03)  # the lowest value still has a colour to be seen
        return ((filled, self.tint(node)), (1 - filled, GRID))

    def tint(self, node: int, predicted: int | None = None) -> str:
        """Colour of a node's value; ``predicted`` is for classes."""
        from matplotlib import colormaps
        from matplotlib.colors import to_hex

        return str(to_hex(colormaps[_SCALE](self._share(node))))

    def mappable(self) -> Any:
        """What a colour bar is drawn from."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        return ScalarMappable(Normalize(self.low, self.high), _SCALE)

    def _share(self, node: int) -> float:
        # Halved, so that the width of a range that spans all floats does not overflow.
        width = self.high / 2 - self.low / 2
        return (float(self._value[node]) / 2 - self.low / 2) / width if width > 0 else 0.5


Colours = ClassColours | NumberColours


def colours_of(tree: Tree) -> Colours:
    """The colours that fit a tree."""
    return ClassColours(tree) if is_of_classes(tree) else NumberColours(tree)


def class_colour(place: int) -> str:
    """Colour of a class: paler, then darker, when the seven come round again."""
    share, towards = _ROUNDS[place // len(PALETTE) % len(_ROUNDS)]
    return blend(colour_of(place), share, towards)


def blend(colour: str, share: float, towards: str = "white") -> str:
    """A colour moved by a share of the way towards another."""
    from matplotlib.colors import to_hex, to_rgb

    ends: Sequence[Array] = [np.array(to_rgb(c)) for c in (colour, towards)]
    return str(to_hex((1 - share) * ends[0] + share * ends[1]))

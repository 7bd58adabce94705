"""Regression trees in two dimensions: coloured rectangles, and a surface of steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.data.target import Target
from ceiba.plots.planes.regions import Section
from ceiba.plots.planes.scatter import point_size
from ceiba.plots.style import INK, LABEL_SIZE, MUTED, TICK_SIZE, new_figure
from ceiba.plots.trees.steps import LeafBoxes
from ceiba.tree.model.tree import Tree

__all__ = ["partition", "surface"]

_MAP = "viridis"  # even steps of lightness, for colour-blind eyes too
_MOST_CELLS = 20_000  # what a 3-d picture draws in a few seconds
_LIGHT = (0.299, 0.587, 0.114)  # how bright red, green and blue look
_WALL = 0.72  # light on upright faces


def partition(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    values: bool = True,
    ax: Any = None,
    max_points: int = 2_000,
    random_state: Any = 0,
) -> Any:
    """Draw a regression tree over two numeric columns: its leaves as rectangles, with values.

    Further columns are held as in `regions`. With ``y`` the rows stand on top, in the colour of
    their own target: the nearer to that of the rectangle, the smaller their error.

    Parameters
    ----------
    model : fitted DecisionTreeRegressor
    X : array, frame or table
        Rows to draw; they also say where the held columns stand.
    y : array of shape (n_rows,), optional
        Their targets; without them no rows are drawn.
    columns : pair of names or numbers, optional
        The columns to show; unless given, the two numeric ones of greatest importance.
    values : bool
        Write the value of each leaf that has room for it.
    ax : Axes, optional
        Where to draw; a new figure unless given.
    max_points : int
        Draw a random sample of this many rows where there are more.
    random_state : int or None
        Draws that sample.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import DecisionTreeRegressor, plots
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> model = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, X[:, 0] * X[:, 1])
    >>> picture = plots.partition(model, X)
    >>> len(picture.axes[0].texts)
    5
    """
    from matplotlib.collections import PolyCollection

    section = _section(model, X, columns)
    boxes = section.boxes(model.tree_)
    heights = model.predict(section.rows(boxes.high))
    targets = None if y is None else Target.of(y, len(section.points), task="regression").values
    shades = _shades(heights, targets)
    if ax is None:
        ax = new_figure(7.0, 4.8).add_subplot()
    ax.add_collection(
        PolyCollection(
            list(boxes.outlines),
            facecolors=shades.to_rgba(heights),
            edgecolors="white",
            linewidths=0.8,
            zorder=0.5,
        )
    )
    rows = None
    if targets is not None:
        rows = section.sample(max_points, random_state)
        ax.scatter(
            *section.points[rows].T, c=shades.to_rgba(targets[rows]), s=point_size(len(rows)),
            edgecolors="white", linewidths=0.6, zorder=2,
        )  # fmt: skip
    if values:
        _write_values(ax, section, boxes, heights, shades)
    section.dress(ax, _title(model, boxes, section, rows))
    _scale(ax, shades)
    return ax.figure


def surface(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    elevation: float = 32.0,
    azimuth: float = -125.0,
    ax: Any = None,
    max_points: int = 500,
    random_state: Any = 0,
) -> Any:
    """Draw a regression tree over two numeric columns as a surface of steps in three dimensions.

    Further columns are held as in `regions`. With ``y`` the rows stand above and below the
    surface, where their targets are.

    Parameters
    ----------
    model : fitted DecisionTreeRegressor
    X : array, frame or table
        Rows to draw; they also say where the held columns stand.
    y : array of shape (n_rows,), optional
        Their targets; without them no rows are drawn.
    columns : pair of names or numbers, optional
        The columns to show; unless given, the two numeric ones of greatest importance.
    elevation, azimuth : float
        From where the surface is seen, in degrees.
    ax : 3-d axes, optional
        Where to draw; a new figure unless given.
    max_points : int
        Draw a random sample of this many rows where there are more.
    random_state : int or None
        Draws that sample.

    Returns
    -------
    Figure

    Examples
    --------
    >>> import numpy as np
    >>> from ceiba import DecisionTreeRegressor, plots
    >>> X = np.random.default_rng(0).random((100, 2))
    >>> model = DecisionTreeRegressor(max_leaf_nodes=5).fit(X, X[:, 0] * X[:, 1])
    >>> plots.surface(model, X, elevation=50.0).axes[0].elev
    50.0
    """
    if ax is not None and ax.name != "3d":
        raise ValueError('ax has two dimensions: make it with projection="3d"')
    section = _section(model, X, columns)
    boxes = section.boxes(model.tree_)
    heights = model.predict(section.rows(boxes.high))
    targets = None if y is None else Target.of(y, len(section.points), task="regression").values
    cells = _Cells(boxes, heights)
    if ax is None:
        ax = new_figure(7.0, 5.4).add_subplot(projection="3d")
    ax.computed_zorder = False
    ax.view_init(elev=elevation, azim=azimuth)
    shades = _shades(heights, targets)
    cells.draw(ax, shades)
    rows = None
    if targets is not None:
        rows = section.sample(max_points, random_state)
        _draw_rows(ax, model, section, targets, rows)
    _dress_space(ax, section, _title(model, boxes, section, rows), shades)
    return ax.figure


def _section(model: Any, X: Any, columns: Sequence[str | int] | None) -> Section:
    if not isinstance(getattr(model, "tree_", None), Tree) or hasattr(model, "classes_"):
        raise ValueError(
            f"these are the steps of a fitted regression tree of Ceiba, and not of "
            f"{type(model).__name__}: draw a classifier with plots.regions"
        )
    return Section.of(model, X, columns)


def _shades(heights: Array, targets: Array | None) -> Any:
    """Colours of values, from the least to the greatest that is drawn."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    every = heights if targets is None else np.concatenate([heights, targets])
    return ScalarMappable(Normalize(every.min(), every.max()), _MAP)


def _title(model: Any, boxes: LeafBoxes, section: Section, rows: Array | None) -> str:
    n = len(boxes.leaves)
    shown = f"{n:,} {'leaf' if n == 1 else 'leaves'}"
    if n < model.tree_.n_leaves:
        shown += f" of {model.tree_.n_leaves:,} seen"
    title = f"{type(model).__name__}, {shown}"
    return title if rows is None else f"{title}, {section.counted(rows)}"


def _write_values(ax: Any, section: Section, boxes: LeafBoxes, heights: Array, shades: Any) -> None:
    """Each leaf's value in its middle, where the rectangle is large enough for the text."""
    from matplotlib.patheffects import withStroke

    extent = section.high - section.low
    for low, high, height in zip(boxes.low, boxes.high, heights, strict=True):
        text = f"{height:.3g}".replace("-", "−")
        room = (high - low) / extent
        if room[0] < 0.017 * len(text) or room[1] < 0.05:
            continue
        colour = shades.to_rgba(height)
        dark = np.dot(colour[:3], _LIGHT) < 0.5
        ax.annotate(
            text, (low + high) / 2, ha="center", va="center", fontsize=LABEL_SIZE,
            color="white" if dark else INK, zorder=3,
            path_effects=[withStroke(linewidth=3, foreground=colour)],
        )  # fmt: skip


def _scale(ax: Any, shades: Any, **options: Any) -> None:
    """The bar that says which colour is which value."""
    bar = ax.figure.colorbar(shades, ax=ax, **options)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=TICK_SIZE, color=MUTED, labelcolor=INK, length=3)
    bar.set_label("predicted", fontsize=LABEL_SIZE, color=INK)


class _Cells:
    """The surface on the grid of all edges: level faces, and upright ones where it steps.

    Faces of one size are put in their order of depth without a fault; whole leaves, some large
    and some small, are not.
    """

    def __init__(self, boxes: LeafBoxes, heights: Array) -> None:
        self.x, self.y = (
            np.unique(np.concatenate([boxes.low[:, axis], boxes.high[:, axis]])) for axis in (0, 1)
        )
        shape = len(self.x) - 1, len(self.y) - 1
        if shape[0] * shape[1] > _MOST_CELLS:
            raise ValueError(
                f"{len(heights):,} leaves make {shape[0] * shape[1]:,} cells, too many for three "
                "dimensions: draw a smaller or pruned tree, or use plots.partition"
            )
        self.heights = np.empty(shape)
        begin = [np.searchsorted(e, boxes.low[:, a]) for a, e in enumerate((self.x, self.y))]
        end = [np.searchsorted(e, boxes.high[:, a]) for a, e in enumerate((self.x, self.y))]
        for place, height in enumerate(heights):
            spans = (slice(b[place], e[place]) for b, e in zip(begin, end, strict=True))
            self.heights[tuple(spans)] = height

    def draw(self, ax: Any, shades: Any) -> None:
        """Draw all faces on 3-d axes."""
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        tops, walls = self.tops(), self.walls()
        level = shades.to_rgba(tops[:, 0, 2])
        upright = shades.to_rgba(walls[:, :, 2].max(axis=1))
        upright[:, :3] *= _WALL
        colours = np.concatenate([level, upright])
        ax.add_collection3d(
            Poly3DCollection(
                np.concatenate([tops, walls]),
                facecolors=colours,
                edgecolors=colours,
                linewidths=0.3,
                zorder=2,
            )
        )

    def tops(self) -> Array:
        """Corners of the level faces, (n, 4, 3)."""
        i, j = np.indices(self.heights.shape).reshape(2, -1)
        z = self.heights[i, j]
        return _faces(
            (self.x[i], self.y[j], z), (self.x[i + 1], self.y[j], z),
            (self.x[i + 1], self.y[j + 1], z), (self.x[i], self.y[j + 1], z),
        )  # fmt: skip

    def walls(self) -> Array:
        """Corners of the upright faces, (n, 4, 3), between cells of different height."""
        i, j = np.nonzero(np.diff(self.heights, axis=0))
        x, below, above = self.x[i + 1], self.heights[i, j], self.heights[i + 1, j]
        across = _faces(
            (x, self.y[j], below), (x, self.y[j + 1], below),
            (x, self.y[j + 1], above), (x, self.y[j], above),
        )  # fmt: skip
        i, j = np.nonzero(np.diff(self.heights, axis=1))
        y, below, above = self.y[j + 1], self.heights[i, j], self.heights[i, j + 1]
        along = _faces(
            (self.x[i], y, below), (self.x[i + 1], y, below),
            (self.x[i + 1], y, above), (self.x[i], y, above),
        )  # fmt: skip
        return np.concatenate([across, along])


def _faces(*corners: tuple[Array, Array, Array]) -> Array:
    return np.stack([np.stack(corner, axis=-1) for corner in corners], axis=1)


def _draw_rows(ax: Any, model: Any, section: Section, targets: Array, rows: Array) -> None:
    """Rows beneath the surface behind it, the others before it."""
    above = targets[rows] >= model.predict(section.table[rows])
    for mine, layer, alpha in ((~above, 1, 0.5), (above, 3, 0.85)):
        places = np.column_stack([section.points[rows], targets[rows]])[mine]
        ax.scatter(
            *places.T, s=0.5 * point_size(len(rows)), c=INK, alpha=alpha, linewidths=0,
            depthshade=False, zorder=layer,
        )  # fmt: skip


def _dress_space(ax: Any, section: Section, title: str, shades: Any) -> None:
    section.dress(ax, title)
    ax.set_zlabel("predicted", fontsize=LABEL_SIZE, color=INK)
    ax.tick_params(labelsize=TICK_SIZE)
    low, high = shades.norm.vmin, shades.norm.vmax
    margin = 0.05 * (high - low) or max(abs(high), 1.0)
    ax.set_zlim(low - margin, high + margin)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color(MUTED)

"""Draw a regression tree over two columns: as rectangles, or as a surface."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ceiba._typing import Array
from ceiba.base import unused_error
from ceiba.data.target import Target
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import check_one_target, has_tree, model_error, one_estimator
from ceiba.plots.planes.section import LeafBoxes, Section

_MAX_POINTS, _MAX_SURFACE_POINTS = 2_000, 500
_MAX_CELLS = 20_000  # drawn in three dimensions within a few seconds
_LUMA = (0.299, 0.587, 0.114)  # perceived brightness of red, green and blue
_MAX_SPACE_NAME = 22  # characters of a name along an axis in three dimensions
_WALL_SHADE = 0.72  # brightness of vertical faces


@documented
def partition(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    values: bool = True,
    ax: Any = None,
    max_points: int = _MAX_POINTS,
    random_state: Any = 0,
) -> Any:
    """Draw the leaves of a regression tree as rectangles over two numeric columns.

    Further columns are fixed as in `regions`. With ``y`` the rows are drawn on top, in the color of
    their target: the closer it is to the color of the rectangle, the smaller the error.

    Parameters
    ----------
    model : fitted DecisionTreeRegressor
    {section_rows}
    y : array of shape (n_rows,), optional
        Targets of the rows; without them no rows are drawn, and ``max_points`` must not be given.
    {columns}
    values : bool
        Write the value of each leaf that is large enough for the text.
    {ax}
    {sample}

    {picture}

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

    section, boxes, heights, targets, scale = _prepare(
        model, X, y, columns, max_points, _MAX_POINTS
    )
    ax = ax or style.new_axes(7.0, 4.8)
    look: dict[str, Any] = {"edgecolors": "white", "linewidths": 0.8, "zorder": 0.5}
    leaves = PolyCollection(list(boxes.outlines), facecolors=scale.to_rgba(heights), **look)
    ax.add_collection(leaves)
    rows = None
    if targets is not None:
        rows = section.sample(max_points, random_state)
        ax.scatter(
            *section.points[rows].T, c=scale.to_rgba(targets[rows]), s=style.point_size(len(rows)),
            edgecolors="white", linewidths=0.6, zorder=2,
        )  # fmt: skip
    if values:
        _write_values(ax, section, boxes, heights, scale)
    section.label_axes(ax, _title(model, boxes, section, rows))
    _add_color_bar(ax, scale, "predicted" if rows is None else "predicted; points: target")
    return ax.figure


@documented
def surface(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    elevation: float = 32.0,
    azimuth: float = -125.0,
    ax: Any = None,
    max_points: int = _MAX_SURFACE_POINTS,
    random_state: Any = 0,
) -> Any:
    """Draw a regression tree over two numeric columns as a surface.

    Further columns are fixed as in `regions`. With ``y`` the rows are drawn at the height of their
    target, above and below the surface.

    Parameters
    ----------
    model : fitted DecisionTreeRegressor
    {section_rows}
    y : array of shape (n_rows,), optional
        Targets of the rows; without them no rows are drawn, and ``max_points`` must not be given.
    {columns}
    elevation, azimuth : float
        Angles of the view, in degrees.
    ax : matplotlib Axes with projection="3d", optional
        Axes to draw on; a new figure is made if None.
    {sample}

    {picture}

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
        raise ValueError('ax must be made with projection="3d", got two-dimensional axes.')
    section, boxes, heights, targets, scale = _prepare(
        model, X, y, columns, max_points, _MAX_SURFACE_POINTS
    )
    cells = _Cells(boxes, heights)
    ax = ax or style.new_axes(7.0, 5.4, projection="3d")
    ax.computed_zorder = False
    ax.view_init(elev=elevation, azim=azimuth)
    cells.draw(ax, scale)
    rows = None
    if targets is not None:
        rows = section.sample(max_points, random_state)
        _draw_rows(ax, model, section, targets, rows)
    _label_space(ax, section, _title(model, boxes, section, rows), scale)
    _add_color_bar(ax, scale, "predicted", shrink=0.6, pad=0.12)
    return ax.figure


def _add_color_bar(ax: Any, scale: Any, label: str, **position: Any) -> None:
    bar = style.add_color_bar(ax.figure, scale, ax=ax, **position)
    bar.set_label(label, fontsize=style.LABEL_SIZE, color=style.INK)


def _prepare(
    model: Any,
    X: Any,
    y: Any,
    columns: Sequence[str | int] | None,
    max_points: int,
    default_points: int,
) -> tuple[Section, LeafBoxes, Array, Array | None, Any]:
    """Return the section, the leaves in it, their values, the targets, and the color scale."""
    style.require_matplotlib()
    if not has_tree(model) or hasattr(model, "classes_"):
        remedy = one_estimator(model)
        if hasattr(model, "classes_"):
            remedy = "draw it with plots.regions(model, X, y)"
        raise model_error("model", "a fitted regression tree of Ceiba", model, remedy)
    check_one_target(model.tree_.n_outputs)
    if y is None and max_points != default_points:
        raise unused_error("max_points", "y=None", max_points, default_points)
    section = Section.of(model, X, columns)
    boxes = section.boxes(model.tree_)
    heights = model.predict(section.rows(boxes.high))
    targets = None if y is None else Target.of(y, len(section.points), task="regression").values
    drawn = heights if targets is None else np.concatenate([heights, targets])
    return section, boxes, heights, targets, style.color_scale(drawn.min(), drawn.max())


def _title(model: Any, boxes: LeafBoxes, section: Section, rows: Array | None) -> str:
    title = f"{type(model).__name__}, {style.count_text(len(boxes.leaves), 'leaf')}"
    if len(boxes.leaves) < model.tree_.n_leaves:
        title += f" of {model.tree_.n_leaves:,} visible"
    if rows is None:
        return title
    return f"{title}, {style.rows_text(len(section.points), len(rows))}"


def _write_values(ax: Any, section: Section, boxes: LeafBoxes, heights: Array, scale: Any) -> None:
    """Write the value of each leaf whose rectangle is large enough, upright if it is narrow.

    The text has the leaf's color as background, since the rows are drawn below it.
    """
    extent = section.high - section.low
    for low, high, height in zip(boxes.low, boxes.high, heights, strict=True):
        text = style.number_text(height, 3)
        width, size = 0.017 * len(text), (high - low) / extent
        upright = size[0] < width
        needed = (0.035, 1.5 * width) if upright else (width, 0.05)
        if (size < needed).any():
            continue
        color = scale.to_rgba(height)
        dark = np.dot(color[:3], _LUMA) < 0.5
        ax.annotate(
            text, (low + high) / 2, ha="center", va="center", fontsize=style.LABEL_SIZE,
            color="white" if dark else style.INK, zorder=3, rotation=90 if upright else 0,
            bbox={"boxstyle": "round,pad=0.25", "facecolor": color, "edgecolor": "none"},
        )  # fmt: skip


class _Cells:
    """The surface on the grid of all edges: horizontal and vertical faces.

    matplotlib sorts faces by depth; it does so correctly for small faces of similar size, but not
    for whole leaves of different size.
    """

    def __init__(self, boxes: LeafBoxes, heights: Array) -> None:
        self.x, self.y = (
            np.unique(np.concatenate([boxes.low[:, axis], boxes.high[:, axis]])) for axis in (0, 1)
        )
        shape = len(self.x) - 1, len(self.y) - 1
        if shape[0] * shape[1] > _MAX_CELLS:
            raise ValueError(
                f"The surface of {len(heights):,} leaves has {shape[0] * shape[1]:,} cells, more "
                f"than {_MAX_CELLS:,}: draw a smaller or pruned tree, or use plots.partition."
            )
        self.heights = np.empty(shape)
        begin = [np.searchsorted(e, boxes.low[:, a]) for a, e in enumerate((self.x, self.y))]
        end = [np.searchsorted(e, boxes.high[:, a]) for a, e in enumerate((self.x, self.y))]
        for leaf, height in enumerate(heights):
            spans = (slice(b[leaf], e[leaf]) for b, e in zip(begin, end, strict=True))
            self.heights[tuple(spans)] = height

    def draw(self, ax: Any, scale: Any) -> None:
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        tops, walls = self.tops(), self.walls()
        top_colors = scale.to_rgba(tops[:, 0, 2])
        wall_colors = scale.to_rgba(walls[:, :, 2].max(axis=1))
        wall_colors[:, :3] *= _WALL_SHADE
        colors = np.concatenate([top_colors, wall_colors])
        look = {"facecolors": colors, "edgecolors": colors, "linewidths": 0.3, "zorder": 2}
        ax.add_collection3d(Poly3DCollection(np.concatenate([tops, walls]), **look))

    def tops(self) -> Array:
        """Return the corners of the horizontal faces, of shape (n, 4, 3)."""
        i, j = np.indices(self.heights.shape).reshape(2, -1)
        (x0, x1), (y0, y1) = (self.x[i], self.x[i + 1]), (self.y[j], self.y[j + 1])
        return _faces([x0, x1, x1, x0], [y0, y0, y1, y1], [self.heights[i, j]] * 4)

    def walls(self) -> Array:
        """Return the corners (n, 4, 3) of the faces between cells of different height."""
        i, j = np.nonzero(np.diff(self.heights, axis=0))
        below, above, y = self.heights[i, j], self.heights[i + 1, j], (self.y[j], self.y[j + 1])
        across = _faces([self.x[i + 1]] * 4, [*y, *y[::-1]], [below, below, above, above])
        i, j = np.nonzero(np.diff(self.heights, axis=1))
        below, above, x = self.heights[i, j], self.heights[i, j + 1], (self.x[i], self.x[i + 1])
        along = _faces([*x, *x[::-1]], [self.y[j + 1]] * 4, [below, below, above, above])
        return np.concatenate([across, along])


def _faces(x: Sequence[Array], y: Sequence[Array], z: Sequence[Array]) -> Array:
    """Return faces of four corners each, of shape (n, 4, 3)."""
    return np.stack([np.stack(corners, axis=-1) for corners in (x, y, z)], axis=-1)


def _draw_rows(ax: Any, model: Any, section: Section, targets: Array, rows: Array) -> None:
    """Draw rows below the surface behind it, the others in front."""
    above = targets[rows] >= model.predict(section.table[rows])
    for mask, layer, alpha in ((~above, 1, 0.5), (above, 3, 0.85)):
        points = np.column_stack([section.points[rows], targets[rows]])[mask]
        ax.scatter(
            *points.T, s=0.5 * style.point_size(len(rows)), c=style.INK, alpha=alpha, linewidths=0,
            depthshade=False, zorder=layer,
        )  # fmt: skip


def _label_space(ax: Any, section: Section, title: str, scale: Any) -> None:
    section.label_axes(ax, title, max_name=_MAX_SPACE_NAME)
    ax.set_zlabel("predicted", fontsize=style.LABEL_SIZE, color=style.INK)
    ax.tick_params(labelsize=style.TICK_SIZE)
    low, high = scale.norm.vmin, scale.norm.vmax
    margin = 0.05 * (high - low) or max(abs(high), 1.0)
    ax.set_zlim(low - margin, high + margin)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_pane_color((1.0, 1.0, 1.0, 0.0))
        axis.line.set_color(style.MUTED)

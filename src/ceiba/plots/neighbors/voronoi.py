"""Draw the Voronoi cells of the training rows of a classifier by neighbors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import Voronoi

from ceiba._typing import Array
from ceiba.neighbors import KNeighborsClassifier
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.neighbors.view import (
    check_classifier,
    linear_map,
    numeric_columns,
    training_matrix,
)
from ceiba.plots.planes.section import pale_colors
from ceiba.plots.projection import bounding_box

_MAX_EDGES = 3_000  # cells whose edges are drawn
# Ratio of the sides of the box up to which the corners of cells keep nine digits.
_MAX_RATIO = 1e6
_INSTEAD = "draw two columns with plots.regions_by_k(model, X, y, (1,))"


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """Voronoi cells of points within a box.

    Parameters
    ----------
    outlines : list of ndarray of shape (n_corners, 2)
    owners : ndarray of int of shape (n_cells,)
        Point of each cell.
    edges : ndarray of shape (n_edges, 2, 2)
        Line segments between the cells of two points.
    sides : ndarray of int of shape (n_edges, 2)
        The two points.
    """

    outlines: list[Array]
    owners: Array
    edges: Array
    sides: Array

    @classmethod
    def of(cls, points: Array, low: Array, high: Array) -> Cells:
        """Compute the cells of different points inside of a box."""
        # In units in which the box begins at 0 and has a longest side of 1.
        unit = float((high - low).max())
        p, end, n = (points - low) / unit, (high - low) / unit, len(points)
        # The sides of the box are edges between the points and their mirror images.
        mirrored = [p]
        for axis in (0, 1):
            for side in (0.0, end[axis]):
                image = p.copy()
                image[:, axis] = 2 * side - p[:, axis]
                mirrored.append(image)
        diagram = Voronoi(np.concatenate(mirrored))
        vertices = low + unit * diagram.vertices
        regions = [diagram.regions[region] for region in diagram.point_region[:n]]
        # Points that are equal up to rounding may have one cell.
        owners = [i for i, region in enumerate(regions) if region and -1 not in region]
        inner = (diagram.ridge_points < n).all(axis=1)
        ends = np.array(diagram.ridge_vertices, int)[inner]
        sides = diagram.ridge_points[inner][(ends >= 0).all(axis=1)]
        edges = vertices[ends[(ends >= 0).all(axis=1)]]
        return cls([vertices[regions[i]] for i in owners], np.array(owners, int), edges, sides)


@documented
def voronoi(model: Any, *, ax: Any = None) -> Any:
    """Draw the Voronoi cells of the training rows: the regions of one neighbor.

    The cell of a row is the region that is nearer to it than to any other row. With
    ``n_neighbors=1`` all of it has the class of the row, and the decision boundary, in black,
    consists of the edges between cells of different classes: a row changes it if and only if the
    cell of a row of another class is next to its own. Rows with the same values share a cell, which
    has the class of the first of them.

    Parameters
    ----------
    model : fitted KNeighborsClassifier
        Of two numeric columns without missing values, with Euclidean distances (also scaled,
        weighted or Mahalanobis). Its number of neighbors is not used.
    {ax}

    {picture}

    Examples
    --------
    >>> from ceiba import KNeighborsClassifier, datasets, plots
    >>> X, y = datasets.load("two_moons")
    >>> picture = plots.voronoi(KNeighborsClassifier(1).fit(X, y))
    >>> picture.axes[0].get_title(loc="left")
    'Voronoi cells, 200 rows'

    References
    ----------
    Voronoi (1908), "Nouvelles applications des paramètres continus à la théorie des formes
    quadratiques", Journal für die reine und angewandte Mathematik 134.
    """
    model = check_classifier(model)
    points, linear = _training_points(model)
    codes = model.rows_.known_target
    # The first of equal rows is the neighbor.
    different, first = np.unique(points, axis=0, return_index=True)
    low, high = bounding_box([points])
    corners = np.array([low, [low[0], high[1]], high, [high[0], low[1]]]) @ linear
    begin, end = corners.min(axis=0), corners.max(axis=0)
    _check_sides(end - begin)
    cells = Cells.of(different @ linear, begin, end)
    back = np.linalg.inv(linear)
    is_new = ax is None
    ax = ax or style.new_axes(7.0, 4.8)
    _draw_points(ax, model, points, codes)
    _draw_cells(ax, cells, back, codes[first], len(model.classes_))
    names = model.schema_.names
    title = f"Voronoi cells, {style.count_text(len(points), 'row')}"
    style.style_axes(ax, title=title, x=style.shorten(names[0], 60), y=style.shorten(names[1], 60))
    if len(different) < len(points):
        style.set_note(ax, f"{len(points) - len(different):,} in the cell of an equal row")
    ax.set_xlim(low[0], high[0])
    ax.set_ylim(low[1], high[1])
    if len(model.classes_) <= style.MAX_LEGEND:
        legend = style.add_legend(ax, "class", beside=is_new)
        for handle in legend.legend_handles[: len(model.classes_)]:
            handle.set_sizes([36])
    return ax.figure


def _training_points(model: KNeighborsClassifier) -> tuple[Array, Array]:
    """Return the training rows, and the matrix after which their distances are Euclidean."""
    n_columns = model.n_features_in_
    other = set(range(n_columns)) - set(numeric_columns(model))
    if n_columns != 2:
        raise ValueError(
            f"model must be fitted on two numeric columns, got {n_columns}: {_INSTEAD}."
        )
    if other:
        column = model.schema_[min(other)]
        kind = "temporal" if column.temporal else column.kind
        raise ValueError(f"columns of the model must be numeric, but {column.name!r} is {kind}.")
    rows = training_matrix(model)
    n_missing = int(np.isnan(rows).any(axis=1).sum())
    if n_missing:
        raise ValueError(
            f"model must be fitted on rows without missing values, got {n_missing:,} with one: "
            f"{_INSTEAD}."
        )
    linear = linear_map(model.index_.distance)
    if model.index_.distance.kind != "euclidean" or linear is None:
        raise ValueError(
            f"model must have Euclidean distances in both columns, got metric={model.metric!r}, "
            f"p={model.p!r} and feature_weights={model.feature_weights!r}: {_INSTEAD}."
        )
    return rows, linear


def _check_sides(sides: Array) -> None:
    ratio = sides.max() / sides.min()
    if not ratio <= _MAX_RATIO:
        raise ValueError(
            f"model must have distances in which the ranges of the columns differ by a factor of "
            f"at most {_MAX_RATIO:.0e}, got {ratio:.1e}: set scale='std'."
        )


def _draw_cells(ax: Any, cells: Cells, back: Array, codes: Array, n_classes: int) -> None:
    """Color the cells by class, and draw the boundary between classes."""
    from matplotlib.collections import LineCollection, PolyCollection

    colors = pale_colors(np.eye(n_classes)[codes[cells.owners]])
    ax.add_collection(
        PolyCollection(
            [outline @ back for outline in cells.outlines], facecolors=colors, edgecolors="face",
            linewidths=0.3, zorder=0.5, gid="cells",
        )
    )  # fmt: skip
    differs = codes[cells.sides[:, 0]] != codes[cells.sides[:, 1]]
    edges = cells.edges @ back
    if len(cells.owners) <= _MAX_EDGES:
        look: dict[str, Any] = {"colors": "white", "linewidths": 0.8, "zorder": 1}
        ax.add_collection(LineCollection(list(edges[~differs]), **look))
    ax.add_collection(
        LineCollection(
            list(edges[differs]), colors=style.INK, linewidths=1.3, zorder=1.5, gid="boundary",
            capstyle="round", label="decision boundary" if differs.any() else None,
        )
    )  # fmt: skip


def _draw_points(ax: Any, model: KNeighborsClassifier, points: Array, codes: Array) -> None:
    """Draw one collection of points per class."""
    look: dict[str, Any] = {"s": 0.7 * style.point_size(len(points)), "zorder": 2}
    look |= {"edgecolors": "white", "linewidths": 0.5}
    for code, name in enumerate(model.classes_):
        own = codes == code
        label = f"{style.shorten(name)}  ({style.count_text(int(own.sum()), 'row')})"
        shape = {"c": style.color_of(code), "marker": style.marker_of(code)}
        ax.scatter(*points[own].T, label=label, **shape, **look)

"""Draw the decision regions of classifiers over two numeric columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_score

from ceiba._typing import Array
from ceiba.base import unused_error
from ceiba.data.target import class_indices
from ceiba.datasets import Dataset, load
from ceiba.plots import style
from ceiba.plots.docstrings import documented
from ceiba.plots.models import check_one_target, has_tree, model_error
from ceiba.plots.planes.section import LeafBoxes, Section, class_codes, pale_colors
from ceiba.tree.classifier import DecisionTreeClassifier

_RESOLUTION = 300
_MODELS = {
    "logistic regression": LogisticRegression(C=1e6, solver="newton-cholesky"),
    "decision tree": DecisionTreeClassifier(),
}


@documented
def regions(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    columns: Sequence[str | int] | None = None,
    resolution: int = _RESOLUTION,
    probabilities: bool = False,
    edges: bool = False,
    ax: Any = None,
    max_points: int = 2_000,
    random_state: Any = 0,
) -> Any:
    """Draw the predictions of a classifier over two numeric columns, and the rows.

    A tree of Ceiba is drawn exactly, as the rectangles of its leaves; any other classifier on a
    grid. Further columns are fixed at their lower median or most frequent category, as the title
    states: the picture is then one section through the model, and a row with other values in these
    columns may be predicted differently. Misclassified rows are ringed. Rows with a missing value
    in a shown column are omitted.

    Parameters
    ----------
    model : fitted classifier
        With ``predict`` and ``classes_``, of Ceiba or scikit-learn.
    {section_rows}
    y : array of shape (n_rows,), optional
        Classes of the rows; without them the rows are gray.
    {columns}
    resolution : int
        Grid points along each axis; not to be given for a tree of Ceiba.
    probabilities : bool
        Mix the class colors by ``predict_proba`` instead of showing the predicted class.
    edges : bool
        Draw the edges of the leaves; for a tree of Ceiba only.
    {ax}
    {sample}

    {picture}

    Examples
    --------
    >>> from ceiba import DecisionTreeClassifier, datasets, plots
    >>> iris = datasets.load("iris")
    >>> model = DecisionTreeClassifier(max_depth=3).fit(iris.table, iris.y)
    >>> picture = plots.regions(model, iris.table, iris.y, edges=True)
    >>> picture.axes[0].get_xlabel(), picture.axes[0].get_ylabel()
    ('petal length (cm)', 'petal width (cm)')
    """
    _check_regions(model, resolution, edges)
    section = Section.of(model, X, columns)
    is_new = ax is None
    ax = ax or style.new_axes(7.0, 4.8)
    if has_tree(model):
        boxes = section.boxes(model.tree_)
        _draw_boxes(ax, boxes, _region_colors(model, section, boxes.high, probabilities), edges)
    else:
        colors = _region_colors(model, section, grid_points(section, resolution), probabilities)
        draw_grid(ax, section, colors)
    rows = section.sample(max_points, random_state)
    _draw_rows(ax, model, X, y, section, rows)
    section.label_axes(
        ax, f"{type(model).__name__}, {style.rows_text(len(section.points), len(rows))}"
    )
    if y is not None and len(model.classes_) <= style.MAX_LEGEND:
        for handle in style.add_legend(ax, "class", beside=is_new).legend_handles:
            handle.set_sizes([36])
            if handle.get_label().startswith("misclassified"):
                handle.set_facecolor("none")
    return ax.figure


def _check_regions(model: Any, resolution: int, edges: bool) -> None:
    if not hasattr(model, "classes_"):
        remedy = "draw it with plots.partition(model, X, y)" if has_tree(model) else None
        raise model_error("model", "a fitted classifier", model, remedy)
    check_one_target(getattr(model, "n_outputs_", 1))
    if resolution < 2:
        raise ValueError(f"resolution must be at least 2, got {resolution}.")
    is_tree = has_tree(model)
    if is_tree and resolution != _RESOLUTION:
        raise unused_error("resolution", "a tree of Ceiba", resolution, _RESOLUTION)
    if edges and not is_tree:
        raise ValueError(f"edges=True requires a tree of Ceiba, got {type(model).__name__}.")


def _region_colors(model: Any, section: Section, points: Array, probabilities: bool) -> Array:
    """Return the pale color of each point, of shape (n, 3)."""
    rows = section.rows(points)
    if probabilities:
        return pale_colors(np.asarray(model.predict_proba(rows)))
    classes = np.asarray(model.classes_)
    return pale_colors(
        np.eye(len(classes))[class_indices(np.asarray(model.predict(rows)), classes)]
    )


def _draw_boxes(ax: Any, boxes: LeafBoxes, colors: Array, edges: bool) -> None:
    from matplotlib.collections import PolyCollection

    look: dict[str, Any] = {"edgecolors": style.MUTED} if edges else {}
    look |= {"linewidths": 0.8 if edges else 0, "facecolors": colors, "zorder": 0.5}
    # With antialiasing the white background would show between adjacent rectangles.
    ax.add_collection(PolyCollection(list(boxes.outlines), antialiaseds=edges, **look))


def grid_points(section: Section, resolution: int) -> Array:
    """Return the centers of ``resolution`` x ``resolution`` cells, of shape (n, 2)."""
    step = (np.arange(resolution) + 0.5) / resolution
    x, y = (low + step * (high - low) for low, high in zip(section.low, section.high, strict=True))
    return np.stack(np.meshgrid(x, y), -1).reshape(-1, 2)


def draw_grid(ax: Any, section: Section, colors: Array) -> None:
    """Draw the cells of a grid in the colors of their centers, of shape (n, 3)."""
    resolution = round(np.sqrt(len(colors)))
    extent = (section.low[0], section.high[0], section.low[1], section.high[1])
    ax.imshow(
        colors.reshape(resolution, resolution, 3), extent=extent, origin="lower", aspect="auto",
        interpolation="nearest", zorder=0.5,
    )  # fmt: skip


def _draw_rows(ax: Any, model: Any, X: Any, y: Any, section: Section, rows: Array) -> None:
    """Draw the rows, by class if they have one."""
    if y is None:
        look = {"s": style.point_size(len(rows)), "edgecolors": "white", "linewidths": 0.6}
        ax.scatter(*section.points[rows].T, c=style.MUTED, zorder=2, **look)
        return
    codes = class_codes(model, y, len(section.points))
    predicted = np.asarray(model.predict(X if section.plain else section.table))
    classes = np.asarray(model.classes_)
    draw_classes(ax, classes, section.points, codes, class_indices(predicted, classes), rows)


def draw_classes(
    ax: Any, classes: Array, points: Array, codes: Array, predicted: Array, drawn: Array
) -> None:
    """Draw one collection of points per class, and rings around misclassified rows.

    ``codes`` and ``predicted`` are the class indices of all points, of which some are ``drawn``.
    """
    size = style.point_size(len(drawn))
    look = {"s": size, "edgecolors": "white", "linewidths": 0.6, "zorder": 2}
    for code, name in enumerate(classes):
        own = drawn[codes[drawn] == code]
        label = f"{style.shorten(name)}  ({style.count_text((codes == code).sum(), 'row')})"
        shape = {"c": style.color_of(code), "marker": style.marker_of(code)}
        ax.scatter(*points[own].T, label=label, **shape, **look)
    wrong = predicted != codes
    if wrong.any():
        own = drawn[wrong[drawn]]
        # Above the other rows, or a misclassified row could be hidden by one at the same point.
        ax.scatter(
            *points[own].T, c=[style.color_of(code) for code in codes[own]], s=1.4 * size,
            edgecolors=style.INK, linewidths=1.5, zorder=2.5,
            label=f"misclassified  ({style.count_text(wrong.sum(), 'row')})",
        )  # fmt: skip


@documented
def boundaries(
    tables: Sequence[str | Dataset] = ("linear_boundary", "nonlinear_boundary"),
    *,
    models: Mapping[str, Any] | None = None,
    folds: int = 10,
    random_state: int = 0,
    figure: Any = None,
) -> Any:
    """Draw the regions of a linear model beside those of a tree, on two-column tables.

    There is a row of panels for each table and a column for each model. Above each panel are the
    accuracy on the drawn rows, to all of which the model was fitted, and the cross-validated
    accuracy. No straight line separates the classes of ``nonlinear_boundary``; a tree separates
    both tables, but approximates the oblique line of ``linear_boundary`` by a staircase, which
    costs accuracy on new rows.

    Parameters
    ----------
    tables : sequence of str or Dataset
        Names for `ceiba.datasets.load`, or loaded datasets, with two numeric columns.
    models : mapping from names to classifiers, optional
        Models to fit to every table. By default scikit-learn's ``LogisticRegression``, almost
        without penalty so that it can find the line, and a fully grown `DecisionTreeClassifier`.
    folds : int
        Number of folds of the stratified cross-validation.
    random_state : int
        Seed of these folds.
    {figure}

    {picture}

    Examples
    --------
    >>> from ceiba import datasets, plots
    >>> picture = plots.boundaries([datasets.load("nonlinear_boundary", n_rows=60)], folds=3)
    >>> [ax.get_title(loc="left") for ax in picture.axes]
    ['logistic regression', 'decision tree']
    """
    if isinstance(tables, str | Dataset) or not len(tables):
        raise ValueError(f'tables must be a sequence like ["linear_boundary"], got {tables!r}.')
    loaded = [load(table) if isinstance(table, str) else table for table in tables]
    for table in loaded:
        _check_table(table)
    chosen = _MODELS if models is None else models
    if not chosen:
        raise ValueError("models must contain at least one classifier, got none.")
    figure = figure or style.new_figure(3.9 * len(chosen), 3.6 * len(loaded))
    axes = figure.subplots(len(loaded), len(chosen), squeeze=False)
    splitter = StratifiedKFold(folds, shuffle=True, random_state=random_state)
    for line, table in zip(axes, loaded, strict=True):
        for ax, (name, model) in zip(line, chosen.items(), strict=True):
            fitted = clone(model).fit(table.X, table.y)
            regions(fitted, table.X, table.y, ax=ax)
            scores = cross_val_score(model, table.X, table.y, cv=splitter)
            _label_panel(ax, table, name, fitted, scores)
        line[0].annotate(
            table.name, (0, 0.5), (-48, 0), xycoords="axes fraction",
            textcoords="offset points", rotation=90, ha="center", va="center",
            fontsize=style.LABEL_SIZE, color=style.MUTED,
        )  # fmt: skip
    return figure


def _check_table(table: Dataset) -> None:
    if table.task != "classification":
        raise ValueError(f"tables must be for classification, but {table.name} is not.")
    if len(table.schema) != 2 or not table.schema.all_numeric:
        raise ValueError(
            f"tables must have two numeric columns, but {table.name} has {table.feature_names!r}: "
            "draw one model with plots.regions."
        )


def _label_panel(ax: Any, table: Dataset, name: str, model: Any, scores: Any) -> None:
    """Set the model's name and accuracies, and remove the repeated legend."""
    style.set_title(ax, name)
    training = np.mean(np.asarray(model.predict(table.X)) == np.asarray(table.y))
    style.set_note(ax, f"training {training:.2f}\ncross-validated {np.mean(scores):.2f}")
    ax.get_legend().remove()
    ax.set_xlabel(table.feature_names[0])
    ax.set_ylabel(table.feature_names[1])
